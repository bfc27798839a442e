#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Usage: valgrind.sh [PROGRAM] [ARGUMENT...]
# Runs a unit test, or gpuprobe where PROGRAM is none, under valgrind (root). Its reports go to files in
# GPUPROBE_REPORTS; its status is 99 where there is one.
set -u

# Valgrind executes what it reads, the breakpoint of any probe on the loader too, and ends by that. So each run has a
# loader of its own, which nobody has probed before it.
if [ -z "${OWN_LOADER-}" ]; then
	export OWN_LOADER=1
	exec unshare --mount "$0" "$@"
fi
loader=$(readlink -f /lib64/ld-linux-x86-64.so.2)
mount -t tmpfs none /mnt && cp "$loader" /mnt/loader && mount --bind /mnt/loader "$loader" && umount -l /mnt || exit 98
unset OWN_LOADER

program=$GPUPROBE_BUILD/gpuprobe
case ${1-} in
*/tests/test_*)
	program=$1
	shift
	;;
esac
exec valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
	--suppressions="$(dirname "$(readlink -f "$0")")/valgrind.supp" --log-file="$GPUPROBE_REPORTS/valgrind.%p" \
	"$program" "$@"
