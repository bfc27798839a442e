#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: demo.sh BUILD. Watches the bundled workload for about 15 s: on the
# GPU where there is an NVIDIA driver, else on the simulated CUDA libraries.
set -eu

build=$1
workload=$build/sim/demo
libcuda=$(ldconfig -p 2>/dev/null | awk '/libcuda\.so\.1 .*x86-64/ { print $NF; exit }')
libcudart=$(ldconfig -p 2>/dev/null | awk '/libcudart\.so\.13 .*x86-64/ { print $NF; exit }')

if [ -e /dev/nvidiactl ] && [ -n "$libcuda" ]; then
	echo "The workload runs on the GPU, with $libcuda."
	path=$(dirname "$libcuda")
	api=driver
	if [ -n "$libcudart" ]; then
		path=$path:$(dirname "$libcudart")
		api=runtime
	fi
	set -- env LD_LIBRARY_PATH="$path" "$workload" --seconds 12 --api "$api"
else
	echo "No NVIDIA driver here:" \
		"the workload runs on the simulated CUDA libraries of $build/sim."
	echo "The probes, the BPF programs and the reports are the real ones."
	set -- "$workload" --seconds 12
fi
exec "$build/gpuprobe" --display-interval 5 -- "$@"
