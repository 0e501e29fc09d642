"""One shape: every contender checked against the reference, then timed in turn with the others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from . import machine, reference, timing
from .backends import CannotTake, Contender, Tensors
from .grid import Shape
from .inputs import make_inputs
from .record import COLUMNS, Record, Row, samples_row
from .summary import Library


@dataclass
class Session:
    """What stays the same from cell to cell."""

    record: Record
    contenders: list[Contender]
    library: Library
    device: str
    commit: str
    l2_bytes: int
    clock: timing.Clock
    plan: timing.Plan


@dataclass
class Entry:
    """What is found out about one contender."""

    contender: Contender
    reason: str = ""  # why it takes no part
    check: reference.Check | None = None
    timed: timing.Timed | None = None


def _make_sets(shape: Shape, count: int) -> list[Tensors]:
    """The same values in every set."""
    inputs = make_inputs(shape, "cuda")
    sets = []
    for number in range(count):
        q, k, v = inputs if number == 0 else (tensor.clone() for tensor in inputs)
        lse = torch.empty(q.shape[:3], dtype=torch.float32, device="cuda")
        sets.append(Tensors(q, k, v, torch.empty_like(q), lse))
    return sets


def _check(entry: Entry, shape: Shape, sets: list[Tensors], right: reference.Reference) -> None:
    """Runs the contender once on outputs that hold NaN, which what is left unwritten keeps."""
    sets[0].o.fill_(math.nan)
    sets[0].lse.fill_(math.nan)
    try:
        entry.contender.prepare(shape, sets)
        o, lse = entry.contender.launch(0)
        torch.cuda.synchronize()
        entry.check = reference.check(o, lse, right)
    except CannotTake as error:
        entry.reason = str(error)
    except torch.OutOfMemoryError:
        entry.reason = "the GPU's memory is not enough for its workspace"
        torch.cuda.empty_cache()


def _time(session: Session, entries: list[Entry], set_count: int) -> None:
    """How fast a wrong result is does not matter: only those that passed."""
    for entry in entries:
        if entry.check and entry.check.passed:
            entry.timed = timing.Timed(entry.contender.launch, [])
    timed = [entry.timed for entry in entries if entry.timed]
    timing.run(timed, set_count, session.clock, session.plan)
    for entry in entries:
        if entry.timed and entry.timed.failure:
            entry.reason = entry.timed.failure


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def make_row(session: Session, shape: Shape, entry: Entry, o_bound: float, state: Row) -> Row:
    """The line of the record, without samples; a value that does not apply is empty."""
    row = dict.fromkeys(COLUMNS, "")
    row.update(state)
    row.update(shape.columns())
    row.update(step=entry.contender.name, device=session.device, cuda=entry.contender.cuda)
    if entry.reason or entry.check is None:
        row["check"] = "skipped"
        return row
    workspace = entry.contender.workspace_bytes()
    row.update(
        check="ok" if entry.check.passed else "FAILED",
        o_error=_number(entry.check.o_error),
        o_bound=_number(o_bound),
        lse_error=_number(entry.check.lse_error),
        workspace_bytes="" if workspace is None else str(workspace),
    )
    if entry.timed:
        summary = session.library.summarise(entry.timed.milliseconds)
        row.update(
            samples=str(len(entry.timed.milliseconds)),
            median_ms=_number(summary.median),
            ci_low_ms=_number(summary.low),
            ci_high_ms=_number(summary.high),
            p5_ms=_number(summary.p5),
            p95_ms=_number(summary.p95),
            tflops=_number(session.library.tflops(shape, summary.median)),
        )
    return row


def measure(session: Session, shape: Shape) -> None:
    """Measures the cell and adds its rows to the record; the caller saves it."""
    before = machine.read_state()
    set_bytes = 4 * shape.tensor_bytes + 4 * shape.batch * shape.heads * shape.seq
    sets = _make_sets(shape, timing.rotations(set_bytes, session.l2_bytes))
    first = sets[0]
    right = reference.compute(first.q, first.k, first.v, shape.causal, shape.scale)
    entries = [Entry(contender) for contender in session.contenders]
    for entry in entries:
        _check(entry, shape, sets, right)
    o_bound = right.o_bound
    del right, first  # their memory is for the contenders
    _time(session, entries, len(sets))
    state = machine.state_columns(before, machine.read_state())
    state.update(commit=session.commit, date=machine.read_date())
    for entry in entries:
        row = make_row(session, shape, entry, o_bound, state)
        samples = samples_row(row, entry.timed.milliseconds) if entry.timed and row["samples"] else None
        session.record.add(row, samples)
        if entry.reason:
            session.record.reasons[entry.contender.name, str(shape)] = entry.reason
        entry.contender.release()
    torch.cuda.empty_cache()
