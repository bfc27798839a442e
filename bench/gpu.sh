#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What gpuprobe costs real programs on a GPU: one command, as root, on a machine
# with a GPU, nvcc and a Python with PyTorch. gpuprobe is taken from BUILD; a
# build made elsewhere will do (make portable). Takes 4 minutes.
#
#     bench/gpu.sh [--build BUILD] [--output FILE.md] [--seconds S] [...]
#
# bench/gpu.sh --help tells all. Beside FILE.md it writes FILE.json, which
# `bench/bench.py --take FILE.json --only gpu` puts into docs/performance.md, on
# any machine.
set -eu

here=$(dirname "$0")
if [ "$(id -u)" != 0 ]; then
	echo "bench/gpu.sh: probes need root" >&2
	exit 2
fi
exec python3 -u "$here/gpu/run.py" "$@"
