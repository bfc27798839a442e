# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe nccl` on PyTorch over two GPUs (programs/collectives.py): communicators and counts of
sound runs, beside NCCL's own log, and which rank it is in runs with a fault."""
import collections
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

PROGRAM = "collectives.py"
HANG_S = 3
# A rank does not come: the function that it is in; None: its process has ended or is stopped.
MISSING = {"host": "sleep_in_host_code", "spin": "spin_in_host_code", "lock": "wait_for_lock",
           "gil": "want_gil", "stopped": None, "dead": None, "exception": None}
DIFFERENT = {"skip": "skipped", "extra": "inserted", "size": "different", "type": "different",
             "order": "swapped"}
SHAPES = ("plain", "ddp", "fsdp", "pipeline", "alltoall", "split")


class Watched:
    """A run of the program under `gpuprobe nccl --json`: what both say, as it comes."""
    runs = 0

    def __init__(self, machine, *arguments, **variables):
        self.said, self.errors, self.known, self.rest = [], [], [], ""
        Watched.runs += 1
        path = f"{machine.work}/nccl-{Watched.runs}.json"
        # Not on the ranks' standard output: their lines would come between.
        self.file = open(path, "w+")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [machine.gpuprobe, "nccl", "--json", "-O", path, "--interval", "2", "--hang",
             f"{HANG_S}s", "--", *machine.python(PROGRAM, *arguments)], text=True,
            start_new_session=True,
            env=dict(os.environ, **variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.threads = [threading.Thread(target=self.read, daemon=True),
                        threading.Thread(target=self.read_errors, daemon=True)]
        for thread in self.threads:
            thread.start()

    def read(self):
        for line in self.process.stdout:
            if not line.startswith("{"):
                continue
            self.said.append(json.loads(line))

    @property
    def reports(self):
        """All so far; the last line may be half written."""
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        self.known += map(json.loads, lines)
        return self.known

    def read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line)

    def findings(self, kind):
        """Each with the time of its report."""
        return [(report["time_ns"], finding) for report in self.reports
                for finding in report["findings"] if finding["id"] == kind]

    def wait_for(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.1)
        return condition()

    def finish(self, seconds=120):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()
        for thread in self.threads:
            thread.join(10)
        return self.process.returncode

    def end(self):
        """Of ranks that hang, too: nothing of the run remains."""
        for _ in range(2):
            self.process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        for rank in self.said:
            if "pid" in rank:
                try:
                    os.kill(rank["pid"], signal.SIGKILL)
                except ProcessLookupError:
                    pass
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)


def last(watched):
    if not watched.reports:
        raise RuntimeError("".join(watched.errors)[-2000:])
    return watched.reports[-1]


def all_findings(watched):
    return sorted({(finding["id"], finding["cause"]) for report in watched.reports
                   for finding in report["findings"]}, key=str)


def counts(report):
    total = collections.Counter()
    for comm in report["communicators"]:
        total.update(comm["collectives"])
    return dict(total)


def logged_ranks(directory):
    """(hash, rank, size) of each communicator in NCCL's own log; without a hash those of splits,
    of which the log has none."""
    found = []
    for path in glob.glob(f"{directory}/*.log"):
        with open(path, errors="replace") as file:
            found += re.findall(r"rank (\d+) nranks (\d+) .*?(commId|parent) (0x[0-9a-f]+)"
                                r".*Init COMPLETE", file.read())
    return sorted({(number if what == "commId" else "", int(rank), int(size))
                   for rank, size, what, number in found})


def seen_ranks(report, logged):
    """The same as gpuprobe has it; without a hash those whose hash is not in the log."""
    known = {number for number, _, _ in logged}
    return sorted((comm["hash"] if comm["hash"] in known else "", rank["rank"], comm["size"])
                  for comm in report["communicators"] for rank in comm["ranks"])


def sound(machine, results, shape, *arguments):
    logs = f"{machine.work}/{shape}"
    os.makedirs(logs, exist_ok=True)
    run = Watched(machine, "--shape", shape, "--steps", "200", *arguments, NCCL_DEBUG="INFO",
                  NCCL_DEBUG_SUBSYS="INIT", NCCL_DEBUG_FILE=f"{logs}/%p.log")
    status, report = run.finish(), last(run)
    title = " ".join(["nccl, sound,", shape, *arguments])
    results.check(f"{title}: exit status, findings, lost calls", (0, [], 0),
                  (status, all_findings(run), report["lost_calls"]))
    logged = logged_ranks(logs)
    results.check(f"{title}: hash, rank and size of each communicator (NCCL's log)",
                  logged, seen_ranks(report, logged))
    called = [line["called"] for line in run.said if "called" in line]
    if shape in ("plain", "split") and called:
        results.check(f"{title}: collectives (the program's own count)", called[0], counts(report))
    else:
        results.tell(f"{title}: collectives", counts(report))
    results.tell(f"{title}: messages", {
        f"rank {rank['rank']}": (rank["sends"], rank["receives"])
        for comm in report["communicators"] for rank in comm["ranks"]})
    shutil.rmtree(logs)


