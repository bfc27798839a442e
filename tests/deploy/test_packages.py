# SPDX-License-Identifier: BSD-2-Clause
"""The Debian package, the rpm and the tarball: made, checked, installed and removed."""
import hashlib
import os
import shutil
import subprocess

import nspawn
import pytest

from lib import paths
from lib.probe import wait_until

pytestmark = pytest.mark.slow

DEB = "build/packages/gpuprobe_0.1.0_amd64.deb"
MONITORING = "build/packages/gpuprobe-monitoring_0.1.0_all.deb"
RULES = "deploy/monitoring/gpuprobe.rules.yml"
UNIT = "gpuprobe.service"
# Run by mmdebstrap in a new Debian 12: what purging leaves goes to the file `left`.
HOOK = """
set -eu
cp {deb} "$1/opt/gpuprobe.deb"
cp {monitoring} "$1/opt/monitoring.deb"
chroot "$1" apt-get install -qy --no-install-recommends /opt/gpuprobe.deb /opt/monitoring.deb
chroot "$1" gpuprobe --version > {folder}/version
chroot "$1" systemctl is-enabled gpuprobe > {folder}/enabled || :
cp "$1/usr/share/gpuprobe/monitoring/gpuprobe.rules.yml" {folder}/rules
ls "$1/usr/share/gpuprobe/monitoring/dashboards" > {folder}/dashboards
chroot "$1" apt-get purge -qy gpuprobe gpuprobe-monitoring
chroot "$1" find / -xdev -path /opt -prune -o -path /proc -prune -o -name '*gpuprobe*' -print \
    > {folder}/left
"""


def needs(*tools):
    missing = ", ".join(tool for tool in tools if not shutil.which(tool))
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {missing}")


def make(target, **variables):
    words = [f"{name}={value}" for name, value in variables.items()]
    subprocess.run(["make", "-s", target, *words], cwd=paths.ROOT, check=True,
                   stdout=subprocess.DEVNULL, timeout=900, env={**os.environ, "MAKEFLAGS": ""})


@pytest.fixture(scope="module")
def deb():
    if not shutil.which("dpkg-buildpackage") or not shutil.which("dh"):
        pytest.skip("not installed: dpkg-dev, debhelper")
    make("deb")
    return paths.ROOT / DEB


@needs("lintian")
def test_lintian(deb):
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", deb,
                           paths.ROOT / MONITORING], text=True, capture_output=True, check=False,
                          timeout=300)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.fixture(scope="module")
def machine(deb, tmp_path_factory):
    """A booted machine that has the package as a file."""
    if nspawn.lacks():
        pytest.skip(f"not installed: {nspawn.lacks()}")
    directory = tmp_path_factory.mktemp("machine")
    (directory / "staged").mkdir()
    shutil.copy(deb, directory / "staged/gpuprobe.deb")
    booted = nspawn.Machine(directory / "root", directory / "staged")
    yield booted
    booted.stop()


def test_package_on_a_running_machine(machine):
    """It is off at first; an upgrade restarts one that runs; removal stops it; purge leaves
    nothing."""
    def systemctl(*words):
        return machine.run("systemctl", *words).stdout.strip()

    # Images of containers forbid packages to start and stop services.
    machine.run("rm", "-f", "/usr/sbin/policy-rc.d", check=True)
    machine.run("dpkg", "--force-depends", "-i", "/gpuprobe.deb", check=True)
    assert systemctl("is-enabled", UNIT) == "disabled"
    assert systemctl("is-active", UNIT) == "inactive"
    machine.run("systemctl", "enable", "--now", UNIT, check=True)
    before = systemctl("show", "-P", "MainPID", UNIT)
    machine.run("dpkg", "--force-depends", "-i", "/gpuprobe.deb", check=True)
    wait_until(lambda: systemctl("is-active", UNIT) == "active", "not restarted")
    assert systemctl("show", "-P", "MainPID", UNIT) != before
    assert systemctl("is-enabled", UNIT) == "enabled"
    machine.run("dpkg", "-r", "gpuprobe", check=True)
    assert machine.run("pgrep", "-x", "gpuprobe").stdout == ""
    machine.run("dpkg", "-P", "gpuprobe", check=True)
    left = machine.run("find", "/etc", "/var", "/lib/systemd", "/usr/sbin", "/usr/share", "-xdev",
                       "-name", "*gpuprobe*").stdout.split()
    assert left == []


