#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Breaks gpuprobe on purpose, in one place a family, and looks whether its tests notice.

usage: sudo tests/mutants.py BUILD [NAME...]

Each mutant is a change of one line, built in a copy of the tree with the objects of BUILD, and run
through tests/run.py with the tests of its family, second tries included. Prints `ok NAME` for one
that fails the run and `not ok NAME` for one that survives, closes with `N passed, N failed` and
exits with 1 if any survived.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Mutant:
    """The change of a line, and the tests that must notice:
    steps of tests/run.py and words that match their names."""

    name: str
    path: str
    old: str
    new: str
    steps: str
    match: str = ""


MUTANTS = [
    Mutant("launches", "bpf/launch/launch.bpf.h", "\tmine->launches++;\n",
           "\tmine->launches += (known >> WHERE_BITS) != 40;\n", "integration", "test_launches"),
    Mutant("memory", "bpf/memory/memory.bpf.h", "\trecord.size = call->arg[ALLOC_SIZE];\n",
           "\trecord.size = call->arg[ALLOC_SIZE] - (call->kind == MEMORY_MANAGED);\n",
           "integration", "test_memory"),
    Mutant("tensors", "bpf/tensor/tensor.bpf.h", "\t\tcount_freed_at(slot, &old);\n",
           "\t\tif (old.bytes != 3000)\n\t\t\tcount_freed_at(slot, &old);\n",
           "integration", "test_tensors"),
    Mutant("copies", "bpf/copy/copy.bpf.h", "\t\treturn TALLY_PINNED;\n",
           "\t\treturn plan->kind == COPY_H2D ? TALLY_PINNED : TALLY_PAGEABLE;\n",
           "integration", "copies"),
    Mutant("waits", "bpf/wait/wait.bpf.h", "\tcall->arg[WAITED_SCOPE] = key.scope;\n"
           "\tcall->arg[WAITED_EPOCH] = next_epoch(thread->slot);\n", "\tcall->arg[WAITED_SCOPE] = "
           "key.scope;\n\tcall->arg[WAITED_EPOCH] = next_epoch(thread->slot) - 1;\n",
           "integration", "copies or waits"),
    Mutant("order of streams", "bpf/wait/order.bpf.h",
           "\tif (!order->epoch || order->epoch >= epoch)\n", "\tif (!order->epoch)\n",
           "integration", "order_of_streams"),
    Mutant(
        "objects", "src/collect/objects.c", "\tobjects->destroyed += tally->calls;\n",
        "\tobjects->destroyed += tally->calls - (key->kind == OBJECT_EVENT && tally->calls > 1);\n",
        "integration", "objects"),
    Mutant("graphs", "bpf/launch/graph.bpf.h", "\t__sync_fetch_and_add(count, 1);\n",
           "\t__sync_fetch_and_add(count, key.kernels > 1 ? 2 : 1);\n", "integration", "graphs"),
    Mutant("errors", "bpf/call/call.bpf.h", "\tnote_sticky(slot, code);\n",
           "\tif (code == 2)\n\t\treturn 0;\n\tnote_sticky(slot, code);\n",
           "integration", "errors"),
    Mutant("tracer", "src/trace/reorder.c", "\t\treturn a->time < b->time;\n",
           "\t\treturn a->time > b->time;\n", "unit,integration", "trace_calls"),
    Mutant("stacks", "src/stack/merge.c", "\t\tended = merging->entry[merging->next];\n",
           "\t\tended = merging->entry[merging->next] || merging->next > 2;\n",
           "unit,integration", "python_stacks"),
    Mutant("findings", "src/finding/short_waits.c",
           "\treturn waits->calls ? (double)launches / (double)waits->calls : 0;\n",
           "\treturn waits->calls ? (double)waits->calls / (double)launches : 0;\n",
           "unit,integration", "finding"),
    Mutant("dump", "src/dump/call.c", "\t\tif (owner == OWNER_CUDA && call.by)\n",
           "\t\tif (owner == OWNER_CUDA && call.function)\n", "integration", "dump"),
    Mutant("shims", "bpf/call/shim.bpf.h", "\treturn process->calls_drivers;\n",
           "\treturn false;\n", "integration", "test_shims"),
    Mutant("shares", "bpf/process/share.bpf.h", "own < max / LITTLE;\n",
           "own > max;\n", "integration", "test_full_shares"),
    Mutant("confined", "bpf/process/confined.bpf.h", "\t\treturn is_counted;\n",
           "\t\treturn is_counted && row == 7;\n", "integration", "test_confined"),
    Mutant("metrics", "src/output/metrics/exposition.c",
           "\tif (*s == '\\n') {\n", "\tif (*s == '\\r') {\n", "unit"),
    Mutant("recordings", "src/record/process_difference.c",
           "\treturn now > before ? now : live;\n", "\treturn now < before ? now : live;\n",
           "unit,integration", "recordings"),
    Mutant("NCCL", "src/nccl/rounds.c",
           "\t\tif (rank != arriving && rank->open.sequence >= sequence &&\n",
           "\t\tif (rank != arriving && rank->open.sequence > sequence &&\n",
           "unit,integration", "nccl"),
    Mutant("GPU times", "src/model/gpu_time_sum.c",
           "\tif (sum->count - sum->untimed == 1 || ns < sum->min_ns)\n",
           "\tif (sum->count - sum->untimed == 2 || ns < sum->min_ns)\n",
           "unit,integration", "gpu_times"),
    Mutant("GPU work in traces", "src/trace/gpu_feed.c",
           "\tline->tid = joined ? (pid_t)joined->tid : 0;\n",
           "\tline->tid = joined ? process->shown.pid : 0;\n",
           "unit,integration", "gpu_times"),
    Mutant("Kineto", "src/kineto/ask.c", "\t\tif (pid && server->served[i].target.pid == pid &&\n",
           "\t\tif (pid && server->served[i].target.pid &&\n", "integration", "test_kineto"),
    Mutant("exit status", "src/cli/session/child_command.c", "128 + WTERMSIG(raw)",
           "127 + WTERMSIG(raw)", "integration", "test_command"),
]


