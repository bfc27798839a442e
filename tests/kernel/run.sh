#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: run.sh BUILD [KERNEL...]
# Runs suite.sh on old kernels: in each directory KERNEL (see boot.sh) or, where
# none is given, Debian 12's stock one, fetched once. Needs `make portable sim`.
# What the guest keeps of its reports and truths is compared here (compare.py).
# Closes with `N passed, N failed`, exits with 1 if any failed.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

not_ok() {
	echo "not ok $1"
	failed=$((failed + 1))
}

# Prints what the guest and the comparison tell but for their closing lines, which are added to the sums.
run_suite() {
	rm -rf "$work/kept"
	mkdir "$work/kept"
	GUEST_OUTPUT=$work/kept "$here/boot.sh" "$1" "$here/suite.sh" "$build" 2>&1 | tee "$output" |
		sed -u -E '/^[0-9]+ passed, [0-9]+ failed$/d'
	add_sums "boot of $1"
	"$here/compare.py" "$work/kept" 2>&1 | tee "$output" | sed -E '/^[0-9]+ passed, [0-9]+ failed$/d'
	add_sums "comparison with the truth on $1"
}

# add_sums NAME: what has just been run; a run without sums has failed.
add_sums() {
	sums=$(sed -n -E 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$output")
	if [ -z "$sums" ]; then
		not_ok "$1"
		return
	fi
	passed=$((passed + ${sums% *}))
	failed=$((failed + ${sums#* }))
}

if [ $# -gt 0 ]; then
	for kernel in "$@"; do
		run_suite "$kernel"
	done
elif kernel=$("$here/fetch.sh" "$build"); then
	run_suite "$kernel"
else
	not_ok "fetch of the kernel"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
