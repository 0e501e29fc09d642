"""Calls a step of the lab on NumPy arrays, on the emulator or on a GPU.

    make step04 build DEVICE=cpu
    python3 examples/from_numpy.py --step 04 --build build/cpu

The arrays are copied to device memory and the results back, with the CUDA functions that the step is linked with; on
the emulator these are its own. NumPy has no bf16, so the arrays are float16.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import sys
from types import TracebackType

import lab
import numpy as np

TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost


class DeviceMemory:
    """Allocations that are freed at the end of a `with`, also when an exception ends it."""

    def __init__(self, step: lab.Step) -> None:
        self._step = step
        self._cuda = step.runtime
        self._pointers: list[ctypes.c_void_p] = []

    def __enter__(self) -> DeviceMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pointer in self._pointers:
            self._cuda.cudaFree(pointer)

    def allocate(self, count: int) -> int | None:
        """The address of `count` bytes; None when there are none to allocate."""
        pointer = ctypes.c_void_p()
        self._step.check(self._cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(count)))
        self._pointers.append(pointer)
        return pointer.value

    def copy_of(self, array: np.ndarray) -> int | None:
        address = self.allocate(array.nbytes)
        self._copy(address, array.ctypes.data, array.nbytes, TO_DEVICE)
        return address

    def read(self, array: np.ndarray, address: int | None) -> None:
        """Waits for the launches before it, and raises StepError when one of them has failed."""
        self._copy(array.ctypes.data, address, array.nbytes, TO_HOST)

    def _copy(self, to: int | None, source: int | None, count: int, direction: int) -> None:
        self._step.check(
            self._cuda.cudaMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(count), direction)
        )


def attention(
    step: lab.Step, q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False, scale: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """O [batch, heads, seq_q, head_dim] in float16 and lse [batch, heads, seq_q] in float32, of Q [batch, heads,
    seq_q, head_dim] and K, V [batch, kv_heads, seq_kv, head_dim]. Raises ValueError for arrays that the step cannot
    take, and StepError when CUDA fails."""
    arrays = [np.ascontiguousarray(array) for array in (q, k, v)]
    dtypes = {array.dtype for array in arrays}
    dtype = "fp16" if dtypes == {np.dtype(np.float16)} else ", ".join(sorted(map(str, dtypes)))
    shape = lab.shape_of(step, dtype, q.shape, k.shape, v.shape, causal, scale)
    o = np.empty(q.shape, np.float16)
    lse = np.empty(q.shape[:3], np.float32)
    with DeviceMemory(step) as memory:
        addresses = [memory.copy_of(array) for array in arrays]
        o_address, lse_address = memory.allocate(o.nbytes), memory.allocate(lse.nbytes)
        workspace = memory.allocate(lab.workspace_bytes(step, shape))
        lab.forward(step, shape, *addresses, o_address, lse_address, workspace, stream=None)
        memory.read(o, o_address)
        memory.read(lse, lse_address)
    return o, lse


def attention_in_float64(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False, scale: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The same by the definition, to compare with. The causal mask ends at the bottom right corner."""
    group = q.shape[1] // k.shape[1]  # heads of Q that share one of K and V
    q, k, v = q.astype(float), *(np.repeat(array.astype(float), group, axis=1) for array in (k, v))
    seq_q, seq_kv = q.shape[2], k.shape[2]
    scores = np.einsum("bhid,bhjd->bhij", q, k) * (1 / math.sqrt(q.shape[3]) if scale is None else scale)
    if causal:
        scores = np.where(np.tri(seq_q, seq_kv, seq_kv - seq_q, dtype=bool), scores, -np.inf)
    row_max = scores.max(axis=3, keepdims=True)
    row_max = np.where(np.isfinite(row_max), row_max, 0)  # a row that sees no key
    weights = np.exp(scores - row_max)
    row_sum = weights.sum(axis=3, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (row_max + np.log(row_sum))[..., 0]
    return np.einsum("bhij,bhjd->bhid", weights / np.where(row_sum == 0, 1, row_sum), v), lse


def main() -> int:
    parser = argparse.ArgumentParser(description="Calls a step on NumPy arrays and compares it with float64.")
    parser.add_argument("--step", default="04", help="the step's number (default 04)")
    parser.add_argument("--build", default="build/cpu", help="build/cpu, which is the emulator (default), or build/gpu")
    options = parser.parse_args()
    try:
        step = lab.load(options.step, options.build)
    except (FileNotFoundError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2

    random = np.random.default_rng(1)
    q = random.standard_normal((2, 4, 70, 64)).astype(np.float16)
    k, v = (random.standard_normal((2, 2, 90, 64)).astype(np.float16) for _ in range(2))  # two heads share one
    o, lse = attention(step, q, k, v, causal=True)
    exact_o, exact_lse = attention_in_float64(q, k, v, causal=True)

    # O is an average of rows of V. Rounding the weights and rounding O moves it by 2^-11 of the largest value each;
    # the rest of the bound is for the arithmetic in float32.
    allowed = 4 * 2.0**-11 * float(np.abs(v).max())
    o_error, lse_error = float(np.abs(o - exact_o).max()), float(np.abs(lse - exact_lse).max())
    good = o_error <= allowed and lse_error <= 1e-3  # written so that a NaN is not good
    print(f"step {step.name} of {options.build}, called from NumPy")
    print(f"O    {'ok' if good else 'WRONG'}: largest error {o_error:.3g}, allowed {allowed:.3g}")
    print(f"lse  largest error {lse_error:.3g}, allowed 0.001")
    try:
        attention(step, q, k[:, :, :, :32], v)
    except ValueError as error:
        print(f"ValueError for tensors that do not fit: {error}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
