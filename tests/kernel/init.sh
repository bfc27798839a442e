#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# The guest's init, see boot.sh: makes the host's root file system the root of
# the script, tells the script's exit status on the second serial port and
# switches the machine off.
/bin/busybox mkdir -p /proc /sys /dev /host
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev

finish() {
	echo "$1" > /dev/ttyS1
	sync
	poweroff -f
}

# Which module needs which differs by kernel: again, until each has those it needs.
for _ in 1 2 3 4; do
	for module in /modules/*.ko; do
		insmod "$module" 2> /dev/null
	done
done
# Nothing changes the files while the guest runs: loose caching is right, and fast.
if ! mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose root /host; then
	echo "init: cannot mount the host's root file system; modules loaded:"
	cat /proc/modules
	finish 1
fi
mount -t proc proc /host/proc
mount -t sysfs sys /host/sys
mount -t devtmpfs dev /host/dev
mount -t tmpfs run /host/run
mkdir /host/run/output
mount -t 9p -o trans=virtio,version=9p2000.L output /host/run/output
mount -t tracefs tracefs /host/sys/kernel/tracing
mount -t bpf bpf /host/sys/fs/bpf
ip link set lo up

# The working directory, the script and its arguments, a line each.
set --
while read -r word; do
	set -- "$@" "$word"
done < /command
# shellcheck disable=SC2016
chroot /host /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run \
	/bin/sh -c 'cd "$0" && exec /bin/sh "$@"' "$@"
finish $?
