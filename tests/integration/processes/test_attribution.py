# SPDX-License-Identifier: BSD-2-Clause
"""The user and the GPUs of a process: /proc, control groups, the environment,
the simulated NVML."""
import os
import signal
import time
from pathlib import Path

import pytest

from lib import paths
from lib.control_groups import CGROUPS, control_group
from lib.paths import LIBCUDA, LIBCUDART, workload
from lib.probe import SECTIONS, Background, descendants
from lib.scrape import Endpoint
from lib.script import script

GIVEN = [LIBCUDA, LIBCUDART]
NVML = {"LD_LIBRARY_PATH": paths.SIM}
UUIDS = [f"GPU-{b''.join([b'simulated-gpu-0', str(i).encode()]).hex()}" for i in range(10)]
UUIDS = [f"{u[:12]}-{u[12:16]}-{u[16:20]}-{u[20:24]}-{u[24:]}" for u in UUIDS]
CONTAINER = "0123456789abcdef" * 4
POD = "12345678-90ab-cdef-1234-567890abcdef"


def process_of(report, pid):
    found = [p for p in report["processes"] if p["pid"] == pid]
    return found[0] if found else None


def wait_process(running, pid, condition):
    return running.find(lambda r: (p := process_of(r, pid)) and condition(p) and p)


def devices(process):
    """CUDA's number -> the machine's GPU."""
    return {g["ordinal"]: g["gpu"] for g in process["gpus"]}


def test_of_command(gpuprobe_by):
    """Known of a process however short it lived."""
    with gpuprobe_by.start(workload("launch"), "--launches", 1, interval=0) as running:
        result = running.finish()
        process = result.process
        assert (process["ppid"], process["uid"], process["user"]) == (running.pid, 0, "root")
        assert process["namespace_pid"] == process["pid"] == result.truth.pid
        assert process["container"] in (None, "unknown")


@pytest.mark.parametrize("uid,user", [(65534, "nobody"), (54321, "54321")])
def test_users(gpuprobe, uid, user):
    with gpuprobe.start(libraries=GIVEN) as running:
        running.report()
        with Background("setpriv", f"--reuid={uid}", "--clear-groups", workload("launch"), "--hold",
                        600, env={"CUDA_SIM_TRUTH": None}) as program:
            process = wait_process(running, program.pid, lambda p: p["launches"])
        assert (process["uid"], process["user"], process["ppid"]) == (uid, user, os.getpid())
        running.stop()


def test_before_gpuprobe(gpuprobe):
    with Background(workload("idle-holder"), "--then-launch", 10) as holder:
        assert holder.stdout.readline() == "READY\n"
        with gpuprobe.start() as running:
            running.report()
            assert holder.tell("go") == "DONE"
            process = wait_process(running, holder.pid, lambda p: p["launches"])
            assert (process["since_attach"] and process["ppid"] == os.getpid()
                    and process["user"] == "root")
            assert process["container"] is None and process["pod"] is None
            running.stop()


def test_nested_pid_namespaces(gpuprobe_by):
    """The pid is gpuprobe's word for it; its own stands beside it."""
    nested = ["unshare", "--pid", "--fork", "--kill-child", "unshare", "--pid", "--fork",
              "--kill-child"]
    with gpuprobe_by.start(libraries=GIVEN) as running:
        running.report()
        with Background(*nested, workload("launch"), "--launches", 5, "--hold", 600) as outer:
            process = running.find(
                lambda r: [p for p in r["processes"] if p["launches"] == 5 and not p["ended"]
                           and p["pid"] in descendants(outer.pid)])[0]
            status = Path(f"/proc/{process['pid']}/status").read_text()
            assert process["pid"] != outer.pid and process["namespace_pid"] == 1
            assert (f"NSpid:\t{process['pid']}\t2\t1\n" in status
                    or f"NSpid:\t{process['pid']}\t1\t1\n" in status)
            assert f"PPid:\t{process['ppid']}\n" in status
        running.stop()


def test_own_pid_in_the_text(gpuprobe):
    with gpuprobe.start(libraries=GIVEN, base=[*SECTIONS, "--metrics-addr", "none"]) as running:
        running.line()
        with Background("unshare", "--pid", "--fork", "--kill-child", workload("launch"), "--hold",
                        600):
            end = time.monotonic() + 60
            while ", own pid 1\n" not in running.stdout:
                assert time.monotonic() < end and running.line() is not None
        running.stop()
    assert "        user root, parent " in running.stdout


