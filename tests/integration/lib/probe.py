# SPDX-License-Identifier: BSD-2-Clause
"""Runs gpuprobe: to its end (run), or beside the test (start)."""
import functools
import json
import os
import queue
import signal
import subprocess
import threading
import time

from lib import paths
from lib.truth import read_truths

EPOLL_WAIT = "232"  # x86-64
EXACT = ["--json", "--display-interval", "0", "--metrics-addr", "none"]
# The report by sections, whose form never changes. Without these options it is by process.
SECTIONS = ["--memleak", "--cudatrace", "--bandwidth-util"]
TEXT = [*SECTIONS, "--display-interval", "0", "--metrics-addr", "none"]


def environment(**changes):
    """The environment for gpuprobe and COMMAND; None removes a variable."""
    env = dict(os.environ)
    # COMMAND would otherwise run as the user behind `sudo make test`, who cannot write the truth
    # file.
    changes = {"SUDO_UID": None, "SUDO_GID": None, "TZ": "UTC", "DEBUGINFOD_URLS": None, **changes}
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = str(value)
    return env


def is_report(line):
    return line.startswith('{"schema"')


def descendants(pid):
    """The process's descendants."""
    parents = {}
    for directory in os.listdir("/proc"):
        if directory.isdigit():
            try:
                with open(f"/proc/{directory}/stat", encoding="utf-8", errors="replace") as stat:
                    parents[int(directory)] = int(stat.read().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                pass
    found = [pid]
    for known in found:
        found += [child for child, parent in parents.items() if parent == known]
    return found[1:]


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill_tree(pid):
    """
    Kills a process and all its descendants, after a test failed half-way. They are stopped first: a
    child forked during the killing would otherwise stay, and stay stopped forever if gpuprobe was
    holding it.
    """
    stopped, quiet = set(), 0
    while quiet < 2:
        found = {pid, *descendants(pid)} - stopped
        quiet = 0 if found else quiet + 1
        for victim in found:
            send(victim, signal.SIGSTOP)
        stopped |= found
        time.sleep(0.01)
    for victim in stopped:
        send(victim, signal.SIGKILL)


def is_watching(pid):
    """
    Whether a gpuprobe waits for events (epoll_wait), which it does only once all libraries it found
    are probed.
    """
    with open(f"/proc/{pid}/syscall", encoding="ascii") as syscall:
        return syscall.read().split()[0] == EPOLL_WAIT


def wait_until_watching(process, timeout=60):
    """Waits until gpuprobe has probed all libraries that it found."""
    end = time.monotonic() + timeout
    while not is_watching(process.pid):
        assert process.poll() is None, f"gpuprobe ended: {process.poll()}"
        assert time.monotonic() < end, f"gpuprobe does not watch after {timeout} s"
        time.sleep(0.02)


def wait_until(condition, why, timeout=60):
    """
    Returns the result of condition() once it is true. `why` describes the failure, or is called for
    the description.
    """
    end = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < end, why() if callable(why) else why
        time.sleep(0.02)
    return found


def is_held(pid, name):
    """Whether the process has that name and is stopped."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            comm, _, rest = stat.read().partition("(")[2].rpartition(")")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return comm == name and rest.split()[0] == "T"


def wait_until_held(pid, name):
    """Waits until a process of that name below the gpuprobe is stopped."""
    wait_until(lambda: any(is_held(child, name) for child in descendants(pid)),
               f"no {name} was held")


def wait_for_file(path, timeout=60):
    """Waits until a program has made the file. Returns its path."""
    wait_until(path.exists, f"{path} was not written", timeout)
    return path


class Background(subprocess.Popen):
    """A workload beside gpuprobe, killed at the end of the with block if it still runs."""

    def __init__(self, *argv, env=None, **options):
        super().__init__([str(word) for word in argv], env=environment(**(env or {})), text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)

    def tell(self, line):
        """Writes a line to its stdin. Returns its answer."""
        self.stdin.write(f"{line}\n")
        self.stdin.flush()
        return self.stdout.readline().rstrip("\n")

    def __exit__(self, *exc):
        if self.poll() is None:
            kill_tree(self.pid)
        self.stdin.close()
        self.stdout.close()
        self.wait(60)


def key_of(process):
    return process["pid"], process["start_ns"]


class Result:
    """The result of a run of gpuprobe."""

    def __init__(self, status, stdout, stderr, truth_dir):
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.truths = read_truths(truth_dir)

    @functools.cached_property
    def reports(self):
        """All reports. COMMAND writes to the same stdout; its lines are skipped."""
        return [json.loads(line) for line in self.stdout.splitlines() if is_report(line)]

    @property
    def final(self):
        """The final report."""
        last = self.reports[-1]
        assert last["final"] is True
        return last

    @property
    def truth(self):
        """The truth of the only process that called CUDA and wrote one."""
        truths = [truth for truth in self.truths if not truth.idle]
        assert len(truths) == 1, f"{len(truths)} truth files; stderr: {self.stderr}"
        return truths[0]

    @property
    def process(self):
        """The only process at the end."""
        processes = self.processes
        assert len(processes) == 1, (
            f"{[(p['pid'], p['comm']) for p in processes]}; stderr: {self.stderr}")
        return processes[0]

    @property
    def processes(self):
        """
        The processes of the final report, and earlier ones that had ended and left it: each from
        the last report that has it.
        """
        shown = {}  # after exec a process has the same pid and start
        for report in self.reports:
            ended = [p for p in report["processes"] if p["ended"] or report["final"]]
            shown.update({key: [p for p in ended if key_of(p) == key]
                          for key in map(key_of, ended)})
        return [process for same in shown.values() for process in same]

    def last_seen(self, pid):
        """
        The process in the last report that has it: with periodic reports it leaves after its end.
        """
        return [p for report in self.reports for p in report["processes"] if p["pid"] == pid][-1]

    def process_of(self, pid):
        found = [p for p in self.processes if p["pid"] == pid]
        assert len(found) == 1, f"{len(found)} processes with pid {pid}"
        return found[0]


class Running:
    """A gpuprobe that runs beside the test, which reads its reports as they come."""

    def __init__(self, argv, env, truth_dir, cwd):
        self.truth_dir = truth_dir
        self.stdout = ""
        self._lines = queue.Queue()
        self._stderr = []
        self.process = subprocess.Popen(argv, env=env, cwd=cwd, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._readers = [threading.Thread(target=self._read_stdout, daemon=True),
                         threading.Thread(target=self._read_stderr, daemon=True)]
        for reader in self._readers:
            reader.start()

    def _read_stdout(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self):
        for line in self.process.stderr:
            self._stderr.append(line)

    @property
    def pid(self):
        return self.process.pid

    @property
    def stderr(self):
        return "".join(self._stderr)

    def line(self, timeout=60):
        """The next line of stdout, None at its end."""
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(
                f"gpuprobe said nothing for {timeout} s; stderr: {self.stderr}") from None
        if line is not None:
            self.stdout += line
        return line

    def report(self, timeout=60):
        """The next report, with --json."""
        while True:
            line = self.line(timeout)
            assert line is not None, f"gpuprobe ended; stderr: {self.stderr}"
            if is_report(line):
                return json.loads(line)

    def find(self, look, timeout=60):
        """The first true result of look(report)."""
        end = time.monotonic() + timeout
        last = None
        while time.monotonic() < end:
            last = self.report(timeout)
            found = look(last)
            if found:
                return found
        raise TimeoutError(
            f"no report was as expected within {timeout} s; the last: {json.dumps(last)[:4000]}")

    def wait_for(self, condition, timeout=60):
        """The first report for which the condition is true."""
        return self.find(lambda report: report if condition(report) else None, timeout)

    def read_until(self, text, timeout=60):
        """Its output up to the line that completes `text`, for text reports."""
        end = time.monotonic() + timeout
        seen = ""
        while text not in seen:
            line = self.line(timeout)
            assert line is not None and time.monotonic() < end, (
                f"no {text!r} in {seen[-4000:]}; stderr: {self.stderr}")
            seen += line
        return seen

    def wait_until_watching(self):
        """For runs without reports, or whose reports do not show it."""
        wait_until_watching(self.process)

    def finish(self, timeout=60):
        """Waits for its end. Returns the Result."""
        while self.line(timeout) is not None:
            pass
        status = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(timeout)
        return Result(status, self.stdout, self.stderr, self.truth_dir)

    def stop(self, number=signal.SIGINT, timeout=60):
        """Ends it by a signal. Returns the Result."""
        self.process.send_signal(number)
        return self.finish(timeout)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            kill_tree(self.pid)
        self.process.wait(60)  # with many links the kernel needs half a minute on a busy machine
        self.process.stdout.close()
        self.process.stderr.close()


class Probe:
    """gpuprobe with a link path and a directory for truth files: the fixture `gpuprobe`."""

    def __init__(self, directory, links=None):
        self.directory = directory
        self.links = links
        self.runs = 0

    def _prepare(self, env, libraries):
        self.runs += 1
        truth_dir = self.directory / f"truth{self.runs}"
        truth_dir.mkdir()
        changes = {"GPUPROBE_LINKS": self.links, "CUDA_SIM_TRUTH": f"{truth_dir}/%p.%u.json",
                   **(env or {})}
        # Only the build's CUDA libraries count, even if the machine has real ones.
        options = []
        for library in libraries:
            options += ["--libcudart-path" if "cudart" in str(library) else "--libcuda-path",
                        str(library)]
        return environment(**changes), truth_dir, options

    def run(self, *command, args=(), base=EXACT, env=None, libraries=(), timeout=120, cwd=None,
            status=0):
        """Runs `gpuprobe base args -- command` to its end. A status of None accepts any."""
        environ, truth_dir, options = self._prepare(env, libraries)
        argv = [str(paths.GPUPROBE), *base, *options, *map(str, args)]
        if command:
            argv += ["--", *map(str, command)]
        done = subprocess.run(argv, env=environ, cwd=cwd, text=True, capture_output=True,
                              timeout=timeout, stdin=subprocess.DEVNULL, check=False)
        result = Result(done.returncode, done.stdout, done.stderr, truth_dir)
        assert status is None or result.status == status, \
            f"gpuprobe ended with {result.status}: {done.stderr}"
        return result

    def start(self, *command, args=(), base=("--json", "--metrics-addr", "none"), interval=0.1,
              env=None, libraries=(), cwd=None):
        """
        Starts it beside the test, without COMMAND's own output; a context manager. `interval` is
        None if there are no reports.
        """
        environ, truth_dir, options = self._prepare(env, libraries)
        reports = [] if interval is None else ["--display-interval", str(interval)]
        argv = [str(paths.GPUPROBE), *base, *reports, *options, *map(str, args)]
        if command:
            # A line in the middle of a report that is larger than the pipe would break it.
            argv += ["--", "sh", "-c", 'exec "$@" >/dev/null', "sh", *map(str, command)]
        return Running(argv, environ, truth_dir, cwd)
