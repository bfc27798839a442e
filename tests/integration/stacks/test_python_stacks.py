# SPDX-License-Identifier: BSD-2-Clause
"""Python frames in the stacks of `gpuprobe trace`: function, file and line of each,
for every CPython that is here."""
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lib import paths, trace
from lib.probe import Background

PROGRAM = paths.TESTS / "programs" / "python_stacks.py"
FRAMES_MAX = 127
MORE = "[more Python frames]"
FRAME = re.compile(r".* \((?P<file>.*):\d+\)")


def interpreters():
    """The executable of each version that is on this machine."""
    found = {}
    for minor in range(8, 15):
        name = f"python3.{minor}"
        places = [Path("/usr/bin") / name, Path("/usr/local/bin") / name,
                  *sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}")),
                  *sorted(Path("/opt").glob(f"*/bin/{name}"))]
        found[f"3.{minor}"] = next((place for place in places if place.exists()), None)
    return found


@pytest.fixture(params=interpreters().items(), ids=lambda item: item[0])
def python(request):
    version, path = request.param
    if path is None:
        pytest.skip(f"there is no CPython {version} here")
    return path


@pytest.fixture(scope="session")
def held(tmp_path_factory):
    """The extension module of programs/held.c."""
    module = tmp_path_factory.mktemp("held") / "held.so"
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-fPIC", "-shared", "-fno-omit-frame-pointer", "-o",
                    module, paths.TESTS / "programs" / "held.c"], check=True)
    return module


def python_frames(line, files):
    """Those of the stack's frames that are Python's."""
    frames = []
    for frame in line["stack"]:
        found = FRAME.fullmatch(frame)
        if frame == MORE or frame.startswith("[Python code") or (found and found["file"] in files):
            frames.append(frame)
    return frames


def expected_frames(frames):
    return frames if len(frames) <= FRAMES_MAX else frames[:FRAMES_MAX] + [MORE]


def without_name(shown, frames):
    """The expected stack of code that may be gone before it is read:
    its name or none, never another."""
    assert len(shown) == len(frames)
    return [mine if mine.startswith("[Python code 0x") and "(<string>:" in theirs else theirs
            for mine, theirs in zip(shown, frames)]


def check(lines, log):
    """Each allocation's frames are those that Python itself told."""
    truth = json.loads(log.read_text())
    expected = {int(size): expected_frames(frames) for size, frames in truth["stacks"].items()}
    files = {FRAME.fullmatch(frame)["file"] for frames in expected.values() for frame in frames
             if frame != MORE}
    shown = {line["size"]: python_frames(line, files) for line in lines}
    for size in truth["short_lived"]:
        expected[size] = without_name(shown[size], expected[size])
    assert len(expected) > 400
    assert shown.keys() == expected.keys()
    wrong = [(shown[size], frames) for size, frames in expected.items() if shown[size] != frames]
    assert wrong[:3] == [], f"{len(wrong)} of {len(expected)} stacks differ"


def run(tracer, python, held, tmp_path, **options):
    """All of programs/python_stacks.py, each of whose stacks has to be right."""
    result = tracer.run(python, PROGRAM, paths.LIBCUDART, held, tmp_path / "log", tracer.next_path,
                        args=["-e", "cudaMalloc"], columns="time,size,event,stack", **options)
    check(result.lines, tmp_path / "log")
    return result


def test_command(tracer, python, held, tmp_path):
    """From the first call on."""
    result = run(tracer, python, held, tmp_path)
    assert result.lost == 0
    assert "unavailable" not in result.stderr


def test_links(tracer_by, held, tmp_path):
    """With each kind of links."""
    run(tracer_by, paths.PYTHON, held, tmp_path)


def test_process_that_runs(tracer, python, held, tmp_path):
    """It was started before; its first call that is seen has its frames, too."""
    env = {"LD_LIBRARY_PATH": paths.SIM}
    with Background(python, PROGRAM, paths.LIBCUDART, held, tmp_path / "log", tracer.next_path,
                    "wait", env=env) as script:
        assert script.stdout.readline() == "ready\n"
        running, path = tracer.start(args=["-p", script.pid, "-e", "cudaMalloc"],
                                     columns="time,size,event,stack")
        with running:
            running.wait_until_watching()
            script.stdin.write("\n")
            script.stdin.flush()
            result = trace.Traced(running.finish(), path)
    check(result.lines, tmp_path / "log")


LOOP = """\
import ctypes, sys, time
runtime = ctypes.CDLL(sys.argv[1])
def inner():
    runtime.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(4096))
def outer():
    inner()
while True:
    outer()
    time.sleep(0.05)
"""


