#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Usage: valgrind.sh [PROGRAM] [ARGUMENT...]
# Runs a unit test, or gpuprobe where PROGRAM is none, under valgrind. Its reports go to files in GPUPROBE_REPORTS; its
# status is 99 where there is one.
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
