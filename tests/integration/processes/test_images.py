# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe account --by image`: images by the files of four runtimes, live and from a recording,
of containers whose image is unknown, and outside of containers."""
import contextlib
import json
import os
import signal

import pytest

from lib import paths
from lib.cli import run
from lib.control_groups import CGROUPS, control_group
from lib.probe import Background, wait_until_watching

TASKS = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"
STORAGE = "/var/lib/containers/storage/overlay-containers"
IDS = {runtime: f"{os.getpid():08x}{number}" + "c" * 55 for number, runtime in
       enumerate(("containerd", "crio", "docker", "podman", "unknown"))}
FILES = {
    f"{TASKS}/{IDS['containerd']}/config.json":
        {"annotations": {"io.kubernetes.cri.image-name": "registry/containerd:1"}},
    f"{STORAGE}/{IDS['crio']}/userdata/config.json":
        {"annotations": {"io.kubernetes.cri-o.ImageName": "registry/crio:1"}},
    f"/var/lib/docker/containers/{IDS['docker']}/config.v2.json":
        {"Config": {"Image": "registry/docker:1"}},
    f"{STORAGE}/containers.json":
        [{"id": IDS["podman"], "metadata": json.dumps({"image-name": "registry/podman:1"})}],
}
# The files are in file systems of gpuprobe's own: nobody else sees them.
MOUNT = """
mount -t tmpfs none /run
mount -t tmpfs none /var/lib
for file in "$0"/*; do
    path=$(head -n 1 "$file")
    mkdir -p "$(dirname "$path")"
    tail -n +2 "$file" > "$path"
done
exec "$@"
"""
ROOT = next((root for root in reversed(CGROUPS) if (root / "cgroup.procs").exists()), CGROUPS[0])
EXPECTED = {**{f"registry/{runtime}:1": 1 for runtime in IDS if runtime != "unknown"},
            "unknown": 1, None: 1}


@pytest.fixture(name="machine")
def machine_(tmp_path):
    """Words put before a command that sees the runtimes' files."""
    directory = tmp_path / "files"
    directory.mkdir()
    for number, (path, value) in enumerate(FILES.items()):
        (directory / str(number)).write_text(f"{path}\n{json.dumps(value)}", encoding="utf-8")
    return ["unshare", "-m", "sh", "-ec", MOUNT, directory]


@contextlib.contextmanager
def holder(runtime):
    """A program in a container of the runtime that calls CUDA when told to."""
    program = [paths.workload("idle-holder"), "--then-launch", "5"]
    with contextlib.ExitStack() as stack:
        words = program
        if runtime:
            group = stack.enter_context(control_group(ROOT, f"docker-{IDS[runtime]}.scope"))
            words = ["sh", "-c", f"echo $$ > {group}/cgroup.procs && exec \"$@\"", "sh", *program]
        started = stack.enter_context(Background(*words, env={"CUDA_SIM_TRUTH": None}))
        assert started.stdout.readline() == "READY\n"
        yield started


def images_of(report):
    return {group["name"]: group["processes"] for group in report["groups"]}


def test_images_live_and_recorded(machine, tmp_path):
    file = tmp_path / "run.rec"
    with contextlib.ExitStack() as stack:
        holders = [stack.enter_context(holder(runtime)) for runtime in (*IDS, None)]
        pids = [word for each in holders for word in ("-p", each.pid)]
        record = stack.enter_context(Background(
            *machine, paths.GPUPROBE, "record", "-q", "-o", file, "--level", "summary",
            "--interval", "0.1", *pids))
        live = stack.enter_context(Background(
            *machine, paths.GPUPROBE, "account", "--by", "image", "--json", "--interval", "0.2",
            *pids))
        # Two that attach at the same time take long under a sanitizer on a busy machine.
        wait_until_watching(record, 300)
        wait_until_watching(live, 300)
        for each in holders:
            assert each.tell("go") == "DONE"
        assert any(images_of(json.loads(line)) == EXPECTED for line in live.stdout)
        record.send_signal(signal.SIGINT)
        assert record.wait(60) == 0
    done = run("account", "-i", file, "--by", "image", "--json")
    assert images_of(json.loads(done.stdout)) == EXPECTED, done.stderr
    text = run("account", "-i", file, "--by", "image").stdout
    assert "by image" in text and "registry/podman:1" in text
    done = run("account", "-i", file, "--by", "image", "--csv")
    assert "registry/docker:1" in done.stdout
