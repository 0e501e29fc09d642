"""Prints the source lines that one thread of one block goes through, in order, with the values of its variables.

To be sourced by gdb, from scripts/workshop/gdb.sh, which has a breakpoint where the thread enters the kernel. A line
is followed by the variables that it has changed. Of a loop the first two rounds are shown, and a function is entered
the first time that it is called; "..." stands where the rest was left out. The emulator's own functions are left out.
"""

import os
import struct

import gdb

SOURCE = os.path.basename(os.path.dirname(os.environ["LAB_SOURCE"])) + "/attention.cu"
ROUNDS = 2  # of a loop
WIDTH = int(os.environ["LAB_WIDTH"])
OUTPUT = os.fdopen(3, "w")  # gdb's own output, with each place where it stops, goes elsewhere
MOST_ELEMENTS = 8  # of an array


def text_of_16(bits: int, bf16: bool) -> str:
    halves = struct.pack("<I", bits << 16) if bf16 else struct.pack("<H", bits)
    return f"{struct.unpack('<f' if bf16 else '<e', halves)[0]:.6g}"


def text_of(value: gdb.Value, depth: int = 0) -> str | None:
    """None for what is no number, and for pointers, whose values say nothing."""
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM):
        return str(value)
    if kind.code == gdb.TYPE_CODE_FLT:
        return f"{float(value):.6g}"
    if kind.code == gdb.TYPE_CODE_ARRAY and depth < 2:
        low, high = kind.range()
        elements = [text_of(value[i], depth + 1) for i in range(low, min(high, low + MOST_ELEMENTS - 1) + 1)]
        if None in elements:
            return None
        return "{" + ", ".join(elements) + (", ..." if high - low >= MOST_ELEMENTS else "") + "}"
    if kind.code == gdb.TYPE_CODE_STRUCT and depth < 2:
        fields = kind.fields()
        if [field.name for field in fields] == ["bits_"]:  # half or __nv_bfloat16
            return text_of_16(int(value["bits_"]), "bf16" in str(kind))
        try:  # small structs, such as float4
            members = [(field.name, text_of(value[field], depth + 1)) for field in fields]
        except gdb.error:
            return None
        if members and len(members) <= 4 and all(text is not None for _, text in members):
            return "{" + ", ".join(f"{name} = {text}" for name, text in members) + "}"
    return None


def variables(frame: gdb.Frame, line: int) -> dict[str, str]:
    """Those whose declarations the thread has passed. An inner variable hides an outer one of its name."""
    found: dict[str, str] = {}
    block = frame.block()
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if not symbol.is_variable and not symbol.is_argument or symbol.name in found:
                continue
            if symbol.is_variable and symbol.line >= line:
                continue
            try:
                text = text_of(symbol.value(frame))
            except (gdb.error, gdb.MemoryError):
                continue
            if text is not None:
                found[symbol.name] = text
        if block.function is not None:
            break
        block = block.superblock
    return found


def function_name(frame: gdb.Frame) -> str:
    return (frame.name() or "?").split("<")[0].split("(")[0]


def is_kernels(file: str) -> bool:
    return file.endswith(SOURCE) or file.endswith(".cuh")


def say(text: str) -> None:
    print(text if len(text) <= WIDTH else text[: WIDTH - 3] + "...", file=OUTPUT, flush=True)


class Trace:
    def __init__(self) -> None:
        self.visits: dict[tuple[str, int], int] = {}  # of a line, by function
        self.known: dict[str, dict[str, str]] = {}  # values, by frame
        self.skipped = False
        self.function = ""
        self.sources: dict[str, list[str]] = {}

    def source(self, file: str, line: int) -> str:
        if os.environ.get("PART") and file.endswith("/steps/" + SOURCE):
            return "..."  # a line of the lab's other parts, which are solutions
        if file not in self.sources:
            with open(file) as source:
                self.sources[file] = source.read().splitlines()
        lines = self.sources[file]
        return lines[line - 1] if line <= len(lines) else ""

    def show_changes(self, key: str, now: dict[str, str]) -> None:
        """Of a frame that has been seen before: the values that are new since."""
        before = self.known.get(key)
        for name, text in now.items():
            if before is not None and before.get(name) != text:
                say(f"              {name} = {text}")
        self.known[key] = now

    def stop(self, frame: gdb.Frame) -> str:
        """Prints where the thread is, and returns the command that takes it on."""
        place = frame.find_sal()
        function, line = function_name(frame), place.line
        # The address of the caller's frame tells a function's call from its next one, and it lies on the fiber's stack.
        key = f"{function} {frame.older().read_register('sp') if frame.older() else ''}"
        now = variables(frame, line)
        visit = self.visits[function, line] = self.visits.get((function, line), 0) + 1
        if visit > ROUNDS:
            if not self.skipped:
                say("         ...")
            self.skipped = True
            return "until"
        self.skipped = False
        if function != self.function:
            say(f"{function}:")
            self.function = function
        self.show_changes(key, now)
        say(f"    {line:4d}  {self.source(place.symtab.fullname(), line).strip()}")
        return "step" if visit == 1 else "next"


def follow() -> None:
    trace = Trace()
    limit = int(os.environ.get("LAB_COUNT") or 0)
    lines = 0
    bottom = gdb.newest_frame().older()
    bottom_stack = int(bottom.read_register("sp"))
    while True:
        frame = gdb.newest_frame()
        place = frame.find_sal()
        file = place.symtab.fullname() if place.symtab is not None else ""
        if int(frame.read_register("sp")) >= bottom_stack:
            say("The thread has left the kernel.")
            return
        if not is_kernels(file):
            gdb.execute("finish", to_string=True)
            continue
        command = trace.stop(frame)
        lines += 1
        if limit and lines >= limit:
            say(f"These were COUNT={limit} lines; the thread goes on.")
            return
        gdb.execute(command, to_string=True)


for pattern in ("*.h", "*.c", "*.S", "tuple"):  # kernels and what they read are in .cu and .cuh
    gdb.execute(f"skip -gfi {pattern}", to_string=True)
try:
    gdb.newest_frame()
except gdb.error:
    gdb.execute("quit 2")  # the program has ended, and gdb_thread.py has said so
else:
    try:
        gdb.execute("disable 1", to_string=True)
        follow()
    except BrokenPipeError:  # the reader of the output, such as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), OUTPUT.fileno())
    except gdb.error as error:
        say(f"The trace ends here: {error}")
