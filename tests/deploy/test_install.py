# SPDX-License-Identifier: BSD-2-Clause
"""make install and make uninstall, and what systemd says about the installed unit."""
import os
import re
import shutil
import subprocess

import pytest

from lib import paths

DEFAULTS = "etc/default/gpuprobe"
UNIT = "usr/lib/systemd/system/gpuprobe.service"


def make(target, root, **variables):
    words = [f"{name}={value}" for name, value in
             {"PREFIX": "/usr", "DESTDIR": root, **variables}.items()]
    return subprocess.run(["make", "-s", target, *words], cwd=paths.ROOT, text=True, check=True,
                          capture_output=True, timeout=600, env={**os.environ, "MAKEFLAGS": ""})


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    make("install", root)
    return root


def test_files(installed):
    found = files(installed)
    assert {"usr/sbin/gpuprobe", "usr/share/bash-completion/completions/gpuprobe",
            "usr/lib/gpuprobe/libgpuprobe-times.so", "usr/lib/gpuprobe/libgpuprobe-nvtx.so",
            "usr/share/zsh/site-functions/_gpuprobe",
            "usr/share/fish/vendor_completions.d/gpuprobe.fish", UNIT, DEFAULTS,
            "usr/share/doc/gpuprobe/legacy-kernel.conf"} <= found
    assert {f"usr/share/man/man8/{page.name}" for page in (paths.ROOT / "man").glob("*.8")} <= found
    assert (installed / "usr/sbin/gpuprobe").stat().st_mode & 0o7777 == 0o755
    # Installed, not enabled.
    assert not [path for path in found if ".wants/" in path]


def test_uninstall_removes_what_install_wrote(tmp_path):
    (tmp_path / "usr/sbin").mkdir(parents=True)
    (tmp_path / "usr/sbin/other").touch()
    make("install", tmp_path)
    assert make("uninstall", tmp_path).stdout == ""
    assert files(tmp_path) == {"usr/sbin/other"}
    assert not (tmp_path / "usr/share/doc/gpuprobe").exists()
    make("uninstall", tmp_path)


def test_changed_defaults_stay(tmp_path):
    make("install", tmp_path)
    defaults = tmp_path / DEFAULTS
    defaults.write_text('GPUPROBE_ARGS="--verdict"\n', encoding="utf-8")
    make("install", tmp_path)
    assert "--verdict" in defaults.read_text(encoding="utf-8")
    assert f"kept, because it was changed: {defaults}" in make("uninstall", tmp_path).stdout
    assert files(tmp_path) == {DEFAULTS}


def test_prefix(tmp_path):
    make("install", tmp_path, PREFIX="/opt/gpuprobe", SYSCONFDIR="/opt/etc")
    unit = (tmp_path / "opt/gpuprobe/lib/systemd/system/gpuprobe.service").read_text("utf-8")
    assert "\nExecStart=/opt/gpuprobe/sbin/gpuprobe --service " in unit
    assert "\nEnvironmentFile=-/opt/etc/default/gpuprobe\n" in unit
    assert (tmp_path / "opt/etc/default/gpuprobe").exists()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
class TestUnit:
    """systemd-analyze needs no running systemd."""

    def analyze(self, installed, *words):
        return subprocess.run(["systemd-analyze", *words], text=True, capture_output=True,
                              check=False, timeout=60,
                              env={**os.environ, "MANPATH": f"{installed}/usr/share/man"})

    def unit(self, installed, tmp_path):
        """The unit with a program that exists."""
        unit = tmp_path / "gpuprobe.service"
        unit.write_text((installed / UNIT).read_text("utf-8").replace(
            "ExecStart=/usr/sbin/gpuprobe", f"ExecStart={installed}/usr/sbin/gpuprobe"))
        return unit

    def test_verify(self, installed, tmp_path):
        done = self.analyze(installed, "verify", self.unit(installed, tmp_path))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_verify_legacy(self, installed, tmp_path):
        unit = self.unit(installed, tmp_path)
        folder = tmp_path / "gpuprobe.service.d"
        folder.mkdir()
        shutil.copy(installed / "usr/share/doc/gpuprobe/legacy-kernel.conf", folder)
        done = self.analyze(installed, "verify", unit)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_security(self, installed, tmp_path):
        """At most 2.5 of 10."""
        done = self.analyze(installed, "security", "--offline=true", "--threshold=25",
                            self.unit(installed, tmp_path))
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_defaults_are_options(installed):
    """The commented examples are options that gpuprobe takes, here all of them at once."""
    text = (installed / DEFAULTS).read_text("utf-8")
    examples = re.findall(r'^#?GPUPROBE_ARGS="(.*)"$', text, re.M)
    assert len(examples) > 4
    options = [word for example in examples for word in example.split()]
    done = subprocess.run([paths.GPUPROBE, "--service", *options, "--metrics-addr", "none",
                           "--duration", "0.01", "-q"], text=True, capture_output=True,
                          check=False, timeout=60)
    assert done.returncode == 0, done.stderr
