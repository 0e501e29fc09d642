"""Follows the links of the lab book and uses its controls."""

import pathlib
import tempfile

from browser import read_script

CRAWL = read_script("crawl.js")


def links(check):
    found = check.run(CRAWL)
    for fault in found["wrong"]:
        check.expect(False, fault)
    check.expect(found["count"] > 250, f"only {found['count']} views are linked")
    return f"{found['count']} views and {found['places']} places in them, each by its links"


def charts(check):
    """A document leads from a chart that the page does not hold to the view that draws its data, and only to that."""
    check.go("#/page/plots/README.md")
    views = check.run(
        "Object.fromEntries([...document.querySelectorAll('.file')].map((it) => [/the chart (\\S+svg)/.exec(it.textContent),"
        " it]).filter(([name]) => name).map(([name, it]) => [name[1],"
        " it.querySelector('a') && it.querySelector('a').getAttribute('href')]))"
    )
    for name in ("roofline", "memory-dim64", "latency", "decode", "spread-fp16", "saves", "sweep-17"):
        view = views[f"plots/nvidia-h200/{name}.svg"]
        check.expect(view is None, f"the data of {name} is said to be drawn by {view}")
    check.go(views["plots/nvidia-h200/timeline-09-dim128.svg"])
    file = check.run("document.querySelector('[data-name=file]').value")
    check.expect(file == "plots/data/nvidia-h200/timeline-09-dim128.csv", f"the timeline of step 09 leads to {file}")
    check.go(views["plots/nvidia-h200/ceiling-share-dim128-fp16.svg"])
    chosen = check.run("['what', 'dim', 'dtype'].map((it) => document.querySelector(`[data-name=${it}]`).value).join()")
    check.expect(chosen == "share,128,fp16", f"the share of the ceiling leads to {chosen}")
    check.go("#/curves")
    signs = check.run("[...document.querySelectorAll('.contenders svg')].map((it) => it.innerHTML)")
    check.expect(len(signs) > 10 and len(set(signs)) == len(signs), "two lines look alike beside their names")
    return f"{len(views)} charts of the record"


def keys(check):
    """Each key does what the page says."""

    def press(key):
        check.browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        check.browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        check.run("new Promise((done) => setTimeout(done, 50))")

    check.go("#/diff/13_softmax_overlap/14_pingpong")
    check.run("document.activeElement.blur()")
    press("n")
    press("n")
    place = check.run("document.getElementById('at-change').textContent")
    check.expect(place.startswith("change 2 of"), f"after n twice the page says: {place}")
    check.expect(check.run("scrollY") > 0, "n does not go to the next change")
    press("p")
    place = check.run("document.getElementById('at-change').textContent")
    check.expect(place.startswith("change 1 of"), f"after p the page says: {place}")
    press("]")
    check.expect(check.run("location.hash").endswith("14_pingpong/15_persistent"), "] does not go to the next step")
    press("[")
    check.expect(
        check.run("location.hash").endswith("13_softmax_overlap/14_pingpong"), "[ does not go to the step before"
    )
    press("/")
    check.expect(check.run("readAddress().view") == "search", "/ does not lead to the search")
    check.run("new Promise((done) => setTimeout(done, 50))")
    check.browser.call("Input.insertText", text="bank conflict")
    check.expect(check.run("document.querySelectorAll('.result').length") > 5, "the search finds nothing")
    check.expect("q=bank" in check.run("location.hash"), "the search is not in the address")
    return "n p ] [ /"


USE = read_script("use_controls.js")


def all_controls(check):
    used = 0
    for address in (
        "#/",
        "#/diff/13_softmax_overlap/14_pingpong",
        "#/curves",
        "#/curves?what=speedup",
        "#/curves?what=share",
        "#/step/05_wmma/source",
    ):
        check.go(address)
        found = check.run(USE)
        used += found["used"]
        for fault in found["wrong"]:
            check.expect(False, f"{address}: {fault}")
    check.go("#/diff/05_wmma/06_cp_async")
    check.run("document.getElementById('swap').click()")
    check.run("new Promise((done) => setTimeout(done, 50))")
    check.expect(check.run("location.hash").endswith("06_cp_async/05_wmma"), "Swap does not turn the sides round")
    check.run("document.getElementById('unfold').click()")
    check.expect(
        check.run("document.querySelectorAll('tbody[hidden]').length") == 0, "Show all lines leaves some folded"
    )
    dark = check.run("isDark()")
    check.run("document.getElementById('theme').click()")
    check.expect(check.run("isDark()") != dark, "Light or dark changes nothing")
    check.run("setTheme('')")
    moved = check.run("""(async () => {
      const pair = Object.keys(lab.difference).find((it) => lab.difference[it].come.length > 3);
      history.replaceState(null, '', '#/diff/' + pair.replace('|', '/'));
      show();
      const link = document.querySelector('.moved-to');
      link.click();
      return document.querySelectorAll('tr.flash').length;
    })()""")
    check.expect(moved == 1, "a moved line does not lead to its other place")
    return f"{used} choices, boxes and buttons"


