# SPDX-License-Identifier: BSD-2-Clause
"""Odd command lines of every command: one line that says what failed, on what, and what to do."""
import re

import pytest

from lib import paths
from lib.cli import fails, run

COMMANDS = ("ps", "top", "dump", "trace", "record", "export", "stat", "diagnose", "nccl",
            "memleak", "flame", "snapshot", "diff", "account", "check", "bpftrace-script")
WATCHING = ("trace", "record", "stat", "diagnose", "nccl", "memleak", "flame", "account")


def refused(args, told, status=2):
    """By one line, which has the words, before anything was watched."""
    fails(run(*args), status, told)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version(command, option):
    """The same of each, also after other options, and what follows is not looked at."""
    whole = run("--version").stdout
    assert re.fullmatch(r"gpuprobe \d+\.\d+\.\d+\n", whole)
    own = {"dump": ("--all",), "ps": ("--tree",), "diff": ("--all",), "export": ("--full-names",)}
    before = own.get(command, ("--libcuda-path", paths.LIBCUDA))
    for args in ((option,), (*before, option), (option, "--no-such-option")):
        done = run(command, *args)
        assert (done.returncode, done.stdout, done.stderr) == (0, whole, "")
    assert "-V, --version" in run(command, "--help").stdout


def test_version_after_memleaks_numbers():
    assert run("memleak", "5", "1", "--version").stdout == run("--version").stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_80_columns(command):
    assert max(map(len, run(command, "--help").stdout.splitlines())) <= 80


# --- mistypings ---

@pytest.mark.parametrize("args, told", [
    (["stats"], "no command 'stats': did you mean stat? See gpuprobe --help"),
    (["tabulate"], "no command 'tabulate' (commands: "),
    (["--duratoin", "5"], "unknown option '--duratoin': did you mean --duration? See gpuprobe"),
    *(([command, "--vesrion"], "did you mean --version?") for command in COMMANDS),
    (["stat", "--api", "drivre"],
     "--api 'drivre': choose auto, driver, runtime or both; did you mean driver?"),
    (["trace", "-e", "memroy"], "did you mean memory?"),
    (["trace", "-o", "time,durtion"], "did you mean duration?"),
    (["diagnose", "--threshold", "idel-gaps=1"], "(did you mean idle-gaps?)"),
    (["diagnose", "--explain", "idel-gaps"], "(did you mean idle-gaps?)"),
    (["help", "diagnsoe"], "no command 'diagnsoe': did you mean diagnose?"),
    (["help", "stat", "trace"], "unexpected 'trace': see gpuprobe help --help"),
])
def test_did_you_mean(args, told):
    refused(args, told)


