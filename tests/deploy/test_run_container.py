# SPDX-License-Identifier: BSD-2-Clause
"""The image under runc, with the security context of the rendered pod, on a host's process."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request
from io import BytesIO

import build as image_build
import pytest
import rendered
import yaml

from conftest import ROOT, run

BASE = ROOT / "deploy" / "kustomize" / "base" / "daemonset.yaml"
CAPABILITY = "SCHILY.xattr.security.capability"
PROFILE = ROOT / "deploy" / "image" / "seccomp.json"
HANGS = 60  # seconds
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", name="runc")
def fixture_runc():
    if not shutil.which("runc"):
        pytest.skip("runc is missing")
    if os.geteuid():
        pytest.skip("runc needs root")
    return "runc"


@pytest.fixture(name="container")
def fixture_container(build_folder, tmp_path):
    """A folder with the image's files below rootfs, as an engine unpacks them."""
    program = build_folder / "portable" / "gpuprobe"
    if not program.exists():
        pytest.skip("build/portable/gpuprobe is missing: make portable")
    root = tmp_path / "rootfs"
    root.mkdir()
    tmp_path.chmod(0o755)
    with tarfile.open(fileobj=BytesIO(image_build.layer_tar(program, 0)),
                      errors="surrogateescape") as layer:
        for entry in layer:
            layer.extract(entry, root)
            if CAPABILITY in entry.pax_headers:
                value = entry.pax_headers[CAPABILITY].encode("utf-8", "surrogateescape")
                os.setxattr(root / entry.name, "security.capability", value)
    return tmp_path


@pytest.fixture(name="workload")
def fixture_workload(build_folder, tmp_path):
    """A program of the host that uses the simulated CUDA libraries, and its libraries."""
    libraries = tmp_path / "sim"
    shutil.copytree(build_folder / "sim", libraries)
    env = {**os.environ, "CUDA_SIM_DIRECTORY": str(libraries), "LD_LIBRARY_PATH": str(libraries),
           "CUDA_SIM_MACHINE": f"deploy-{os.getpid()}", "CUDA_SIM_CLOCK": "kernel=20us"}
    script = ROOT / "tests" / "integration" / "programs" / "host_steps.py"
    with subprocess.Popen([sys.executable, script, "sleep", "600"], env=env,
                          stdout=subprocess.DEVNULL) as running:
        yield running
        running.kill()


@pytest.fixture(name="port")
def fixture_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def daemonset():
    return yaml.safe_load(BASE.read_text(encoding="utf-8"))


def page(port):
    """The metrics, or nothing if there is no answer yet."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            return answer.read().decode()
    except OSError:
        return ""


class Running:
    """The container `name` of a bundle's folder, until the block ends."""

    def __init__(self, runc, folder):
        self.name = f"gpuprobe-{os.getpid()}-{folder.name}"
        self.state = ["--root", str(folder / "state")]
        self.runc = runc
        self.output = open(folder / "output", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [runc, *self.state, "run", "--bundle", folder, self.name], stdin=subprocess.DEVNULL,
            stdout=self.output, stderr=self.output)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        run(self.runc, *self.state, "delete", "--force", self.name)
        self.process.wait(HANGS)
        self.output.close()

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def wait_for(self, condition):
        end = time.monotonic() + HANGS
        while not condition():
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < end, self.text()
            time.sleep(0.2)

    def stop(self):
        """Ends gpuprobe as the kubelet does; its exit status."""
        run(self.runc, *self.state, "kill", self.name, "TERM")
        return self.process.wait(HANGS)


def write_bundle(container, port, pid, seccomp=None, pods=None, env=()):
    """The bundle's settings. gpuprobe watches only one process: other programs may run here."""
    config = image_build.image_config(b"", "0", "", "")["config"]
    settings = rendered.bundle(pods or daemonset(), config, port, seccomp)
    settings["process"]["args"] += ["--pid", str(pid)]
    settings["process"]["env"] += env
    (container / "config.json").write_text(json.dumps(settings), encoding="utf-8")


def launches(text):
    """The sum of all launches on the page of metrics: of one process, by the option --pid."""
    start = 'gpuprobe_kernel_launches_total{namespace="'
    return sum(float(line.rpartition(" ")[2]) for line in text.splitlines()
               if line.startswith(start))


@pytest.mark.parametrize("profile", [None, PROFILE], ids=["unconfined", "profile"])
def test_watches_a_process_of_the_host(runc, container, workload, port, profile):
    """As user 65532, with the five capabilities, no ambient ones, and a read-only root."""
    seccomp = json.loads(profile.read_text(encoding="utf-8")) if profile else None
    write_bundle(container, port, workload.pid, seccomp)
    with Running(runc, container) as running:
        running.wait_for(lambda: launches(page(port)))
        health = urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10)
        assert health.read().strip() == b"ok"
        assert running.stop() == 0, running.text()


def test_without_file_capabilities(runc, container, port):
    """The capabilities come from the file: without them gpuprobe ends and says what is missing."""
    os.removexattr(container / "rootfs" / image_build.PROGRAM, "security.capability")
    write_bundle(container, port, os.getpid())
    with Running(runc, container) as running:
        assert running.process.wait(HANGS) != 0
        assert "no permission to load BPF programs" in running.text()


def test_legacy_kernel(runc, container, workload, port, helm):
    """With legacyKernel the pod has what tracefs events need."""
    chart = ROOT / "deploy" / "helm" / "gpuprobe"
    done = helm("template", "gpuprobe", chart, "--set", "legacyKernel=true",
                "--show-only", "templates/daemonset.yaml")
    pods = yaml.safe_load(done.stdout)
    write_bundle(container, port, workload.pid, pods=pods, env=["GPUPROBE_LINKS=perf"])
    with Running(runc, container) as running:
        running.wait_for(lambda: launches(page(port)))
        assert running.stop() == 0, running.text()
        assert "probes by tracefs need it" in running.text()
