# SPDX-License-Identifier: BSD-2-Clause
"""Programs that know their own stacks (programs/known_stacks.h): built in variants, and what
gpuprobe says of their stacks compared with what they wrote down themselves.

What is not the program's own is known by its object: libcuda and libcudart above, libc between the
handler of a signal and what was interrupted, libc and _start below.
"""
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from lib.paths import SIM
from lib.script import PROGRAMS

FRAME = re.compile(r"(?:(?P<function>.+)\+0x(?P<offset>[0-9a-f]+) \[(?P<object>[^]]+)\]"
                   r"|(?P<file_only>[^ ]+)\+0x(?P<place>[0-9a-f]+)|(?P<address>0x[0-9a-f]+))"
                   r"(?: (?P<file>[^ ]+):(?P<line>[0-9]+))?")
TRUNCATED = "[truncated]"
CUDA = re.compile(r"libcuda(rt)?\.so")
BELOW = {"_start", "start_thread", "clone", "clone3", "__libc_start_main", "__libc_start_call_main"}
# The kernel and the C library need some bytes below main and a thread's first function.
MARGIN = 2048
EXECUTABLE_BEGIN = 0x400000  # of a program that is not PIE


@dataclass(frozen=True)
class Variant:
    """How the programs are built."""
    name: str
    options: tuple = ("-O2",)
    stripped: bool = False

    @property
    def lines(self):
        return "-g" in self.options and not self.stripped

    @property
    def pie(self):
        return "-no-pie" not in self.options


VARIANTS = [
    Variant("no-fp-g", ("-O2", "-fomit-frame-pointer", "-g")),
    Variant("no-fp", ("-O2", "-fomit-frame-pointer")),
    Variant("fp-g", ("-O1", "-fno-omit-frame-pointer", "-g")),
    Variant("unoptimized", ("-O0", "-g")),
    Variant("no-pie", ("-O2", "-fomit-frame-pointer", "-g", "-no-pie")),
    Variant("stripped", ("-O2", "-fomit-frame-pointer", "-g"), stripped=True),
    Variant("stripped-no-pie", ("-O2", "-fomit-frame-pointer", "-g", "-no-pie"), stripped=True),
    Variant("gold", ("-O2", "-fomit-frame-pointer", "-g", "-fuse-ld=gold")),
]
WITH_FRAME_POINTERS = [Variant("fp-g", ("-O1", "-fno-omit-frame-pointer", "-g")),
                       Variant("fp-stripped", ("-O1", "-fno-omit-frame-pointer"), stripped=True)]


@dataclass
class Known:
    """A call as the program wrote it down."""
    event: str
    number: int
    bytes: int
    frames: list


@dataclass
class Program:
    """A program in one variant, with its plugins."""
    variant: Variant
    path: Path
    plugins: tuple = ()
    symbols: dict = field(default_factory=dict)  # by object: [(address, size, name)], of what was stripped

    def command(self, truth):
        return [str(self.path), str(truth), *map(str, self.plugins)]


