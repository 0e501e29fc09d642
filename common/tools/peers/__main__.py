"""python3 -m peers: the command line, and the cells one after the other."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from pathlib import Path

from . import finish, grid, machine, table, timing
from .record import Record, RecordError
from .steps import Step, StepError

SECONDS = 4.0
BAD_INPUT = 2
CHECK_FAILED = 1


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="peers", description="Times the steps and PyTorch's attention in turn."
    )
    parser.add_argument("--ready", action="store_true", help="only say whether PyTorch and a GPU are here")
    parser.add_argument("--folder", type=Path, help="where NAME.csv and NAME-samples.csv go")
    parser.add_argument("--name", default="peers", help="NAME of the files (default peers)")
    parser.add_argument("--library", type=Path, help="build/gpu/libpeers.so")
    parser.add_argument("--steps", type=Path, nargs="*", default=[], help="such as build/gpu/step04.so")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--spread", action="store_true", help="one length and ever larger scores, as make spread has it"
    )
    which.add_argument(
        "--users", action="store_true", help="shapes that users have and the grid lacks, as make shapes has it"
    )
    which.add_argument(
        "--decode", action="store_true", help="one query or four against many keys, as make decode has it"
    )
    which.add_argument(
        "--waves", action="store_true", help="few tiles, or few waves of tiles, as make waves has it"
    )
    parser.add_argument(
        "--fa3-decode", type=Path, help="a shared object with FlashAttention-3's kernels that split the keys"
    )
    parser.add_argument("--fa3", type=Path, help="a shared object with FlashAttention-3's kernels (flash_attention_3.py)")
    parser.add_argument("--quick", action="store_true", help="a part of the grid that takes about a minute")
    parser.add_argument("--fresh", action="store_true", help="measure again what is measured already")
    parser.add_argument(
        "--shapes", default="", help='only shapes with this in their name, such as "x512x64 fp16"'
    )
    parser.add_argument(
        "--without", nargs="+", default=[], choices=table.PEERS, metavar="PEER", help="who takes no part"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        help=f"that the launches of a row may take at most (default {SECONDS:g}), if they are one burst at least",
    )
    options = parser.parse_args(arguments)
    if not 0 < options.seconds < math.inf:
        parser.error(f"--seconds is {options.seconds:g}: it takes a number above 0")
    for name, path in (("FA3", options.fa3), ("FA3_DECODE", options.fa3_decode)):
        if path and not path.is_file():
            parser.error(f"there is no shared object {path}: {name}= names one with FlashAttention-3's kernels")
    if options.fa3_decode and not (options.decode or options.waves):
        parser.error("--fa3-decode is for few tiles: give --decode or --waves as well, or --fa3 alone")
    if not options.ready and not (options.folder and options.library):
        parser.error("--folder and --library are needed: make peers gives them")
    return options


def why_not_ready() -> str:
    """A sentence; "" when PyTorch and a GPU are here."""
    try:
        import torch
    except ImportError as error:
        return f"make peers, shapes, spread, waves and decode need PyTorch ({error}): python3 -m pip install torch"
    if not torch.cuda.is_available():
        return "make peers, shapes, spread, waves and decode need an NVIDIA GPU that PyTorch can use, and PyTorch sees none"
    return ""


def choose_shapes(options: argparse.Namespace) -> list[grid.Shape]:
    if options.spread:
        shapes = grid.spread(options.quick)
    elif options.decode:
        shapes = grid.decode(options.quick)
    elif options.waves:
        shapes = grid.waves(options.quick)
    elif options.users:
        shapes = grid.users(options.quick)
    else:
        shapes = grid.quick() if options.quick else grid.full()
    return [shape for shape in shapes if options.shapes in str(shape)]


class Progress:
    """One line on a terminal: how far, and how long it may still take."""

    def __init__(self, total: int) -> None:
        self._total, self._started = total, time.monotonic()

    def show(self, done: int, shape: grid.Shape) -> None:
        if not sys.stderr.isatty():
            return
        left = ""
        if done:
            seconds = (time.monotonic() - self._started) / done * (self._total - done)
            left = f", about {seconds:.0f} s left"
        print(
            f"\r\033[Kpeers: cell {done + 1} of {self._total}{left}: {shape}",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def end(self) -> None:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def run(options: argparse.Namespace) -> int:
    import torch

    from . import backends, cell
    from .only_reading import OnlyReading

    shapes = choose_shapes(options)
    if not shapes:
        print(f'error: no shape of the grid has "{options.shapes}" in its name', file=sys.stderr)
        return BAD_INPUT
    device = torch.cuda.get_device_properties(0)
    contenders: list[backends.Contender] = [backends.StepContender(Step(path)) for path in options.steps]
    contenders += [peer for peer in backends.peers(options.fa3, options.fa3_decode) if peer.name not in options.without]
    library = timing.Library(options.library)
    if options.decode:
        contenders.append(OnlyReading(library))
    record = Record(options.folder / f"{options.name}.csv")
    commit = machine.read_commit()
    if not options.fresh:
        dropped = record.resume(device.name, machine.read_state()["driver_version"], commit)
        if dropped:
            print(
                f"peers: {dropped} rows of {record.path} are not kept: of another commit or machine, or of one "
                "with changes that are not committed",
                file=sys.stderr,
            )
    here = (
        f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, "
        f"{torch.cuda.get_device_name(0)}, {device.multi_processor_count} multiprocessors, gpu {machine.read_gpu()}"
    )
    if here not in record.comments:
        record.comments.append(here)
    plan = library.default_plan()
    plan.seconds_most, plan.quiet = options.seconds, True
    session = cell.Session(
        record,
        contenders,
        library,
        device.name,
        commit,
        device.L2_cache_size,
        plan,
    )
    missing = [s for s in shapes if any(record.row(c.name, device.name, s) is None for c in contenders)]
    print(
        f"{len(missing)} of {len(shapes)} shapes to measure, {len(contenders)} contenders, on {device.name}"
    )
    progress = Progress(len(missing))
    for done, shape in enumerate(missing):
        progress.show(done, shape)
        cell.measure(session, shape)
        record.save()
    progress.end()
    rows = [record.row(c.name, device.name, shape) for shape in shapes for c in contenders]
    return report(record, [row for row in rows if row])


def report(record: Record, rows: list[dict[str, str]]) -> int:
    print("\n".join(table.lines(rows)))
    print(f"\nwritten: {record.path}\nwritten: {record.samples_path}", flush=True)
    reasons: dict[tuple[str, str], int] = {}
    for row in rows:
        if row["check"] == "skipped":
            reason = (row["step"], record.reasons.get((row["step"], table.shape_text(row)), "no reason kept"))
            reasons[reason] = reasons.get(reason, 0) + 1
    for (step, words), count in reasons.items():
        print(f"skipped: {step}, {count} of the shapes: {words}", file=sys.stderr)
    failed = [row for row in rows if row["check"] == "FAILED"]
    for row in failed:
        reason = (
            "it has not read all of K and V"
            if row["step"] == table.ONLY_READING
            else f"O is off by {row['o_error']}, where {row['o_bound']} is allowed; lse by {row['lse_error'] or 'nothing'}"
        )
        print(f"FAILED: {row['step']}, {table.shape_text(row)}: {reason}", file=sys.stderr)
    return CHECK_FAILED if any(not table.is_peer(row) for row in failed) else 0


def printable(text: str) -> str:
    """Without control characters, such as a file's name may hold: a terminal would obey them."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def main(arguments: list[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):  # as an exception, so that files are tidied up
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, lambda received, _: sys.exit(128 + received))
    options = parse(arguments)
    reason = why_not_ready()
    if reason:
        print(f"error: {reason}", file=sys.stderr)
        return BAD_INPUT
    if options.ready:
        return 0
    try:
        return run(options)
    except (RecordError, StepError, timing.TimingError, OSError) as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(finish.run(lambda: main(sys.argv[1:])))
