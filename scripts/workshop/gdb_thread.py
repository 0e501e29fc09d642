"""Keeps gdb in one thread of one block on the emulator. To be sourced by gdb, from scripts/workshop/gdb.sh.

A CUDA thread is a fiber there, of which gdb knows nothing. `next`, `step` and `finish` stay in their fiber by
themselves, because another one has another stack. A breakpoint would stop every fiber that comes to its line. So each
new breakpoint gets the chosen thread as its condition, unless it has one; outside of kernels it stops as it is.

LAB_THREAD is the condition, LAB_CHOSEN its words, such as "thread 5 of block (1,0,0)", and LAB_KERNEL the kernel.
"""

import os

import gdb

CONDITION = f"!emulator_current || ({os.environ['LAB_THREAD']})"


def stay(breakpoint: gdb.Breakpoint) -> None:
    if breakpoint.visible and breakpoint.type == gdb.BP_BREAKPOINT and not breakpoint.condition:
        breakpoint.condition = CONDITION


def say(text: str) -> None:
    try:
        os.write(3, f"{text}\n".encode())  # of a trace, whose other output goes nowhere
    except OSError:
        print(text)


def say_never(event: gdb.ExitedEvent) -> None:
    entry = next((each for each in gdb.breakpoints() if each.number == 1), None)
    if entry is not None and entry.hit_count == 0:
        say(
            f"The program has ended, and {os.environ['LAB_CHOSEN']} never entered {os.environ['LAB_KERNEL']}: "
            "the line \"counts\" of make run says how many blocks and threads there are."
        )


gdb.events.breakpoint_created.connect(stay)
gdb.events.exited.connect(say_never)
