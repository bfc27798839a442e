# SPDX-License-Identifier: BSD-2-Clause
"""What gpuprobe may do while it runs, who COMMAND is, and what no output shows."""
import contextlib
import json
import os
import shutil
import stat
import subprocess
import urllib.request
from pathlib import Path

import pytest

from lib import folders, paths
from lib.fuse import Served
from lib.probe import Background, Running, descendants, environment, wait_until
from lib.scrape import hold_port
from lib.variants import some_of

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.plain("there is no filter, and its libraries are not for a setuid program")]

NUMBERS = {"dac_read_search": 2, "sys_ptrace": 19, "sys_admin": 21, "perfmon": 38, "bpf": 39,
           "checkpoint_restore": 40}
FIVE = ("bpf", "perfmon", "sys_ptrace", "dac_read_search", "checkpoint_restore")
USER = 1000  # whether he has a name or not
NONE = ("--metrics-addr", "none")
REPORT = ("--json", *NONE, "--display-interval", "0")
COMMANDS = {
    "monitor": REPORT,
    "trace": ("trace",),
    "record": ("record", "-o", "/dev/null"),
    "stat": ("stat", "--json"),
    "diagnose": ("diagnose", "--json"),
    "nccl": ("nccl", "--json"),
    "memleak": ("memleak", "--json"),
    "account": ("account", "--json"),
    "flame": ("flame", "--by", "launches", "--stack-sample", "1"),
}


@pytest.fixture
def private():
    """A directory that everybody may enter, with gpuprobe and its targets:
    no other test uses these files."""
    with folders.private("launch", "memory", "idle-holder", gpuprobe=True) as directory:
        yield directory


def bits(names):
    return sum(1 << NUMBERS[name] for name in names)


def status_of(pid, thread=None):
    """/proc/PID/status as a dict."""
    path = f"/proc/{pid}/task/{thread}/status" if thread else f"/proc/{pid}/status"
    return dict(line.split(":\t", 1) for line in Path(path).read_text().splitlines()
                if ":\t" in line)


def parse_status(text):
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def attached(probe):
    """Waits until the probes are in, which takes -v to be told."""
    wait_until(lambda: "the probes are in" in probe.stderr,
               lambda: f"no probes are in: {probe.stderr}")


