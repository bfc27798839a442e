# SPDX-License-Identifier: BSD-2-Clause
"""
Programs that know their own stacks (programs/known_stacks.h): builds them in variants, and compares
gpuprobe's stacks with those that they recorded themselves.

Frames outside the program are identified by their object: libcuda and libcudart above, libc between
a signal handler and the interrupted code, libc and _start below.
"""
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from lib.paths import SIM
from lib.script import PROGRAMS

CUDA = re.compile(r"libcuda(rt)?\.so")
LIBC = re.compile(r"libc\.so")
# The kernel and the C library use some bytes below main and below a thread's first function.
MARGIN = 2048
EXECUTABLE_BEGIN = 0x400000  # of a non-PIE program


@dataclass(frozen=True)
class Variant:
    """A way to build the programs."""
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


@dataclass
class Known:
    """A call as recorded by the program."""
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
    # By object: [(address, size, name)] of stripped symbols.
    symbols: dict = field(default_factory=dict)

    @property
    def files(self):
        return {path.name for path in (self.path, *self.plugins)}

    @property
    def questions(self):
        """
        How often it asks whether its calls have been seen: before its child ends and before each
        plugin is unloaded.
        """
        return 1 + len(self.plugins) if self.plugins else 0

    def command(self, truth):
        return [str(self.path), str(truth), *map(str, self.plugins)]


def symbols_of(path):
    """Functions with their addresses and sizes, read before stripping."""
    found = []
    for line in subprocess.run(["nm", "-C", "-S", "--defined-only", path], capture_output=True,
                               text=True, check=True).stdout.splitlines():
        match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (.+)", line)
        if match:
            # nm may not recognize Rust's hash.
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
        subprocess.run([compiler, *variant.options, "-o", path, PROGRAMS / source, f"-L{SIM}",
                        "-l:libcudart.so.13", f"-Wl,-rpath,{SIM}", "-pthread", "-ldl"],
                       check=True, stderr=subprocess.DEVNULL)
        plugins = []
        if source.endswith(".c"):
            options = [option for option in variant.options if option != "-no-pie"]
            for name in ("one", "other"):
                plugins.append(folder / f"{name}.so")
                subprocess.run(["gcc", *options, "-shared", "-fPIC", f"-DNAME=plugin_{name}", "-o",
                                plugins[-1], PROGRAMS / "known_stacks_plugin.c"], check=True)
        program = Program(variant, path, tuple(plugins))
        for file in (path, *plugins) if variant.stripped else ():
            program.symbols[file.name] = symbols_of(file)
            subprocess.run(["strip", file], check=True)
        return program


def read_truth(path):
    """The calls that a program recorded: a list of Known."""
    return [Known(**json.loads(line))
            for line in Path(path).read_text(encoding="utf-8").splitlines()]


class Mismatch(AssertionError):
    """A stack differs from the program's."""


def function_of(program, frame):
    """The function of a frame; in a stripped file found by the object's offset. None: unknown."""
    if frame.get("function"):
        return frame.get("function")
    place = int(frame["offset"], 16)
    if not program.variant.pie and frame.get("object") == program.path.name:
        place += EXECUTABLE_BEGIN
    for address, size, name in program.symbols.get(frame.get("object"), ()):
        # A call that does not return may be the last instruction of a function.
        if address < place <= address + size:
            return name
    return None


def is_of(pattern, frame):
    return bool(pattern.match(frame.get("object") or ""))


def is_below(program, frame):
    """Whether the frame is below main or below a thread's first function."""
    return is_of(LIBC, frame) or (frame.get("object") == program.path.name
                                  and function_of(program, frame) in ("_start", None))


def match_one(program, frame, expected):
    name, file, line = expected
    if function_of(program, frame) != name:
        raise Mismatch(f"{frame} instead of {name}")
    if not frame.get("object") or frame.get("object") not in program.files:
        raise Mismatch(f"{frame} in another object")
    if program.variant.lines and (Path(frame.get("file") or "").name,
                                  frame.get("line")) != (Path(file).name, line):
        raise Mismatch(f"{frame} instead of {name} at {Path(file).name}:{line}")


def compare(program, known, stack):
    """
    Raises Mismatch unless the frames are right, innermost first. Returns whether the stack is
    complete.
    """
    if stack["broken"]:
        raise Mismatch(f"broken: {stack['frames']}")
    frames = [frame for frame in stack["frames"] if frame["kind"] == "native"]
    if len(frames) + stack["truncated"] != len(stack["frames"]):
        raise Mismatch(f"marks: {stack['frames']}")
    at = 0
    while at < len(frames) and is_of(CUDA, frames[at]):
        at += 1
    if not at or frames[0]["function"] != known.event:
        raise Mismatch(f"no {known.event} on top: {frames[:3]}")
    for expected in known.frames:
        if at == len(frames):
            break
        begin = at
        if expected[0]:
            match_one(program, frames[at], expected)
            at += 1
            continue
        while at < len(frames) and is_of(LIBC, frames[at]):
            at += 1
        if at == begin:
            raise Mismatch(f"{frames[at]} instead of what calls a signal's handler")
    else:
        wrong = [frame for frame in frames[at:] if not is_below(program, frame)]
        if wrong:
            raise Mismatch(f"below the outermost function: {wrong}")
        return not stack["truncated"]
    if not stack["truncated"]:
        raise Mismatch(f"ends after {frames[-1]} without saying so")
    return False


def check(program, known, stack, stack_size=None):
    """As compare, and a stack that fits into `stack_size` bytes (None: any) must be complete."""
    whole = compare(program, known, stack)
    if not whole and (stack_size is None or known.bytes + MARGIN <= stack_size):
        raise Mismatch(f"truncated, though it has {known.bytes} bytes")
    if whole and stack_size is not None and known.bytes > stack_size:
        raise Mismatch(f"whole, though it has {known.bytes} bytes")


def places(known):
    """Calls grouped by call site, as gpuprobe counts them: lists of Known."""
    found = {}
    for call in known:
        found.setdefault((call.event, str(call.frames)), []).append(call)
    return list(found.values())


def check_all(program, known, sites, stack_size=None):
    """
    Checks that each call site is reported and no others are. Allocation sites are identified by
    their bytes, the others by function and stack.
    """
    left = list(sites)
    for calls in places(known):
        event, number = calls[0].event, sum(call.number for call in calls)
        mine = [site for site in left if site["function"] == event and site["calls"] == len(calls)
                and site.get("bytes", number) == number]
        wrong = []
        for site in mine:
            try:
                check(program, calls[0], site["stack"], stack_size)
                left.remove(site)
                break
            except Mismatch as mismatch:
                wrong.append(str(mismatch))
        else:
            raise Mismatch(
                f"{event} {number} from {[frame[0] for frame in calls[0].frames][:4]}: {wrong}")
    if left:
        raise Mismatch(f"nobody called from {left}")
