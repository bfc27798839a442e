#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Usage: run.sh [PROGRAM] [ARGUMENT...]
# Runs a unit test, or gpuprobe where PROGRAM is none, under valgrind (root). Both are those of
# build/valgrind, see valgrind.mk. The reports go to files in GPUPROBE_REPORTS; the status is 99 if
# there is one.
set -u

program=$GPUPROBE_BUILD/valgrind/gpuprobe
case ${1-} in
*/valgrind/tests/test_*)
	program=$1
	shift
	;;
esac
# Debuggers' pipes of valgrind's would be left by what is killed.
exec valgrind --quiet --vgdb=no --error-exitcode=99 --leak-check=full \
	--show-leak-kinds=definite --errors-for-leak-kinds=definite \
	--suppressions="$(dirname "$(readlink -f "$0")")/suppressions.txt" \
	--log-file="$GPUPROBE_REPORTS/valgrind.%p" "$program" "$@"