def assert_kept(pid, names):
    """Each thread of the process has these capabilities, no way to others, and the filter."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        status = status_of(pid, thread)
        for kept in ("CapPrm", "CapEff", "CapBnd"):
            assert int(status[kept], 16) == bits(names), (kept, status)
        for empty in ("CapInh", "CapAmb"):
            assert int(status[empty], 16) == 0, (empty, status)
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status


def as_user(*argv, capabilities=FIVE, env=None, uid=USER, before=(), **options):
    """Runs a program as a normal user with these ambient capabilities;
    `before` are words in front of the program."""
    plus = ",".join(["-all", *(f"+{name}" for name in capabilities)])
    before = [*map(str, before), "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups",
              f"--inh-caps={plus}", f"--ambient-caps={plus}", "--"]
    return subprocess.run([*before, *map(str, argv)], env=environment(**(env or {})), text=True,
                          capture_output=True, timeout=120, stdin=subprocess.DEVNULL, check=False,
                          **options)


class Holder(Background):
    """A process that has called CUDA and waits."""

    def __init__(self, directory, *before, env=None, **options):
        super().__init__(*before, f"{directory}/idle-holder", "--bytes", "4096", "--launch", "2",
                         "--then-launch", "4", "--seconds", "3600", env=env, **options)
        assert self.stdout.readline() == "READY\n"

    def go(self):
        assert self.tell("go") == "DONE"


# --- what gpuprobe keeps ---

@pytest.mark.parametrize("command", some_of(COMMANDS, "monitor", "trace", "diagnose"))
def test_root_keeps_what_it_needs(command, private):
    with Holder(private) as holder:
        argv = [paths.GPUPROBE, *COMMANDS[command], "-v", "-p", holder.pid]
        with Running([str(word) for word in argv], environment(), private, None) as probe:
            attached(probe)
            assert_kept(probe.pid, FIVE)
            holder.go()
            result = probe.stop()
    assert result.status == 0, result.stderr
    assert "CAP_" not in result.stderr


@pytest.mark.parametrize("links", ["multi", "perf"])
def test_tracefs_takes_sys_admin_and_says_so(links, private, missing_links):
    if links in missing_links:
        pytest.skip(f"this kernel has no {links} links")
    with Holder(private) as holder:
        argv = [str(paths.GPUPROBE), *REPORT, "-v", "-p", str(holder.pid)]
        with Running(argv, environment(GPUPROBE_LINKS=links), private, None) as probe:
            attached(probe)
            assert_kept(probe.pid, FIVE + ("sys_admin",) * (links == "perf"))
            holder.go()
            result = probe.stop()
    assert result.status == 0, result.stderr
    assert result.processes[0]["launches"] == 4
    said = "gpuprobe: warning: keeping CAP_SYS_ADMIN: probes by tracefs need it\n"
    assert (said in result.stderr) == (links == "perf")


def test_the_guard_keeps_no_more(gpuprobe):
    with gpuprobe.start(paths.workload("idle-holder"), "--seconds", "3600", args=["-v"]) as probe:
        attached(probe)
        children = Path(f"/proc/{probe.pid}/task/{probe.pid}/children").read_text().split()
        guards = [pid for pid in children
                  if Path(f"/proc/{pid}/comm").read_text() == "gpuprobe-guard\n"]
        assert len(guards) == 1
        # It comes by its filter beside gpuprobe.
        wait_until(lambda: status_of(guards[0])["Seccomp"] != "0", "it has no filter")
        assert_kept(guards[0], FIVE)


def test_a_port_that_takes_privileges(gpuprobe):
    """It is bound before they are given up."""
    with hold_port(range(600, 1024)) as held:
        address = "127.0.0.1:%d" % held.getsockname()[1]
        with gpuprobe.start(base=("--json", "--metrics-addr", address)) as probe:
            probe.report()
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as answer:
                    assert answer.status == 200 and b"gpuprobe_" in answer.read()


@pytest.mark.parametrize("argv", [("flame", "--by", "launches", "--folded", "-o"), ("stat", "-O"),
                                  ("trace", "-O")], ids=lambda argv: argv[0])
def test_output_where_root_has_no_power(argv, private):
    """Without CAP_DAC_OVERRIDE root may not write to others' directories:
    gpuprobe opens the files it needs before."""
    home = private / "home"
    home.mkdir()
    os.chown(home, USER, USER)
    home.chmod(0o755)
    output = home / "output"
    done = subprocess.run([paths.GPUPROBE, *argv, output, "--", private / "launch"],
                          env=environment(), text=True, capture_output=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert "aunch" in output.read_text()
    assert os.listdir(home) == ["output"]
    assert stat.S_IMODE(output.stat().st_mode) == 0o644
    # One that is not written is taken away.
    gone = subprocess.run([paths.GPUPROBE, "flame", "--by", "bytes",
                           "--folded", "-o", home / "other", "--", "/nothing"],
                          env=environment(), capture_output=True, timeout=60, check=False)
    assert gone.returncode == 1
    assert os.listdir(home) == ["output"]


# --- COMMAND ---

SHOW = ("sh", "-c", "id -u; id -g; id -G; cat /proc/self/status; ls /proc/self/fd; env")


def identity(stdout):
    """What SHOW says: uid, gid, groups, status, descriptors, environment."""
    uid, gid, groups, rest = stdout.split("\n", 3)
    status, rest = rest[:rest.index("\n0\n")], rest[rest.index("\n0\n") + 1:]
    lines = rest.splitlines()
    descriptors = [line for line in lines if line.isdigit()]
    variables = dict(line.split("=", 1) for line in lines if "=" in line)
    return uid, gid, groups.split(), parse_status(status), descriptors, variables


def assert_unbound(status):
    """The program has no filter, no no_new_privs, none of gpuprobe's capabilities,
    and the signals of a new program."""
    assert status["NoNewPrivs"] == "0" and status["Seccomp"] == "0", status
    for empty in ("CapInh", "CapAmb"):
        assert int(status[empty], 16) == 0, status
    assert int(status["SigBlk"], 16) == 0, status
    # What the caller ignores stays ignored.
    assert int(status["SigIgn"], 16) & ~int(status_of("self")["SigIgn"], 16) == 0, status


def run(*argv, env=None, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([str(word) for word in argv], env=environment(**(env or {})), text=True,
                          capture_output=True, timeout=120, check=False, close_fds=True, **options)


def test_roots_command_is_roots():
    done = run(paths.GPUPROBE, *NONE, "--display-interval", "0", "-q", "--", *SHOW)
    uid, gid, _, status, descriptors, _ = identity(done.stdout)
    assert (uid, gid) == ("0", "0")
    assert_unbound(status)
    own = status_of("self")
    assert status["CapEff"] == own["CapEff"] and status["CapBnd"] == own["CapBnd"]
    # 3 is the directory that ls reads.
    assert descriptors == ["0", "1", "2", "3"]


def test_sudos_command_is_the_callers():
    """As sudo leaves it: root's HOME, USER, LOGNAME and SHELL, and who called in SUDO_*."""
    env = {"SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody", "HOME": "/root",
           "USER": "root", "LOGNAME": "root", "SHELL": "/bin/sh"}
    done = run(paths.GPUPROBE, *NONE, "--display-interval", "0", "-q", "--", *SHOW, env=env)
    uid, gid, groups, status, _, variables = identity(done.stdout)
    assert (uid, gid, groups) == ("65534", "65534", ["65534"])
    assert status["Uid"].split() == ["65534"] * 4 and status["Gid"].split() == ["65534"] * 4
    assert_unbound(status)
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
    home = subprocess.run(["getent", "passwd", "nobody"], capture_output=True, text=True,
                          check=True).stdout.split(":")[5]
    assert (variables["HOME"], variables["USER"],
            variables["LOGNAME"]) == (home, "nobody", "nobody")
    # What was set on purpose stays.
    done = run(paths.GPUPROBE, *NONE, "--display-interval", "0", "-q", "--", *SHOW,
               env=env | {"HOME": "/scratch"})
    assert identity(done.stdout)[5]["HOME"] == "/scratch"


