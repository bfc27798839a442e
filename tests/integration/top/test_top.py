# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe top in a terminal, and its batch mode."""
import os
import re
import signal
import subprocess

import pytest

from lib import paths
from lib import terminal as pseudo_terminal
from lib.cli import fails, run
from lib.probe import Background, environment, wait_until
from lib.tmux import terminal

pytestmark = pytest.mark.usefixtures("nothing_left")

PROGRAM = paths.TESTS / "programs" / "host_steps.py"
SIMULATED = {"LD_LIBRARY_PATH": str(paths.SIM)}  # NVML
HINT = "h help  q quit"
COLOR = re.compile(r"\x1b\[[0-9;]*(?:3[0-7]|4[0-7])[;m]")


def steps():
    return Background(paths.PYTHON, PROGRAM, "sleep", 600,
                      env={"CUDA_SIM_DIRECTORY": paths.SIM, "CUDA_SIM_CLOCK": "kernel=20us"})


@pytest.fixture(scope="module")
def watched():
    """A program that launches until the tests end."""
    with steps() as program:
        yield program


def top(tmp_path, program, *words, **options):
    return terminal(tmp_path, paths.GPUPROBE, "top", "-d", 0.5, "-p", program.pid, *words,
                    **SIMULATED, **options)


def row_of(screen, pid):
    """The cells of a process's row, without the command line."""
    lines = [line for line in screen.splitlines() if line.split()[:1] == [str(pid)]]
    assert len(lines) == 1, screen
    return lines[0]


def wait_for_rates(screen, pid):
    """Waits until the row has a rate of launches."""
    def has_rate():
        row = [line for line in screen.screen().splitlines() if line.split()[:1] == [str(pid)]]
        return row and re.search(r" [1-9][0-9,.]*(?: k)? ", row[0][24:])

    wait_until(has_rate, screen.screen)


def assert_restored(screen):
    """The program ends well, and the terminal is as it was."""
    shown = screen.wait_for("before", "status 0", "echoke")
    settings = shown[shown.index("status"):].split()
    for word in ("icanon", "echo", "ixon", "isig"):
        assert word in settings, shown


def test_a_session(tmp_path, watched):
    """Rates, order, the page of a process, help, and the way back."""
    with top(tmp_path, watched) as screen:
        # NVML may answer after the first page.
        shown = screen.wait_for(HINT, str(watched.pid), "python3", "Simulated GPU", "75 W", "31 C")
        assert "gpuprobe top" in shown.splitlines()[0]
        wait_for_rates(screen, watched.pid)
        assert COLOR.search(screen.screen(escapes=True))
        screen.keys("L")
        screen.wait_for("by launches", "*LAUNCH/s")
        screen.keys("/", "nothing", "Enter")
        screen.wait_for("filter 'nothing'", "1 hidden", "no process passes", gone=["python3"])
        screen.keys("Escape")
        screen.wait_for("python3", gone=["filter '"])
        screen.keys("d", "7", "Enter")
        screen.wait_for("every 7.0 s")
        screen.keys("d", "x", "Enter")
        screen.wait_for("an interval is 0.1 to 86400 seconds")
        screen.keys("Space")
        screen.wait_for("PAUSED")
        screen.keys("h")
        screen.wait_for("sort by memory", gone=["PAUSED"])
        screen.keys("h", "Enter")
        screen.wait_for(f"process {watched.pid} (", "\nthreads\n", f"thread {watched.pid}",
                        "q back")
        screen.keys("End")
        screen.wait_for("start gpuprobe top with --stack")
        screen.keys("q", "q")
        assert_restored(screen)


def test_keys_that_type_nothing(tmp_path, watched):
    """Neither those that ncurses knows nor others: Ctrl and an arrow, F20, a keypad's key."""
    with top(tmp_path, watched) as screen:
        screen.wait_for(HINT, str(watched.pid))
        screen.keys("/", "a", "F1", "F5", "Up")
        for sequence in (b"\x1b[1;5C", b"\x1b[34~", b"\x1bOq"):
            screen.tmux("send-keys", "-H", *(f"{byte:02x}" for byte in sequence))
        screen.keys("b")
        screen.wait_for("filter (empty: all): ab_")
        screen.keys("Escape")
        screen.wait_for(HINT)
        screen.keys("F1")
        screen.wait_for("sort by memory")


def test_any_size(tmp_path, watched):
    """However small the terminal is, and while it changes. SIGHUP ends it."""
    with top(tmp_path, watched, width=80, height=24) as screen:
        screen.wait_for(HINT, str(watched.pid))
        for width, height in ((20, 5), (5, 2), (1, 1), (40, 8)):
            screen.resize(width, height)
            screen.keys("Enter", "Down", "q", "h", "q")
        row_of(screen.wait_for(str(watched.pid), "h help"), watched.pid)
        screen.resize(200, 50)
        shown = screen.wait_for("COPY OUT", "STEP", "IDLE")
        assert "sleep 600" in row_of(shown, watched.pid)
        os.kill(screen.child("gpuprobe"), signal.SIGHUP)
        assert_restored(screen)


def test_no_colours(tmp_path, watched):
    """And Ctrl-C from the keyboard."""
    with top(tmp_path, watched, NO_COLOR="1") as screen:
        screen.wait_for(HINT, str(watched.pid))
        assert not COLOR.search(screen.screen(escapes=True))
        screen.keys("C-c")
        assert_restored(screen)