def test_children_without_cuda_do_not_appear(gpuprobe_by):
    """A child forked by a CUDA process, and a program that it executes,
    do not count until they make a call."""
    result = gpuprobe_by.run(*script("""
        start()
        _, (kernel,) = module("k")
        children = [os.fork() for _ in range(1)]
        if not children[0]:
            time.sleep(0.3)
            os._exit(0)
        os.system("sleep 0.2")
        need(launch(kernel))
        os.wait()
        """))
    assert result.process["pid"] == result.truth.pid and result.process["launches"] == 1


@pytest.mark.parametrize("root", CGROUPS)
@pytest.mark.parametrize("parts,pod", [
    (("system.slice", f"docker-{CONTAINER}.scope"), None),
    (("kubepods", "burstable", f"pod{POD}", CONTAINER), POD),
    (("kubepods.slice", f"kubepods-pod{POD.replace('-', '_')}.slice",
      f"cri-containerd-{CONTAINER}.scope"), POD),
])
def test_containers(gpuprobe, root, parts, pod, tmp_path):
    """By their ids, and by the names of the kubelet's directories."""
    endpoint = Endpoint()
    (tmp_path / f"ml_train-7_{POD}/trainer").mkdir(parents=True)
    with control_group(root, *parts) as group, gpuprobe.start(
            libraries=GIVEN, base=["--json"],
            args=[*endpoint.option, "--pod-logs", tmp_path]) as running:
        running.report()
        shell = (
            f"echo $$ > {group}/cgroup.procs && exec {workload('launch')} --launches 5 --hold 600")
        with Background("sh", "-c", shell) as program:
            process = wait_process(running, program.pid, lambda p: p["launches"] == 5)
            assert (process["container"], process["pod"]) == (CONTAINER, pod)
            names = ["ml", "train-7", "trainer"] if pod else [None] * 3
            assert [process.get(key) for key in
                    ("namespace", "pod_name", "container_name")] == names
            page = endpoint.scrape()
            labels, one = page.find("gpuprobe_process_info", pid=program.pid)[0]
            assert one == 1 and labels == {
                "pid": str(program.pid), "comm": "launch", "ppid": str(os.getpid()), "user": "root",
                "namespace": names[0] or "", "pod": names[1] or "", "container": names[2] or "",
                "container_id": CONTAINER, "pod_uid": pod or "", "unit": "", "slurm_job_id": "",
                "slurm_step": "", "slurm_sluid": "", "pbs_job_id": "",
                "ns_pid": str(program.pid)}
        running.stop()


@pytest.mark.parametrize("root,above", [
    *((root, ["slurm", "uid_0"]) for root in CGROUPS),
    # The unified hierarchies, as cgroup v2 of Slurm to 25.11 has it.
    *((root, ["system.slice", "slurmstepd.scope"]) for root in CGROUPS[:2])])
def test_jobs(gpuprobe, root, above):
    """Series of a job, which have no pid; the job's second process adds to them."""
    endpoint, job = Endpoint(), str(os.getpid())  # its own: others run the same test
    with control_group(root, *above, f"job_{job}", "step_0") as group, gpuprobe.start(
            libraries=GIVEN, base=["--json"],
            args=[*endpoint.option, "--metrics-by", "job"]) as running:
        running.report()
        for launches in (5, 12):
            shell = (f"echo $$ > {group}/cgroup.procs && "
                     f"exec {workload('launch')} --launches {launches} --hold 600")
            with Background("sh", "-c", shell) as program:
                process = wait_process(running, program.pid, lambda p: p["launches"] >= 5)
                assert (process["slurm_job_id"], process["slurm_step"]) == (job, "0")
                wait_process(running, program.pid, lambda p, n=launches: p["launches"] == n)
                page = endpoint.scrape()
        assert page.find("gpuprobe_process_info") == []
        assert [(labels, value) for labels, value in page.find("gpuprobe_kernel_launches_total")
                if labels["slurm_job_id"] == job] == [
            ({"slurm_job_id": job, "kernel": "kernel_0"}, 17)]
        running.stop()


def first_process(running, condition):
    """COMMAND in the first report in which it meets the condition."""
    return running.find(
        lambda r: (p := r["processes"] and r["processes"][0]) and condition(p) and p)


def test_nvml_is_not_asked_in_vain(gpuprobe):
    """As long as there is no CUDA process."""
    with gpuprobe.start("sleep", "3600", env={**NVML, "CUDA_SIM_DEVICES": 3}) as running:
        for _ in range(4):
            assert running.report()["gpus"] == []
        assert running.stop().final["gpus"] == []


