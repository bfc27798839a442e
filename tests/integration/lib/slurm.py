# SPDX-License-Identifier: BSD-2-Clause
"""
A Slurm cluster of one node, this machine: Debian's slurmctld, slurmd and munged, with hosts file,
name and network of their own, and control groups of version 1. Its jobs are root's.
"""
import os
import shutil
import subprocess
from pathlib import Path

from lib.probe import wait_until

SETTINGS = """
ClusterName=test
SlurmctldHost={node}(10.0.0.1)
SlurmctldPort=6817
SlurmdPort=6818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/cgroup
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
NodeName={node} NodeAddr=10.0.0.1 CPUs=2
PartitionName=all Nodes={node} Default=YES State=UP OverSubscribe=FORCE:4
"""
# The loopback device gets an address that getaddrinfo takes for a network's.
START = r"""
set -eu
ip link set lo up
ip address add 10.0.0.1/32 dev lo
hostname "$2"
mount --bind "$1/hosts" /etc/hosts
export SLURM_CONF="$1/slurm.conf"
munged --force --foreground --socket="$1/munge.socket" --key-file="$1/key" \
	--pid-file="$1/munge.pid" --log-file="$1/munge.log" --seed-file="$1/seed" &
while [ ! -S "$1/munge.socket" ]; do sleep 0.1; done
slurmctld -D -c -f "$1/slurm.conf" > "$1/slurmctld.log" 2>&1 &
exec slurmd -D -c -N "$2" -f "$1/slurm.conf" > "$1/slurmd.log" 2>&1
"""
FREEZER = Path("/sys/fs/cgroup/freezer")


def lacks():
    """What of this machine is missing for it; empty: nothing."""
    tools = "slurmctld", "slurmd", "srun", "sbatch", "munged", "unshare", "nsenter", "ip"
    missing = [tool for tool in tools if not shutil.which(tool)]
    if not (FREEZER / "cgroup.procs").exists():
        missing.append("the freezer's control groups (cgroup v1)")
    return ", ".join(missing)


class Cluster:
    """The cluster, until the block ends."""

    def __init__(self, folder):
        self.folder = folder
        self.node = f"gpuprobe{os.getpid()}"
        folder.mkdir(mode=0o755)
        for name in ("state", "spool"):
            (folder / name).mkdir()
        texts = {"slurm.conf": SETTINGS.format(node=self.node, folder=folder),
                 "cgroup.conf": "CgroupPlugin=cgroup/v1\n", "hosts": f"10.0.0.1 {self.node}\n"}
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "key").write_bytes(os.urandom(128))
        (folder / "key").chmod(0o600)
        # slurmd keeps this process's pid: it is the namespaces' first one, and the last to end.
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--uts", "--net", "--pid", "--fork", "--kill-child", "sh", "-c",
             START, "sh", folder, self.node], stdin=subprocess.DEVNULL, start_new_session=True,
            stdout=open(folder / "start.log", "wb"), stderr=subprocess.STDOUT)

    def __enter__(self):
        try:
            wait_until(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T").stdout, self.said)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(60)
        group = FREEZER / f"slurm_{self.node}"
        wait_until(lambda: remove(group), f"{group} cannot be removed")

    def said(self):
        return "\n".join(path.read_text("utf-8", "replace")[-2000:]
                         for path in sorted(self.folder.glob("*.log")))

    def inside(self, *words):
        """The command that runs another one beside slurmd."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        first = children.read_text(encoding="utf-8").split()
        return ["nsenter", "-t", first[0] if first else "0", "-m", "-u", "-n", "--", "env",
                f"SLURM_CONF={self.folder}/slurm.conf", *map(str, words)]

    def run(self, *words):
        return subprocess.run(self.inside(*words), capture_output=True, text=True, check=False,
                              timeout=60)


def remove(group):
    """Removes a control group and those below it. Returns whether it is gone."""
    for folder, _, _ in os.walk(group, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            return False
    return True
