// SPDX-License-Identifier: BSD-2-Clause
// Amounts of flame graphs for people, see parts.h.
#include "output/flame/parts.h"

#include "base/quantity.h"

void flame_text__amount(FILE *out, const struct flame_graph *graph, enum flame_by by,
			uint64_t value)
{
	switch (by) {
	case FLAME_BYTES:
	case FLAME_LIVE_BYTES:
	case FLAME_TENSOR_BYTES:
	case FLAME_LIVE_TENSOR_BYTES:
		fputs(quantity__bytes_as(graph->amounts, value).text, out);
		return;
	case FLAME_GPU_TIME:
	case FLAME_WAIT_TIME: fputs(quantity__time_as(graph->amounts, value).text, out); return;
	case FLAME_LAUNCHES:
		fprintf(out, "%s launch%s", quantity__amount_as(graph->amounts, value).text,
			value == 1 ? "" : "es");
		return;
	default:
		fprintf(out, "%s failure%s", quantity__amount_as(graph->amounts, value).text,
			value == 1 ? "" : "s");
	}
}

void flame_text__share(FILE *out, uint64_t part, uint64_t whole)
{
	fputs(quantity__share(whole ? (double)part / (double)whole : 0).text, out);
}
