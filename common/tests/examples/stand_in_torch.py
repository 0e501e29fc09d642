"""As much of PyTorch as examples/from_pytorch.py calls to run a step on tensors of the CPU, made of NumPy.

It is for machines without PyTorch. It takes what the real functions take and refuses what they refuse, so a call with
an argument too many or an operator whose arguments have no types that PyTorch knows fails here as well.
"""

import contextlib
import inspect
import sys
import typing
from types import ModuleType, SimpleNamespace

import numpy as np

float16, float32, float64, bfloat16, uint8 = "float16", "float32", "float64", "bfloat16", "uint8"
contiguous_format = "contiguous_format"
CURRENT_STREAM = 0x5EED


class Tensor:
    def __init__(self, array: np.ndarray, dtype: str | None = None, device: str = "cpu") -> None:
        self.array = array
        self.dtype = dtype or str(array.dtype)
        self.device = SimpleNamespace(type=device)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def contiguous(self) -> "Tensor":
        return Tensor(np.ascontiguousarray(self.array), self.dtype, self.device.type)

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def new_empty(self, sizes: tuple[int, ...], dtype: str) -> "Tensor":
        return empty(sizes, dtype, self.device)


def empty(sizes: tuple[int, ...] | int, dtype: str, device: SimpleNamespace) -> Tensor:
    held = "uint16" if dtype == bfloat16 else dtype
    return Tensor(np.full(sizes, 0xFF if held.startswith("u") else np.nan, held), dtype, device.type)


def zeros(sizes: tuple[int, ...] | int, dtype: str, device: SimpleNamespace) -> Tensor:
    return Tensor(np.zeros(sizes, dtype), dtype, device.type)


def empty_like(tensor: Tensor, memory_format: str | None = None) -> Tensor:
    return empty(tensor.shape, tensor.dtype, tensor.device)


class _Operator:
    def __init__(self, function: typing.Callable) -> None:
        self._function = function
        self.fake: typing.Callable | None = None

    def __call__(self, *arguments: object) -> object:
        return self._function(*arguments)

    def register_fake(self, function: typing.Callable) -> typing.Callable:
        if inspect.signature(function).parameters.keys() != inspect.signature(self._function).parameters.keys():
            raise ValueError("the fake operator has other arguments")
        self.fake = function
        return function


def _custom_op(name: str, *, mutates_args: tuple[str, ...]) -> typing.Callable[[typing.Callable], _Operator]:
    namespace, _, _ = name.partition("::")
    if not namespace.isidentifier():
        raise ValueError(f"{name} has no namespace")

    def register(function: typing.Callable) -> _Operator:
        known = (Tensor, bool, int, float, str, typing.Optional[float], typing.Tuple[Tensor, Tensor])
        for parameter in inspect.signature(function).parameters.values():
            if parameter.annotation not in known:
                raise ValueError(f"{parameter} has a type that an operator cannot have")
        if inspect.signature(function).return_annotation not in known:
            raise ValueError("the operator does not say what it returns")
        return _Operator(function)

    return register


def module() -> ModuleType:
    """What `import torch` is to give."""
    torch = ModuleType("torch")
    torch.__dict__.update({name: value for name, value in globals().items() if not name.startswith("_")})
    torch.library = SimpleNamespace(custom_op=_custom_op)
    torch.cuda = SimpleNamespace(
        device=lambda device: contextlib.nullcontext(),
        current_stream=lambda: SimpleNamespace(cuda_stream=CURRENT_STREAM),
        is_available=lambda: False,
    )
    return torch


def put_in_place() -> None:
    sys.modules["torch"] = module()
