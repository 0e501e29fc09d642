"""Compares the numbers that the lab book shows with the record and with the lab's own tools."""

import csv
import math
import pathlib
import re
import subprocess

from browser import read_script

DATA = pathlib.Path("plots/data")


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def same_speed(shown, row):
    """The page computes TFLOP/s from the median, which the record has with six digits, as it has the speed."""
    return math.isclose(float(shown), float(row["tflops"]), rel_tol=1e-5)


def ladder(check):
    """TFLOP/s of each step at each problem of each GPU."""
    compared = 0
    for path in sorted(DATA.glob("*/ladder*.csv")):
        if path.stem.endswith("samples"):
            continue
        check.go(f"#/?gpu={path.parent.name}&problem={path.stem}")
        shown = dict(
            check.run(
                "[...document.querySelectorAll('td[data-tflops]')].map((it) => [it.dataset.step, it.dataset.tflops])"
            )
        )
        for row in rows_of(path):
            if row["step"] in shown or pathlib.Path("steps", row["step"]).is_dir():
                compared += 1
                check.expect(
                    same_speed(shown.get(row["step"], "nan"), row),
                    f"{path}: {row['step']} has {row['tflops']} TFLOP/s, and the page says {shown.get(row['step'])}",
                )
    check.expect(compared > 0 or not list(DATA.glob("*/ladder*.csv")), "no step of the ladder was compared")
    return f"{compared} speeds of the record"