@pytest.mark.parametrize("name, kind", [("SUDO_UID", "user"), ("SUDO_GID", "group")])
@pytest.mark.parametrize("value", ["abc", "1000x", "-1", "4294967295", "99999999999999"])
def test_a_caller_that_cannot_be_told(name, kind, value, private):
    """COMMAND is not run as root then."""
    env = {"SUDO_UID": "65534", "SUDO_GID": "65534"} | {name: value}
    done = run(paths.GPUPROBE, *NONE, "--", "touch", private / "ran", env=env)
    assert (done.returncode, done.stderr) == (
        1, f"gpuprobe: {name} is '{value}', which is not the number of a {kind}: "
           "unset it, or run gpuprobe with sudo\n")
    assert not (private / "ran").exists()


def test_a_users_command_has_none_of_its_capabilities(private):
    done = as_user(private / "gpuprobe", *NONE, "--display-interval", "0", "-q", "--", *SHOW)
    assert done.returncode == 0, done.stderr
    uid, _, groups, status, descriptors, _ = identity(done.stdout)
    assert (uid, groups) == (str(USER), [str(USER)])
    assert_unbound(status)
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
    assert descriptors == ["0", "1", "2", "3"]


@pytest.mark.parametrize("ignored", [[], ["PIPE"], ["XFSZ"], ["HUP", "PIPE", "XFSZ"]], ids="+".join)
@pytest.mark.parametrize("command", some_of(COMMANDS, "monitor"))
def test_what_the_caller_ignores_command_ignores(command, ignored):
    """And nothing else."""
    trap = f"trap '' {' '.join(ignored)}; " if ignored else ""
    show = ["sh", "-c", "grep SigIgn /proc/self/status >&2"]
    alone = run("sh", "-c", f'{trap}exec "$@"', "sh", *show)
    done = run("sh", "-c", f'{trap}exec "$@"', "sh", paths.GPUPROBE, *COMMANDS[command], "--",
               *show)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines()
            if "SigIgn" in line] == alone.stderr.splitlines()


@pytest.mark.parametrize("how", ["setuid", "capabilities"])
def test_a_privileged_file(how, private):
    """Who calls it is who COMMAND is, whatever the environment says."""
    gpuprobe = private / "gpuprobe"
    if how == "setuid":
        gpuprobe.chmod(0o4755)
    else:
        subprocess.run(["setcap", ",".join(f"cap_{name}" for name in FIVE) + "+ep", gpuprobe],
                       check=True)
    env = {"SUDO_UID": "0", "SUDO_GID": "0", "SUDO_USER": "root"}
    done = as_user(gpuprobe, *REPORT, "--", "sh", "-c", '"$@" >&2; cat /proc/self/status >&2', "sh",
                   private / "launch", "--launches", "23", capabilities=(), env=env)
    assert done.returncode == 0, done.stderr
    status = parse_status(done.stderr)
    assert status["Uid"].split() == [str(USER)] * 4 and status["Gid"].split() == [str(USER)] * 4
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
    assert_unbound(status)
    assert sum(p["launches"] for p in json.loads(done.stdout)["processes"]) == 23


