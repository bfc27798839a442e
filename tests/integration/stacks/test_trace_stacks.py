# SPDX-License-Identifier: BSD-2-Clause
"""The stack column: functions, offsets, objects, files and lines of a program whose
stacks are known.

programs/stacks.cc allocates a different size from each place, and marks the lines of its calls.
"""
import os
import re
import shutil
import subprocess

import pytest

from lib import trace
from lib.paths import SIM
from lib.script import PROGRAMS

SOURCE = PROGRAMS / "stacks.cc"
PLUGIN = PROGRAMS / "stacks_plugin.c"
FRAMES = ["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-ipa-icf",
          "-fno-ipa-ra", "-fno-partial-inlining"]
FRAME = re.compile(r"(?P<function>.+)\+0x(?P<offset>[0-9a-f]+) \[(?P<object>[^]]+)\]"
                   r"(?: (?P<file>[^ ]+):(?P<line>[0-9]+))?")
# Calls that can be told apart in each build: size, then (function, the mark of its line),
# innermost first.
STACKS = {
    100: [("allocate(unsigned long)", "allocate"),
          ("shop::grow_cache(shop::Cache&, unsigned long)", "grow_cache"),
          ("shop::(anonymous namespace)::hidden(unsigned long)", "hidden"),
          ("shop::Basket<int>::fill(int)", "fill"), ("main", "main")],
    200: [("allocate(unsigned long)", "allocate"), ("work", "work")],
    300: [("allocate(unsigned long)", "allocate"), ("from_plugin", "from_plugin"), ("call", "call"),
          ("call_back", "call_back"), ("run_plugin(char const*)", "run_plugin")],
    400: [("allocate(unsigned long)", "allocate"),
          ("recurse(int)", "deepest"), *[("recurse(int)", "recurse")] * 30],
    500: [("allocate(unsigned long)", "allocate"), ("on_signal(int)", "on_signal")],
    600: [("allocate(unsigned long)", "allocate"), ("shop::<impl>::rust", "rust"), ("main", None)],
}


def marks():
    """The numbers of the marked lines."""
    found = {}
    for path in (SOURCE, PLUGIN):
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if mark := re.search(r"; // at (.+)$", text):
                found[mark.group(1)] = (path.name, number)
    return found


def build(directory, *options, libraries=SIM):
    """The program, with the runtime that is in `libraries`, and its plugin: (program, plugin)."""
    program, plugin = directory / "stacks", directory / "plugin.so"
    flags = [*FRAMES, *(option for option in options if option != "-no-pie")]
    subprocess.run(["g++", *flags, *("-no-pie",) * ("-no-pie" in options), "-o", program, SOURCE,
                    f"-L{libraries}", "-l:libcudart.so.13", f"-Wl,-rpath,{libraries}", "-pthread",
                    "-ldl", "-Wl,--build-id"], check=True)
    subprocess.run(["gcc", *flags, "-shared", "-fPIC", "-o", plugin, PLUGIN, "-Wl,--build-id"],
                   check=True)
    return program, plugin


def take_apart(path):
    """Strips a file; returns the path of its debug information, which goes beside it."""
    debug = path.with_name(path.name + ".debug")
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    subprocess.run(["strip", path], check=True)
    return debug


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                           check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


def stacks_of(result):
    """The stacks of cudaMalloc by the size."""
    return {line["size"]: line["stack"] for line in result.lines}


def trace_calls(tracer, *command, **more):
    """The program stays as it is until the three calls up to the plugin's have their lines,
    which come after the first."""
    env = {"TRACE_FILE": tracer.next_path, "TRACE_LINES": 1 + 3}
    return tracer.run(*command, args=["-e", "cudaMalloc"], env=env, **more)


def run(tracer, *command):
    result = trace_calls(tracer, *command, columns="time,event,size,stack")
    stacks = stacks_of(result)
    assert sorted(stacks) == sorted(STACKS)
    return stacks