def curves(check):
    """Each point of each curve is the newest row of the record for its step and problem."""
    newest = {}
    for path in sorted(DATA.glob("*/*.csv")):
        if not re.fullmatch(r"ladder.*|bench|peers", path.stem) or path.stem.endswith("samples"):
            continue
        if not path.stem.startswith("ladder") and not path.with_name("ladder.csv").is_file():
            continue  # the page draws curves of GPUs with a whole ladder
        for row in rows_of(path):
            if row["median_ms"] and float(row["median_ms"]) > 0 and row["check"] == "ok":
                problem = ",".join(
                    row[name]
                    for name in ("dtype", "batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "causal")
                )
                key = (path.parent.name, row["step"], problem)
                if key not in newest or newest[key]["date"] < row["date"]:
                    newest[key] = row
    compared = 0
    for gpu in sorted({key[0] for key in newest}):
        for dtype in ("fp16", "bf16"):
            for dim in ("64", "128"):
                for causal in ("0", "1"):
                    names = sorted({key[1] for key in newest if key[0] == gpu})
                    check.go(f"#/curves?gpu={gpu}&dtype={dtype}&dim={dim}&causal={causal}&steps={','.join(names)}")
                    shown = check.run("[...document.querySelectorAll('tr[data-step]')].map((it) => ({...it.dataset}))")
                    for point in shown:
                        row = newest.get((gpu, point["step"], point["problem"]))
                        compared += 1
                        check.expect(
                            row
                            and same_speed(point["value"], row)
                            and float(row["median_ms"]) == float(point["ms"]),
                            f"curves: {point['step']} at {point['problem']} is drawn at {point['value']}",
                        )
                    steps = {
                        key[1]
                        for key in newest
                        if key[0] == gpu
                        and key[2].startswith(dtype + ",")
                        and key[2].endswith(f",{dim},{causal}")
                        and key[2].split(",")[4] == key[2].split(",")[5]
                    }
                    check.expect(
                        steps <= {point["step"] for point in shown} or not steps,
                        f"curves, {dtype} {dim} {causal}: {steps - {point['step'] for point in shown}} is not drawn",
                    )
    return f"{compared} points of the record"


def variants(check):
    """How fast each recorded variant was beside its step."""
    return f"{times_of(check, 'variants')} times of variants"


def times_of(check, kind):
    """How fast each recorded variant or substep was beside its step: returns how many are compared."""
    compared = 0
    recorded = {}
    for path in sorted(DATA.glob(f"*/{kind}*.csv")):
        if path.stem.endswith("samples"):
            continue
        for row in rows_of(path):
            name = row["variant"]
            if name and row["median_ms"] and pathlib.Path("steps", row["step"], kind, f"{name}.patch").is_file():
                recorded.setdefault(row["step"], []).append((name, row))
    for step, rows in sorted(recorded.items()):
        check.go(f"#/step/{step}/{kind}")
        shown = check.run("[...document.querySelectorAll('li[data-variant]')].map((it) => [it.dataset.variant, it.textContent])")
        check.expect(len(shown) == len(rows), f"{step}: {len(rows)} times of {kind} are recorded, {len(shown)} are shown")
        for name, row in rows:
            compared += 1
            ratio = row.get("speedup")
            known = float(ratio or row["median_ms"])
            numbers = [
                float(number)
                for variant, text in shown
                if variant == name
                for number in re.findall(r": ([0-9.]+) " + ("×" if ratio else "ms"), text)
            ]
            check.expect(
                any(abs(number - known) < 0.006 * known for number in numbers),
                f"{step}, {name}: {known} is recorded, and the page says {numbers}",
            )
    check.expect(compared > 0 or not recorded, f"no time of {kind} was compared")
    return compared


def counts(check):
    """The sums of the counts beside a source are those of the record."""
    compared = 0
    for path in sorted(DATA.glob("*/counts-lines.csv")):
        rows = rows_of(path)
        for step in ("02_tiled", "05_wmma", "14_pingpong"):
            source = f"steps/{step}/attention.cu"
            total = {}
            for row in rows:
                # A count of a line of an older file would stand beside another line, so the page has none.
                if row["step"] == step and row["file"] == source and has_lines_of(row["commit"], source):
                    value = int(row["global_load_sectors"]) + int(row["global_store_sectors"])
                    if value:
                        total[row["line"]] = total.get(row["line"], 0) + value
            check.go(f"#/step/{step}/source?count=sectors")
            shown = dict(
                check.run(
                    "[...document.querySelectorAll('tr[id] td.count[title]')].map((it) => [it.parentElement.id.slice(1), parseInt(it.title)])"
                )
            )
            compared += len(total)
            check.expect(shown == total, f"{step}: the sectors of its lines are {total}, and the page says {shown}")
    return f"{compared} counted lines"


DIFF = read_script("shown_diff.js")
SIDES = read_script("shown_sides.js")


def substeps(check):
    """The sources between two steps: each begins where the one before ends, and the last one is the step's."""
    seen = 0
    for folder in sorted(pathlib.Path("steps").glob("*/substeps")):
        step = folder.parent.name
        parent = subprocess.run(["bash", "-c", f"steps=steps; . scripts/parent.sh; parent {step}"], check=True, capture_output=True, text=True)
        check.go(f"#/step/{step}/substeps")
        shown = check.run(SIDES)
        check.expect(len(shown) == len(list(folder.glob("*.patch"))), f"{step}: {len(shown)} substeps are shown")
        source = without_marks(parent.stdout.strip())
        for number, (before, after) in enumerate(shown, 1):
            check.expect(before == source, f"{step}: substep {number} does not begin where the one before ends")
            source = after
            seen += 1
        check.expect(source == without_marks(step), f"{step}: the last substep does not end at the step")
    return f"{seen} substeps, {times_of(check, 'substeps')} times of them"


def without_marks(step):
    """The source of a step as the page shows it, without the lines that mark exercises."""
    return subprocess.run(
        ["awk", "-v", "mode=solution", "-f", "scripts/workshop/exercise.awk", f"steps/{step}/attention.cu"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.rstrip("\n")


def diffs(check):
    """Both sides of a diff are the whole sources, what it marks is what git reports, and its size is that of make diff."""
    steps = sorted(path.name for path in pathlib.Path("steps").iterdir() if (path / "attention.cu").is_file())
    sources = {step: without_marks(step) for step in steps}
    sizes = {}
    stat = subprocess.run(["scripts/diff.sh", "--stat", *steps], check=False, capture_output=True, text=True).stdout
    for line in stat.splitlines()[1:]:
        words = line.split()
        if len(words) == 4:
            sizes[words[0]] = (words[1], words[2])
    pairs = [(after, step) for step, (after, _) in sizes.items()] + [(steps[4], steps[8]), (steps[-1], steps[0])]
    for before, after in pairs:
        check.go(f"#/diff/{before}/{after}")
        shown = check.run(DIFF)
        check.expect(
            shown["before"] == sources[before], f"{before} to {after}: the left side is not {before}"
        )
        check.expect(
            shown["after"] == sources[after], f"{before} to {after}: the right side is not {after}"
        )
        check.expect(
            not shown["badly_marked"], f"{before} to {after}: unmarked, and differs: {shown['badly_marked'][:1]}"
        )
        if after in sizes and sizes[after][0] == before:
            check.expect(
                shown["size"].startswith(sizes[after][1] + " lines"),
                f"{after} changes {sizes[after][1]} lines by make diff STAT=1, and the page says: {shown['size']}",
            )
    # Lines that a step takes from a header have moved, and have not gone.
    check.go("#/diff/17_lazy_max/21_gather")
    gone, moved = check.run(
        "[document.querySelectorAll('td.gone:not(.moved)').length, document.querySelectorAll('td.moved.gone').length]"
    )
    check.expect(gone < 60 < moved, f"17 to 21: {gone} lines are marked as gone, and {moved} as moved to lazy_max.cuh")
    labels = check.run("[...document.querySelectorAll('.moved-to')].map((it) => it.textContent)")
    check.expect("in common/kernel/lazy_max.cuh" in labels, "17 to 21: no line says that it stands in lazy_max.cuh now")
    return f"{len(pairs)} pairs of sources"


def text_of(file):
    return pathlib.Path(file).read_text(encoding="utf-8")


def source_at(commit, file):
    command = ["git", "show", f"{commit.removesuffix('-dirty')}:{file}"]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def has_lines_of(commit, file):
    """Whether the file is the one of that commit, which may be unknown: then nothing is known against it."""
    before = source_at(commit, file)
    return before.returncode != 0 or before.stdout == text_of(file)


def stale(check):
    """The page says that a step's code has changed since a commit, if and only if it has; comments and layout do not count."""

    def code_of(text):
        without = re.sub(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*', lambda it: it[1] or " ", text, flags=re.DOTALL)
        return "".join(without.split())

    shown = set(check.run("Object.keys(lab.stale)"))
    recorded = set()
    for path in sorted(DATA.glob("*/*.csv")):
        if path.name == "mutants.csv":  # which the page does not show
            continue
        for row in rows_of(path):
            step = row.get("step", "")
            if pathlib.Path("steps", step, "attention.cu").is_file() and step and row.get("commit"):
                recorded.add((step, row["commit"]))
    for step, commit in sorted(recorded):
        file = f"steps/{step}/attention.cu"
        before = source_at(commit, file)
        exists = ["git", "cat-file", "-e", f"{commit.removesuffix('-dirty')}^{{commit}}"]
        known = subprocess.run(exists, check=False, capture_output=True).returncode == 0
        changed = known and code_of(before.stdout) != code_of(text_of(file))
        check.expect(
            (f"{step}|{commit}" in shown) == changed,
            f"{step} has {'' if changed else 'not '}changed since {commit}, and the page says otherwise",
        )
    return f"{len(shown)} of {len(recorded)} recordings are of an older source"