WRITERS = {
    "trace": ("trace", "-q", "-O"),
    "stat": ("stat", "-q", "-O"),
    "diagnose": ("diagnose", "-q", "-O"),
    "flame": ("flame", "-q", "--by", "launches", "--folded", "-o"),
}


@pytest.fixture
def setuid(private):
    """A private directory whose gpuprobe is setuid root, with one directory of root's and one
    of the user's."""
    (private / "gpuprobe").chmod(0o4755)
    for name, owner in (("roots", 0), ("users", USER)):
        (private / name).mkdir(mode=0o755)
        os.chown(private / name, owner, owner)
    return private


@pytest.mark.parametrize("command", some_of(WRITERS, "trace", "flame"))
def test_a_setuid_file_writes_as_who_called_it(command, setuid):
    """What he may not write stays as it is, and nothing is made where he may make nothing."""
    kept = setuid / "roots" / "kept"
    kept.write_text("root's")
    kept.chmod(0o644)
    (setuid / "users" / "link").symlink_to(kept)
    for path in (kept, setuid / "users" / "link", setuid / "roots" / "new"):
        done = as_user(setuid / "gpuprobe", *WRITERS[command], path, "--", setuid / "launch",
                       capabilities=())
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert done.stderr == f"gpuprobe: cannot write {path}: Permission denied\n"
    assert kept.read_text() == "root's" and os.listdir(setuid / "roots") == ["kept"]


def test_a_setuid_file_compares_what_its_caller_may_read(setuid):
    """Neither a run nor a budget of root's shows in a message."""
    own, kept = setuid / "users" / "own", setuid / "roots" / "kept"
    for path, mode in ((own, 0o644), (kept, 0o600)):
        path.write_text('{"schema":"secret"}')
        path.chmod(mode)
    for args in ((kept, own), (own, kept), ("--budget", kept, own)):
        done = as_user(setuid / "gpuprobe", "diff", *args, capabilities=())
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"gpuprobe: cannot read {kept}: Permission denied\n"


@pytest.mark.parametrize("command", some_of(WRITERS, "trace", "flame"))
def test_a_setuid_file_writes_what_is_the_callers(command, setuid):
    folder = setuid / "users"
    (folder / "there").write_text("old text")
    os.chown(folder / "there", USER, USER)
    for name in ("new", "there"):
        path = folder / name
        done = as_user(setuid / "gpuprobe", *WRITERS[command], path, "--", setuid / "launch",
                       capabilities=())
        assert done.returncode == 0, done.stderr
        assert "aunch" in path.read_text() or command == "diagnose"
        assert "old text" not in path.read_text()
        assert (path.stat().st_uid, path.stat().st_gid) == (USER, USER)
    # One that is not written is taken away.
    as_user(setuid / "gpuprobe", *WRITERS["flame"], folder / "other", "--", "/nothing",
            capabilities=())
    assert sorted(os.listdir(folder)) == ["new", "there"]


@pytest.mark.parametrize("command", some_of(WRITERS, "trace", "flame"))
def test_a_setgid_file_writes_as_who_called_it(command, private):
    """What the group of the file may write is not for who calls it, and what is made has his."""
    gpuprobe = private / "gpuprobe"
    gpuprobe.chmod(0o2755)
    subprocess.run(["setcap", ",".join(f"cap_{name}" for name in FIVE) + "+ep", gpuprobe],
                   check=True)
    for name, owner in (("roots", 0), ("users", USER)):
        (private / name).mkdir()
        (private / name).chmod(0o775)
        os.chown(private / name, owner, owner)
    kept = private / "roots" / "kept"
    kept.write_text("root's")
    kept.chmod(0o664)
    for path in (kept, private / "roots" / "new"):
        done = as_user(gpuprobe, *WRITERS[command], path, "--", private / "launch", capabilities=())
        assert done.returncode == 1
        assert done.stderr == f"gpuprobe: cannot write {path}: Permission denied\n"
    assert kept.read_text() == "root's" and os.listdir(private / "roots") == ["kept"]
    path = private / "users" / "new"
    done = as_user(gpuprobe, *WRITERS[command], path, "--", private / "launch", capabilities=())
    assert done.returncode == 0, done.stderr
    assert (path.stat().st_uid, path.stat().st_gid) == (USER, USER)


