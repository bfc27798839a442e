# SPDX-License-Identifier: BSD-2-Clause
"""Jobs and steps of a real Slurm."""
import pytest

from lib import slurm
from lib.paths import LIBCUDA, LIBCUDART, workload
from lib.probe import Background
from lib.scrape import Endpoint

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(bool(slurm.lacks()), reason=f"not installed: {slurm.lacks()}")]

# A step of its own, and the program of the batch step.
BATCH = """#!/bin/sh
srun --overlap {launch} --launches {inner} --hold 600 &
exec {launch} --launches {script} --hold 600
"""
# Launches of the three programs. Other programs of the machine have other numbers.
SRUN, INNER, SCRIPT = 3001, 5003, 7001


@pytest.fixture(name="cluster")
def fixture_cluster(tmp_path):
    with slurm.Cluster(tmp_path / "slurm") as cluster:
        yield cluster


def launched(report):
    """The three processes, by their launches, once each has launched all."""
    found = {process["launches"]: process for process in report["processes"]
             if process["launches"] in (SRUN, INNER, SCRIPT)}
    return found if len(found) == 3 else None


def test_steps(gpuprobe, cluster, tmp_path):
    """The number of a job and its step, of srun and of a batch script; series by job."""
    endpoint = Endpoint()
    script = tmp_path / "batch.sh"
    script.write_text(BATCH.format(launch=workload("launch"), inner=INNER, script=SCRIPT),
                      encoding="utf-8")
    with gpuprobe.start(libraries=[LIBCUDA, LIBCUDART], base=["--json"],
                        args=[*endpoint.option, "--metrics-by", "job"]) as running:
        running.report()
        done = cluster.run("sbatch", "--parsable", "--output=/dev/null", script)
        assert done.returncode == 0, done.stderr + cluster.said()
        batch = done.stdout.strip()
        with Background(*cluster.inside("srun", workload("launch"), "--launches", SRUN,
                                        "--hold", 600)):
            found = running.find(launched)
            jobs = {launches: (process.get("slurm_job_id"), process.get("slurm_step"))
                    for launches, process in found.items()}
            page = endpoint.scrape()
        job = str(int(batch) + 1)
        assert jobs == {SRUN: (job, "0"), INNER: (batch, "0"), SCRIPT: (batch, "batch")}
        values = {labels["slurm_job_id"]: value
                  for labels, value in page.find("gpuprobe_kernel_launches_total")}
        assert (values[batch], values[job]) == (INNER + SCRIPT, SRUN)
        running.stop()
