# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe diagnose` on threads and ranks that hold each other up, on the real driver."""
import json
import subprocess


def diagnose(machine, command):
    """The report, and what the program said as JSON."""
    ran = subprocess.run([machine.gpuprobe, "diagnose", "--json",
                          "--max-overhead", "off", "--", *command], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200, check=False)
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    reports = [line for line in lines if "schema" in line]
    if ran.returncode or not reports:
        raise RuntimeError(f"{' '.join(command)}: {ran.stderr[-2000:]}")
    return reports[-1], [line for line in lines if "schema" not in line]


def functions_of(stack):
    return [frame.get("function") for frame in (stack or {"frames": []})["frames"]]


def test_contention(machine, results):
    """The loop's launches beside a thread that allocates and frees 8 GiB over and over."""
    report, said = diagnose(machine, machine.python("contention.py"))
    (_, long_before, _), (_, long, long_ns) = said[0]["before"], said[0]["beside"]
    results.tell("contention: launches of a millisecond and more, before and beside the other "
                 "thread; their time, ms", (long_before, long, long_ns // 1_000_000))
    found = [finding for finding in report["findings"] if finding["id"] == "driver-contention"]
    results.check("contention: driver-contention is found", True, bool(found))
    if found:
        results.check("contention: whose calls are held up, and by whom", ("launch", "hog"), (
            next((name for name in functions_of(found[0]["stack"]) if name == "launch"), None),
            next((name for name in functions_of(found[0]["other_place"]["stack"]) if name == "hog"),
                 None)))
        cost = sum(finding["cost_seconds"] for finding in found)
        results.check("contention: its cost is 0.6 to 1.4 of the time of those launches", True,
                      0.6 <= cost / (long_ns / 1e9) <= 1.4)
        results.tell("contention: cost, s", round(cost, 3))


def test_late_rank(machine, results):
    """On several GPUs: the last rank comes late to each step."""
    report, said = diagnose(machine, machine.python("late_rank.py"))
    ranks = {line["rank"]: line["pid"] for line in said if "rank" in line}
    processes = {process["pid"]: process for process in report["processes"]}
    late = ranks[max(ranks)]
    for rank, pid in sorted(ranks.items()):
        verdict = processes[pid]["verdict"]
        findings = sorted(finding["id"] for finding in report["findings"] if finding["pid"] == pid)
        if pid == late:
            results.check(f"rank {rank}, which comes late: verdict", "host-bound", verdict["kind"])
            first = processes[pid]["reasons"][0]
            results.check(f"rank {rank}: its first reason, and where", ("sleep", True),
                          (first["kind"], "come_late" in functions_of(first["stack"])))
        else:
            results.check(f"rank {rank}: verdict, in collective operations, for whom, findings",
                          ("waiting for others", True, late, []),
                          (verdict["kind"], verdict.get("in_collectives"),
                           (verdict["waits_for"] or {}).get("pid"), findings))
        results.tell(f"rank {rank}: steps",
                     {key: processes[pid]["steps"][key] for key in ("count", "p50_ns", "launches")})
    missing = [finding for finding in report["findings"] if finding["id"] == "missing-sync"]
    results.check("late rank: missing-sync keeps silent about NCCL's teardown", [],
                  [finding["pid"] for finding in missing])
    for finding in missing:
        frames = (finding["stack"] or {"frames": []})["frames"]
        results.tell(f"missing-sync of {finding['pid']}, and where",
                     (finding["evidence"],
                      [(frame.get("object"), frame.get("function")) for frame in frames]))