def test_help_of_a_command_is_that_of_its_option():
    for command in ("", *COMMANDS, "help"):
        words = (command,) if command else ()
        done = run("help", *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == run(*words, "--help").stdout


# --- one name for one thing ---

COMMON = {
    ("--comm", "--uid", "--cgroup", "--container", "--pod", "-p, --pid"):
        ("", "trace", "record", "stat", "diagnose", "nccl", "memleak", "flame", "dump", "check",
         "ps", "top", "account"),
    ("--json",): ("", "trace", "stat", "diagnose", "nccl", "memleak", "diff", "dump", "check",
                  "ps", "account"),
    ("--interval S",): ("", "stat", "diagnose", "nccl", "memleak", "account"),
    ("-T, --top N",): ("", "stat", "diagnose", "memleak"),
    ("-O, --output FILE",): ("trace", "record", "export", "stat", "diagnose", "nccl", "flame",
                             "snapshot"),
    ("--duration S",): ("", "trace", "record", "stat", "diagnose", "nccl", "memleak", "flame",
                        "account"),
    ("-v, --verbose", "-q, --quiet"):
        ("", "trace", "record", "stat", "diagnose", "nccl", "memleak", "flame", "dump", "check",
         "ps", "top", "account"),
}


@pytest.mark.parametrize("names", COMMON)
def test_a_thing_has_one_name(names):
    for command in COMMON[names]:
        told = run("help", *([command] if command else [])).stdout
        assert [name for name in names if f"  {name}" not in told] == []


def test_former_names(tmp_path):
    """They still work, and help does not list them."""
    done = run("--display-interval", "0", "--duration", "0.1", "--metrics-addr", "none", "--json")
    assert done.returncode == 0 and done.stdout.startswith("{")
    file = tmp_path / "graph.svg"
    assert run("flame", "--by", "bytes", "-o", file, "-q", "--", "true").returncode == 0
    assert file.exists()
    assert "\n  --display-interval" not in run("--help").stdout


# --- one thing of which two were asked for ---

@pytest.mark.parametrize("args, told", [
    (["flame", "--by", "bytes", "--by", "launches"],
     "--by bytes and --by launches do not go together: choose one"),
    (["flame", "--by", "bytes", "-o", "a.svg", "-o", "b.svg"],
     "-o a.svg and -o b.svg do not go together"),
    (["flame", "--by", "bytes", "-o", "a.svg", "-O", "b.svg"],
     "-O, --output a.svg and -O, --output b.svg do not go together"),
    (["trace", "-O", "one", "--output", "other"],
     "-O, --output one and -O, --output other do not go together"),
    (["trace", "--json", "--format", "tsv"], "--format json and --format tsv do not go together"),
    (["stat", "--pod", "a", "--pod", "b"], "--pod a and --pod b do not go together"),
    (["trace", "--comm", "one", "--comm", "other"],
     "--comm one and --comm other do not go together"),
    (["trace", "--uid", "0", "--uid", "1000"], "--uid 0 and --uid 1000 do not go together"),
    (["trace", "--cgroup", "/a", "--cgroup", "/b"],
     "--cgroup /a and --cgroup /b do not go together"),
    (["trace", "--format", "json", "--format", "tsv"],
     "--format json and --format tsv do not go together"),
    (["stat", "-O", "one", "--output", "other"],
     "-O, --output one and -O, --output other do not go together"),
    (["diagnose", "--explain", "idle-gaps", "--explain", "errors"],
     "do not go together: choose one"),
])
def test_two_of_one(args, told):
    refused(args, told)


def test_the_same_twice_is_once(tmp_path):
    file = tmp_path / "graph.svg"
    done = run("flame", "--by", "bytes", "--by", "bytes", "-o", file, "-o", file, "-q", "--",
               "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert file.exists()


def test_the_last_setting_counts():
    """A number or a mode may be set anew, after what an alias has set."""
    done = run("trace", "--api", "driver", "--api", "runtime", "--list-functions", "-e", "memory")
    assert (done.returncode == 0 and " runtime memory\n" in done.stdout
            and " driver " not in done.stdout)


# --- a file's name and what is written into it ---

@pytest.mark.parametrize("form, name, other", [
    ("--speedscope", "x.svg", "--svg"),
    ("--folded", "x.svg", "--svg"),
    ("--folded", "x.json", "--speedscope"),
    ("--svg", "x.json", "--speedscope"),
    ("--svg", "x.txt", "--folded"),
    ("--speedscope", "x.folded", "--folded"),
])
def test_flame_form_and_name(form, name, other, tmp_path):
    file = tmp_path / name
    for args in ((form, "-o", file), ("-o", file, form)):
        refused(("flame", "--by", "bytes", *args, "--", "true"),
                f"{form} and --output '{file}' do not go together: this extension means {other}; "
                f"leave out {form}")
    assert not file.exists()


@pytest.mark.parametrize("form, name, begins", [
    ("--speedscope", "x.json", "{"), ("--svg", "x.svg", "<?xml"), ("--svg", "x.html", "<?xml"),
    ("--speedscope", "x", "{"), ("--folded", "x.txt", ""), ("--folded", "x.svg.old", ""),
])
def test_flame_form_that_the_name_allows(form, name, begins, tmp_path):
    done = run("flame", "--by", "bytes", form, "-o", tmp_path / name, "-q", "--", "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / name).read_text().startswith(begins)


# --- the rest ---

@pytest.mark.parametrize("command", [(), *((command,) for command in WATCHING)])
@pytest.mark.parametrize("args, told", [
    (["--quiet=yes"], "'--quiet=yes': --quiet takes no value, see gpuprobe "),
    (["--ver"], "'--ver' may be more than one option: write it out"),
    (["--libcuda-path", ""], "the path of a library is empty"),
    (["--no-such"], "unknown option '--no-such'"),
    (["-p"], "-p needs a value"),
    (["-p", ""], "-p, --pid '': give a whole number"),
    (["--duration", ""], "--duration '': give seconds"),
    (["-p", "1", "--", "true"], "--pid and a COMMAND do not go together"),
    (["--"], "no COMMAND after --"),
])
def test_mistakes_of_each(command, args, told):
    refused((*command, *args), told)


@pytest.mark.parametrize("command", [("--metrics-addr", "none"), ("trace",), ("stat",)])
@pytest.mark.parametrize("program", ["/", "/etc/passwd"])
def test_no_program(command, program):
    refused((*command, "-q", "--", program),
            f"cannot run '{program}': Permission denied; give a program that may be executed",
            status=1)


@pytest.mark.parametrize("args, status, told", [
    (["trace", "--cgroup", ""], 2, "--cgroup '': give a control group's path"),
    (["stat", "-O", "", "--", "true"], 2, "-O, --output '': give the name of a file"),
    (["diagnose", "--list", "--fail-on", "warning"], 2,
     "--list looks for no findings: leave out --fail-on"),
    (["diagnose", "--explain", "all", "--threshold", "idle-gaps=1"], 2,
     "--explain looks for no findings: leave out --threshold"),
    (["memleak", "program"], 2,
     "INTERVAL 'program': give seconds from 0.01 to 1000000000, such as 5, 0.5 or 2m; "
     "put -- before a COMMAND"),
    (["memleak", "5", "program"], 2,
     "COUNT 'program': give a whole number from 1 to 1099511627776; put -- before a COMMAND"),
    (["check", "--libcuda-path", "/"], 1, "/: not a regular file; give --libcuda-path"),
    (["check", "--libcuda-path", "/etc/passwd"], 1,
     "/etc/passwd: not an ELF file; give --libcuda-path"),
    (["bpftrace-script", "--libcuda-path", ""], 2, "the path of a library is empty"),
    (["bpftrace-script", "--libcuda-path", "/nowhere"], 2,
     "/nowhere: No such file or directory; give --libcuda-path"),
    (["--web", "all", "--metrics-addr", "none"], 2,
     "--web and --metrics-addr none do not go together: the page is on the port of the metrics"),
    (["--web", "on"], 2, "--web 'on': choose local, all or off"),
    (["-i", "x.rec", "--web", "local"], 2, "--web does not go with -i, which shows a recording"),
    *(([command, "--gpu-times", *rest], 2,
       "--gpu-times needs COMMAND: a running process is not injected into")
      for command, *rest in (("trace",), ("trace", "-p", "1"), ("record", "-o", "x"),
                             ("record", "-o", "x", "--level", "summary", "-p", "1"))),
    (["trace", "--gpu-times", "-i", "x.rec"], 2,
     "-i and --gpu-times do not go together: gpuprobe record --gpu-times records them"),
    (["trace", "--gpu-times", "-c", "--", "true"], 2,
     "-c and --gpu-times do not go together: gpuprobe stat --gpu-times sums up"),
    (["record", "-o", "x", "--level", "summary", "--gpu-times", "--max-overhead", "5", "--",
      "true"], 2, "--gpu-times and --max-overhead do not go together"),
    (["bpftrace-script", "-e", ""], 2, "-e: a word is missing"),
    (["bpftrace-script", "-e", "!all"], 2, "-e: the selection leaves no function"),
])
def test_mistakes_of_one(args, status, told):
    refused(args, told, status)


# --- what README shows ---

def test_readmes_trace_has_the_columns_of_a_pipe():
    readme = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    header, = re.findall(r"^TIME\(ms\).*$", readme, re.MULTILINE)
    done = run("trace", "-q", "--", "true")
    assert done.stdout.splitlines()[0] == header
    # A column's text begins where its title does; durations end there.
    for line in re.findall(r"^\d+\.\d{3}  .*$", readme, re.MULTILINE):
        for title in ("PID", "EVENT", "DETAILS", "RESULT"):
            at = header.index(title)
            assert line[at - 1] == " " and line[at] != " ", line
        end = header.index("DURATION") + len("DURATION")
        assert line[end - 1] != " " and line[end] == " ", line
