# SPDX-License-Identifier: BSD-2-Clause
"""Programs of a newer Debian that run on this one: their packages are unpacked, not installed."""
import subprocess
from pathlib import Path

import pytest

from lib import paths

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def program(package, path, suite="trixie"):
    """The program at `path` of the package; kept in build/. Skips the test if it cannot be had."""
    folder = paths.BUILD / "newer-debian" / suite
    found = folder / "root" / path
    if not found.exists():
        try:
            fetch(folder, package, suite)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"{package} of Debian {suite} cannot be fetched: {error}")
    return found


def mirror():
    """Where this machine gets Debian's packages from."""
    lines = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(SUITE) $(REPO_URI)",
                            "Created-By: Packages"], capture_output=True, check=True,
                           text=True).stdout.splitlines()
    found = [line.split()[2] for line in lines
             if line.startswith("Debian ") and "-" not in line.split()[1]]
    if not found:
        raise OSError("this machine has no packages of Debian")
    return found[0]


def fetch(folder, package, suite):
    for name in ("lists/partial", "cache/archives/partial", "root"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {suite} main\n")
    options = [f"-oDir::Etc::sourcelist={folder}/sources.list", "-oDir::Etc::sourceparts=-",
               f"-oDir::State::lists={folder}/lists", f"-oDir::Cache={folder}/cache",
               "-oAPT::Sandbox::User=root", "-oAcquire::Languages=none"]
    for command in (["update"], ["download", package]):
        subprocess.run(["apt-get", "-q", *options, *command], cwd=folder, check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
    archive = max(Path(folder).glob(f"{package}_*.deb"), key=lambda file: file.stat().st_mtime)
    subprocess.run(["dpkg", "-x", archive, folder / "root"], check=True, timeout=120)
