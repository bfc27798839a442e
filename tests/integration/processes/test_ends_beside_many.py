# SPDX-License-Identifier: BSD-2-Clause
"""The end of processes with live memory beside a process with many allocations: gpuprobe then
gathers what they had in steps."""
import pytest

from lib.paths import workload
from lib.steps import Steps

pytestmark = pytest.mark.usefixtures("nothing_left")

MANY, FEW, ENDS, SIZE = 20000, 7, 3, 512

RUN = f"""
import subprocess
def hold(count):
    process = subprocess.Popen([{str(workload("memory"))!r}, "--pairs", "0", "--keep", str(count),
                                "--size", "{SIZE}", "--api", "driver", "--hold", "600"],
                               stdout=subprocess.PIPE)
    process.stdout.readline()
    return process
many = hold({MANY})
step()
for _ in range(2):  # the second time in slots that are free again
    few = [hold({FEW}) for _ in range({ENDS})]
    step()
    for process in few:
        process.kill()
        process.wait()
    step()
many.kill()
many.wait()
"""


def with_live(report, count):
    return [process for process in report["processes"]
            if not process["ended"] and process["memory"]["device"]["live_allocations"] == count]


def test_ends_beside_many(gpuprobe):
    with Steps(gpuprobe, RUN) as steps:
        steps.running.wait_for(lambda report: with_live(report, MANY))
        for _ in range(2):
            steps.go_on()
            steps.running.wait_for(lambda report: len(with_live(report, FEW)) == ENDS)
            steps.go_on()
            steps.running.wait_for(lambda report: not with_live(report, FEW))
        steps.go_on()
        result = steps.running.finish()
    held = [process["memory"] for process in result.processes
            if process["memory"]["device"]["allocations"]]
    many = max(held, key=lambda memory: memory["live_at_exit_bytes"])
    assert many["live_at_exit_bytes"] == MANY * SIZE
    few = [memory for memory in held if memory is not many]
    assert len(few) == 2 * ENDS
    for memory in few:
        assert memory["live_at_exit_bytes"] == FEW * SIZE
        assert [each["bytes"] for each in memory["live"]] == [SIZE] * FEW
