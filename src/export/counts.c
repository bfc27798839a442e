// SPDX-License-Identifier: BSD-2-Clause
// What became of data that OTLP should carry, see counts.h.
#include "export/counts.h"

#include <stddef.h>

const char *export_loss__word(enum export_loss loss)
{
	switch (loss) {
	case EXPORT_LOST_QUEUE: return "queue_full";
	case EXPORT_LOST_REFUSED: return "refused";
	case EXPORT_LOST_REJECTED: return "rejected";
	case EXPORT_LOST_END: return "end";
	case EXPORT_LOST_MEMORY: return "memory";
	default: return "unknown";
	}
}

const char *export_loss__text(enum export_loss loss)
{
	switch (loss) {
	case EXPORT_LOST_QUEUE: return "dropped because the receiver did not answer for too long";
	case EXPORT_LOST_REFUSED: return "in requests that the receiver refused";
	case EXPORT_LOST_REJECTED: return "rejected by the receiver";
	case EXPORT_LOST_END: return "unsent when gpuprobe ended";
	case EXPORT_LOST_MEMORY: return "out of memory";
	default: return "unknown";
	}
}

uint64_t export_counts__lost(const struct export_counts *counts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < EXPORT_LOSSES; i++)
		sum += counts->lost[i];
	return sum;
}