def symbols_of(path):
    """Functions with their addresses and sizes, before they are stripped."""
    found = []
    for line in subprocess.run(["nm", "-C", "-S", "--defined-only", path], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (.+)", line)
        if match:
            # nm may not know what Rust's hash is.
            name = re.sub(r"::h[0-9a-f]{16}$", "", match[3])
            found.append((int(match[1], 16), int(match[2], 16), name))
    return found


class Builder:
    """Builds each program in each variant once: keep it for the session."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.built = {}

    def get(self, source, variant):
        """`source`: known_stacks.c (with two plugins) or known_stacks.cc; a Program."""
        key = (source, variant)
        if key not in self.built:
            self.built[key] = self.build(source, variant)
        return self.built[key]

    def build(self, source, variant):
        folder = self.directory / f"{source}-{variant.name}"
        folder.mkdir()
        path = folder / "known"
        compiler = "g++" if source.endswith(".cc") else "gcc"
        subprocess.run([compiler, *variant.options, "-o", path, PROGRAMS / source, f"-L{SIM}", "-l:libcudart.so.13",
                        f"-Wl,-rpath,{SIM}", "-pthread", "-ldl"], check=True, stderr=subprocess.DEVNULL)
        plugins = []
        if source.endswith(".c"):
            options = [option for option in variant.options if option != "-no-pie"]
            for name in ("one", "other"):
                plugins.append(folder / f"{name}.so")
                subprocess.run(["gcc", *options, "-shared", "-fPIC", f"-DNAME=plugin_{name}", "-o", plugins[-1],
                                PROGRAMS / "known_stacks_plugin.c", "-nostartfiles"], check=True)
        program = Program(variant, path, tuple(plugins))
        for file in (path, *plugins) if variant.stripped else ():
            program.symbols[file.name] = symbols_of(file)
            subprocess.run(["strip", file], check=True)
        return program


def read_truth(path):
    """The calls that a program wrote down: a list of Known."""
    return [Known(**json.loads(line)) for line in Path(path).read_text(encoding="utf-8").splitlines()]


class Mismatch(AssertionError):
    """A stack is not the one that the program had."""


def name_of(program, frame):
    """The function that a frame is in, also where gpuprobe has an object and an offset alone."""
    if frame["function"]:
        return frame["function"]
    if not frame["file_only"]:
        return None
    place = int(frame["place"], 16) + (EXECUTABLE_BEGIN if not program.variant.pie
                                       and frame["file_only"] == program.path.name else 0)
    for address, size, name in program.symbols.get(frame["file_only"], ()):
        # Behind a call that does not return may be the function's end.
        if address < place <= address + size:
            return name
    return None


def object_of(frame):
    return frame["object"] or frame["file_only"] or ""


def is_libc(frame):
    return object_of(frame).startswith("libc.so")


def match_one(program, text, frame, expected):
    name, file, line = expected
    if name_of(program, frame) != name:
        raise Mismatch(f"{text!r} instead of {name}")
    if program.variant.lines and (frame["file"], frame["line"]) != (Path(file).name, str(line)):
        raise Mismatch(f"{text!r} instead of {name} at {Path(file).name}:{line}")


def is_below(program, frame):
    """What calls main, or a thread's first function."""
    name = name_of(program, frame)
    return is_libc(frame) or name in BELOW or (object_of(frame) == program.path.name and name is None)


def compare(program, known, texts):
    """Raises Mismatch unless the frames are right; returns whether all of them are there."""
    texts = list(texts)
    truncated = bool(texts) and texts[-1] == TRUNCATED
    if truncated:
        texts.pop()
    frames = [FRAME.fullmatch(text) for text in texts]
    if None in frames:
        raise Mismatch(f"no frame: {texts[frames.index(None)]!r}")
    at = 0
    while at < len(frames) and CUDA.match(object_of(frames[at])):
        at += 1
    if not at:
        raise Mismatch(f"no CUDA function on top: {texts[:3]}")
    for expected in known.frames:
        if at == len(frames):
            break
        if expected[0]:
            match_one(program, texts[at], frames[at], expected)
            at += 1
            continue
        begin = at
        while at < len(frames) and is_libc(frames[at]):
            at += 1
        if at == begin:
            raise Mismatch(f"{texts[at]!r} instead of what calls a signal's handler")
    else:
        wrong = [text for text, frame in zip(texts[at:], frames[at:]) if not is_below(program, frame)]
        if wrong:
            raise Mismatch(f"below the outermost function: {wrong}")
        return not truncated
    if not truncated:
        raise Mismatch(f"ends after {texts[-1]!r} without saying so")
    return False


def check(program, known, texts, stack_size=None):
    """The same, and a stack that fits into `stack_size` bytes (None: any) must be whole."""
    whole = compare(program, known, texts)
    if not whole and (stack_size is None or known.bytes + MARGIN <= stack_size):
        raise Mismatch(f"truncated, though it has {known.bytes} bytes")
    if whole and stack_size is not None and known.bytes > stack_size:
        raise Mismatch(f"whole, though it has {known.bytes} bytes")
