// SPDX-License-Identifier: BSD-2-Clause
// The captures of a process, see captures.h.
#include "nccl/captures.h"

void nccl_captures__begin(struct nccl_captures *captures, pid_t tid, uint64_t stream)
{
	for (size_t i = 0; i < NCCL_CAPTURES; i++) {
		struct nccl_capture *capture = &captures->items[i];

		if (capture->tid && capture->stream != stream)
			continue;
		*capture = (struct nccl_capture){.tid = tid, .stream = stream};
		return;
	}
}

void nccl_captures__end(struct nccl_captures *captures, uint64_t stream)
{
	for (size_t i = 0; i < NCCL_CAPTURES; i++)
		if (captures->items[i].stream == stream)
			captures->items[i] = (struct nccl_capture){0};
}

bool nccl_captures__has(const struct nccl_captures *captures, pid_t tid, uint64_t stream)
{
	for (size_t i = 0; i < NCCL_CAPTURES; i++) {
		const struct nccl_capture *capture = &captures->items[i];

		if (capture->tid && (capture->tid == tid || capture->stream == stream))
			return true;
	}
	return false;
}
