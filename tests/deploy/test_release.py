# SPDX-License-Identifier: BSD-2-Clause
"""
`make release`: what it makes, that two of one commit are the same bytes in different folders, and
the SBOM. It builds gpuprobe twice from nothing, which takes minutes.
"""
import gzip
import hashlib
import json
import os
import re
import subprocess
import tarfile

import pytest
import sbom

from conftest import ROOT

VERSION = re.search(r"^VERSION := (\S+)$", (ROOT / "Makefile").read_text("utf-8"), re.M)[1]
FILES = {f"gpuprobe-{VERSION}.tar.gz", f"gpuprobe-{VERSION}-x86_64.tar.gz",
         f"gpuprobe_{VERSION}_amd64.deb", f"gpuprobe-monitoring_{VERSION}_all.deb",
         f"gpuprobe-{VERSION}.oci.tar", f"gpuprobe-chart-{VERSION}.tgz",
         f"gpuprobe-{VERSION}-x86_64.spdx.json", "SHA256SUMS"}
SECONDS = 3000


# --- the SBOM's sources, which need no build ---

def test_embedded_projects():
    package, = sbom.embedded_packages()
    assert (package["name"], package["licenseDeclared"]) == ("uplot", "MIT")
    assert "uPlot.iife.js (sha256 " in package["comment"]


COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: somebody
License: GPL-3+

Files: lib*
 other/*
Copyright: somebody
License: LGPL-3+ or GPL-2+
 A text.
 .
 More of it.

License: GPL-3+
 A text.
"""


@pytest.mark.parametrize("text, library, licence", [
    (COPYRIGHT, "libelf", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    (COPYRIGHT, "program", "GPL-3.0-or-later"),
    (COPYRIGHT.replace("LGPL-3+ or GPL-2+", "own words"), "libelf", None),
    ("This package was debianized by hand.\nLicense: GPL-2\n", "libelf", None)])
def test_licences(text, library, licence):
    assert sbom.expression(sbom.debian_licence(text, library)) == licence


def test_linked_files(tmp_path):
    """Libraries that gave a member, not those that were only looked at; no objects of the build."""
    archive, unused, start = (tmp_path / name for name in ("libx.a", "liby.a", "Scrt1.o"))
    text = (f"Archive member included to satisfy reference by file (symbol)\n\n{archive}(a.o)\n"
            f"          build/x.o (a)\nbuild/libgpuprobe.a(b.o) build/x.o (b)\n\n"
            f"Memory Configuration\n\nLOAD {start}\nLOAD build/x.o\nLOAD {unused}\n"
            f" .text 0x1 0x2 {unused}(c.o)\n")
    assert sbom.linked_files(text) == {str(archive), str(start)}


# --- a release ---

def head():
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout.strip()


@pytest.fixture(scope="module", name="releases")
def fixture_releases(tmp_path_factory):
    """The folders of two releases of the same commit."""
    found, commit = [], head()
    for name, umask, zone in (("a", 0o022, "UTC"), ("another-folder", 0o077, "Asia/Tokyo")):
        folder = tmp_path_factory.mktemp("release") / name
        # A word of make's command line would reach the makes below it.
        done = subprocess.run(
            ["make", "-s", f"-j{os.cpu_count()}", "release", f"RELEASE={folder}",
             f"COMMIT={commit}"], cwd=ROOT,
            env={**os.environ, "TZ": zone, "MAKEFLAGS": ""}, preexec_fn=lambda: os.umask(umask),
            capture_output=True, text=True, check=False, timeout=SECONDS)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        found.append(folder / f"gpuprobe-{VERSION}")
    return found


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.slow
def test_same_bytes_in_another_folder(releases):
    first, second = map(digests, releases)
    assert set(first) == FILES
    assert first == second
    sums = dict(reversed(line.split("  ")) for line in
                (releases[0] / "SHA256SUMS").read_text("utf-8").splitlines())
    assert sums == {name: value for name, value in first.items() if name != "SHA256SUMS"}


def contents(path):
    """The bytes of a released file, and of the files in it."""
    data = path.read_bytes()
    if path.suffix == ".deb":
        yield subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True,
                             capture_output=True).stdout
    elif path.name.endswith(".oci.tar"):
        with tarfile.open(path) as archive:
            for entry in archive:
                blob = archive.extractfile(entry).read() if entry.isfile() else b""
                yield gzip.decompress(blob) if blob[:2] == b"\x1f\x8b" else blob
    else:
        yield gzip.decompress(data) if path.suffix in (".gz", ".tgz") else data


@pytest.mark.slow
def test_no_path_of_the_build(releases):
    for path in releases[0].iterdir():
        for data in contents(path):
            assert str(releases[0].parent).encode() not in data, path
            # The sources' own texts have names of folders, but not this one.
            assert str(ROOT).encode() + b"/" not in data, path


@pytest.mark.slow
def test_source_tarball_is_the_commit(releases):
    with tarfile.open(releases[0] / f"gpuprobe-{VERSION}.tar.gz") as archive:
        names = {entry.name.partition("/")[2] for entry in archive if not entry.isdir()}
        commit = archive.pax_headers["comment"]  # git notes it
    listed = subprocess.run(["git", "ls-tree", "-r", "--name-only", "-z", commit], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    assert names == set(listed.split("\0")) - {""}


@pytest.mark.slow
def test_chart(releases, helm):
    """It renders as the folder does."""
    charts = releases[0] / f"gpuprobe-chart-{VERSION}.tgz", ROOT / "deploy" / "helm" / "gpuprobe"
    rendered = [helm("template", "x", chart, "--set", "prometheusRule.enabled=true")
                for chart in charts]
    assert rendered[0].returncode == 0, rendered[0].stderr
    assert rendered[0].stdout == rendered[1].stdout


@pytest.mark.slow
def test_sbom(releases):
    """The fields that SPDX 2.3 requires, each package named once, and the program's checksum."""
    found = json.loads((releases[0] / f"gpuprobe-{VERSION}-x86_64.spdx.json").read_text("utf-8"))
    assert (found["spdxVersion"], found["dataLicense"], found["SPDXID"]) == (
        "SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert found["name"] and re.match(r"https://\S+$", found["documentNamespace"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["creationInfo"]["created"])
    assert all(re.match(r"(Tool|Organization|Person): \S", name)
               for name in found["creationInfo"]["creators"])
    ids = [package["SPDXID"] for package in found["packages"]]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[\w.-]+", one) for one in ids)
    for package in found["packages"]:
        assert package["name"] and package["versionInfo"]
        assert package["downloadLocation"] and package["filesAnalyzed"] is False
        texts = {one["licenseId"] for one in found["hasExtractedLicensingInfos"]}
        own = set(re.findall(r"LicenseRef-[\w.-]+", package["licenseDeclared"]))
        assert package["licenseDeclared"] and own <= texts
    assert all(one["extractedText"] for one in found["hasExtractedLicensingInfos"])
    for relation in found["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= {
            *ids, "SPDXRef-DOCUMENT"}
    described = [one["relatedSpdxElement"] for one in found["relationships"]
                 if one["relationshipType"] == "DESCRIBES"]
    assert described == ["SPDXRef-gpuprobe"]
    linked = {one["relatedSpdxElement"] for one in found["relationships"]
              if one["relationshipType"] == "STATIC_LINK"}
    assert {f"SPDXRef-{name}-dev" for name in ("libbpf", "libcap", "libdw", "libelf", "libevent",
                                               "libseccomp", "zlib1g")} <= linked