@needs("mmdebstrap")
def test_package_in_a_new_debian(deb, tmp_path):
    """Its dependencies are all that it needs."""
    hook = tmp_path / "hook.sh"
    hook.write_text(HOOK.format(deb=deb, monitoring=paths.ROOT / MONITORING, folder=tmp_path),
                    encoding="utf-8")
    done = subprocess.run(["mmdebstrap", "--variant=apt", "--include=systemd", "--format=null",
                           f'--customize-hook=sh {hook} "$1"', "bookworm", "/dev/null"], text=True,
                          capture_output=True, check=False, timeout=900)
    if not (tmp_path / "version").exists() and "Unable to fetch" in done.stderr:
        pytest.skip("no Debian mirror can be reached")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "version").read_text() == "gpuprobe 0.1.0\n"
    assert (tmp_path / "enabled").read_text() == "disabled\n"
    assert (tmp_path / "rules").read_bytes() == (paths.ROOT / RULES).read_bytes()
    assert (tmp_path / "dashboards").read_text().split() == [
        f"gpuprobe-{name}.json" for name in ("fleet", "node", "process")]
    assert (tmp_path / "left").read_text() == ""


def test_tarball(tmp_path):
    """Two are the same bytes, and what is in it runs."""
    tarball = paths.ROOT / "build/packages/gpuprobe-0.1.0-x86_64.tar.gz"
    sums = []
    for _ in range(2):
        make("tarball", SOURCE_DATE_EPOCH=1)
        sums.append(hashlib.sha256(tarball.read_bytes()).hexdigest())
    assert sums[0] == sums[1]
    subprocess.run(["tar", "-C", tmp_path, "--strip-components=1", "-xzf", tarball], check=True)
    done = subprocess.run([tmp_path / "sbin/gpuprobe", "--version"], text=True, check=True,
                          stdout=subprocess.PIPE)
    assert done.stdout == "gpuprobe 0.1.0\n"
    unit = (tmp_path / "lib/systemd/system" / UNIT).read_text(encoding="utf-8")
    assert "ExecStart=/usr/local/sbin/gpuprobe " in unit
    assert "EnvironmentFile=-/usr/local/etc/default/gpuprobe\n" in unit
    libraries = subprocess.run(["ldd", tmp_path / "sbin/gpuprobe"], text=True, check=True,
                               stdout=subprocess.PIPE).stdout
    assert {line.split()[0].rpartition("/")[2] for line in libraries.splitlines()} <= {
        "linux-vdso.so.1", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}


def files_of_rpm(package):
    return subprocess.run(["rpm", "-qlp", package], text=True, check=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


@needs("rpmbuild")
def test_rpm(tmp_path):
    """The spec builds from this tree, and lists all that is installed."""
    subprocess.run(["rpmbuild", "-bb", "--quiet", "--nodeps", "--define",
                    f"gpuprobe_source {paths.ROOT}", "--define", f"_topdir {tmp_path}", "--define",
                    "debug_package %{nil}", "deploy/gpuprobe.spec"], cwd=paths.ROOT, check=True,
                   capture_output=True, timeout=900, env={**os.environ, "MAKEFLAGS": ""})
    [package] = tmp_path.glob("RPMS/x86_64/*.rpm")
    listed = files_of_rpm(package)
    assert "/usr/lib/systemd/system/gpuprobe.service" in listed and "/usr/sbin/gpuprobe" in listed
    [monitoring] = tmp_path.glob("RPMS/noarch/*.rpm")
    folder = "/usr/share/gpuprobe/monitoring"
    assert f"{folder}/gpuprobe.rules.yml" in files_of_rpm(monitoring)
    assert f"{folder}/dashboards/gpuprobe-node.json" in files_of_rpm(monitoring)
