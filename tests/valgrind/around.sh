#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Usage: unshare --mount around.sh COMMAND...
# Runs COMMAND where the kernel's types are a plain file, and the loader of build/valgrind is nobody else's. Of sysfs a
# read gets a page at a time, and for each valgrind looks whether all that was asked for, megabytes, may be written: ten
# seconds at each start of gpuprobe.
set -u

btf=/sys/kernel/btf/vmlinux
loader=$GPUPROBE_BUILD/valgrind/loader
mount -t tmpfs none /mnt && cat "$btf" >/mnt/btf && cp "$loader" /mnt/loader && mount --bind /mnt/btf "$btf" &&
	mount --bind /mnt/loader "$loader" && umount -l /mnt || exit 98
exec "$@"
