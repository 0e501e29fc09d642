"""The steps' shared objects, such as build/gpu/step04.so: attention.h through ctypes. examples/ calls them as well."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from .grid import DTYPES, Shape

SIZE_MAX = ctypes.c_size_t(-1).value


class StepError(Exception):
    """A CUDA call or a launch failed."""


class AttentionShape(ctypes.Structure):
    """attention_shape of attention.h."""

    _fields_ = [
        ("dtype", ctypes.c_int),
        ("batch", ctypes.c_int),
        ("heads", ctypes.c_int),
        ("kv_heads", ctypes.c_int),
        ("seq_q", ctypes.c_int),
        ("seq_kv", ctypes.c_int),
        ("head_dim", ctypes.c_int),
        ("causal", ctypes.c_bool),
        ("scale", ctypes.c_float),
    ]


class AttentionArgs(ctypes.Structure):
    """attention_args of attention.h; pointers are addresses in device memory."""

    _fields_ = [
        ("shape", AttentionShape),
        ("q", ctypes.c_void_p),
        ("k", ctypes.c_void_p),
        ("v", ctypes.c_void_p),
        ("o", ctypes.c_void_p),
        ("lse", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
    ]


def c_shape(shape: Shape) -> AttentionShape:
    return AttentionShape(
        DTYPES.index(shape.dtype),
        shape.batch,
        shape.heads,
        shape.kv_heads,
        shape.seq,
        shape.seq_kv,
        shape.head_dim,
        shape.causal,
        shape.scale,
    )


def open_library(path: Path) -> ctypes.CDLL:
    """PyTorch brings a CUDA runtime of its own, perhaps of another version. DEEPBIND: the library keeps to the one it
    is linked with. Both work on the same GPU context, so streams and pointers are shared."""
    return ctypes.CDLL(str(path.resolve()), mode=os.RTLD_LOCAL | os.RTLD_DEEPBIND)


class Step:
    """One step. Its functions take addresses, so this file needs no PyTorch."""

    def __init__(self, path: Path) -> None:
        self._library = open_library(path)
        shape_pointer = ctypes.POINTER(AttentionShape)
        self._forward = self._library.attention_forward
        self._forward.argtypes = [ctypes.POINTER(AttentionArgs), ctypes.c_void_p]
        self._forward.restype = ctypes.c_int
        self._workspace_bytes = self._library.attention_workspace_bytes
        self._workspace_bytes.argtypes = [shape_pointer]
        self._workspace_bytes.restype = ctypes.c_size_t
        self._unsupported = self._library.attention_unsupported
        self._unsupported.argtypes = [shape_pointer]
        self._unsupported.restype = ctypes.c_char_p
        self._library.attention_name.restype = ctypes.c_char_p
        self._library.cudaGetErrorString.restype = ctypes.c_char_p
        self.name: str = self._library.attention_name().decode()

    @property
    def runtime(self) -> ctypes.CDLL:
        """The CUDA runtime that the step is linked with, by the names of its functions."""
        return self._library

    def cuda_version(self) -> str:
        """Of that runtime, such as "13.0"."""
        version = ctypes.c_int(0)
        self.check(self._library.cudaRuntimeGetVersion(ctypes.byref(version)))
        return f"{version.value // 1000}.{version.value % 1000 // 10}"

    def unsupported(self, shape: AttentionShape) -> str | None:
        """Why the step cannot take the shape; None when it can."""
        reason = self._unsupported(ctypes.byref(shape))
        return reason.decode() if reason else None

    def workspace_bytes(self, shape: AttentionShape) -> int:
        """SIZE_MAX when the count does not fit."""
        return self._workspace_bytes(ctypes.byref(shape))

    def forward(self, arguments: AttentionArgs, stream: int | None) -> None:
        """Enqueues the step on the stream, a cudaStream_t; does not wait."""
        self.check(self._forward(ctypes.byref(arguments), stream))

    def check(self, status: int) -> None:
        if status != 0:
            words = self._library.cudaGetErrorString(status).decode()
            raise StepError(f"a CUDA call of step {self.name} failed: {words}")