# How gpuprobe may have capabilities that its caller has not: by its file, or lent by who starts it.
GIVEN = {"file": (), "lent": FIVE}


@pytest.fixture(params=GIVEN)
def given(request, private):
    """(the directory, the capabilities that its gpuprobe is started with)"""
    if request.param == "file":
        subprocess.run(["setcap", ",".join(f"cap_{name}" for name in FIVE) + "+ep",
                        private / "gpuprobe"], check=True)
    return private, GIVEN[request.param]


@pytest.mark.parametrize("command", ["trace", "flame"])
def test_capabilities_reach_no_file_for_the_caller(command, given):
    """A file that everybody might write, in a directory that is root's alone;
    where the user may write, all is as ever."""
    private, capabilities = given
    hidden = private / "hidden"
    hidden.mkdir(mode=0o700)
    kept = hidden / "kept"
    kept.write_text("root's")
    kept.chmod(0o666)
    (private / "users").mkdir()
    os.chown(private / "users", USER, USER)
    (private / "users" / "link").symlink_to(kept)
    for path in (kept, private / "users" / "link"):
        done = as_user(private / "gpuprobe", *WRITERS[command], path, "--", private / "launch",
                       capabilities=capabilities)
        assert (done.returncode, done.stdout, done.stderr) == (
            1, "", f"gpuprobe: cannot write {path}: Permission denied\n")
    assert kept.read_text() == "root's" and os.listdir(hidden) == ["kept"]
    path = private / "users" / "new"
    done = as_user(private / "gpuprobe", *WRITERS[command], path, "--", private / "launch",
                   capabilities=capabilities)
    assert done.returncode == 0 and "aunch" in path.read_text(), done.stderr


def test_capabilities_read_no_library_for_the_caller(given):
    private, capabilities = given
    library = private / "libcuda.so.1"
    library.chmod(0o600)
    done = as_user(private / "gpuprobe", *REPORT, "--duration", "0.1", "--libcuda-path", library,
                   capabilities=capabilities)
    assert done.returncode == 1 and f"{library}: Permission denied" in done.stderr, done.stderr


@pytest.mark.parametrize("how", ["setuid", "capabilities", "lent"])
def test_a_port_that_the_caller_may_not_take(how, private):
    """Nobody gets one by gpuprobe's privileges; by one that is his own he does."""
    if how == "setuid":
        (private / "gpuprobe").chmod(0o4755)
    elif how == "capabilities":
        words = ",".join(f"cap_{name}" for name in (*FIVE, "net_bind_service"))
        subprocess.run(["setcap", f"{words}+ep", private / "gpuprobe"], check=True)
    with hold_port(range(600, 1024)) as held:
        address = "127.0.0.1:%d" % held.getsockname()[1]
        done = as_user(private / "gpuprobe", "--json", "--duration", "0.1", "--metrics-addr",
                       address, capabilities=(*FIVE, "net_bind_service") if how == "lent" else ())
    if how == "lent":
        assert (done.returncode == 0
                and json.loads(done.stdout.splitlines()[-1])["final"]), done.stderr
        return
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (f"gpuprobe: cannot serve metrics on {address}: Permission denied; "
                           "choose a port from 1024 on with --metrics-addr\n")


@pytest.fixture
def users_home(private):
    """A directory of the user's."""
    home = private / "home"
    home.mkdir(mode=0o755)
    os.chown(home, USER, USER)
    return home


@contextlib.contextmanager
def flame_into(home, private):
    """Root's gpuprobe, about to write into the directory the flame graph of a process
    that has launched."""
    with Holder(private) as holder:
        argv = [str(paths.GPUPROBE), "flame", "-v", "--by", "launches", "--stack-sample", "1",
                "--folded", "-o", str(home / "output"), "-p", str(holder.pid)]
        with Running(argv, environment(), private, None) as probe:
            attached(probe)
            holder.go()
            yield probe