def own_file(check):
    """The reader's own CSV is drawn, and what is saved holds it."""
    with tempfile.TemporaryDirectory() as folder:
        own = pathlib.Path(folder, "mine.csv")
        own.write_text(
            "# a comment\nstep,dtype,batch,heads,seq_q,head_dim,causal,median_ms\n"
            "14_pingpong,fp16,16,32,1024,64,0,0.5\n14_pingpong,fp16,8,32,2048,64,0,0.9\n",
            encoding="ascii",
        )
        bad = pathlib.Path(folder, "bad.csv")
        bad.write_text("a,b\n1,2\n", encoding="ascii")
        check.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)

        def choose(path):
            check.go("#/curves?dtype=fp16&dim=128&causal=1")
            node = check.browser.call("Runtime.evaluate", expression="document.getElementById('own-file')")
            check.browser.call("DOM.setFileInputFiles", files=[str(path)], objectId=node["result"]["objectId"])
            check.run("new Promise((done) => setTimeout(done, 200))")

        choose(bad)
        check.expect(
            "lacks the columns step" in check.run("document.querySelector('.own-note').textContent"),
            "a file without the columns is not refused in a sentence",
        )
        choose(own)
        check.expect(
            "dim=64" in check.run("location.hash"), "the choices do not change to those of the reader's own file"
        )
        rows = check.run(
            "[...document.querySelectorAll('tr[data-step=\"14_pingpong (own)\"]')].map((it) => +it.dataset.value)"
        )
        wanted = [4 * 16 * 32 * 64 * 1024**2 / 0.5 / 1e9, 4 * 8 * 32 * 64 * 2048**2 / 0.9 / 1e9]
        check.expect(
            len(rows) == 2 and all(abs(a - b) < 1e-6 * b for a, b in zip(rows, wanted)),
            f"the reader's own times are drawn as {rows}, not {wanted}",
        )
        check.expect(
            check.run("document.querySelectorAll('svg [data-series=\"14_pingpong (own)\"]').length") == 1,
            "the reader's own step has no line in the chart",
        )
        for button, name, text in (
            ("save-csv", "curves.csv", "14_pingpong (own),fp16"),
            ("save-svg", "curves.svg", "<svg"),
        ):
            check.run("document.getElementById(id_).click()", id_=button)
            saved = pathlib.Path(folder, name)
            for _ in range(60):
                if saved.is_file() and saved.stat().st_size:
                    break
                check.run("new Promise((done) => setTimeout(done, 50))")
            check.expect(
                saved.is_file() and text in saved.read_text(encoding="utf-8"), f"{name} is not saved as it should be"
            )
        check.run("document.getElementById('own-remove').click()")
        check.expect(
            check.run("document.querySelectorAll('tr[data-step$=\"(own)\"]').length") == 0, "the own file stays"
        )
    return "drawn, refused, saved as CSV and SVG"


def quiz(check):
    """A wrong and a right guess, the tools and the story."""
    check.go(
        check.run(
            "(() => { const bug = bugs().find((it) => verdicts(it).length); return address('bug', [bug.step, String(bug.index)]); })()"
        )
    )
    found = check.run("""(() => {
      const bug = bugs().find((it) => verdicts(it).length);
      const told = document.getElementById('main').innerText.includes(bug.head.Title);
      const line = bug.changes.hunks[0][2];
      const guess = (number) => document.querySelector(`button[aria-label="line ${number} is wrong"]`).click();
      guess(1);
      const wrong = document.querySelector('.answer').textContent;
      guess(line);
      document.getElementById('tools').open = true;
      const said = verdicts(bug).map((it) => it.row.check_message);
      return {told, title: bug.head.Title, said, wrong, right: document.querySelector('.answer').textContent, tools: document.getElementById('tools').innerText,
        story: document.getElementById('story').innerText};
    })()""")
    check.expect("as it should be" in found["wrong"], "a wrong guess is not told")
    check.expect(found["right"].startswith("Right"), f"a right guess is answered with: {found['right']}")
    check.expect(not found["told"], "the bug's name is told at once")
    check.expect(found["said"] and found["said"][0] in found["tools"], "the report of the tools is missing")
    check.expect(found["title"] in found["story"], "the story is missing")
    return "a wrong and a right guess"
