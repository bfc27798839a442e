#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: fetch.sh BUILD [PACKAGE]
# Brings a Debian kernel into BUILD/kernel/PACKAGE, unless it is there: its
# vmlinuz, its configuration and the modules that boot.sh loads. Nothing is
# installed. PACKAGE is a kernel's own package (linux-image-VERSION) or one that
# depends on it. Prints the path of the vmlinuz.
set -eu

build=$1
package=${2:-linux-image-amd64}
here=$(cd "$(dirname "$0")" && pwd)

print_vmlinuz() {
	find "$final" -name 'vmlinuz-*' -type f | sort | tail -n 1
}

# The kernel that is there already serves, also where there is no network.
final=$(readlink -m "$build")/kernel/$package
if cmp -s "$here/modules.txt" "$final/modules.txt"; then
	print_vmlinuz
	exit 0
fi

# Downloads the package itself, or the kernel that it stands for, into this directory.
download() {
	real=$(apt-cache depends "$package" |
		awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ { print $2 }')
	# As root, apt would download as a user of its own, who may not write here.
	apt-get -qq -o APT::Sandbox::User=root download "${real:-$package}" >&2
}

rm -rf "$final"
mkdir -p "$final"
cd "$final"
# The second try is for lists of packages that are missing or old.
if ! download && ! { apt-get -qq update >&2 && download; }; then
	echo "fetch.sh: cannot download $package: is there a network?" >&2
	exit 1
fi
set --
# shellcheck disable=SC2013 # a word is a line here
for module in $(grep -v '^#' "$here/modules.txt"); do
	set -- "$@" "*/$module.ko*"
done
# tar fails for a module that is built in; what matters is the kernel.
dpkg-deb --fsys-tarfile linux-image-*.deb |
	tar -x --wildcards '*/vmlinuz-*' '*/config-*' "$@" 2> tar.log || true
if [ -z "$(find . -name 'vmlinuz-*')" ]; then
	echo "fetch.sh: no kernel in $package:" >&2
	cat tar.log >&2
	exit 1
fi
rm -f linux-image-*.deb tar.log
cp "$here/modules.txt" modules.txt
print_vmlinuz