def test_who_owns_the_directory_has_no_power_over_gpuprobe(private, users_home):
    """Neither over the process that puts the file in its place; both are root's in all ways."""
    with flame_into(users_home, private) as probe:
        mine = [probe.pid, *descendants(probe.pid)]
        for pid in mine:
            assert status_of(pid)["Uid"].split()[:3] == ["0"] * 3
            tried = subprocess.run(["setpriv", f"--reuid={USER}", f"--regid={USER}",
                                    "--clear-groups", "--inh-caps=-all",
                                    "/bin/kill", "-0", str(pid)],
                                   capture_output=True, check=False)
            assert tried.returncode == 1 and b"not permitted" in tried.stderr
        names = [Path(f"/proc/{pid}/comm").read_text().strip() for pid in mine]
        assert "gpuprobe-placer" in names, names
        placer = status_of(mine[names.index("gpuprobe-placer")])
        assert int(placer["CapPrm"], 16) == int(placer["CapEff"], 16) == 0
        assert (placer["NoNewPrivs"], placer["Seccomp"]) == ("1", "2")
        assert_kept(probe.pid, FIVE)
        result = probe.stop()
    assert result.status == 0, result.stderr
    assert os.listdir(users_home) == ["output"] and "aunch" in (users_home / "output").read_text()


def test_a_directory_that_is_moved_meanwhile(private, users_home):
    """The output is where the directory is now, and nothing is behind the link
    that has its name."""
    roots = private / "roots"
    roots.mkdir(mode=0o755)
    (roots / "output").write_text("root's")
    with flame_into(users_home, private) as probe:
        users_home.rename(private / "moved")
        users_home.symlink_to(roots)
        result = probe.stop()
    assert result.status == 0, result.stderr
    assert os.listdir(roots) == ["output"] and (roots / "output").read_text() == "root's"
    assert (os.listdir(private / "moved") == ["output"]
            and "aunch" in (private / "moved" / "output").read_text())


def test_a_killed_gpuprobe_leaves_no_temporary_file(private, users_home):
    with flame_into(users_home, private) as probe:
        assert len(os.listdir(users_home)) == 1
        probe.process.kill()
        wait_until(lambda: not os.listdir(users_home), "the temporary file is still there")


def test_a_directory_where_nobody_may_write(private, users_home):
    """Root can make the file at the start, but could not put it in its place at the end."""
    for owner in (USER, 0):
        os.chown(users_home, owner, owner)
        users_home.chmod(0o555)
        done = run(paths.GPUPROBE, *WRITERS["flame"], users_home / "output", "--", "touch",
                   private / "ran")
        assert (done.returncode, done.stderr) == (
            1, f"gpuprobe: cannot write {users_home}/output: Permission denied\n")
        assert os.listdir(users_home) == [] and not (private / "ran").exists()


@pytest.mark.parametrize("argv", [(*REPORT, "--duration", "0.1"), ("check",), ("bpftrace-script",)],
                         ids=lambda argv: argv[0])
def test_a_setuid_file_reads_libraries_as_who_called_it(argv, setuid):
    library = setuid / "libcuda.so.1"
    library.chmod(0o600)
    done = as_user(setuid / "gpuprobe", *argv, "--libcuda-path", library, capabilities=())
    assert done.returncode in (1, 2) and f"{library}: Permission denied" in done.stderr, done.stderr


def test_a_setuid_file_asks_no_server(setuid):
    """Its caller would say where to, and which files the client of debuginfod writes."""
    env = {"DEBUGINFOD_URLS": "http://127.0.0.1:9",
           "DEBUGINFOD_CACHE_PATH": str(setuid / "roots" / "cache")}
    done = as_user(setuid / "gpuprobe", "check", capabilities=(), env=env)
    assert "debuginfod: no server is asked" in done.stdout, done.stdout
    done = as_user(setuid / "gpuprobe", "trace", "--stack", "fp", "--", setuid / "launch",
                   capabilities=(), env=env)
    assert done.returncode == 0, done.stderr
    assert os.listdir(setuid / "roots") == []


def test_setuid_programs_work_in_command(private):
    program = private / "id"
    shutil.copy("/usr/bin/id", program)
    program.chmod(0o4755)
    done = as_user(private / "gpuprobe", *NONE, "--display-interval", "0", "-q", "--", program,
                   "-u")
    assert done.stdout.splitlines()[0] == "0", done.stderr


def test_command_becomes_another_user_elsewhere(gpuprobe_by, private):
    """In a session of its own, where SIGCONT would reach it: it is held and let go all the same."""
    directory = private / "truth"
    directory.mkdir()
    directory.chmod(0o777)
    result = gpuprobe_by.run("setsid", "--wait", "setpriv", "--reuid=65534", "--regid=65534",
                             "--clear-groups", private / "launch", "--launches", "31",
                             env={"CUDA_SIM_TRUTH": None})
    process = result.process
    assert (process["launches"], process["uid"], process["since_attach"]) == (31, 65534, False)


