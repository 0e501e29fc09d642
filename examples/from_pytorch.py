"""Makes a step of the lab an operator of PyTorch, checks it against PyTorch's own attention, and times both.

    make step04 build DEVICE=gpu
    python3 examples/from_pytorch.py --step 04

torch.library.custom_op tells PyTorch the operator's name, arguments and results, so torch.compile can keep it in its
graph. A tensor on a GPU goes to build/gpu/stepNN.so and a tensor on the CPU to the emulator, build/cpu/stepNN.so.
The operator has no backward.
"""

import argparse
import functools
import sys
from typing import Optional, Tuple

import lab
import torch
from torch import Tensor

DTYPES = {torch.float16: "fp16", torch.bfloat16: "bf16"}
BUILDS = {"cuda": "build/gpu", "cpu": "build/cpu"}  # by the device of the tensors
LAUNCHES = 20  # of which the median is taken


@functools.lru_cache(maxsize=None)
def load(number: str, device: str) -> lab.Step:
    """The step for tensors on "cuda" or "cpu", opened once."""
    if device not in BUILDS:
        raise ValueError(f"the tensors are on {device}: a step takes tensors on {' or '.join(BUILDS)}")
    return lab.load(number, BUILDS[device])


@torch.library.custom_op("attention_lab::forward", mutates_args=())
def attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: Optional[float] = None, step: str = "04"
) -> Tuple[Tensor, Tensor]:
    """O, like Q, and lse [batch, heads, seq_q] in float32. Q is [batch, heads, seq_q, head_dim], K and V are [batch,
    kv_heads, seq_kv, head_dim], fp16 or bf16. Raises ValueError for tensors that the step cannot take, and StepError
    when CUDA fails."""
    if not (q.device == k.device == v.device and q.dtype == k.dtype == v.dtype):
        raise ValueError(
            f"Q, K and V are {q.dtype}, {k.dtype} and {v.dtype} on {q.device}, {k.device} and {v.device}: they must "
            "have one type and lie on one device"
        )
    loaded = load(step, q.device.type)
    dtype = DTYPES.get(q.dtype, str(q.dtype))
    shape = lab.shape_of(loaded, dtype, tuple(q.shape), tuple(k.shape), tuple(v.shape), causal, scale)
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    o = torch.empty_like(q)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    count = lab.workspace_bytes(loaded, shape)
    # Zeros, because step 25 must not find in its workspace what another operator has left there.
    workspace = torch.zeros(count, dtype=torch.uint8, device=q.device)
    pointers = [tensor.data_ptr() for tensor in (q, k, v, o, lse)]
    place = workspace.data_ptr() if count > 0 else None
    if q.device.type == "cpu":
        lab.forward(loaded, shape, *pointers, place, stream=None)
        return o, lse
    with torch.cuda.device(q.device):
        # PyTorch may be in a stream of its own, and gives the memory of `workspace` to later work of that stream
        # alone. So the step must be enqueued on that stream.
        lab.forward(loaded, shape, *pointers, place, torch.cuda.current_stream().cuda_stream)
    return o, lse


@attention.register_fake
def _(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: Optional[float] = None, step: str = "04"
) -> Tuple[Tensor, Tensor]:
    """Tells torch.compile the results' sizes and types without running the step."""
    return torch.empty_like(q, memory_format=torch.contiguous_format), q.new_empty(q.shape[:3], dtype=torch.float32)


def sdpa(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """PyTorch's attention. Its causal mask begins at the top left, which is the lab's mask where seq_q = seq_kv."""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def milliseconds(launch: functools.partial) -> float:
    """The median time of a launch on the current stream, by CUDA events. `make bench` and `make peers` measure with
    more care: common/timing/README.md says what can go wrong."""
    times = []
    for _ in range(LAUNCHES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[LAUNCHES // 2]


def compare(q: Tensor, k: Tensor, v: Tensor, causal: bool, step: str) -> bool:
    """Prints how far the step is from attention in float64, and how far PyTorch's own attention is."""
    exact = sdpa(q.double(), k.double(), v.double(), causal)
    o, _ = attention(q, k, v, causal, None, step)
    error, theirs = ((found.double() - exact).abs().max().item() for found in (o, sdpa(q, k, v, causal)))
    # The rule of FlashAttention's tests: at most twice the error of another implementation in the same type, and
    # one rounding more.
    allowed = 2 * theirs + torch.finfo(q.dtype).eps * exact.abs().max().item()
    good = error <= allowed  # written so that a NaN is not good
    print(
        f"{DTYPES[q.dtype]}{' causal' if causal else '':7}  {'ok' if good else 'WRONG'}: largest error {error:.3g}, "
        f"of SDPA {theirs:.3g}, allowed {allowed:.3g}"
    )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description="A step as an operator of PyTorch, beside PyTorch's attention.")
    parser.add_argument("--step", default="04", help="the step's number (default 04)")
    parser.add_argument("--device", choices=BUILDS, help="cpu is the emulator (default: cuda where there is a GPU)")
    options = parser.parse_args()
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        name = load(options.step, device).name
    except (FileNotFoundError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"step {name} of {BUILDS[device]}, called from PyTorch")

    seq = 1024 if device == "cuda" else 96
    torch.manual_seed(1)
    good = True
    for dtype in DTYPES:
        q, k, v = (torch.randn(2, 4, seq, 64, dtype=torch.float32).to(device, dtype) for _ in range(3))
        for causal in (False, True):
            try:
                good = compare(q, k, v, causal, options.step) and good
            except ValueError as error:  # such as bf16 on a T4
                print(error)
    try:
        attention(q, k[:, :, :, :32], v, False, None, options.step)
        good = False
    except ValueError as error:
        print(f"ValueError for tensors that do not fit: {error}")
    if device == "cuda":
        q, k, v = (torch.randn(4, 32, 2048, 64, device=device, dtype=torch.float16) for _ in range(3))
        stream = torch.cuda.Stream()  # one of our own, to show that the operator follows it
        stream.wait_stream(torch.cuda.current_stream())  # which makes the tensors
        with torch.cuda.stream(stream):
            ours = milliseconds(functools.partial(attention, q, k, v, False, None, options.step))
            theirs = milliseconds(functools.partial(sdpa, q, k, v, False))
        print(f"4x32x2048x64 fp16: {ours:.3f} ms, SDPA {theirs:.3f} ms")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
