"""How many times as fast a step is as another contender, in problems whose launches may be too short to time singly.

decode.csv and waves.csv have times of single launches, and those of a replayed graph where these are below 50
microseconds. The two kinds must not be mixed, so a problem is compared by one of them, as in the tables of these
records (scripts/decode_times.awk, scripts/wave_times.awk).
"""

from __future__ import annotations

from collections import defaultdict

from .records import Problem, Records, Refused, is_named, number

Times = dict[str, tuple[float, float | None]]  # of each contender: a single launch, and one in a graph


def _is_peer(name: str) -> bool:
    return not name[:1].isdigit() and name != "only_reading"


def _time(times: Times, name: str, in_graph: bool) -> float:
    single, graph = times[name]
    return graph if in_graph and graph is not None else single


def _fastest(times: Times, names: list[str], in_graph: bool) -> str | None:
    return min(names, key=lambda name: _time(times, name, in_graph), default=None)


def _is_in_graph(file: str, times: Times, step: str) -> bool:
    """Whether launches in a graph are compared: all contenders of waves.csv need one, of decode.csv step and peer."""
    if file.rpartition("/")[2].startswith("waves"):
        return all(graph is not None for _, graph in times.values())
    peer = _fastest(times, list(filter(_is_peer, times)), True)
    return all(times[name][1] is not None for name in (step, peer) if name)


def times_as_fast(records: Records, words: str, device: str) -> list[tuple[Problem, float]]:
    """Of "FILE STEP OTHER CONDITION...": the time of the other divided by that of the step, for each problem.

    The other is a contender, the fastest of several, such as 18|20, or best_peer.
    """
    file, step, other, *conditions = [*words.split(), "", "", ""]
    chosen = " ".join([file, *filter(None, conditions)])
    problems: dict[Problem, Times] = defaultdict(dict)
    for problem, row in records.rows(chosen, device, "median_ms"):
        if row["median_ms"]:
            graph = number(row.get("graph_ms") or "")
            problems[problem][row["step"]] = (float(row["median_ms"]), graph)
    ratios = []
    for problem, times in problems.items():
        steps = [name for name in times if is_named(name, step)]
        others = [name for name in times if (_is_peer(name) if other == "best_peer" else is_named(name, other))]
        if steps and others:
            in_graph = _is_in_graph(file, times, steps[0])
            fastest = _fastest(times, others, in_graph)
            ratios.append((problem, _time(times, fastest, in_graph) / _time(times, steps[0], in_graph)))
    if not ratios:
        raise Refused(f"no problem has both contenders of times_as_fast[{words}]")
    return ratios