def test_a_users_command_becomes_somebody_else(private):
    """Whom a user's gpuprobe may not signal: it is not held, so that it does not stay so."""
    program = private / "setpriv"
    shutil.copy(shutil.which("setpriv"), program)
    program.chmod(0o4755)
    done = as_user(private / "gpuprobe", *REPORT, "--", "sh", "-c", '"$@" >&2', "sh", "setsid",
                   "--wait", program, "--reuid=65534", "--regid=65534", "--clear-groups",
                   private / "launch", "--launches", "31")
    assert done.returncode == 0, done.stderr
    # It has come to its end, and of its calls what was seen is counted: perhaps none.
    assert "31 launches" in done.stderr
    assert all(p["uid"] == 65534 and p["launches"] <= 31
               for p in json.loads(done.stdout)["processes"])


# --- a normal user ---

@pytest.mark.parametrize("command", some_of(COMMANDS, "monitor", "trace", "diagnose"))
def test_five_capabilities_are_enough(command, private):
    done = as_user(private / "gpuprobe", *COMMANDS[command], "--", "sh", "-c", '"$@" >&2', "sh",
                   private / "launch", "--launches", "29")
    assert done.returncode == 0, done.stderr
    assert "without CAP_" not in done.stderr
    if command == "monitor":
        assert sum(p["launches"] for p in json.loads(done.stdout)["processes"]) == 29
    elif command == "trace":
        assert done.stdout.count("cuLaunchKernel") + done.stdout.count("cudaLaunchKernel") == 29
    elif command == "flame":
        assert sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()) == 29
    else:
        assert json.loads(done.stdout.splitlines()[-1])


def test_five_capabilities_find_a_deleted_library_of_another_user(private):
    with Holder(private) as holder:
        for name in ("libcuda.so.1", "libcudart.so.13"):
            (private / name).unlink()
        plus = ",".join(f"+{name}" for name in FIVE)
        argv = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
                f"--inh-caps={plus}", f"--ambient-caps={plus}", "--", str(private / "gpuprobe"),
                *REPORT, "-v", "-p", str(holder.pid)]
        with Running(argv, environment(), private, None) as probe:
            attached(probe)
            holder.go()
            result = probe.stop()
    assert result.status == 0, result.stderr
    assert result.processes[0]["launches"] == 4


@pytest.mark.parametrize("missing, said", [
    ("sys_ptrace", "other users' processes"),
    ("dac_read_search", "only their owners may read"),
    ("checkpoint_restore", "deleted or replaced while in use"),
])
def test_what_is_lacking_is_said(missing, said, private):
    rest = [name for name in FIVE if name != missing]
    done = as_user(private / "gpuprobe", *REPORT, "--", "sh", "-c", '"$@" >&2', "sh",
                   private / "launch", "--launches", "19", capabilities=rest)
    assert done.returncode == 0, done.stderr
    warned = [line for line in done.stderr.splitlines() if "without CAP_" in line]
    assert (len(warned) == 1 and f"without CAP_{missing.upper()}: " in warned[0]
            and said in warned[0])
    assert sum(p["launches"] for p in json.loads(done.stdout)["processes"]) == 19


def test_processes_whose_libraries_it_may_not_read(private):
    """
    Watches the whole machine, which is a pid namespace with nobody else:
    running processes are reported like new ones, and each file is counted.
    """
    for name in folders.LIBRARIES:
        (private / name).chmod(0o700)
    rest = [name for name in FIVE if name != "dac_read_search"]
    with Background("unshare", "-pf", "--kill-child", "--mount-proc", "sh", "-c",
                    f"'{private}/idle-holder' --seconds 3600 & wait") as machine:
        assert machine.stdout.readline() == "READY\n"
        [inside] = descendants(machine.pid)[:1]
        done = as_user(private / "gpuprobe", *REPORT, "--duration", "1", capabilities=rest,
                       before=["nsenter", "-t", inside, "-p", "-m", "--"])
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if " (idle-holder): " in line]
    assert (len(told) == 1 and "warning" in told[0]
            and "libcuda.so.1 cannot be read: Permission denied" in told[0])
    assert "run it as root (sudo), or with CAP_DAC_READ_SEARCH" in told[0]
    assert json.loads(done.stdout)["lost"]["library_skipped"] == 2