def test_suspended(tmp_path, watched):
    """
    Ctrl-Z gives the terminal back, and it comes again as large as it is then. SIGTERM ends it.
    """
    command = (f"{paths.GPUPROBE} top -d 0.5 -p {watched.pid}; echo stopped; read x; fg; "
               "echo status $?")
    with terminal(tmp_path, "bash", "--norc", "-mc", command, **SIMULATED) as screen:
        screen.wait_for(HINT, str(watched.pid))
        screen.keys("C-z")
        screen.wait_for("stopped", gone=[HINT])
        screen.resize(140, 20)
        screen.keys("Enter")
        screen.wait_for(HINT, str(watched.pid), "COPY OUT")
        os.kill(screen.child("gpuprobe"), signal.SIGTERM)
        screen.wait_for("status 0", gone=[HINT])


def test_ends_with_its_process_and_shows_warnings_then(tmp_path):
    """Messages do not garble the screen."""
    with steps() as program, top(tmp_path, program, "-v") as screen:
        # It goes after ten seconds, before which a busy machine may not show the process.
        shown = screen.wait_for("gpuprobe top", "the probes are in")
        assert "the probes are in" in shown.splitlines()[-1]
        program.kill()
        program.wait()
        shown = screen.wait_for("status 0")
        assert "gpuprobe: the probes are in" in shown[:shown.index("status 0")]


def test_batch(watched):
    done = run("top", "-b", "-n", 2, "-d", 0.3, "-p", watched.pid, **SIMULATED)
    assert done.returncode == 0 and "\x1b" not in done.stdout
    pages = done.stdout.split("\n\n")
    assert len(pages) == 3 and pages[2] == ""
    for page in pages[:2]:
        lines = page.splitlines()
        assert re.fullmatch(r"gpuprobe top  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  1 process, by memory, "
                            r"every 300 ms", lines[0])
        # On a busy machine NVML may answer after the first page.
        assert re.match(r"GPU 0   busy   0 %  memory |GPUs unknown", lines[1])
        assert lines[2].split() == ["PID", "USER", "GPU", "*MEMORY", "GROWTH/s", "LAUNCH/s",
                                    "COPY", "IN", "COPY", "OUT", "WAIT", "STEP", "IDLE",
                                    "VERDICT", "COMMAND"]
        cells = row_of(page, watched.pid).split()
        assert cells[1] == "root" and cells[-2:] == ["sleep", "600"]
        assert len(lines) == 4 and max(map(len, lines)) <= 160


@pytest.mark.parametrize("columns", [80, 120])
def test_batch_on_a_terminal(watched, columns):
    """Lines fit it."""
    args = ["top", "-b", "-n", 1, "-d", 0.3, "-p", watched.pid]
    status, shown = pseudo_terminal.run(args, columns, **SIMULATED)
    assert status == 0 and str(watched.pid) in shown
    assert 60 < max(map(len, shown.splitlines())) <= columns


def test_filter(watched):
    """From its start, unlike that of a key."""
    options = ("-b", "-d", 0.3, "-p", watched.pid)
    page = run("top", *options, "-n", 1, "--comm", "another", **SIMULATED).stdout
    assert "  0 processes, only --comm another, by memory" in page
    assert "no CUDA process seen yet that matches --comm another" in page
    page = run("top", *options, "-n", 3, "--uid", "root", **SIMULATED).stdout.split("\n\n")[-2]
    assert row_of(page, watched.pid) and "1 process, only --uid root, by memory" in page


def test_needs_a_terminal():
    fails(run("top"), 2, "use -b")


def test_starts_no_program():
    fails(run("top", "-b", "--", "true"), 2, "true", "-p PID")


@pytest.mark.plain("ncurses keeps memory of a terminal that it refuses")
def test_an_unknown_terminal(tmp_path):
    with terminal(tmp_path, paths.GPUPROBE, "top", TERM="none-such") as screen:
        shown = screen.wait_for("status 1", "icanon")
        whole = shown.replace("\n", "")
        assert "none-such" in whole and "use -b" in whole


def test_without_its_reader():
    """It ends when nobody reads, as other commands do."""
    done = subprocess.run(["sh", "-c", '"$0" top -q -b -d 0.1 | head -1', paths.GPUPROBE],
                          env=environment(), text=True, capture_output=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=True)
    assert done.stdout.startswith("gpuprobe top") and not done.stderr


def first_page(look, *words):
    """The first page of batch mode of which look() is true: NVML may answer late."""
    page = ""
    with subprocess.Popen([paths.GPUPROBE, "top", "-b", "-d", "0.3", "-n", "200",
                           *map(str, words)], env=environment(**SIMULATED), text=True,
                          stdout=subprocess.PIPE) as running:
        for line in running.stdout:
            if line != "\n":
                page += line
            elif look(page):
                running.terminate()
                return page
            else:
                page = ""
    raise AssertionError("no page was as expected")


def test_a_process_that_makes_no_call(watched):
    """Top knows processes by their calls, and those from before it by their libraries."""
    with Background(paths.workload("idle-holder"), "--bytes", "300M", "--then-launch", 5) as holder:
        assert holder.stdout.readline() == "READY\n"
        page = first_page(lambda page: " 300.0 MiB " in page, "-p", watched.pid, "-p", holder.pid)
        assert "  2 processes, by memory" in page
        assert re.search(r" 300\.0 MiB .* idle +idle-holder ", row_of(page, holder.pid))
        assert "not listed" not in page
