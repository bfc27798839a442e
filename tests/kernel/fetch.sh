#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: fetch.sh BUILD [PACKAGE]
# Brings a Debian kernel into BUILD/kernel/PACKAGE, unless it is there: its
# vmlinuz, its configuration and the modules that boot.sh loads. Nothing is
# installed. PACKAGE is a kernel's own package (linux-image-VERSION) or one that
# depends on it. Prints the directory.
set -eu

build=$1
package=${2:-linux-image-amd64}
here=$(cd "$(dirname "$0")" && pwd)

# The kernel that is there already serves, also where there is no network.
final=$build/kernel/$package
if cmp -s "$here/modules.txt" "$final/modules.txt"; then
	echo "$final"
	exit 0
fi

real=$package
for dependency in $(apt-cache depends "$package" | awk '$1 == "Depends:" { print $2 }'); do
	case $dependency in
	linux-image-[0-9]*) real=$dependency ;;
	esac
done
mkdir -p "$final"
cd "$final"
# As root, apt would download as a user of its own, who may not write here.
apt-get -qq -o APT::Sandbox::User=root download "$real" >&2 || {
	echo "fetch.sh: cannot download $real: is there a network, and was apt-get update run?" >&2
	exit 1
}
set --
for module in $(grep -v '^#' "$here/modules.txt"); do
	set -- "$@" "*/$module.ko*"
done
dpkg-deb --fsys-tarfile "$real"_*.deb |
	tar -x --wildcards '*/vmlinuz-*' '*/config-*' '*/modules.builtin' "$@"
rm -f "$real"_*.deb
cp "$here/modules.txt" modules.txt
echo "$final"
