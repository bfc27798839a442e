#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Builds the container image without a container engine.

usage: deploy/image/build.py --program FILE --version VERSION --output FILE
                             [--revision COMMIT] [--epoch SECONDS]

The output is a tar archive in the OCI image layout: `podman load`, `docker load` (25 or newer),
`skopeo copy oci-archive:FILE` and `ctr images import` read it. The image has the program with its
file capabilities, the C library, and nothing else: no shell, no package manager. The same input
gives the same bytes: names are sorted, owners are 0, all times are --epoch.
"""
import argparse
import gzip
import hashlib
import io
import json
import os
import re
import struct
import subprocess
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USER = 65532
PROGRAM = "usr/sbin/gpuprobe"
# CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF, CAP_CHECKPOINT_RESTORE
CAPABILITIES = (2, 19, 38, 39, 40)
ACCOUNTS = {
    "etc/passwd": f"root:x:0:0:root:/:/sbin/nologin\n"
                  f"gpuprobe:x:{USER}:{USER}:gpuprobe:/:/sbin/nologin\n",
    "etc/group": f"root:x:0:\ngpuprobe:x:{USER}:\n"}
# libnvidia-ml.so, which the NVIDIA container toolkit mounts, links to these.
FOR_NVML = ("libdl.so.2", "libpthread.so.0", "librt.so.1")
# The runtime mounts over these. With a read-only root it cannot create them.
FOLDERS = {"dev": 0o755, "proc": 0o555, "sys": 0o555, "tmp": 0o1777}
TITLES = {"config": "application/vnd.oci.image.config.v1+json",
          "manifest": "application/vnd.oci.image.manifest.v1+json",
          "layer": "application/vnd.oci.image.layer.v1.tar+gzip"}


def capability_attribute(numbers):
    """The value of security.capability: these permitted, and effective at exec."""
    effective, version_2 = 0x1, 0x02000000
    bits = sum(1 << number for number in numbers)
    return struct.pack("<5I", version_2 | effective, bits & 0xffffffff, 0, bits >> 32, 0)


def libraries(program):
    """The shared libraries that the program and NVML need, by their paths in the image."""
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = re.findall(r"(?:=> )?(/\S+) \(0x", listed)
    folder = Path(next(path for path in paths if path.endswith("/libc.so.6"))).parent
    paths += [str(folder / name) for name in FOR_NVML]
    return {path.lstrip("/"): Path(path).read_bytes() for path in paths}


def licences():
    files = {"usr/share/doc/gpuprobe/LICENSE": ROOT / "LICENSE",
             "usr/share/doc/libc6/copyright": Path("/usr/share/doc/libc6/copyright")}
    return {name: path.read_bytes() for name, path in files.items() if path.exists()}


def parents(names):
    return {str(parent) for name in names for parent in Path(name).parents} - {"."}


def add(archive, name, data=None, mode=0o755, epoch=0, headers=None):
    """Adds a file, or a folder if there is no data."""
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
    info.size, info.mode, info.mtime = len(data or b""), mode, epoch
    info.pax_headers = headers or {}
    archive.addfile(info, io.BytesIO(data or b""))


def layer_tar(program, epoch):
    text = {**{name: value.encode() for name, value in ACCOUNTS.items()}, **licences()}
    executable = {**libraries(program), PROGRAM: Path(program).read_bytes()}
    files = {**text, **executable}
    # PAX headers are text, which tarfile encodes as UTF-8 or, if told so, copies as bytes.
    attribute = capability_attribute(CAPABILITIES).decode("utf-8", "surrogateescape")
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8",
                      errors="surrogateescape") as archive:
        for name in sorted({*files, *parents(files), *FOLDERS}):
            if name not in files:
                add(archive, name, mode=FOLDERS.get(name, 0o755), epoch=epoch)
                continue
            headers = {"SCHILY.xattr.security.capability": attribute} if name == PROGRAM else {}
            add(archive, name, files[name], 0o755 if name in executable else 0o644, epoch, headers)
    return output.getvalue()


def labels(version, revision, created):
    found = {"title": "gpuprobe", "version": version, "created": created, "revision": revision,
             "description": "Watches CUDA programs from outside, with eBPF uprobes",
             "licenses": "BSD-2-Clause"}
    return {f"org.opencontainers.image.{key}": value for key, value in found.items() if value}


def image_config(layer, version, revision, created):
    return {
        "architecture": "amd64", "os": "linux", "created": created,
        "config": {"User": f"{USER}:{USER}", "Entrypoint": [f"/{PROGRAM}"],
                   "Env": ["PATH=/usr/sbin:/usr/bin", "NVIDIA_VISIBLE_DEVICES=all",
                           "NVIDIA_DRIVER_CAPABILITIES=utility", "NVIDIA_DISABLE_REQUIRE=true"],
                   "ExposedPorts": {"9000/tcp": {}}, "WorkingDir": "/", "StopSignal": "SIGINT",
                   "Labels": labels(version, revision, created)},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
        "history": [{"created": created, "created_by": "deploy/image/build.py"}]}


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def as_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


class Layout:
    """The files of an OCI image layout."""

    def __init__(self):
        self.files = {"oci-layout": as_json({"imageLayoutVersion": "1.0.0"})}

    def blob(self, kind, data):
        """Adds a blob and returns its descriptor."""
        name = digest(data)
        self.files["blobs/" + name.replace(":", "/")] = data
        return {"mediaType": TITLES[kind], "digest": name, "size": len(data)}

    def tar(self, epoch):
        output = io.BytesIO()
        with tarfile.open(fileobj=output, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name in sorted({*self.files, *parents(self.files)}):
                data = self.files.get(name)
                add(archive, name, data, 0o755 if data is None else 0o644, epoch)
        return output.getvalue()


def image(program, version, revision, epoch):
    """The image as an archive."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    layout = Layout()
    layer = layer_tar(program, epoch)
    config = layout.blob("config", as_json(image_config(layer, version, revision, created)))
    manifest = layout.blob("manifest", as_json({
        "schemaVersion": 2, "mediaType": TITLES["manifest"], "config": config,
        "layers": [layout.blob("layer", gzip.compress(layer, 6, mtime=0))],
        "annotations": labels(version, revision, created)}))
    names = {"org.opencontainers.image.ref.name": version,
             "io.containerd.image.name": f"localhost/gpuprobe:{version}"}
    manifest.update(annotations=names, platform={"architecture": "amd64", "os": "linux"})
    layout.files["index.json"] = as_json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest]})
    return layout.tar(epoch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("program", "version", "output"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--revision", default="")
    parser.add_argument("--epoch", type=int, default=int(os.environ.get("SOURCE_DATE_EPOCH") or 0))
    read = parser.parse_args()
    data = image(read.program, read.version, read.revision, read.epoch)
    Path(read.output).write_bytes(data)
    print(f"{read.output}: {digest(data)}")


if __name__ == "__main__":
    main()