def is_named(finding, number):
    return number in [rank["rank"] for rank in finding["ranks"]]


def missing(machine, results, fault, shape, number):
    run = Watched(machine, "--shape", shape, "--fault", fault, "--rank", str(number), "--steps",
                  "100000")
    title = f"nccl, {fault}, {shape}, rank {number}"
    begun = run.wait_for(lambda: [line for line in run.said if "fault" in line], 60)
    found = run.wait_for(lambda: run.findings("nccl-hang"), HANG_S + 20)
    run.end()
    run.finish()
    ns, finding = found[0] if found else (0, {"ranks": []})
    where = " ".join(str(rank.get("where")) for rank in finding["ranks"])
    function = MISSING[fault]
    results.check(f"{title}: hang, this rank, its Python function",
                  ("rank-missing", [number], function),
                  (finding.get("cause"), [rank["rank"] for rank in finding["ranks"]],
                   function if function and function in where else None))
    if begun and found:
        late = (ns - begun[0]["ns"]) / 1e9
        results.check(f"{title}: found within 10 s of --hang", True, late < HANG_S + 10)
        results.tell(f"{title}: found after seconds; where", (round(late, 1), where))


def different(machine, results, fault, number):
    run = Watched(machine, "--fault", fault, "--rank", str(number), "--steps", "100000")
    title = f"nccl, {fault}, rank {number}"
    run.wait_for(lambda: [line for line in run.said if "fault" in line], 60)
    found = run.wait_for(lambda: run.findings("nccl-mismatch"), 20)
    run.end()
    run.finish()
    finding = found[-1][1] if found else {"ranks": []}
    results.check(f"{title}: mismatch, its kind, this rank", (DIFFERENT[fault], [number]),
                  (finding.get("cause"), [rank["rank"] for rank in finding["ranks"]]))


def slow(machine, results, shape):
    run = Watched(machine, "--shape", shape, "--fault", "slow", "--steps", "300")
    run.finish()
    found = run.findings("nccl-straggler")
    results.check(f"nccl, slow, {shape}: the late rank", [1],
                  sorted({rank["rank"] for _, finding in found for rank in finding["ranks"]}))


def cost(machine, results):
    """All-reduces of 8 B to 1 GiB, with and without gpuprobe."""
    def figures(lines):
        return {line["bytes"]: (round(line["issued_us"], 1), round(line["us"], 1))
                for line in lines if "bytes" in line}

    arguments = ("--shape", "loop", "--steps", "3", "--pause", "0")
    bare = subprocess.run(machine.python(PROGRAM, *arguments), stdout=subprocess.PIPE, text=True,
                          timeout=120, check=False).stdout
    run = Watched(machine, *arguments)
    run.finish()
    results.tell("nccl, cost: bytes, and microseconds to issue and in all, without gpuprobe",
                 figures(json.loads(line) for line in bare.splitlines() if line.startswith("{")))
    results.tell("nccl, cost: the same with gpuprobe", figures(run.said))


def text_of_hang(machine, results):
    """The text that a user sees, for the page."""
    with subprocess.Popen([machine.gpuprobe, "nccl", "--interval", "0", "--hang", f"{HANG_S}s",
                           "--", *machine.python(PROGRAM, "--shape", "ddp", "--fault", "host",
                                                 "--steps", "100000")], text=True,
                          start_new_session=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        time.sleep(25 + HANG_S)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        try:
            text = process.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text = process.communicate()[0]
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    results.keep("`gpuprobe nccl` of a DDP run of which a rank sleeps",
                 "\n".join(line for line in text.splitlines() if not line.startswith("{")))


def tried(results, part, *arguments):
    """If one breaks off that is a failure; the others are run."""
    try:
        part(*arguments)
    except Exception as error:  # pylint: disable=broad-except
        results.check(f"{part.__name__} {arguments[2:]}: ran", "yes", repr(error)[:400])


def test_nccl(machine, results):
    """Sound runs, and the cost."""
    for shape in SHAPES:
        tried(results, sound, machine, results, shape)
    # With communicators made at once, PyTorch splits the second one off the first.
    tried(results, sound, machine, results, "split", "--eager")
    tried(results, cost, machine, results)


def test_nccl_faults(machine, results):
    for fault in MISSING:
        tried(results, missing, machine, results, fault, "plain", 1)
    for fault, shape, number in (("host", "ddp", 1), ("host", "fsdp", 0), ("dead", "ddp", 0),
                                 ("gil", "ddp", 1), ("stopped", "fsdp", 1)):
        tried(results, missing, machine, results, fault, shape, number)
    for fault in DIFFERENT:
        tried(results, different, machine, results, fault, 1)
    tried(results, different, machine, results, "skip", 0)
    for shape in ("plain", "ddp"):
        tried(results, slow, machine, results, shape)
    tried(results, text_of_hang, machine, results)
