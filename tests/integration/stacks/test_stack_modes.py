# SPDX-License-Identifier: BSD-2-Clause
"""How the tracer takes and keeps stacks: each mode, depths,
and more stacks than there is room for."""
import re
import subprocess

import pytest

from lib import stacks
from lib.paths import SIM

EVENTS = "cudaMalloc,cudaFree,cudaDeviceSynchronize,cudaLaunchKernel"
FRAME = re.compile(r"(?P<function>.+)\+(?P<offset>0x[0-9a-f]+) \[(?P<object>[^]]+)\]"
                   r"(?: (?P<file>[^ ]+):(?P<line>[0-9]+))?")
UNKNOWN = re.compile(r"(?P<object>[^ ]+)\+(?P<offset>0x[0-9a-f]+)")
FRAMES = ["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-ipa-icf",
          "-fno-ipa-ra"]
# Calls by two functions that call each other and themselves: the path is the number's bits, and the
# size. A pause follows each call or, given the output file, so many calls are followed by a wait
# for their lines.
PATHS = r"""
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    int cudaMalloc(void **address, unsigned long size);
    static volatile int calls;
    __attribute__((noinline, noclone)) void zero(int depth, unsigned long path);
    __attribute__((noinline, noclone)) void one(int depth, unsigned long path);
    static __attribute__((noinline, noclone)) void step(int depth, unsigned long path)
    {
        void *address;
        if (!depth)
            cudaMalloc(&address, path + 1);
        else if (path >> (depth - 1) & 1)
            one(depth - 1, path);
        else
            zero(depth - 1, path);
        calls++;
    }
    void zero(int depth, unsigned long path) { step(depth, path); calls++; }
    void one(int depth, unsigned long path) { step(depth, path); calls++; }
    static int lines_of(const char *path)
    {
        FILE *file = fopen(path, "r");
        int lines = 0, character;
        while (file && (character = getc(file)) != EOF)
            lines += character == '\n';
        if (file)
            fclose(file);
        return lines;
    }
    int main(int count, char **words)
    {
        int depth = atoi(words[1]), rounds = atoi(words[2]), pause = atoi(words[3]), made = 0;
        for (int i = 0; i < rounds; i++)
            for (unsigned long path = 0; path < 1ul << depth; path++) {
                step(depth, path);
                made++;
                if (count == 4 && pause)
                    usleep(pause);
                for (int tries = 0; count == 5 && made % pause == 0 && lines_of(words[4]) <= made;
                     tries++) {
                    if (tries == 6000)
                        return 1;
                    usleep(10000);
                }
            }
        return count != 4 && count != 5;
    }
"""
DEEP = r"""
    #include <stdlib.h>
    int cudaMalloc(void **address, unsigned long size);
    static volatile int calls;
    __attribute__((noinline, noclone)) void recurse(int depth)
    {
        void *address;
        if (depth > 1)
            recurse(depth - 1);
        else
            cudaMalloc(&address, 4096);
        calls++;
    }
    int main(int count, char **words) { recurse(atoi(words[1])); return count != 2; }
"""


def build(directory, text, *options):
    source, program = directory / "program.c", directory / "program"
    source.write_text(text, encoding="utf-8")
    subprocess.run(["gcc", *options, "-o", program, source, f"-L{SIM}", "-l:libcudart.so.13",
                    f"-Wl,-rpath,{SIM}"], check=True)
    return program


def parse(text):
    """A frame of the stack column as lib.stacks has it."""
    frame = FRAME.fullmatch(text) or UNKNOWN.fullmatch(text)
    if not frame:
        return {"kind": "native" if text.startswith("0x") else "mark", "function": None,
                "offset": text}
    found = {"function": None, "kind": "native", **frame.groupdict()}
    return {**found, "line": int(found["line"]) if found.get("line") else None}


def as_sites(lines):
    """The calls of one function from one place together, as the monitor sums them up."""
    sites = {}
    for line in lines:
        key = (line["event"], tuple(line["stack"]))
        function = {"kind": "native", "function": line["event"], "object": "libcudart.so.13"}
        site = sites.setdefault(key, {"function": line["event"], "calls": 0, "bytes": 0, "stack": {
            "broken": line["stack"][-1] == "[callers not found]",
            "truncated": line["stack"][-1] == "[truncated]",
            "frames": [function, *map(parse, line["stack"])]}})
        site["calls"] += 1
        site["bytes"] += line["size"] or 0
    for site in sites.values():
        if site["function"] != "cudaMalloc":
            del site["bytes"]
    return list(sites.values())


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    return stacks.Builder(tmp_path_factory.mktemp("known"))


