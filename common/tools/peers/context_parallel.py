"""python3 -m peers.context_parallel FILE.csv [LENGTH...]: times PyTorch's context parallelism on all GPUs.

Each GPU has a process of its own. PyTorch shares the sequence out (zigzag under a causal mask), and passes K and V on by an
all-gather or in a ring. Both are timed, after a short sequence whose result is compared with attention on one GPU. The
processes say on standard error where they are, and a time limit ends them; what has been timed until then is kept.

The columns are some of those of groups.csv. The efficiency is the time of PyTorch's attention on one GPU, divided by the
number of GPUs and by the time. --rehearse runs the same program on the CPU with two processes. PyTorch has no context parallelism
there, so the processes gather K and V by themselves, without a mask.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from . import machine

BAD_INPUT = 2
FAILED = 1
HEADS, DIM, ROUNDS = 16, 128, 7
SHORT, REHEARSED = 2048, 256  # the length whose result is compared
USUAL = [16384, 32768, 65536]
COLUMNS = (
    *("step", "variant", "device", "gpus", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "causal"),
    *("check", "median_ms", "ci_low_ms", "ci_high_ms", "efficiency", "commit", "date"),
)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers.context_parallel", description="Times PyTorch's context parallelism.")
    parser.add_argument("file", type=Path, help="the CSV to write")
    parser.add_argument(
        "lengths", type=int, nargs="*", default=USUAL, help="of the sequence, multiples of twice the number of GPUs"
    )
    parser.add_argument("--limit", type=float, default=120, help="seconds for everything (default 120)")
    parser.add_argument("--gpus", type=int, help="how many (default all)")
    parser.add_argument("--rehearse", action="store_true", help="on the CPU, without PyTorch's context parallelism")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def count_gpus() -> int:
    """Without PyTorch, whose import takes long."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in done.stdout.splitlines())


# ---- One process a GPU --------------------------------------------------------------------------


