# SPDX-License-Identifier: BSD-2-Clause
"""
A machine of the test's own with systemd as its first process: systemd-nspawn boots this machine's
files, with changes in memory only. Its processes and its network are apart from the others.
"""
import os
import shutil
import signal
import subprocess

from lib.probe import descendants, wait_until

# The mounts are in a mount namespace of their own, so they go with the last process.
START = r"""
set -eu
mount -t tmpfs gpuprobe-nspawn "$1"
mkdir "$1/upper" "$1/work" "$1/tree"
mount -t overlay gpuprobe-nspawn -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/tree"
cp -a "$2/." "$1/tree/"
for unit in systemd-networkd.service systemd-resolved.service systemd-timesyncd.service \
		apt-daily.timer apt-daily-upgrade.timer man-db.timer; do
	ln -sf /dev/null "$1/tree/etc/systemd/system/$unit"
done
: > "$1/tree/etc/fstab"
exec systemd-nspawn --quiet --boot --directory="$1/tree" --machine="$3" --register=no --keep-unit \
	--console=read-only --private-network --capability=all \
	--system-call-filter='bpf perf_event_open @privileged @debug' \
	--bind=/sys/kernel/tracing --bind-ro=/sys/kernel/btf --settings=no
"""


def lacks():
    """What of this machine is missing for it; empty: nothing."""
    tools = "systemd-nspawn", "nsenter", "dbus-daemon", "systemd-run"
    return ", ".join(tool for tool in tools if not shutil.which(tool))


class Machine:
    """`staged`: a directory whose files are put over this machine's."""

    def __init__(self, directory, staged):
        directory.mkdir()
        self.console = open(directory.parent / "console", "wb")
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", START, "sh", directory,
             staged, f"gpuprobe-{os.getpid()}"], stdin=subprocess.DEVNULL, stdout=self.console,
            stderr=self.console, start_new_session=True)
        self.leader = wait_until(self._find_leader, self.said, 120)
        wait_until(lambda: self.run("systemctl", "is-system-running").stdout.strip() in
                   ("running", "degraded"), self.said, 180)

    def said(self):
        self.console.flush()
        with open(self.console.name, encoding="utf-8", errors="replace") as console:
            return console.read()

    def _find_leader(self):
        assert self.process.poll() is None, self.said()
        for pid in descendants(self.process.pid):
            try:
                with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                    status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
            except (FileNotFoundError, ProcessLookupError):
                continue
            if status["Name"].strip() == "systemd" and status["NSpid"].split()[-1] == "1":
                return pid
        return None

    def inside(self, *words):
        """The command that runs another one inside."""
        return ["nsenter", "-t", str(self.leader), "-m", "-p", "-n", "-i", "-u", "-C", "--",
                *map(str, words)]

    def run(self, *words, check=False, **options):
        return subprocess.run(self.inside(*words), text=True, capture_output=True, check=check,
                              timeout=120, stdin=subprocess.DEVNULL, **options)

    def stop(self):
        """Ends all of its processes."""
        try:
            os.kill(self.leader, signal.SIGKILL)
        except (AttributeError, ProcessLookupError):
            pass
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(30)
        self.console.close()
