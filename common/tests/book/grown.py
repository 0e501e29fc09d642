"""Makes a lab book of a smaller lab that has grown: by a step, a file of the reader's own, and a timeline."""

import pathlib
import shutil
import subprocess
import tempfile

KEPT = ("01_naive", "02_tiled", "03_3dgrid", "04_online_softmax")
TIMELINE = (
    "step,device,dtype,batch,heads,seq_q,head_dim,causal,stretch,block,warp,begin,end,kind,key_block,file,line\n"
    + "".join(
        f"02_tiled,GPU,fp16,1,1,256,64,0,1000,0,{warp},{begin},{begin + length},{kind},1,attention.cu,100\n"
        for warp in range(4)
        for begin, length, kind in ((100, 250, "barrier_wait"), (400, 0, "scores"))
    )
)


def make(lab, program):
    """A copy of the lab, with few steps and without git, and the book of it."""
    shutil.copytree("scripts", lab / "scripts")
    shutil.copytree("common/tools/book/page", lab / "common/tools/book/page")
    for step in KEPT:
        shutil.copytree(f"steps/{step}", lab / "steps" / step)
    for path in ("README.md", "guide/glossary.md", "plots/data/nvidia-h200/ladder.csv"):
        if pathlib.Path(path).is_file():
            (lab / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, lab / path)
    new = lab / "steps/30_tried"
    new.mkdir()
    source = pathlib.Path("steps/03_3dgrid/attention.cu").read_text(encoding="utf-8")
    (new / "attention.cu").write_text(
        "// 30_tried: a step of the reader.\n// After: 02_tiled\n"
        + source.replace('return "03_3dgrid"', 'return "30_tried"'),
        encoding="utf-8",
    )
    own = lab / "mine/04_online_softmax"
    own.mkdir(parents=True)
    text = pathlib.Path("steps/04_online_softmax/attention.cu").read_text(encoding="utf-8")
    (own / "attention.cu").write_text(text.replace("row_max", "row_top"), encoding="utf-8")
    (lab / "plots/data/gpu").mkdir(parents=True)
    (lab / "plots/data/gpu/timeline-02-dim64.csv").write_text(TIMELINE, encoding="ascii")
    return subprocess.run(
        ["env", "WORK=1", "LAB_WORK=mine", "scripts/book.sh", program, "book/index.html"],
        cwd=lab,
        check=False,
        capture_output=True,
        text=True,
    )


def book(check):
    page = check.page
    with tempfile.TemporaryDirectory() as folder:
        lab = pathlib.Path(folder)
        made = make(lab, check.program)
        if not check.expect(made.returncode == 0, f"the book of a lab that has grown is not made: {made.stderr}"):
            return "not made"
        check.page = lab / "book/index.html"
        check.open("#/")
        ladder = check.run("document.querySelector('table.ladder').innerText")
        check.expect("30 tried" in ladder, "a new folder of steps is not on the ladder")
        check.expect(
            check.run("lab.step['30_tried'].parent") == "02_tiled",
            "the new step does not come after the step that it names",
        )
        check.go("#/diff/04_online_softmax/04_online_softmax%20(own)")
        # In the reader's file one name is another one: each line with it has a partner, in which that word is marked.
        renamed = check.run("lines('04_online_softmax').filter((it) => it.includes('row_max')).length")
        marked = check.run(
            "[...document.querySelectorAll('td.gone mark')].filter((it) => it.innerText === 'row_max').length"
        )
        check.expect(
            renamed == check.run("document.querySelectorAll('td.changed.come').length") and renamed <= marked,
            f"of {renamed} lines in which a word was changed, {marked} words are marked",
        )
        check.go("#/step/30_tried")
        check.expect(
            "30 tried" in check.run("document.querySelector('h1').innerText"), "a step without a document has no page"
        )
        check.go("#/timelines")
        check.run("new Promise(requestAnimationFrame)")
        check.expect(
            check.run("document.querySelectorAll('.timeline svg g rect').length") == 8,
            "the timeline does not show its events",
        )
        check.expect(
            check.run("document.querySelector('tr[data-kind=barrier_wait]').innerText").split()[-1] == "1000",
            "the clocks of the waits are not those of the file",
        )
        # The arrow keys read the events as the mouse does: the first, the next, and what another warp does then.
        said = check.run(
            "(() => { document.querySelector('.timeline').focus();"
            "for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown'])"
            " document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));"
            "return document.querySelector('.timeline + [role=status]').innerText })()"
        )
        check.expect("warp 1: scores, clocks 400 to 400" in said, f"the arrow keys lead to: {said}")
        check.expect(check.run("document.querySelectorAll('.timeline .chosen').length") == 1, "no event is marked")
        width = "+[...document.querySelectorAll('.timeline svg g rect')].find((it) => +it.getAttribute('width') > 5).getAttribute('width')"
        before = check.run(width)
        check.run(
            "[...document.querySelectorAll('.controls button')].find((it) => it.textContent === 'Zoom in').click()"
        )
        check.expect(abs(check.run(width) - 2 * before) < 1, "Zoom in does not zoom")
        check.browser.picture(page.parent / "pictures/timelines-1440-light.png")
    check.page = page
    return "a step, an own file and a timeline appear"
