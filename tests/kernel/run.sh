#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: run.sh BUILD [FOLDER]
# Runs suite.sh on Debian 12's stock kernel, fetched once, and on each kernel in
# FOLDER: every vmlinuz below it, with its modules (see boot.sh). Each is run and
# told by itself; one that does not boot has failed, and so has a folder without
# any. Needs `make portable sim`. What the guest keeps of its reports and truths
# is compared here (compare.py). KERNEL_TESTS has patterns of the names of tests
# to run [*]. Closes with `N passed, N failed`, exits with 1 if any failed.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$1
folder=${2:-}
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

not_ok() {
	echo "not ok $1"
	failed=$((failed + 1))
}

# Prints the output of the guest and of the comparison, except their closing lines, which are added
# to the sums.
run_suite() {
	before="$passed $failed"
	rm -rf "$work/kept"
	mkdir "$work/kept"
	echo "# kernel $1"
	GUEST_OUTPUT=$work/kept "$here/boot.sh" "$1" "$here/suite.sh" "$build" \
		"${KERNEL_TESTS:-*}" 2>&1 | tee "$output" |
		sed -u -E '/^[0-9]+ passed, [0-9]+ failed$/d'
	# Of a guest that did not come so far there is nothing to compare.
	if add_sums "boot of $1"; then
		"$here/compare.py" "$work/kept" 2>&1 | tee "$output" |
			sed -E '/^[0-9]+ passed, [0-9]+ failed$/d'
		add_sums "comparison with the truth on $1"
	fi
	echo "# kernel $1: $((passed - ${before% *})) passed, $((failed - ${before#* })) failed"
}

# add_sums NAME: what has just been run; a run without sums has failed.
add_sums() {
	sums=$(sed -n -E 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$output")
	if [ -z "$sums" ]; then
		not_ok "$1"
		return 1
	fi
	passed=$((passed + ${sums% *}))
	failed=$((failed + ${sums#* }))
}

# The other kernels, but for the stock one, where it is kept in the same folder.
run_folder() {
	found=0
	find "$folder" -name 'vmlinuz*' -type f | sort > "$work/kernels"
	while read -r kernel; do
		found=$((found + 1))
		[ "$(readlink -f "$kernel")" = "$stock" ] || run_suite "$kernel" < /dev/null
	done < "$work/kernels"
	[ "$found" -gt 0 ] || not_ok "kernels of $folder: there is no vmlinuz in it"
}

if stock=$(readlink -f "$("$here/fetch.sh" "$build")"); then
	run_suite "$stock"
else
	not_ok "fetch of the kernel"
fi
[ -z "$folder" ] || run_folder
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
