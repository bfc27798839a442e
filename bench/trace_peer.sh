#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How many lines a second bpftrace prints of calls made as fast as they can be:
#
#   bench/trace_peer.sh LIBCUDA SECONDS COMMAND [ARG...]
#
# COMMAND (no spaces in its words) runs SECONDS and calls functions of LIBCUDA. Prints one line of
# numbers, tab-separated: lines printed, lines lost, lines printed a second.
# Lines go to a file in memory, from which they are counted afterwards, so that
# nothing but bpftrace takes part. The same for gpuprobe is:
#
#   gpuprobe trace --api driver -e launch,copy -O /dev/null -- COMMAND [ARG...]
#
# For example: bench/trace_peer.sh "$PWD/build/sim/libcuda.so.1" 5 \
#                  build/sim/launch --api driver --seconds 5
set -eu

here=$(dirname "$0")
library=$1
seconds=$2
shift 2
work=$(mktemp -d /dev/shm/gpuprobe-peer.XXXXXX)
trap 'rm -rf "$work"' EXIT

sed "s|\"LIBCUDA\"|\"$library\"|" "$here/bpftrace_table.bt" > "$work/table.bt"
timeout -s INT 300 bpftrace -o "$work/lines" "$work/table.bt" -c "$*" > "$work/messages" 2>&1
printed=$(grep -c ' cu[A-Z]' "$work/lines" || true)
lost=$(cat "$work/lines" "$work/messages" |
	awk '/^Lost [0-9]+ events/ {sum += $2} END {print sum + 0}')
awk -v p="$printed" -v l="$lost" -v s="$seconds" 'BEGIN { printf "%d\t%d\t%d\n", p, l, p / s }'