def build(tree):
    command = ["make", "-j2", "all", "test-programs", "sanitized"]
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return "" if done.returncode == 0 else done.stdout[-3000:]


def survives(mutant, tree):
    """Builds and tests the mutant; returns why it is not noticed, or an empty string,
    and the end of the run's output."""
    path = tree / mutant.path
    original = path.read_text(encoding="utf-8")
    if original.count(mutant.old) != 1:
        return f"{mutant.path} has the line {original.count(mutant.old)} times", ""
    path.write_text(original.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        wrong = build(tree)
        if wrong:
            return f"it does not compile:\n{wrong}", ""
        command = ["tests/run.py", "--only", mutant.steps,
                   *(["--match", mutant.match] if mutant.match else []), "build"]
        done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
    finally:
        path.write_text(original, encoding="utf-8")
    closing = re.findall(r"^\d+ passed, \d+ failed$", done.stdout, re.M)
    again = len(re.findall(r"^again, alone: ", done.stdout, re.M))
    told = f"{closing[-1] if closing else 'no closing line'}, {again} tried again"
    noticed = done.returncode == 1 and closing and not closing[-1].endswith(" 0 failed")
    return "" if noticed else f"{told}\n{done.stdout[-3000:]}", told


def main(arguments):
    if not arguments or os.geteuid() != 0:
        sys.exit(__doc__)
    mutants = [mutant for mutant in MUTANTS if not arguments[1:] or mutant.name in arguments[1:]]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="gpuprobe-mutants-") as directory:
        tree = Path(directory) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git"))
        # With their times: make sees that the objects are newer than the sources.
        subprocess.run(["cp", "-a", Path(arguments[0]).resolve(), tree / "build"], check=True)
        for mutant in mutants:
            why, told = survives(mutant, tree)
            failed += bool(why)
            print(f"not ok {mutant.name}: {why}" if why else f"ok {mutant.name}: {told}",
                  flush=True)
    print(f"{len(mutants) - failed} passed, {failed} failed")
    return 1 if failed or not mutants else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
