# SPDX-License-Identifier: BSD-2-Clause
"""The runners' requirements of a machine: gpuprobe, busy.c built against CUPTI,
the GPUs and versions."""
import glob
import os
import pathlib
import platform
import re
import shutil
import site
import subprocess
import sys
import sysconfig

from running import Failed

HERE = pathlib.Path(__file__).resolve().parent
SIM_CLOCK = "kernel=20us,copy=5us+0.02ns/B,set=2us"
TOOLKITS = ("/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda")


def gpuprobe_of(build, dry):
    """The portable one, where there is a GPU: the other's libraries may be missing there."""
    names = ["gpuprobe"] if dry else ["portable/gpuprobe", "gpuprobe"]
    found = [path for path in (f"{build}/{name}" for name in names) if os.path.exists(path)]
    return (os.path.abspath(found[0]) if found
            else sys.exit(f"{build} has no gpuprobe: make portable"))


def sim_of(build):
    """Where the simulated libraries are."""
    return os.path.abspath(f"{build}/sim")


def toolkits():
    """Folders in which a toolkit may be: Python's packages first, since PyTorch loads that libcupti
    into the process."""
    packages = {sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"],
                *site.getsitepackages()}
    found = [path for package in sorted(packages) for path in glob.glob(f"{package}/nvidia/*")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        found.append(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))))
    return found + [path for pattern in TOOLKITS
                    for path in sorted(glob.glob(pattern), reverse=True)]


def first_with(name, *folders):
    """Of all toolkits, the first of these folders that has such a file; None."""
    for toolkit in toolkits():
        for folder in folders:
            found = sorted(glob.glob(f"{toolkit}/{folder}/{name}"))
            if found:
                return found[-1]
    return None


def build_busy(work):
    """(path of the library, None), or (None, why there is none)."""
    path = f"{work}/busy.so"
    cupti = first_with("cupti.h", "include", "extras/CUPTI/include", "targets/*/include")
    cuda = first_with("cuda.h", "include", "targets/*/include")
    library = first_with("libcupti.so.*[0-9]", "lib", "lib64", "extras/CUPTI/lib64",
                         "targets/*/lib")
    # Python's packages may lack it.
    host = first_with("crt/host_defines.h", "include", "targets/*/include")
    if not cupti or not cuda or not library or not host:
        return (None, f"no CUPTI: cupti.h {cupti}, cuda.h {cuda}, libcupti {library}, "
                f"crt/host_defines.h {host}")
    command = ["cc", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-o", path, str(HERE / "busy.c"),
               f"-I{os.path.dirname(cupti)}", f"-I{os.path.dirname(cuda)}",
               f"-I{os.path.dirname(os.path.dirname(host))}", library,
               f"-Wl,-rpath,{os.path.dirname(library)}", "-pthread"]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False)
    return (None, f"busy.c: {built.stdout[-1500:]}") if built.returncode else (path, None)


def build_launches(work, sim):
    """The path of the C program; for the simulated CUDA if `sim` is given."""
    path, source = f"{work}/launches", str(HERE / "programs/launches.c")
    nvcc = shutil.which("nvcc") or next(iter(sorted(glob.glob("/usr/local/cuda*/bin/nvcc"))), None)
    if sim:
        command = ["cc", "-O2", "-D_GNU_SOURCE", f"-I{HERE.parents[2]}/sim/include", "-o", path,
                   source, f"-L{sim}", f"-Wl,-rpath,{sim}", "-lcudart", "-lcuda"]
    elif nvcc:
        libraries = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "lib64")
        command = [nvcc, "-x", "cu", "-O2", "-cudart", "shared", "-Xlinker", f"-rpath={libraries}",
                   "-o", path, source]
    else:
        raise Failed("no nvcc")
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False)
    if built.returncode:
        raise Failed(f"launches.c: {built.stdout[-1500:]}")
    return path


def said_by(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=60, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def gpus():
    return len(said_by("nvidia-smi", "-L").splitlines())


def versions(gpuprobe):
    smi = said_by("nvidia-smi", "--query-gpu=name,driver_version",
                  "--format=csv,noheader").splitlines()
    name, _, driver = smi[0].partition(", ") if smi else ("no GPU", "", "")
    python = (
        "import importlib.metadata as m\nfor n in ('torch','transformers','jax','cupy-cuda13x'):\n"
        " try: print(n, m.version(n))\n except m.PackageNotFoundError: pass")
    packages = dict(line.split() for line in said_by(sys.executable, "-c", python).splitlines())
    return {"gpu": name, "gpus": len(smi), "driver": driver,
            "kernel": platform.release(), "cpus": os.cpu_count(),
            "packages": packages, "gpuprobe": re.sub(r"\s+", " ", said_by(gpuprobe, "--version"))}
