"""Processes that work together on one machine: where they meet, and how they end."""

from __future__ import annotations

import socket
import subprocess
import time


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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