def test_gpus_by_nvml(gpuprobe):
    endpoint = Endpoint()
    env = {**NVML, "CUDA_SIM_DEVICES": 3, "CUDA_SIM_MEMORY": "1G"}
    command = script("""
        start(1)
        made(driver.cuMemAlloc_v2, 1 << 20)
        time.sleep(600)
        """)
    with gpuprobe.start(*command, env=env, base=["--json"], args=endpoint.option) as running:
        process = first_process(running,
                                lambda p: len(p["gpus"]) > 1 and p["gpus"][1]["used_bytes"])
        assert devices(process) == {0: "0", 1: "1", 2: "2"}
        assert [g["uuid"] for g in process["gpus"]] == UUIDS[:3]
        assert [g["used_bytes"] for g in process["gpus"]] == [None, 1 << 20, None]
        # Counted by gpuprobe, too: the simulator's contexts take nothing.
        process = first_process(running, lambda p: p["gpus"][1]["untracked_bytes"] is not None)
        assert process["gpus"][1]["untracked_bytes"] == 0
        report = running.report()
        assert [(g["gpu"], g["uuid"], g["name"], g["total_bytes"]) for g in report["gpus"]] == \
            [(str(i), UUIDS[i], "Simulated GPU", 1 << 30) for i in range(3)]
        assert ([g["mig"] for g in report["gpus"]] == [None] * 3
                and report["gpus"][1]["used_bytes"] >= 1 << 20)
        labels = {"gpu": 1, "uuid": UUIDS[1]}
        page = endpoint.until(lambda page: page.find("gpuprobe_device_memory_untracked_bytes",
                                                     **labels))
        assert page.value("gpuprobe_gpu_memory_total_bytes", **labels) == 1 << 30
        assert page.value("gpuprobe_gpu_memory_used_bytes", **labels) >= 1 << 20
        assert page.find("gpuprobe_gpu_memory_used_bytes",
                         **labels)[0][0]["name"] == "Simulated GPU"
        assert page.value("gpuprobe_process_gpu_memory_bytes", pid=process["pid"],
                          **labels) == 1 << 20
        assert page.value("gpuprobe_device_memory_untracked_bytes", pid=process["pid"],
                          **labels) == 0
        os.kill(process["pid"], signal.SIGKILL)
        result = running.finish()
    assert [g["used_bytes"] for g in result.process["gpus"]] == [None] * 3
    assert devices(result.process) == {0: "0", 1: "1", 2: "2"}


@pytest.mark.parametrize("visible,expected", [
    (None, {0: "0", 1: "1", 2: "2"}),
    ("2,0", {0: "2", 1: "0"}),
    (f"{UUIDS[1]},{UUIDS[0]}", {0: "1", 1: "0"}),
    # The simulator does not know the variable: NVML shows the process on another device,
    # so the variable does not hold.
    ("1", {0: "0"}),
    ("", {0: "0"}),
])
def test_visible_devices(gpuprobe, visible, expected):
    env = {**NVML, "CUDA_SIM_DEVICES": 3, "CUDA_VISIBLE_DEVICES": visible,
           "CUDA_DEVICE_ORDER": None}
    # By the driver's API: the runtime asks for UUIDs, and these would tell.
    with gpuprobe.start(workload("memory"), "--pairs", 0, "--keep", 3, "--hold", 600, "--api",
                        "driver", env=env) as running:
        process = first_process(running, lambda p: any(g["used_bytes"] for g in p["gpus"]))
        assert devices(process) == expected
        os.kill(process["pid"], signal.SIGKILL)
        running.finish()


@pytest.mark.parametrize("function", ["cuDeviceGetUuid", "cuDeviceGetUuid_v2"])
def test_uuid_that_a_call_told(gpuprobe, function):
    """It holds, whatever the environment says."""
    command = script(f"""
        start(2)
        need(driver.{function}(ref(ctypes.create_string_buffer(16)), 2))
        time.sleep(600)
        """)
    env = {**NVML, "CUDA_SIM_DEVICES": 3, "CUDA_VISIBLE_DEVICES": "2,1,0",
           "CUDA_DEVICE_ORDER": None}
    with gpuprobe.start(*command, env=env) as running:
        process = first_process(running, lambda p: p["gpus"] and p["gpus"][0]["ordinal"] == 2)
        assert devices(process) == {2: "2"}
        os.kill(process["pid"], signal.SIGKILL)
        running.finish()


def test_without_nvml(gpuprobe):
    """There is none in the loader's reach: everything else is as it is."""
    with gpuprobe.start(workload("launch"), "--launches", 3, "--hold", 0.5) as running:
        result = running.finish()
    assert (result.final["gpus"] == [] and result.process["gpus"] == []
            and result.process["launches"] == 3)
