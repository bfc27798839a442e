// SPDX-License-Identifier: BSD-2-Clause
// The words for kinds of copies, see gpu_copy_text.h.
#include "output/gpu_copy_text.h"

#include "gpuprobe/gpu_times.h"

static const char *const words[GPU_COPY_KINDS] = {
	[GPU_COPY_UNKNOWN] = "unknown", [GPU_COPY_H2D] = "H2D", [GPU_COPY_D2H] = "D2H",
	[GPU_COPY_H2A] = "H2A",		[GPU_COPY_A2H] = "A2H", [GPU_COPY_A2A] = "A2A",
	[GPU_COPY_A2D] = "A2D",		[GPU_COPY_D2A] = "D2A", [GPU_COPY_D2D] = "D2D",
	[GPU_COPY_H2H] = "H2H",		[GPU_COPY_P2P] = "P2P",
};

const char *gpu_copy_text__kind(unsigned int kind)
{
	return words[kind < GPU_COPY_KINDS ? kind : GPU_COPY_UNKNOWN];
}
