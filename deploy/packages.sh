#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: packages.sh check|install PURPOSE...
# check names the packages of packages.txt that are missing, and fails if any
# is; install installs them (as root, or through sudo).
set -eu

action=$1
shift
list=$(dirname "$0")/packages.txt

# Not Debian: what is missing shows when it is needed.
if ! command -v dpkg-query > /dev/null; then
	[ "$action" = check ] && exit 0
	echo "packages.sh: this is no Debian system: install what $list names" >&2
	exit 1
fi

missing=
for purpose in "$@"; do
	for package in $(awk -v p="$purpose" '$1 == p { print $2 }' "$list"); do
		dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || missing="$missing $package"
	done
done
[ -n "$missing" ] || exit 0

if [ "$action" = check ]; then
	echo "missing Debian packages:$missing" >&2
	echo "install them with: sudo make deps" >&2
	exit 1
fi

sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get -q update
# shellcheck disable=SC2086
$sudo apt-get -q install -y --no-install-recommends $missing