class Worker:
    """A rank. It prints each result as a line of JSON on standard output, if it is rank 0."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.begin = time.monotonic()
        self.rank, self.ranks, self.rehearse = options.rank, options.gpus, options.rehearse
        self.short = REHEARSED if self.rehearse else SHORT
        self.say("importing PyTorch")
        import torch
        import torch.distributed as dist
        import torch.nn.functional

        self.torch, self.dist, self.functional = torch, dist, torch.nn.functional
        self.of_one_gpu = torch.nn.functional.scaled_dot_product_attention
        self.say(f"PyTorch {torch.__version__}: connecting {self.ranks} ranks")
        self.device = "cpu" if self.rehearse else f"cuda:{self.rank}"
        if not self.rehearse:
            torch.cuda.set_device(self.rank)
        dist.init_process_group(
            "gloo" if self.rehearse else "nccl",
            rank=self.rank,
            world_size=self.ranks,
            timeout=datetime.timedelta(seconds=60),
        )
        from torch.distributed.device_mesh import init_device_mesh

        self.mesh = init_device_mesh("cpu" if self.rehearse else "cuda", (self.ranks,))
        dist.all_reduce(torch.ones(1, device=self.device))
        self.say("connected")

    def say(self, text: str) -> None:
        if self.rank == 0:
            print(f"context_parallel: {time.monotonic() - self.begin:6.1f} s  {text}", file=sys.stderr, flush=True)

    def synchronize(self) -> None:
        if not self.rehearse:
            self.torch.cuda.synchronize()
        self.dist.barrier()

    def attention(self, q, k, v, causal: bool):
        return self.of_one_gpu(q, k, v, is_causal=causal)

    def attention_of_shares(self, q, k, v, causal: bool):
        """PyTorch replaces the function of its module within context_parallel, so it must be looked up each time."""
        if not self.rehearse:
            return self.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        shares = []
        for tensor in (k, v):
            parts = [self.torch.empty_like(tensor) for _ in range(self.ranks)]
            self.dist.all_gather(parts, tensor.contiguous())
            shares.append(self.torch.cat(parts, dim=2))
        return self.attention(q, *shares, causal)

    def milliseconds(self, call, launches: int) -> float:
        """The time of one call on the slowest rank, from a run of several behind one that is not timed."""
        call()
        self.synchronize()
        if self.rehearse:
            begin = time.perf_counter()
            for _ in range(launches):
                call()
            mine = 1000 * (time.perf_counter() - begin) / launches
        else:
            first, last = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            for _ in range(launches):
                call()
            last.record()
            self.torch.cuda.synchronize()
            mine = first.elapsed_time(last) / launches
        slowest = self.torch.tensor([mine], device=self.device)
        self.dist.all_reduce(slowest, self.dist.ReduceOp.MAX)
        return slowest.item()

    def several(self, call, launches: int) -> list[float]:
        times = []
        for _ in range(1 if self.rehearse else ROUNDS):
            times.append(self.milliseconds(call, launches))
            time.sleep(0 if self.rehearse else 0.05)
        return times

    def tensors(self, seq: int):
        self.torch.manual_seed(1)  # the same on all ranks
        kind = self.torch.float32 if self.rehearse else self.torch.bfloat16
        return [self.torch.randn(1, HEADS, seq, DIM, device=self.device, dtype=kind) for _ in range(3)]

    def shared(self, buffers):
        from torch.distributed.tensor.experimental import context_parallel

        return context_parallel(self.mesh, buffers=buffers, buffer_seq_dims=[2] * len(buffers))

    def choose(self, method: str, causal: bool) -> None:
        """How K and V travel, and how rows are shared out: zigzag under a mask, which PyTorch refuses without one."""
        from torch.distributed.tensor.experimental._attention import _cp_options, set_rotate_method

        set_rotate_method(method)
        _cp_options.enable_load_balance = causal

    def check(self, method: str, causal: bool) -> str:
        """Compares the rank's rows with those of attention on one GPU: "ok", or what is wrong."""
        tensors = self.tensors(self.short)
        expected = self.attention(*tensors, causal).clone()
        buffers = [tensor.clone() for tensor in tensors] + [expected]
        self.choose(method, causal)
        with self.shared(buffers):
            error = (self.attention_of_shares(*buffers[:3], causal) - buffers[3]).abs().max().float()
        self.dist.all_reduce(error, self.dist.ReduceOp.MAX)
        return "ok" if error.item() < 0.02 else f"wrong by {error.item():.3g}"

    def result(self, name: str, gpus: int, seq: int, causal: bool, check: str, times: list[float], one: float) -> None:
        median = statistics.median(times)
        line = {
            "step": name,
            "variant": "",
            "device": "CPU" if self.rehearse else self.torch.cuda.get_device_name(),
            "gpus": gpus,
            "dtype": "fp32" if self.rehearse else "bf16",
            **{"batch": 1, "heads": HEADS, "kv_heads": HEADS, "seq_q": seq, "seq_kv": seq, "head_dim": DIM},
            **{"causal": int(causal), "check": check, "median_ms": f"{median:.6g}"},
            **{"ci_low_ms": f"{min(times):.6g}", "ci_high_ms": f"{max(times):.6g}"},
            "efficiency": f"{one / gpus / median:.4f}",
        }
        self.say(f"{seq:8d} {'causal' if causal else 'full':6s} {name:26s} {median:9.4f} ms  {100 * one / gpus / median:5.1f} %")
        if self.rank == 0:
            print(json.dumps(line), flush=True)

    def time_all(self, lengths: list[int]) -> None:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        backend = SDPBackend.MATH if self.rehearse else SDPBackend.CUDNN_ATTENTION
        masks = (False,) if self.rehearse else (False, True)
        methods = {"allgather": "context_parallel_gather", "alltoall": "context_parallel_ring"}
        with self.torch.no_grad(), sdpa_kernel(backend):
            checks = {}
            for causal in masks:
                for method in methods:
                    checks[method, causal] = self.check(method, causal)
                    self.say(f"{self.short} rows, {method}, {'causal' if causal else 'full'}: {checks[method, causal]}")
            for seq in lengths:
                for causal in masks:
                    operations = 4 * seq * seq * HEADS * DIM / (2 if causal else 1)
                    launches = 1 if self.rehearse else int(min(50, max(3, 40e-3 / (operations / self.ranks / 500e12))))
                    tensors = self.tensors(seq)
                    alone = self.several(lambda: self.attention(*tensors, causal), launches)
                    one = statistics.median(alone)
                    self.result("sdpa_cudnn", 1, seq, causal, "ok", alone, one)
                    for method, name in methods.items():
                        self.choose(method, causal)
                        buffers = [tensor.clone() for tensor in tensors]
                        with self.shared(buffers):
                            times = self.several(lambda: self.attention_of_shares(*buffers, causal), launches)
                        self.result(name, self.ranks, seq, causal, checks[method, causal], times, one)
        self.dist.barrier()
        self.dist.destroy_process_group()


