"""Runs the cells of a notebook in their order, as a notebook server would: run_notebook.py NOTEBOOK [--all]

A cell that begins with %%bash is given to bash, every other one to Python, which keeps its variables and its folder
from cell to cell. Cells with the tag "slow" are run with --all alone. The cells run on the emulator, in a temporary
folder. There the first cells clone this repository; then links to the files of this checkout take the clone's place, so
that what is built already need not be built again. Exit status 1 when a cell fails.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[3]
CLONE = "attention-lab"


class StandInSVG:
    """IPython's, of which a machine without notebooks has none: it must be given a file with a drawing."""

    def __init__(self, filename: str) -> None:
        assert "<svg" in Path(filename).read_text()[:500], f"{filename} holds no drawing"


def code_cells(notebook: dict) -> list[tuple[int, str, bool]]:
    """Number, text, and whether it is slow."""
    assert notebook["nbformat"] == 4
    cells = []
    for number, cell in enumerate(notebook["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None, f"cell {number} holds an output of a run"
        cells.append((number, "".join(cell["source"]), "slow" in cell["metadata"].get("tags", [])))
    return cells


def run_cell(text: str, variables: dict) -> None:
    magic, _, commands = text.partition("\n")
    if magic == "%%bash":
        done = subprocess.run(["bash"], input=commands, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(done.stdout)
        if done.returncode != 0:
            raise SystemExit(f"bash ended with {done.returncode}")
    else:
        exec(compile(text, "cell", "exec"), variables)


def link_checkout(clone: Path) -> None:
    """The files and folders of this checkout in the place of the clone's. results/ and work/ stay the clone's own, and
    so does build/cpu/elsewhere, where the files of work/ are built."""
    assert (clone / "Makefile").is_file() and (clone / "examples").is_dir(), "the notebook has not cloned the lab"
    shutil.rmtree(clone)
    clone.mkdir()
    for entry in ROOT.iterdir():
        if entry.name not in (".git", "work", "results", "build"):
            (clone / entry.name).symlink_to(entry)
    built = ROOT / "build" / "cpu"
    (clone / "build" / "cpu").mkdir(parents=True)
    for entry in built.iterdir() if built.is_dir() else ():
        if entry.name != "elsewhere":
            (clone / "build" / "cpu" / entry.name).symlink_to(entry)


def run(path: Path, slow_too: bool, folder: Path) -> None:
    os.chdir(folder)
    variables: dict = {}
    ran, cloned = 0, False
    for number, text, slow in code_cells(json.loads(path.read_text())):
        if slow and not slow_too:
            continue
        print(f"--- cell {number}\n{text}\n---", flush=True)
        if text.startswith("REPOSITORY"):
            assert text == 'REPOSITORY = ""', "the notebook names a repository: the reader fills that in"
            text = f"REPOSITORY = {ROOT.as_uri()!r}"
        try:
            run_cell(text, variables)
            if not cloned and Path.cwd().name == CLONE:
                os.chdir(folder)
                link_checkout(folder / CLONE)
                os.chdir(CLONE)
                cloned = True
        except (Exception, SystemExit) as error:
            raise SystemExit(f"{path.name}, cell {number}: {error!r}") from error
        ran += 1
    assert cloned and ran >= 8, f"{ran} cells were run"
    print(f"notebook: {ran} cells run")


def main() -> None:
    arguments = sys.argv[1:]
    slow_too = "--all" in arguments
    (path,) = (Path(argument).resolve() for argument in arguments if argument != "--all")
    for setting in ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "LAB_WORK", "STEPS_FOLDER", "BXFI_MAP"):
        os.environ.pop(setting, None)
    os.environ["DEVICE"] = "cpu"
    if "IPython" not in sys.modules:
        try:
            import IPython  # noqa: F401
        except ImportError:
            shown = ModuleType("IPython.display")
            shown.SVG, shown.display = StandInSVG, lambda drawing: None
            sys.modules.update({"IPython": ModuleType("IPython"), "IPython.display": shown})
    with tempfile.TemporaryDirectory(prefix="lab-notebook-") as folder:
        try:
            run(path, slow_too, Path(folder))
        finally:
            os.chdir(ROOT)


if __name__ == "__main__":
    main()