def test_code_that_stays(tracer, tmp_path):
    """What calls again and again can be read by a gpuprobe that is slow, too, as under valgrind."""
    script = tmp_path / "loop.py"
    script.write_text(LOOP)
    with Background(paths.PYTHON, script, paths.LIBCUDART,
                    env={"LD_LIBRARY_PATH": paths.SIM}) as program:
        running, path = tracer.start(args=["-p", program.pid, "-e", "cudaMalloc"],
                                     columns="time,event,stack")
        with running:
            trace.wait_for_lines(path, 5, timeout=60)
            lines = trace.Traced(running.stop(), path).lines
    expected = [f"{place} (loop.py:{number})"
                for place, number in (("inner", 4), ("outer", 6), ("<module>", 8))]
    assert len(lines) >= 4
    assert [python_frames(line, {"loop.py"}) for line in lines] == [expected] * len(lines)


def test_no_symbols(tracer, held, tmp_path):
    """A copy of the interpreter without .symtab, as distributions ship it,
    has its frames by .dynsym."""
    whole = Path(paths.PYTHON).resolve()
    stripped = shutil.copy(whole, tmp_path / whole.name)
    subprocess.run(["strip", "--strip-all", stripped], check=True)
    run(tracer, stripped, held, tmp_path, env={"PYTHONHOME": "/usr"})


def test_venv(tracer, held, tmp_path):
    """Of a virtual environment, whose python is a symbolic link."""
    subprocess.run([paths.PYTHON, "-m", "venv", "--symlinks", "--without-pip", tmp_path / "venv"],
                   check=True)
    run(tracer, tmp_path / "venv/bin/python", held, tmp_path)


def static_libraries():
    """(the prefix of an interpreter, its libpython3.N.a), the newest first."""
    found = []
    for path in interpreters().values():
        if path is not None:
            prefix = path.resolve().parents[1]
            found += [(prefix, archive)
                      for archive in prefix.glob(f"lib/{path.name}/config-*/lib{path.name}.a")]
    return found[::-1]


def test_embedded(tracer, held, tmp_path):
    """A program of another name with the interpreter linked into it."""
    libraries = static_libraries()
    if not libraries:
        pytest.skip("there is no static libpython here")
    prefix, archive = libraries[0]
    source = tmp_path / "server.c"
    source.write_text(
        "int Py_BytesMain(int, char **); int main(int c, char **v) { return Py_BytesMain(c, v); }")
    subprocess.run(["gcc", "-rdynamic", "-o", tmp_path / "server", source, archive, "-lm", "-ldl",
                    "-lutil", "-lpthread"], check=True)
    run(tracer, tmp_path / "server", held, tmp_path, env={"PYTHONHOME": prefix})


def test_other_programs_say_nothing(tracer):
    """One without an interpreter has no Python frames, and no message about them."""
    result = tracer.run(paths.workload("memory"), "--pairs", 5, args=["-e", "cudaMalloc"],
                        columns="time,event,stack")
    assert len(result.lines) >= 5
    assert "python" not in result.stderr.lower()


def test_unknown_version(tracer, tmp_path):
    """The reason is told once, and the calls are there."""
    program = tmp_path / "python3.99"
    source = tmp_path / "unknown.c"
    source.write_text("""
        int cudaMalloc(void **, unsigned long), usleep(unsigned), access(const char *, int);
        char _PyRuntime[4096] = "x";
        int main(int count, char **words)
        {
            void *p;
            for (int i = 0; i < 5; i++)
                cudaMalloc(&p, 64);
            for (int i = 0; i < 6000 && access(words[1], 0); i++)
                usleep(10000);
            return 0;
        }
    """)
    subprocess.run(["gcc", "-rdynamic", "-o", program, source, paths.LIBCUDART], check=True)
    running, path = tracer.start(program, tmp_path / "go", args=["-e", "cudaMalloc"],
                                 columns="time,event,stack")
    with running:
        trace.wait_for_lines(path, 5)
        (tmp_path / "go").touch()
        result = trace.Traced(running.finish(), path)
    assert len(result.lines) == 5
    assert re.findall(r"process \d+: (Python frames unavailable: .*)", result.stderr) == [
        "Python frames unavailable: CPython 3.99 is not supported"]


def test_versions():
    """Says which versions the tests above ran with."""
    found = interpreters()
    print("ran:", ", ".join(v for v, path in found.items() if path),
          "skipped:", ", ".join(v for v, path in found.items() if not path) or "none")
    assert any(found.values())