def check(stacks, with_lines=True, where=marks()):
    """Each frame is the expected one."""
    for size, expected in STACKS.items():
        frames = [FRAME.fullmatch(text) for text in stacks[size]]
        assert len(frames) >= len(expected), stacks[size]
        for frame, text, (function, mark) in zip(frames, stacks[size], expected):
            assert frame, text
            assert frame["function"] == function, (size, stacks[size])
            assert frame["object"] == ("plugin.so" if function.startswith("call") else "stacks")
            if mark:
                place = (frame["file"], frame["line"] and int(frame["line"]))
                assert place == (where[mark] if with_lines else (None, None)), (size, text)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Makes the program and its plugin with these options once;
    copies in a directory where that is given."""
    made = {}

    def get(*options, copied_to=None):
        if options not in made:
            made[options] = build(tmp_path_factory.mktemp("built"), *options)
        return [shutil.copy(path, copied_to / path.name)
                for path in made[options]] if copied_to else made[options]

    return get


@pytest.mark.parametrize("options", [("-g",), ("-g", "-no-pie"), ("-gdwarf-4",), ("-g", "-gz"), ()],
                         ids=lambda options: " ".join(options) or "no -g")
def test_names_and_lines(tracer, built, options):
    """With .symtab: all names, and lines where there is DWARF."""
    check(run(tracer, *built(*options)), with_lines=bool(options))


def test_each_kind_of_links(tracer_by, built):
    """The caller itself is there however the probe is made."""
    check(run(tracer_by, *built("-g")))


def test_a_function_without_a_frame(tracer_by, tmp_path):
    """If it does not push %rbp first the kernel's walk misses the caller:
    the top of the stack has it."""
    library = tmp_path / "libcudart.so.13"
    subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-fcf-protection=none",
                    "-shared", "-fPIC", "-o", library, f"-Wl,-soname,{library.name}",
                    PROGRAMS / "runtime_form.c"], check=True)
    code = subprocess.run(["objdump", "-d", "--disassemble=cudaMalloc", library],
                          capture_output=True, text=True, check=True).stdout
    assert "push" not in code
    check(run(tracer_by, *build(tmp_path, "-g", libraries=tmp_path)))


@pytest.mark.parametrize("pie", [(), ("-no-pie",)], ids=["pie", "no-pie"])
def test_stripped(tracer, built, tmp_path, pie):
    """Without names there are objects and offsets, which are those of the symbols."""
    program, plugin = built(*pie)
    bare = built(*pie, copied_to=tmp_path)
    subprocess.run(["strip", *bare], check=True)
    named, unnamed = run(tracer, program, plugin), run(tracer, *bare)
    symbols = {}
    for line in subprocess.run(["nm", "-C", program], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        value, _, name = line.partition(" ")[0], *line.partition(" ")[2].partition(" ")[::2]
        if value:
            symbols[name] = int(value, 16)
    base = 0x400000 if pie else 0
    for size in (100, 200, 400):
        for text, bare_text in zip(named[size], unnamed[size]):
            frame = FRAME.fullmatch(text)
            if frame and frame["object"] == "stacks" and frame["function"] != "work":
                assert (
                    bare_text
                    == f"stacks+{symbols[frame['function']] - base + int(frame['offset'], 16):#x}")
    assert FRAME.fullmatch(unnamed[300][3])["function"] == "call_back"  # which .dynsym has
    assert unnamed[300][2].startswith("plugin.so+0x")


def test_separate_debug_files(tracer, built, tmp_path):
    """By the link in the stripped file: beside it, and in .debug."""
    program, plugin = built("-g", copied_to=tmp_path)
    debug = take_apart(program)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", program], check=True)
    plugin_debug = take_apart(plugin)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={plugin_debug}", plugin], check=True)
    (tmp_path / ".debug").mkdir()
    plugin_debug.rename(tmp_path / ".debug" / plugin_debug.name)
    check(run(tracer, program, plugin))
    # Another's is not taken.
    shutil.copy(tmp_path / ".debug" / plugin_debug.name, debug)
    assert run(tracer, program, plugin)[100][0].startswith("stacks+0x")


def test_debug_files_by_build_id_in_the_process_s_root(tracer, built, tmp_path):
    """/usr/lib/debug is the process's own, which gpuprobe's mount namespace does not have."""
    program, plugin = built("-g", copied_to=tmp_path)
    for path in (program, plugin):
        number = build_id(path)
        folder = tmp_path / "debug" / ".build-id" / number[:2]
        folder.mkdir(parents=True, exist_ok=True)
        take_apart(path).rename(folder / f"{number[2:]}.debug")
    if not os.path.isdir("/usr/lib/debug"):
        pytest.skip("/usr/lib/debug, which is to be mounted over, is missing")
    check(run(tracer, "unshare", "-m", "sh", "-c",
              f"mount --bind {tmp_path}/debug /usr/lib/debug && exec {program} {plugin}"))


def test_a_deleted_program(tracer, built, tmp_path):
    program, plugin = built("-g", copied_to=tmp_path)
    check(run(tracer, program, "-d", plugin))


def test_forms(tracer, built):
    """The same texts in TSV, joined by semicolons."""
    result = trace_calls(tracer, *built("-g"), form="tsv", columns="size,stack")
    rows = dict(line.split("\t") for line in result.text.splitlines() if line and line[0].isdigit())
    check({int(size): stack.split(";") for size, stack in rows.items()})


def test_libraries_that_come_and_go(tracer, tmp_path):
    """One takes the very place of another, with other code mapped between:
    each frame names the code of its time."""
    source, program = tmp_path / "turns.c", tmp_path / "turns"
    source.write_text(r"""
        #include <dlfcn.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int cudaMalloc(void **address, unsigned long size);
        static volatile int calls;
        static __attribute__((noinline)) void allocate(void)
        {
            void *address;
            cudaMalloc(&address, 4096);
            calls++;
        }
        /* After each call it waits for paths[1], which the test makes when it has seen the line. */
        int main(int count, char **paths)
        {
            for (int i = 2; i < count; i++) {
                void *library = dlopen(paths[i], RTLD_NOW);
                ((void (*)(void (*)(void)))dlsym(library, "call_back"))(allocate);
                for (int tries = 0; tries < 6000 && access(paths[1], F_OK); tries++)
                    usleep(10000);
                unlink(paths[1]);
                mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                dlclose(library);
            }
            return 0;
        }
    """, encoding="utf-8")
    subprocess.run(["gcc", *FRAMES, "-o", program, source, f"-L{SIM}", "-l:libcudart.so.13",
                    f"-Wl,-rpath,{SIM}", "-ldl"], check=True)
    one, other = tmp_path / "one.so", tmp_path / "other.so"
    subprocess.run(["gcc", *FRAMES, "-shared", "-fPIC", "-o", one, PLUGIN], check=True)
    subprocess.run(["gcc", *FRAMES, "-shared", "-fPIC", "-Dcall=another", "-o", other, PLUGIN],
                   check=True)
    go, turns = tmp_path / "go", (one, other, one, other)
    running, path = tracer.start(program, go, *turns, args=["-e", "cudaMalloc"],
                                 columns="time,event,stack")
    with running:
        for turn in range(len(turns)):
            trace.wait_for_lines(path, turn + 1)
            go.touch()
        result = trace.Traced(running.finish(), path)
    names = [[re.sub(r"\+0x[0-9a-f]+", "", text) for text in line["stack"][:4]]
             for line in result.lines]
    of_one = ["allocate [turns]", "call [one.so]", "call_back [one.so]", "main [turns]"]
    of_other = ["allocate [turns]", "another [other.so]", "call_back [other.so]", "main [turns]"]
    assert names == [of_one, of_other] * 2


def test_just_in_time_code(tracer, tmp_path):
    """Code that the process makes itself has the names that it writes to /tmp/perf-PID.map."""
    source = tmp_path / "jit.c"
    source.write_text(r"""
        #include <stdio.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int cudaMalloc(void **address, unsigned long size);
        int main(int count, char **words)
        {
            /* push %rbp; mov %rsp,%rbp; call *%rdx; pop %rbp; ret */
            static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd2, 0x5d, 0xc3};
            char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            char path[64];
            void *address;
            FILE *out;
            memcpy(at + 64, code, sizeof(code));
            snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
            out = fopen(path, "w");
            fprintf(out, "%lx %x an older name\n%lx %zx LazyCompile:*total shop.js:7\n",
                    (long)at + 64, 8, (long)at + 64, sizeof(code));
            fclose(out);
            ((int (*)(void **, unsigned long, void *))(at + 64))(&address, 4096, cudaMalloc);
            for (int tries = 0; tries < 6000 && access(words[1], F_OK); tries++)
                usleep(10000);
            unlink(path);
            return count != 2;
        }
    """, encoding="utf-8")
    subprocess.run(["gcc", *FRAMES, "-o", tmp_path / "jit", source, f"-L{SIM}",
                    "-l:libcudart.so.13", f"-Wl,-rpath,{SIM}"], check=True)
    running, path = tracer.start(tmp_path / "jit", tmp_path / "go", args=["-e", "cudaMalloc"],
                                 columns="time,event,stack")
    with running:
        trace.wait_for_lines(path, 1)
        (tmp_path / "go").touch()
        result = trace.Traced(running.finish(), path)
    stack, = (line["stack"] for line in result.lines)
    assert stack[0] == "LazyCompile:*total shop.js:7+0x6 [jit]"
    assert stack[1].startswith("main+0x")
