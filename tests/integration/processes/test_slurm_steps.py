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
srun --overlap {launch} --launches 5 --hold 600 &
exec {launch} --launches 7 --hold 600
"""


@pytest.fixture(name="cluster")
def fixture_cluster(tmp_path):
    with slurm.Cluster(tmp_path / "slurm") as cluster:
        yield cluster


def launched(report, count):
    """The processes of the report, if they are these and all have launched what they launch."""
    found = {process["launches"]: process for process in report["processes"]}
    return found if set(found) >= count else None


def test_steps(gpuprobe, cluster, tmp_path):
    """The number of a job and its step, of srun and of a batch script; series by job."""
    endpoint = Endpoint()
    script = tmp_path / "batch.sh"
    script.write_text(BATCH.format(launch=workload("launch")), encoding="utf-8")
    with gpuprobe.start(libraries=[LIBCUDA, LIBCUDART], base=["--json"],
                        args=[*endpoint.option, "--metrics-by", "job"]) as running:
        running.report()
        done = cluster.run("sbatch", "--parsable", "--output=/dev/null", script)
        assert done.returncode == 0, done.stderr + cluster.said()
        batch = done.stdout.strip()
        with Background(*cluster.inside("srun", workload("launch"), "--launches", 3, "--hold",
                                        600)):
            found = running.find(lambda report: launched(report, {3, 5, 7}))
            jobs = {launches: (process.get("slurm_job_id"), process.get("slurm_step"))
                    for launches, process in found.items()}
            page = endpoint.scrape()
        assert jobs == {3: (str(int(batch) + 1), "0"), 5: (batch, "0"), 7: (batch, "batch")}
        values = {labels["slurm_job_id"]: value
                  for labels, value in page.find("gpuprobe_kernel_launches_total")}
        assert values == {batch: 12, str(int(batch) + 1): 3}
        running.stop()
