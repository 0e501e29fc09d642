"""One shape: every contender checked against the reference, then timed in turn with the others."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from . import machine, reference, timing
from .backends import StepContender
from .contender import CannotTake, Contender, Tensors
from .grid import Shape
from .inputs import make_inputs
from .only_reading import OnlyReading
from .record import Record, samples_rows
from .row import Measured, make_row
from .table import ONLY_READING, PEERS


@dataclass
class Session:
    """What stays the same from cell to cell."""

    record: Record
    contenders: list[Contender]
    library: timing.Library
    device: str
    commit: str
    l2_bytes: int
    plan: timing.Plan


@dataclass
class Entry:
    """What is found out about one contender."""

    contender: Contender
    reason: str = ""  # why it takes no part
    check: reference.Check | None = None


def _make_sets(shape: Shape, count: int) -> list[Tensors]:
    """The same values in every set. Small tensors are in thousands of sets: one allocation for all of each."""
    q, k, v = (tensor.expand(count, *tensor.shape).contiguous() for tensor in make_inputs(shape, "cuda"))
    o = torch.empty_like(q)
    lse = torch.empty(q.shape[:4], dtype=torch.float32, device="cuda")
    return [Tensors(q[i], k[i], v[i], o[i], lse[i]) for i in range(count)]


def _poison(contender: Contender, buffers: Tensors) -> None:
    """Fills the outputs, and a step's workspace, with bytes of 0xff: NaN, which what is left unwritten keeps."""
    buffers.o.view(torch.int16).fill_(-1)
    buffers.lse.view(torch.int32).fill_(-1)
    if isinstance(contender, StepContender):
        contender.poison_workspace()


def _check(entry: Entry, shape: Shape, sets: list[Tensors], right: reference.Reference) -> None:
    """Runs the contender on poisoned outputs: with lse, and then as it is timed."""
    try:
        entry.contender.prepare(shape, sets)
        if isinstance(entry.contender, OnlyReading):  # it computes nothing
            entry.check = reference.Check(None, None, entry.contender.has_read_all())
            return
        for run in (entry.contender.launch_with_lse, lambda: (entry.contender.launch(0), None)):
            _poison(entry.contender, sets[0])
            o, lse = run()
            torch.cuda.synchronize()
            found = reference.check(o, lse, right, entry.contender.is_step)
            if entry.check is None or not found.passed:
                entry.check = found
    except CannotTake as error:
        entry.check, entry.reason = None, str(error)
    except torch.OutOfMemoryError:
        entry.check = None
        entry.reason = "the GPU's memory is not enough for its workspace"
        torch.cuda.empty_cache()


def _time(session: Session, entries: list[Entry], set_count: int) -> Measured | None:
    """How fast a wrong result is does not matter: only those that passed. None when there is none."""
    timed = [entry.contender for entry in entries if entry.check and entry.check.passed]
    if not timed:
        return None
    session.plan.rotations = set_count
    stream = torch.cuda.Stream()  # what is recorded as a graph cannot be on the default stream
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run = session.library.run(
            [(contender.name, contender.launch) for contender in timed],
            session.plan,
            stream.cuda_stream,
            torch.cuda.is_current_stream_capturing,
        )
    torch.cuda.synchronize()
    for entry in entries:
        if entry.contender in timed:
            entry.reason = run.failure(entry.contender.name)
    steps = [contender.name for contender in timed if contender.is_step]
    others = [contender.name for contender in timed if contender.name in PEERS]
    return Measured(session.library, run, steps, others)


def _check_again(entries: list[Entry], sets: list[Tensors], right: reference.Reference) -> None:
    """Runs what has been timed once more, on the last set: a contender may be right when it is checked on the first
    one, and do less in the launches after that."""
    for entry in entries:
        computes = not isinstance(entry.contender, OnlyReading)
        if not (computes and entry.check and entry.check.passed) or entry.reason:
            continue
        _poison(entry.contender, sets[-1])
        try:
            o = entry.contender.launch(len(sets) - 1)
            torch.cuda.synchronize()
            found = reference.check(o, None, right, entry.contender.is_step)
        except torch.OutOfMemoryError:
            entry.reason = "the GPU's memory is not enough to check it once more"
            torch.cuda.empty_cache()
            continue
        if not found.passed:
            entry.check = found


def _facts(entry: Entry, o_bound: float) -> dict[str, str]:
    """What the check found, as columns; a value that does not apply is empty."""
    if entry.reason or entry.check is None:
        return {"check": "skipped"}
    workspace = entry.contender.workspace_bytes()
    o_error, lse_error = entry.check.o_error, entry.check.lse_error
    return {
        "check": "ok" if entry.check.passed else "FAILED",
        "o_error": "" if o_error is None else f"{o_error:.6g}",
        "o_bound": "" if o_error is None else f"{o_bound:.6g}",
        "lse_error": "" if lse_error is None else f"{lse_error:.6g}",
        "workspace_bytes": "" if workspace is None else str(workspace),
    }


def measure(session: Session, shape: Shape) -> None:
    """Measures the cell and adds its rows to the record; the caller saves it."""
    before = machine.read_state()
    sets = _make_sets(shape, session.library.rotations(shape.set_bytes, session.l2_bytes))
    first = sets[0]
    right = reference.compute(first.q, first.k, first.v, shape.causal, shape.scale)
    entries = [Entry(contender) for contender in session.contenders]
    for entry in entries:
        _check(entry, shape, sets, right)
    right = right.to("cpu")  # the GPU's memory is for the contenders
    del first
    torch.cuda.empty_cache()  # what the checks took is for the stream of the timing
    measured = _time(session, entries, len(sets))
    state = machine.state_columns(before, machine.read_state())
    if measured:
        torch.cuda.empty_cache()
        _check_again(entries, sets, right.to("cuda"))
        right_ones = [entry for entry in entries if entry.check and entry.check.passed and not entry.reason]
        measured.keep({entry.contender.name for entry in right_ones})
    state.update(shape.columns(), device=session.device, gpu=machine.read_gpu())
    state.update(commit=session.commit, date=machine.read_date())
    for entry in entries:
        name = entry.contender.name
        row = make_row({**state, "step": name, "cuda": entry.contender.cuda}, _facts(entry, right.o_bound))
        samples = None
        if measured and row["check"] == "ok":
            row.update(measured.columns(name, shape))
            if name == ONLY_READING:
                row["tflops"] = ""
            samples = samples_rows(row, measured.run.bursts(name))
        session.record.add(row, samples)
        if entry.reason:
            session.record.reasons[name, str(shape)] = entry.reason
        entry.contender.release()
    if measured:
        for name in timing.FLOORS:
            row = make_row({**state, "step": name}, {})
            session.record.add_floor(samples_rows(row, measured.run.bursts(name)))
    torch.cuda.empty_cache()