@pytest.mark.parametrize("variant,mode",
                         [(stacks.VARIANTS[0], "dwarf"), (stacks.VARIANTS[2], "dwarf"),
                          (stacks.VARIANTS[5], "dwarf"), (stacks.VARIANTS[0], "auto")],
                         ids=lambda value: getattr(value, "name", value))
def test_copies_of_stacks(tracer, tmp_path, builder, variant, mode):
    """With and without frame pointers, and stripped: complete and right, from signals,
    threads and plugins."""
    check_known(tracer, tmp_path / "truth", builder.get("known_stacks.c", variant), mode)


def test_each_kind_of_links(tracer_by, tmp_path, builder):
    check_known(tracer_by, tmp_path / "truth", builder.get("known_stacks.c", stacks.VARIANTS[0]),
                "dwarf")


def check_known(tracer, truth, program, mode):
    """The program's plugins and its child stay until gpuprobe has told of their calls."""
    result = tracer.run(*program.command(truth),
                        args=["-e", EVENTS, "--stack", mode, "--stack-size", 32],
                        columns="time,event,size", env={"TRACE_FILE": tracer.next_path})
    known = stacks.read_truth(truth)
    assert len(known) == len(result.lines)
    stacks.check_all(program, known, as_sites(result.lines), 32 * 1024)


def test_depths(tracer, tmp_path):
    """127 frames; of more the outermost are missing, and that is said."""
    program = build(tmp_path, DEEP, *FRAMES)
    for depth in (120, 200):
        line, = tracer.run(program, depth, args=["-e", "cudaMalloc"],
                           columns="time,event,stack").lines
        names = [text.partition("+")[0] for text in line["stack"]]
        assert names[:min(depth, 125)] == ["recurse"] * min(depth, 125)
        if depth < 125:
            assert names[depth] == "main" and "[truncated]" not in names
        else:
            assert (names[-1] == "[truncated]" and set(names[:-1]) == {"recurse"}
                    and len(names) >= 127)


def expected(depth, size):
    """The functions between the call and main."""
    path = size - 1
    frames = ["step"]
    for bit in range(depth):
        frames += ["one" if path >> bit & 1 else "zero", "step"]
    return [*frames, "main"]


def check_paths(lines, depth):
    """No stack is another's; returns how many there are not."""
    missing = 0
    for line in lines:
        if line["stack"] is None:
            missing += 1
            continue
        names = [text.partition("+")[0] for text in line["stack"]]
        assert names[:2 * depth + 2] == expected(depth, line["size"])
    return missing


def test_a_stack_that_left_is_told_again(tracer, tmp_path):
    """With four kept and sixteen that take turns, each is there while its call is shown."""
    program = build(tmp_path, PATHS, *FRAMES)
    result = tracer.run(program, 4, 3, 3, tracer.next_path,
                        args=["-e", "cudaMalloc", "--stack-storage-size", 4],
                        columns="time,event,size,stack")
    assert len(result.lines) == 48
    assert check_paths(result.lines, 4) == 0
    assert "stack" not in result.stderr


def test_too_many_at_once(tracer, tmp_path):
    """Calls whose stack had to leave before they are shown have none, and it is said how many."""
    program = build(tmp_path, PATHS, *FRAMES)
    result = tracer.run(program, 4, 40, 0, args=["-e", "cudaMalloc", "--stack-storage-size", 4],
                        columns="time,event,size,stack")
    assert len(result.lines) == 640
    missing = check_paths(result.lines, 4)
    assert 0 < missing
    assert re.search(rf"the stacks of {missing} calls are missing: "
                     r"some were replaced .*--stack-storage-size", result.stderr)


def test_stacks_that_do_not_fit_their_ring(tracer_by, tmp_path):
    """Calls faster than gpuprobe can name them: they are all there,
    and losses are reported where they occurred."""
    program = build(tmp_path, PATHS, *FRAMES)
    result = tracer_by.run(program, 14, 1, 0,
                           args=["-e", "cudaMalloc", "--stack-storage-size", 65536],
                           columns="time,event,size,stack")
    assert len(result.lines) == 1 << 14 and result.lost == 0
    missing = check_paths(result.lines, 14)
    losses = [line for line in result.objects if "lost_stacks" in line]
    assert {line["reason"] for line in losses} <= {"stack_ring_full"}
    assert sum(line["lost_stacks"] for line in losses) == missing > 0
    assert f"{missing} stacks had no room in their ring" in result.stderr
    assert f"the stacks of {missing} calls are missing" in result.stderr
