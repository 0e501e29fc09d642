"""python3 -m peers.context_parallel FILE.csv [LENGTH...]: times PyTorch's context parallelism on all GPUs.

Each GPU has a process of its own. PyTorch shares the sequence out (zigzag under a causal mask), and passes K and V on by an
all-gather or in a ring. Both are timed, after a short sequence whose result is compared with attention on one GPU. The
processes say on standard error where they are, and a time limit ends them; what has been timed until then is kept.

Both are timed beside PyTorch's attention on one GPU, which is rank 0's, in rounds of random order (group.py), while the
other GPUs rest. The columns are some of those of groups.csv, and FILE-samples.csv has a line for each round. The
efficiency is the time of one GPU, divided by the number of GPUs and by the time, from pairs of one round.

--rehearse runs the same program on the CPU with two processes. PyTorch has no context parallelism there, so the
processes gather K and V by themselves, without a mask. --library names libpeers.so, which draws the rounds.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from . import finish, grid, group, group_row, machine, processes, timing

BAD_INPUT = 2
FAILED = 1
HEADS, DIM = 16, 128
SHORT, REHEARSED = 2048, 256  # the length whose result is compared
USUAL = [16384, 32768, 65536]
ALONE = "sdpa_cudnn"  # on one GPU
METHODS = {"allgather": "context_parallel_gather", "alltoall": "context_parallel_ring"}


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers.context_parallel", description="Times PyTorch's context parallelism.")
    parser.add_argument("file", type=Path, help="the CSV to write")
    parser.add_argument(
        "lengths", type=int, nargs="*", default=USUAL, help="of the sequence, multiples of twice the number of GPUs"
    )
    parser.add_argument("--library", type=Path, default=Path("build/gpu/libpeers.so"), help="build/gpu/libpeers.so")
    parser.add_argument("--limit", type=float, default=300, help="seconds for everything (default 300)")
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


def launches_of(seq: int, causal: bool, gpus: int) -> int:
    """About 40 ms of work at 500 TFLOP/s, in 3 to 50 launches."""
    operations = 4 * seq * seq * HEADS * DIM / (2 if causal else 1)
    return int(min(50, max(3, 40e-3 / (operations / gpus / 500e12))))


class Worker:
    """A rank. It prints each result as a line of JSON on standard output, if it is rank 0."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.begin = time.monotonic()
        self.rank, self.ranks, self.rehearse = options.rank, options.gpus, options.rehearse
        self.library = options.library
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

        # A GPU that waits for what comes next must not be busy with that, as one is that waits in NCCL.
        self.orders = dist.new_group(backend="gloo")
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

    def milliseconds(self, call, launches: int, gpus: int) -> float:
        """The time of one call on the slowest rank, from a run of several. The call before them is not timed: it keeps the
        GPUs busy while the host enqueues the others."""
        if gpus > 1:
            self.synchronize()
        call()
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
        if gpus == 1:
            return mine
        slowest = self.torch.tensor([mine], device=self.device)
        self.dist.all_reduce(slowest, self.dist.ReduceOp.MAX)
        return slowest.item()

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
        """Compares the rank's rows with those of attention on one GPU: "ok", or what is wrong. Attention on one GPU must
        stay what it is while rows are shared, because both are timed in turn."""
        tensors = self.tensors(self.short)
        whole = self.attention(*tensors, causal).clone()
        buffers = [tensor.clone() for tensor in (*tensors, whole)]
        self.choose(method, causal)
        with self.shared(buffers):
            error = (self.attention_of_shares(*buffers[:3], causal) - buffers[3]).abs().max().float()
            alone = self.attention(*tensors, causal)
            error = error.maximum((alone - whole).abs().max().float())
        self.dist.all_reduce(error, self.dist.ReduceOp.MAX)
        return "ok" if error.item() < 0.02 else f"wrong by {error.item():.3g}"

    def next(self, number: int = group.END) -> int:
        """What rank 0 announces to all; the others leave the number out."""
        order = self.torch.tensor([number])
        self.dist.broadcast(order, 0, group=self.orders)
        return int(order.item())

    def works(self, tensors, buffers, causal: bool) -> list[group.Work]:
        """The contenders; `buffers` hold the rank's rows of the tensors. The first is the one that runs on one GPU alone."""
        seq = tensors[0].shape[2]

        def work(name: str, gpus: int, prepare, call) -> group.Work:
            launches = 1 if self.rehearse else launches_of(seq, causal, gpus)

            def milliseconds() -> float:
                prepare()
                return self.milliseconds(call, launches, gpus)

            return group.Work(name, gpus, launches, milliseconds)

        works = [work(ALONE, 1, lambda: None, lambda: self.attention(*tensors, causal))]
        for method, name in METHODS.items():
            prepare = functools.partial(self.choose, method, causal)
            works.append(work(name, self.ranks, prepare, lambda: self.attention_of_shares(*buffers, causal)))
        return works

    def time_one(self, seq: int, causal: bool, checks: dict[str, str]) -> None:
        """All contenders of a length, in rounds; rank 0 prints their results."""
        tensors = self.tensors(seq)
        buffers = [tensor.clone() for tensor in tensors]
        self.choose(next(iter(METHODS)), causal)  # it shares rows out in the same way for all
        before = self.state()
        with self.shared(buffers):
            works = self.works(tensors, buffers, causal)
            if self.rank > 0:
                group.follow(works, self.rank, self.next)
                return
            library = timing.Library(self.library)
            run = group.lead(library, works, group.group_plan(library, self.rehearse), self.next, library.read_devices)
        shape = grid.Shape("bf16", 1, HEADS, seq, DIM, causal)
        known = {
            **machine.state_columns(before, self.state()),
            "commit": machine.read_commit(),
            "date": machine.read_date(),
            "cuda": self.torch.version.cuda or "",
            "device": "CPU" if self.rehearse else self.torch.cuda.get_device_name(),
            "dtype": "fp32" if self.rehearse else "bf16",
        }
        for work in works:
            row, samples = group_row.make(library, run, work, ALONE, shape, {"check": checks.get(work.name, "ok"), **known})
            self.say(group_row.in_words(row))
            print(json.dumps({"row": row, "samples": samples}), flush=True)

    def state(self) -> dict[str, str]:
        return machine.parse_state("") if self.rehearse or self.rank > 0 else machine.read_state()

    def time_all(self, lengths: list[int]) -> None:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        backend = SDPBackend.MATH if self.rehearse else SDPBackend.CUDNN_ATTENTION
        masks = (False,) if self.rehearse else (False, True)
        with self.torch.no_grad(), sdpa_kernel(backend):
            checks: dict[bool, dict[str, str]] = {causal: {} for causal in masks}
            for causal in masks:
                for method, name in METHODS.items():
                    found = checks[causal][name] = self.check(method, causal)
                    self.say(f"{self.short} rows, {method}, {'causal' if causal else 'full'}: {found}")
            for seq in lengths:
                for causal in masks:
                    self.time_one(seq, causal, checks[causal])
        self.dist.barrier()
        self.dist.destroy_process_group()


# ---- The process that starts them ---------------------------------------------------------------


def start(options: argparse.Namespace, rank: int, port: int, out) -> subprocess.Popen:
    command = [sys.executable, "-m", "peers.context_parallel", str(options.file), *map(str, options.lengths)]
    command += ["--gpus", str(options.gpus), "--rank", str(rank), "--library", str(options.library)]
    command += ["--rehearse"] if options.rehearse else []
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=out, env=environment)


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
    if not options.library.is_file():
        print(f"error: there is no {options.library}: make groups builds it", file=sys.stderr)
        return BAD_INPUT
    port = processes.free_port()
    with tempfile.TemporaryFile("w+") as results:
        ranks = [start(options, rank, port, results if rank == 0 else subprocess.DEVNULL) for rank in range(options.gpus)]
        reason = processes.wait(ranks, options.limit)
        results.seek(0)
        lines = [json.loads(line) for line in results if line.endswith("\n")]
    if lines:
        group_row.write(options.file, lines)
        print(f"written: {options.file}")
    if reason:
        print(f"error: {reason}; {len(lines)} results are kept", file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(finish.run(main))