def test_tracefs_is_roots(private, tracefs):
    done = as_user(private / "gpuprobe", "trace", "--", "true", capabilities=(*FIVE, "sys_admin"),
                   env={"GPUPROBE_LINKS": "perf"})
    assert done.returncode == 1
    assert "uprobe_events" in done.stderr and "root" in done.stderr


# --- what is never shown ---

SECRET = "s3cret-of-the-program"


def secretive(private, *args):
    """A program with the secret in its arguments, its environment,
    and the name of its working directory."""
    return ["env", f"TOKEN={SECRET}", "sh", "-c", f': {SECRET}; "$@"', SECRET, private / "launch",
            "--launches", "20", *args]


@pytest.mark.parametrize("argv", [
    (*NONE, "--display-interval", "0", "--stack", "auto"),
    (*REPORT, "--stack", "auto"), ("trace", "--stack", "auto"),
    ("trace", "--format", "json", "--stack", "auto"), ("trace", "--format", "tsv"), ("trace", "-C"),
    ("stat", "--stack", "auto"), ("stat", "--json", "--stack", "auto"), ("stat", "--csv"),
    ("diagnose",), ("diagnose", "--json"), ("memleak",), ("memleak", "--json"),
    ("account", "--json"),
    ("flame", "--by", "launches"), ("flame", "--by", "launches", "--svg"),
    ("flame", "--by", "launches", "--speedscope")], ids=" ".join)
def test_no_form_of_output_shows_words_or_variables(argv, private):
    done = run(paths.GPUPROBE, *argv, "-vv", "--", *secretive(private))
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout and SECRET not in done.stderr


def test_no_metric_shows_words_or_variables(free_port, private):
    with Background(*secretive(private), "--hold", "600") as program:
        program.stdout.readline()
        argv = [str(paths.GPUPROBE), "--json", "--metrics-addr", f"127.0.0.1:{free_port}",
                "--display-interval", "0.1"]
        with Running(argv, environment(), private, None) as probe:
            probe.report()
            with urllib.request.urlopen(f"http://127.0.0.1:{free_port}/metrics",
                                        timeout=60) as answer:
                assert SECRET.encode() not in answer.read()


# --- files that a watched process has a hand in ---

def watch(holder, private, *args):
    """Watches a process while it launches; returns the result.
    Waiting for a silent file would never end."""
    argv = [str(paths.GPUPROBE), *REPORT, "-v", "-p", str(holder.pid), *args]
    with Running(argv, environment(), private, None) as probe:
        attached(probe)
        holder.go()
        return probe.stop()


@pytest.fixture
def fuse_file(private):
    """The simulated driver, served by a program; only the process's mount namespace
    has it elsewhere."""
    if not os.path.exists("/dev/fuse"):
        pytest.skip("there is no /dev/fuse")
    directory = private / "served"
    directory.mkdir()
    with Served(directory, "libcuda.so.1", (private / "libcuda.so.1").read_bytes()) as served:
        (private / "libcuda.so.1").unlink()
        yield served


def test_a_library_that_a_program_serves_and_does_not_answer(fuse_file, private):
    env = {"LD_LIBRARY_PATH": str(fuse_file.directory)}
    with Holder(private, env=env) as holder, Holder(private, env=env) as other:
        fuse_file.fall_silent()
        # What the process still asks for itself, as its pages come, is none of gpuprobe's doing.
        before = fuse_file.asked
        result = watch(holder, private, "-p", str(other.pid))
        assert fuse_file.asked == before
    assert result.status == 0
    assert "FUSE" in result.stderr and "libcuda.so.1" in result.stderr
    # Once, though two have it.
    assert result.final["lost"]["library_skipped"] == 1
    # The runtime, of the same process, is seen.
    assert result.processes[0]["launches"] == 4


def test_debug_files_that_a_program_serves(fuse_file, private):
    """gpuprobe does not follow a path over such a file system;
    the perf map of a process is one of many."""
    with Holder(private,
                env={"LD_LIBRARY_PATH": str(private), "LD_PRELOAD": str(fuse_file.path)}) as holder:
        os.symlink(fuse_file.directory / "map", f"/tmp/perf-{holder.pid}.map")
        try:
            fuse_file.fall_silent()
            before = fuse_file.asked
            result = watch(holder, private, "--stack", "fp")
            assert fuse_file.asked == before
        finally:
            os.unlink(f"/tmp/perf-{holder.pid}.map")
    assert result.status == 0
