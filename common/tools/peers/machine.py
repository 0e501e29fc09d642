"""What a recorded number needs beside it: the GPU's state, the source, the time."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime, timezone

# The fields of nvidia-smi, and the columns they fill before and after a measurement.
_FIELDS = ("driver_version", "clocks.sm", "clocks.mem", "power.draw", "power.limit", "temperature.gpu")


def _first_line(*command: str) -> str:
    """The first line that a command prints, "" when it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.partition("\n")[0].strip()


def parse_state(line: str) -> dict[str, str]:
    """nvidia-smi's line for the fields, without units; what it does not tell is ""."""
    values = [value.strip() for value in line.split(",")]
    if len(values) != len(_FIELDS):
        values = [""] * len(_FIELDS)
    return {field: "" if value.startswith("[") else value for field, value in zip(_FIELDS, values)}


def bus_id() -> str:
    """The PCI address of CUDA's device 0. nvidia-smi's own numbers do not follow CUDA_VISIBLE_DEVICES."""
    import torch

    gpu = torch.cuda.get_device_properties(0)
    return f"{gpu.pci_domain_id:08X}:{gpu.pci_bus_id:02X}:{gpu.pci_device_id:02X}.0"


def read_state() -> dict[str, str]:
    query = f"--query-gpu={','.join(_FIELDS)}"
    return parse_state(_first_line("nvidia-smi", "-i", bus_id(), query, "--format=csv,noheader,nounits"))


def read_gpu() -> str:
    """The beginning of the GPU's UUID, which tells two GPUs of one kind apart: they differ by some percent."""
    return _first_line("nvidia-smi", "-i", bus_id(), "--query-gpu=uuid", "--format=csv,noheader")[:12] or "unknown"


def state_columns(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    return {
        "driver": after["driver_version"],
        "sm_clock_before_mhz": before["clocks.sm"],
        "sm_clock_after_mhz": after["clocks.sm"],
        "memory_clock_mhz": after["clocks.mem"],
        "power_before_w": before["power.draw"],
        "power_after_w": after["power.draw"],
        "power_limit_w": after["power.limit"],
        "temperature_before_c": before["temperature.gpu"],
        "temperature_after_c": after["temperature.gpu"],
    }


def read_commit() -> str:
    """LAB_COMMIT of the environment, else what git says, else "unknown"."""
    given = os.environ.get("LAB_COMMIT", "")
    return given or _first_line("git", "describe", "--always", "--dirty") or "unknown"


def read_date() -> str:
    """ISO 8601, UTC."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
