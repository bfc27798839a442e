# SPDX-License-Identifier: BSD-2-Clause
"""What `gpuprobe diagnose --json` said of a program, by plain names.
Nothing else here knows how that JSON is made.

A diagnosis is a dictionary:
    window              begin and end of the watch, ns of CLOCK_MONOTONIC
    verdict             "host-bound", "gpu-bound", "idle", "waiting for others", "not known";
                        None: it gave none
    idle_proved_share   of the watch, the GPU was proved to have nothing to do for the program;
                        None: not said
    idle_proved         [[begin, end]] of that, ns of CLOCK_MONOTONIC; None: not said
    steps, step_seconds number and median of the steps it found; None: none
    reasons             first the largest: {"kind", "seconds" of a step,
                        "lines": [[file, line]] of the corpus, innermost first, "what": in words}
    findings            in its order: {"id", "severity", "evidence",
                        "saving_share" of the watch or None, "lines"}
    saving_share        the saving of its first finding that promises one, of the watch;
                        None: none does
"""
import os

import corpus

MOST_REASONS = 5  # that are kept
FILES = set(os.listdir(corpus.PROGRAMS))

# gpuprobe's words for what corpus.py calls by its own.
VERDICTS = {"host-bound": corpus.HOST_BOUND, "GPU-bound": corpus.GPU_BOUND, "no work": corpus.IDLE}
KINDS = {}


def lines_of(stack):
    """[[file, line]] of the frames that lie in the corpus, innermost first."""
    frames = (stack or {}).get("frames") or []
    return [[os.path.basename(frame["file"]), frame["line"]] for frame in frames
            if "line" in frame and is_of_corpus(frame.get("file"))]


def is_of_corpus(path):
    """By the folder, too, where there is one: Python itself has a server.py."""
    folder, name = os.path.split(path or "")
    return name in FILES and os.path.basename(folder) in ("", os.path.basename(corpus.PROGRAMS))


def reason_of(reason):
    return {"kind": KINDS.get(reason.get("kind"), reason.get("kind")),
            "seconds": reason.get("step_seconds"),
            "lines": lines_of((reason.get("held_by") or reason).get("stack")),
            "what": reason.get("what")}


def finding_of(finding, watched):
    """A saving is a share of what the cost is one of: the steady time, where that is known."""
    saving = finding["saving_seconds"]
    if finding.get("steady") and finding["cost_share"]:
        watched = finding["cost_seconds"] / finding["cost_share"]
    return {"id": finding["id"], "severity": finding["severity"], "evidence": finding["evidence"],
            "saving_share": None if saving is None else saving / watched,
            "lines": lines_of(finding["stack"])}


def verdict_of(process):
    if "doing" in process:  # it has made no call
        return corpus.IDLE
    word = (process.get("verdict") or {}).get("kind")
    return VERDICTS.get(word, word)


def usual_ns(steps):
    """The length of a step by diagnose: the median, or the mean if that is more than
    twice as long."""
    return steps["mean_ns"] if steps["mean_ns"] > 2 * steps["p50_ns"] else steps["p50_ns"]


def read(report, pid, boot_offset):
    """The diagnosis of process `pid`. `boot_offset`: how far CLOCK_BOOTTIME is ahead of
    CLOCK_MONOTONIC, ns."""
    processes = report["processes"] + report.get("without_calls", [])
    process = next((process for process in processes if process["pid"] == pid), {})
    begin, end = report["began_ns"], report["boot_ns"]
    steps = process.get("steps") or {}
    findings = [finding_of(finding, (end - begin) / 1e9) for finding in report["findings"]]
    proved = [[a, b] for owner, _device, a, b in report.get("idle_times", []) if owner == pid]
    return {
        "window": [begin - boot_offset, end - boot_offset],
        "verdict": verdict_of(process),
        "idle_proved_share": (process.get("verdict") or {}).get("unfed_proved"),
        "idle_proved": [[a - boot_offset, b - boot_offset] for a, b in proved],
        "steps": steps.get("count"),
        "step_seconds": usual_ns(steps) / 1e9 if steps else None,
        "reasons": [reason_of(reason) for reason in process.get("reasons", [])[:MOST_REASONS]],
        "findings": findings,
        "saving_share": next((finding["saving_share"] for finding in findings
                              if finding["saving_share"]), None),
    }
