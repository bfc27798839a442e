#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: boot.sh KERNEL SCRIPT [ARG...]
# Boots a kernel under qemu's software emulation, with this machine's root file
# system read-only, runs SCRIPT there as root in /bin/sh, prints what it prints
# and exits with its status. KERNEL is a vmlinuz; its modules are below the
# directory that it is in, or above that if it is in one called boot: where there
# are several kernels' modules, those in modules/VERSION count. Writable in the
# guest: /run and /dev, and /run/output, which is the directory GUEST_OUTPUT
# here, if that is set. GUEST_SECONDS bounds how long it may be silent [480]: how
# long the whole takes is the machine's load.
set -eu

if [ $# -lt 2 ]; then
	echo "usage: boot.sh KERNEL SCRIPT [ARG...]" >&2
	exit 2
fi
vmlinuz=$1
script=$(readlink -f "$2")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
seconds=${GUEST_SECONDS:-480}

if [ ! -f "$vmlinuz" ]; then
	echo "boot.sh: $vmlinuz is no file" >&2
	exit 2
fi
modules=$(dirname "$vmlinuz")
[ "$(basename "$modules")" != boot ] || modules=$(dirname "$modules")
version=${vmlinuz##*/vmlinuz}
own=$(find "$modules" -path "*/modules/${version#-}" -type d | head -n 1)
modules=${own:-$modules}
work=$(mktemp -d)
qemu=
guard=
trap 'rm -rf "$work"' EXIT
trap 'kill $qemu $guard 2>/dev/null; exit 143' INT TERM

# Puts a module into the initramfs, whatever it is packed with.
add_module() {
	file=$(find "$modules" -name "$1.ko*" -type f | head -n 1)
	[ -n "$file" ] || return 0
	case $file in
	*.ko) cat "$file" ;;
	*.xz) xz -dc "$file" ;;
	*.zst) zstd -dc "$file" ;;
	*.gz) gzip -dc "$file" ;;
	esac > "$work/image/modules/$1.ko"
}

make_initramfs() {
	mkdir -p "$work/image/bin" "$work/image/modules"
	cp "$(command -v busybox)" "$work/image/bin/busybox"
	cp "$here/init.sh" "$work/image/init"
	grep -v '^#' "$here/modules.txt" | while read -r module; do
		add_module "$module"
	done
	# A word a line: nothing needs quotes then.
	printf '%s\n' "$PWD" "$script" "$@" > "$work/image/command"
	chmod 755 "$work/image/init" "$work/image/bin/busybox"
	(cd "$work/image" && find . | cpio --quiet -o -H newc) > "$work/initramfs"
}

make_initramfs "$@"
mkdir "$work/output"
mkfifo "$work/console"
sed -u -e 's/\r$//' -e '/reboot: Power down$/d' "$work/console" | tee "$work/said" &
reader=$!

# Ends qemu once the guest has said nothing new for too long.
guard() {
	said=0
	silent=0
	while [ "$silent" -lt "$seconds" ]; do
		sleep 5 > /dev/null 2>&1
		silent=$((silent + 5))
		now=$(wc -c < "$work/said")
		[ "$now" -eq "$said" ] || silent=0
		said=$now
	done
	echo "boot.sh: the guest was silent for $seconds s" >&2
	kill "$1"
}

# A plain CPU: the vectors and copy instructions of newer ones are slow to emulate, and so are
# mitigations, which guard against nothing here.
# The first serial port is the guest's console, the second takes its exit status.
qemu-system-x86_64 -accel tcg,thread=multi -cpu Nehalem -smp 2 -m 2G \
	-display none -monitor none -nic none -no-reboot \
	-serial stdio -serial "file:$work/status" \
	-kernel "$vmlinuz" -initrd "$work/initramfs" \
	-append "console=ttyS0 quiet panic=-1 mitigations=off" \
	-virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
	-virtfs "local,path=${GUEST_OUTPUT:-$work/output},mount_tag=output,security_model=none" \
	< /dev/null > "$work/console" 2>&1 &
qemu=$!
: >> "$work/said"
guard "$qemu" &
guard=$!
ended=0
wait "$qemu" || ended=$?
kill "$guard" 2>/dev/null || :
wait "$reader"

status=$(tr -d '\r\n' < "$work/status")
if [ -z "$status" ]; then
	echo "boot.sh: the guest ended without a status (qemu: $ended)" >&2
	exit 1
fi
exit "$status"
