# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe bpftrace-script and contrib/cuda_events.bt, run by the real bpftrace and compared with
the calls made."""
import ast
import os
import re
import subprocess
from collections import Counter

import pytest

from lib import paths
from lib.bpftrace import make_script, watch
from lib.script import PROGRAMS
from lib.truth import read_truths

ELEVEN = ("cudaMalloc", "cudaFree", "cudaMemcpy", "cudaLaunchKernel", "cudaStreamCreate",
          "cudaStreamSynchronize", "cudaGetDevice", "cudaSetDevice", "cudaEventCreate",
          "cudaEventRecord", "cudaEventSynchronize")
SHIPPED = paths.ROOT / "contrib" / "cuda_events.bt"
BY_ITSELF = pytest.mark.waits("the kernel takes out each of bpftrace's probes by itself")


def functions(script):
    """path -> the functions with both probes."""
    found = {}
    for kind in ("uprobe", "uretprobe"):
        for path, symbol in re.findall(rf'^{kind}:"([^"]+)":(\w+)', script, re.M):
            found.setdefault(path, {}).setdefault(kind, Counter())[symbol] += 1
    for kinds in found.values():
        assert kinds["uprobe"] == kinds["uretprobe"]
        assert set(kinds["uprobe"].values()) == {1}
    return {path: set(kinds["uprobe"]) for path, kinds in found.items()}


def library(tmp_path, name, symbols):
    """A shared library whose functions return 5."""
    source = tmp_path / "library.c"
    source.write_text("".join(f"int {symbol}(void) {{ return 5; }}\n" for symbol in symbols))
    subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", "-fcf-protection=none", "-shared",
                    "-fPIC", "-o", tmp_path / name, source], check=True)
    return tmp_path / name


def test_shipped_is_generated():
    assert SHIPPED.read_text() == make_script("--standard-paths", libcuda=None, libcudart=None)
    assert os.access(SHIPPED, os.X_OK)


def test_shipped_has_the_eleven_at_both_layers():
    found = functions(SHIPPED.read_text())
    cuda, cudart = sorted(found, key=lambda path: "cudart" in path)
    assert set(ELEVEN) <= found[cudart]
    assert {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",
            "cuMemcpyDtoD_v2", "cuLaunchKernel", "cuLaunchKernelEx", "cuStreamCreate",
            "cuStreamSynchronize", "cuCtxGetDevice", "cuCtxSetCurrent",
            "cuEventCreate", "cuEventRecord", "cuEventSynchronize"} <= found[cuda]
    assert {"cudaLaunchKernel_ptsz", "cudaMemcpy_ptds"} <= found[cudart]


def test_shipped_knows_every_error():
    script = SHIPPED.read_text()
    rows = [line.split("\t") for line in (paths.ROOT / "api/errors.tsv").read_text().splitlines()
            if line.startswith(("runtime\t", "driver\t"))]
    assert len(rows) > 200
    for layer, code, name in rows:
        assert f'@{layer}_error[{code}] = "{name}";' in script


@BY_ITSELF
@pytest.mark.parametrize("layer", ["runtime", "driver"])
def test_arguments_and_results(tmp_path, layer):
    lines = watch(tmp_path, make_script(), paths.PYTHON, PROGRAMS / "both_layers.py", layer,
                  tmp_path / "seen", CUDA_SIM_DIRECTORY=paths.SIM, PYTHONDONTWRITEBYTECODE=1)
    expected = ast.literal_eval((tmp_path / "seen").read_text())
    calls = [(line.event, line.code, line.name, line.details) for line in lines]
    if layer == "runtime":
        # Driver calls within functions that are not traced: the loading of the library.
        calls = [call for call in calls if call[0].startswith("cuda")]
    assert calls == expected
    assert all(line.pid == line.tid and line.process == "python3" for line in lines)
    assert [line.ms for line in lines] == sorted(line.ms for line in lines)


@BY_ITSELF
def test_shipped_agrees_with_the_truth(tmp_path):
    """The shipped script, its paths changed as its head says."""
    script = SHIPPED.read_text()
    for path, here in (("/usr/local/cuda/lib64/libcudart.so", paths.LIBCUDART),
                       ("/usr/lib/x86_64-linux-gnu/libcuda.so.1", paths.LIBCUDA)):
        assert f'"{path}":' in script
        script = script.replace(f'"{path}":', f'"{here}":')
    lines = watch(tmp_path, script, paths.workload("cuda_events_test"), "--iterations", 4, "--fail",
                  CUDA_SIM_TRUTH=tmp_path / "truth.json")
    (truth,) = read_truths(tmp_path)
    shown = Counter(line.event for line in lines)
    for function in ELEVEN:
        assert shown[function] == truth.calls(function), function
        assert shown[function] >= 1
    # These happen in traced calls of the runtime alone: none of them is counted twice.
    for function in ("cuMemAlloc_v2", "cuMemFree_v2", "cuLaunchKernel", "cuStreamSynchronize",
                     "cuEventSynchronize"):
        assert truth.calls(function) and not shown[function]
    assert {line.details.split(" stream")[0] for line in lines
            if line.event == "cudaLaunchKernel"} == {"vadd grid=(4096,1,1) block=(256,1,1) shmem=0"}
    failed = [(line.event, line.name, line.details) for line in lines if line.code]
    assert failed == [("cudaMalloc", "cudaErrorMemoryAllocation", "size=1125899906842624 ptr=0x0")]


@pytest.mark.slow
def test_the_drivers_calls_alone(tmp_path):
    """Without the runtime's probes the driver's calls are outermost."""
    script = make_script("--api", "driver", "-e", "cuMemAlloc*,cuMemFree_v2,cuLaunchKernel",
                         libcudart=None)
    lines = watch(tmp_path, script, paths.workload("cuda_events_test"),
                  CUDA_SIM_TRUTH=tmp_path / "truth.json")
    (truth,) = read_truths(tmp_path)
    shown = Counter(line.event for line in lines)
    for function in ("cuMemAlloc_v2", "cuMemFree_v2", "cuLaunchKernel"):
        assert shown[function] == truth.calls(function) >= 3


@pytest.mark.slow
def test_pattern(tmp_path):
    script = make_script(
        "-e", "cudaEvent*,!cudaEventRecord*,cudaMallocPitch,cudaMemGetInfo,cudaLibraryGetKernel")
    names = functions(script)[str(paths.LIBCUDART)]
    assert {"cudaEventCreateWithFlags", "cudaEventDestroy", "cudaEventElapsedTime",
            "cudaMallocPitch"} <= names
    assert not [name for name in names if name.startswith("cudaEventRecord")]
    lines = watch(tmp_path, script, paths.workload("cuda_events_test"),
                  CUDA_SIM_TRUTH=tmp_path / "truth.json")
    (truth,) = read_truths(tmp_path)
    shown = Counter(line.event for line in lines)
    for function in names:
        assert shown[function] == truth.calls(function), function
    assert shown["cudaEventDestroy"] == 6
    (found,) = [line for line in lines if line.event == "cudaLibraryGetKernel"]
    assert re.fullmatch(r"library=0x[0-9a-f]+ name=vadd \w+=0x[0-9a-f]+", found.details)


def test_library_that_lacks_functions(tmp_path):
    """bpftrace would refuse a script with a function that is not there."""
    path = library(tmp_path, "libcuda.so.1",
                   ["cuInit", "cuMemAlloc_v2", "cuMemFree_v2", "cuBrandNew", "cuBrand$"])
    script = make_script("-e", "cuMem*,cuBrand*", libcuda=path, libcudart=None,
                         *["--api", "driver"])
    assert functions(script) == {str(path): {"cuMemAlloc_v2", "cuMemFree_v2", "cuBrandNew"}}
    program = tmp_path / "program.py"
    program.write_text(
        f"import ctypes\nlibrary = ctypes.CDLL({str(path)!r})\nlibrary.cuMemFree_v2(0x123)\n"
        "library.cuBrandNew(1, 2, 3, 4, 5, 6)\n")
    lines = watch(tmp_path, script, paths.PYTHON, program)
    assert [(line.event, line.code, line.name, line.details) for line in lines] == [
        ("cuMemFree_v2", 5, "CUDA_ERROR_PROFILER_DISABLED", "ptr=0x123"),
        ("cuBrandNew", 5, "CUDA_ERROR_PROFILER_DISABLED",
         "arg0=0x1 arg1=0x2 arg2=0x3 arg3=0x4 arg4=0x5 arg5=0x6")]


def test_many_probes_ask_for_room():
    script = make_script("-e", "all")
    probes = 2 * sum(map(len, functions(script).values())) + 3
    assert probes > 2000
    assert script.startswith(f"#!/usr/bin/env -S BPFTRACE_MAX_PROBES={probes} bpftrace\n")
    assert make_script().startswith("#!/usr/bin/env bpftrace\n")


@pytest.mark.slow
def test_all_functions_compile(tmp_path):
    """Without attaching: detaching them would take minutes."""
    (tmp_path / "all.bt").write_text(make_script("-e", "all"))
    done = subprocess.run(["bpftrace", "--emit-elf", tmp_path / "all.o", tmp_path / "all.bt"],
                          capture_output=True, env={**os.environ, "BPFTRACE_MAX_PROBES": "3000"},
                          text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "all.o").stat().st_size > 1000000


def test_finds_libraries_by_the_environment(tmp_path):
    path = library(tmp_path, "libcuda.so.1", ["cuInit", "cuMemAlloc_v2"])
    done = subprocess.run([paths.GPUPROBE, "bpftrace-script", "--api", "driver"],
                          capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": f"/nowhere:{tmp_path}"}, timeout=60,
                          check=True)
    assert functions(done.stdout)[str(path)] == {"cuMemAlloc_v2"}


@pytest.mark.parametrize("options, said", [
    (["--bogus"], "unknown option '--bogus'"),
    (["more"], "unexpected 'more'"),
    (["--libcuda-path", "/dev/null"], "/dev/null"),
    (["--libcuda-path", "/bin/true"], "/bin/true has no CUDA functions"),
    (["--standard-paths", "--libcuda-path", paths.LIBCUDA], "do not go together"),
    (["--api", "neither"], "choose runtime, driver or both"),
])
def test_refuses(options, said):
    assert said in make_script(*options, libcuda=None, libcudart=None, status=2)


def test_refuses_a_path_that_bpftrace_cannot_read(tmp_path):
    directory = tmp_path / 'a"b'
    directory.mkdir()
    path = library(tmp_path, "libcuda.so.1",
                   ["cuInit", "cuMemAlloc_v2"]).rename(directory / "libcuda.so.1")
    assert "bpftrace cannot read such a path" in make_script(
        libcuda=path, libcudart=None, *["--api", "driver"], status=1)


def test_nothing_to_probe():
    assert "nothing to probe" in make_script("-e", "cuNoSuchThing*", status=1)


def test_a_mistyped_name_is_said():
    done = subprocess.run([paths.GPUPROBE, "bpftrace-script", "-e", "cudaMaloc,cudaFree",
                           "--libcudart-path", paths.LIBCUDART, "--libcuda-path", paths.LIBCUDA],
                          capture_output=True, text=True, timeout=60, check=True)
    assert ("-e cudaMaloc: no library has a function of this name; did you mean cudaMalloc?"
            in done.stderr)
    assert functions(done.stdout) == {str(paths.LIBCUDART): {"cudaFree"}}


def test_a_layer_without_a_library_is_said(tmp_path):
    libraries = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    (tmp_path / paths.LIBCUDART.name).symlink_to(paths.LIBCUDART)
    done = subprocess.run([paths.GPUPROBE, "bpftrace-script", "-e", "cudaFree"],
                          capture_output=True, text=True, env=libraries, check=True)
    assert ("no libcuda found, so the script has no function of the driver: give --libcuda-path"
            in done.stderr)
    assert "no libcudart" not in done.stderr


def test_a_full_disk_is_said():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([paths.GPUPROBE, "bpftrace-script", "--standard-paths"], stdout=full,
                              text=True, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 1
    assert "No space left" in done.stderr


def test_example_by_itself():
    example = paths.workload("cuda_events_test")
    done = subprocess.run([example, "--iterations", "2", "--elements", "1000", "--fail"],
                          capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "2 additions of 1000 elements on device 0\n"
    assert subprocess.run([example, "--iterations", "x"], capture_output=True, timeout=60,
                          check=False).returncode == 2
    failing = subprocess.run([example], env={**os.environ, "CUDA_SIM_FAIL": "cudaEventRecord:2"},
                             capture_output=True, text=True, timeout=60, check=False)
    assert failing.returncode == 1
    assert failing.stderr.startswith("cudaEventRecord(end, stream): ")
