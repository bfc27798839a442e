# SPDX-License-Identifier: BSD-2-Clause
"""The container image, read without a container engine, and its seccomp profile."""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile

import build as image_build
import pytest

from conftest import ROOT, run

CAPABILITY = "SCHILY.xattr.security.capability"


PROGRAM = "/bin/true"  # small: packing gpuprobe takes seconds


@pytest.fixture(scope="module", name="archive")
def fixture_archive():
    return image_build.image(PROGRAM, "1.2.3", "abc", 1000)


@pytest.fixture(scope="module", name="layer")
def fixture_layer(archive):
    blobs = blobs_of(archive)
    manifest = json.loads(blobs[json.loads(blobs["index.json"])["manifests"][0]["digest"]])
    data = gzip.decompress(blobs[manifest["layers"][0]["digest"]])
    return tarfile.open(fileobj=io.BytesIO(data), errors="surrogateescape")


def blobs_of(archive):
    """The layout's files; blobs by their digest."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        return {entry.name.removeprefix("blobs/").replace("/", ":"): files.extractfile(entry).read()
                for entry in files if entry.isfile()}


def test_same_bytes_twice(archive):
    again = image_build.image(PROGRAM, "1.2.3", "abc", 1000)
    assert hashlib.sha256(again).digest() == hashlib.sha256(archive).digest()


def test_digests(archive):
    blobs = blobs_of(archive)
    for name, data in blobs.items():
        assert ":" not in name or name == "sha256:" + hashlib.sha256(data).hexdigest()
    manifest = json.loads(blobs[json.loads(blobs["index.json"])["manifests"][0]["digest"]])
    config = json.loads(blobs[manifest["config"]["digest"]])
    layer = gzip.decompress(blobs[manifest["layers"][0]["digest"]])
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
    assert config["config"]["User"] == "65532:65532"
    assert config["config"]["Labels"]["org.opencontainers.image.version"] == "1.2.3"
    assert config["created"] == "1970-01-01T00:16:40Z"


def test_layer(layer):
    names = [entry.name for entry in layer]
    assert names == sorted(names)
    assert not {"bin", "usr/bin"} & set(names)
    for entry in layer:
        assert (entry.uid, entry.gid, entry.uname, entry.mtime) == (0, 0, "", 1000)
        assert not entry.mode & 0o6022 or entry.name == "tmp"


def test_file_capabilities(layer, tmp_path):
    """setcap writes the attribute that the layer has."""
    with_capabilities = [entry.name for entry in layer if CAPABILITY in entry.pax_headers]
    assert with_capabilities == ["usr/sbin/gpuprobe"]
    value = layer.getmember("usr/sbin/gpuprobe").pax_headers[CAPABILITY]
    if not shutil.which("setcap"):
        pytest.skip("setcap is missing")
    (tmp_path / "file").touch()
    subprocess.run(["setcap", "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,"
                    "cap_checkpoint_restore+ep", tmp_path / "file"], check=True)
    attribute = os.getxattr(tmp_path / "file", "security.capability")
    assert value.encode("utf-8", "surrogateescape") == attribute


def test_libraries(build_folder):
    """The portable program's libraries and the loader are in the image, and those of NVML."""
    program = build_folder / "portable" / "gpuprobe"
    if not program.exists():
        pytest.skip("build/portable/gpuprobe is missing: make portable")
    names = {path.rpartition("/")[2] for path in image_build.libraries(program)}
    assert names == {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libdl.so.2",
                     "libpthread.so.0", "librt.so.1"}


def test_seccomp_profile():
    """The profile allows what gpuprobe's own filter allows, and no call that this one refuses."""
    profile = json.loads((ROOT / "deploy" / "image" / "seccomp.json").read_text(encoding="utf-8"))
    allowed = {name for rule in profile["syscalls"] for name in rule["names"]}
    source = (ROOT / "src" / "privilege" / "sandbox.c").read_text(encoding="utf-8")
    own, refused = source.split("refused[] = {", 1)
    wanted = set(re.findall(r"S\((\w+)\)", own)) - {"name"}
    assert wanted <= allowed | {"clone3"}
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    # The container's start needs these before gpuprobe refuses them.
    start = {"execve", "setuid", "setgid", "setgroups", "listen"}
    assert allowed & set(re.findall(r"S\((\w+)\)", refused.split("};", 1)[0])) == start


@pytest.mark.slow
def test_skopeo_reads_it(archive, tmp_path):
    if not shutil.which("skopeo"):
        pytest.skip("skopeo is missing")
    (tmp_path / "image.tar").write_bytes(archive)
    done = run("skopeo", "inspect", f"oci-archive:{tmp_path}/image.tar")
    assert done.returncode == 0, done.stderr
    labels = json.loads(done.stdout)["Labels"]
    assert labels["org.opencontainers.image.revision"] == "abc"
