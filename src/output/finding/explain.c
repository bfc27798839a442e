// SPDX-License-Identifier: BSD-2-Clause
// Descriptions of the kinds of findings, see findings.h.
#include "base/quantity.h"
#include "output/finding/findings.h"
#include "output/wrap.h"

#define LINE_WIDTH 80

/* A rate is exact, as --threshold takes it. */
static struct quantity value_text(const struct finding_threshold *threshold)
{
	enum quantity_form form =
		threshold->unit == UNIT_PER_SECOND ? QUANTITY_EXACT : QUANTITY_ROUNDED;

	return findings_text__number(form, threshold->value, threshold->unit);
}

static void print_needs(FILE *out, const struct finding_kind *kind)
{
	if (kind->needs & NEEDS_GPU_TIMES)
		fputs("Looked for by: gpuprobe diagnose and gpuprobe stat with --gpu-times\n", out);
	else if (kind->needs & NEEDS_XIDS)
		fputs("Looked for by: the monitor; gpuprobe diagnose if the driver has a "
		      "tracepoint\n",
		      out);
	else if (kind->needs & NEEDS_NCCL)
		fputs("Looked for by: gpuprobe diagnose, the monitor with --nccl and gpuprobe "
		      "nccl\n",
		      out);
	else if (kind->needs & NEEDS_GETTERS)
		fputs("Looked for by: gpuprobe stat and gpuprobe diagnose with --getters\n", out);
	else if (kind->needs & NEEDS_ASKS)
		fputs("Looked for by: gpuprobe diagnose\n", out);
	else if (kind->needs & NEEDS_PROFILE)
		fputs("Looked for by: gpuprobe stat and gpuprobe diagnose\n", out);
	else
		fputs("Looked for by: gpuprobe stat, gpuprobe diagnose and the monitor\n", out);
}

void findings_text__explain(FILE *out, const struct finding_kind *kind)
{
	fprintf(out, "%s (%s): %s\n\n", kind->id, findings_text__severity_word(kind->severity),
		kind->title);
	wrap__print(out, kind->advice, 0, 0, LINE_WIDTH);
	fputc('\n', out);
	if (kind->cost)
		fprintf(out, "Cost: the time of %s\n", kind->cost);
	print_needs(out, kind);
	fprintf(out, "Thresholds (--threshold %s.NAME=VALUE; without .NAME: the first):\n",
		kind->id);
	for (size_t i = 0; i < FINDING_THRESHOLDS && kind->thresholds[i].name; i++) {
		const struct finding_threshold *threshold = &kind->thresholds[i];

		fprintf(out, "  %-9s %10s  %s\n", threshold->name, value_text(threshold).text,
			threshold->meaning);
	}
}

void findings_text__list(FILE *out)
{
	fprintf(out, "%-24s %-9s %s\n", "ID", "SEVERITY", "PROBLEM, AND ITS THRESHOLDS");
	for (size_t i = 0; i < finding_kind_count; i++) {
		const struct finding_kind *kind = finding_kinds[i];

		fprintf(out, "%-24s %-9s %s\n", kind->id,
			findings_text__severity_word(kind->severity), kind->title);
		for (size_t n = 0; n < FINDING_THRESHOLDS && kind->thresholds[n].name; n++)
			fprintf(out, "%34s  %-8s %10s  %s\n", "", kind->thresholds[n].name,
				value_text(&kind->thresholds[n]).text, kind->thresholds[n].meaning);
	}
}