# ---- The process that starts them ---------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(options: argparse.Namespace, rank: int, port: int, out) -> subprocess.Popen:
    command = [sys.executable, "-m", "peers.context_parallel", str(options.file), *map(str, options.lengths)]
    command += ["--gpus", str(options.gpus), "--rank", str(rank)] + (["--rehearse"] if options.rehearse else [])
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=out, env=environment)


def wait(processes: list[subprocess.Popen], limit: float) -> str:
    """Waits for all. Returns "" or why it ended them."""
    end = time.monotonic() + limit
    reason = ""
    while not reason and any(process.poll() is None for process in processes):
        failed = [rank for rank, process in enumerate(processes) if process.poll() not in (None, 0)]
        if failed:
            reason = f"rank {failed[0]} has failed (exit status {processes[failed[0]].poll()})"
        elif time.monotonic() > end:
            reason = f"{limit:g} s have passed (--limit sets them)"
        time.sleep(0.05)
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
    failed = [rank for rank, process in enumerate(processes) if process.poll() != 0]
    return reason or (f"rank {failed[0]} has failed" if failed else "")


def write(path: Path, lines: list[dict]) -> None:
    """The file appears whole or not at all."""
    origin = {"commit": machine.read_commit(), "date": machine.read_date()}
    text = ",".join(COLUMNS) + "\n"
    for line in lines:
        text += ",".join(str({**line, **origin}[column]) for column in COLUMNS) + "\n"
    partial = path.with_name(path.name + ".new")
    partial.write_text(text, encoding="ascii")
    partial.replace(path)


def main(arguments: list[str] | None = None) -> int:
    options = parse(sys.argv[1:] if arguments is None else arguments)
    if options.rank is not None:
        try:
            Worker(options).time_all(options.lengths)
        except Exception:
            # The threads of a library may keep a process that has failed from ending.
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(FAILED)
        return 0
    if importlib.util.find_spec("torch") is None:
        print("error: PyTorch was not found, so its context parallelism cannot be timed: install it with pip", file=sys.stderr)
        return BAD_INPUT
    options.gpus = options.gpus or (2 if options.rehearse else count_gpus())
    if options.gpus < 2:
        print(f"error: context parallelism needs two GPUs, and there are {options.gpus}", file=sys.stderr)
        return BAD_INPUT
    odd = [length for length in options.lengths if length <= 0 or length % (2 * options.gpus)]
    if odd:
        print(f"error: the length {odd[0]} is not a multiple of {2 * options.gpus}, twice the number of GPUs", file=sys.stderr)
        return BAD_INPUT
    port = free_port()
    with tempfile.TemporaryFile("w+") as results:
        processes = [start(options, rank, port, results if rank == 0 else subprocess.DEVNULL) for rank in range(options.gpus)]
        reason = wait(processes, options.limit)
        results.seek(0)
        lines = [json.loads(line) for line in results if line.endswith("\n")]
    if lines:
        write(options.file, lines)
        print(f"written: {options.file}")
    if reason:
        print(f"error: {reason}; {len(lines)} results are kept", file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
