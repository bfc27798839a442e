// SPDX-License-Identifier: BSD-2-Clause
// Kinds that were not checked, or not for long enough to be judged, see findings.h.
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/text_stream.h"
#include "output/finding/findings.h"
#include "output/wrap.h"

/* How to enable the check. */
static const char *remedy(const struct finding_kind *kind)
{
	if (kind->needs & NEEDS_XIDS)
		return "run gpuprobe --kernel-log";
	return kind->needs & NEEDS_GETTERS ? "use --getters" : "use gpuprobe diagnose";
}

/* The kinds about NCCL's ranks, which follow one another, have one name together. */
static const char *name_of(const struct finding_kind *kind)
{
	return kind->needs & NEEDS_NCCL ? "nccl-*" : kind->id;
}

static void write_unlooked(FILE *out, const struct findings *findings,
			   const struct finding_list *list)
{
	const char *before = "not looked for: ", *last = "";

	(void)list;
	for (size_t i = 0; i < finding_kind_count; i++) {
		const struct finding_kind *kind = finding_kinds[i];

		/* Whoever wants no library in the program knows what it would show. */
		if (findings__looks_for(findings, kind) || kind->needs & NEEDS_GPU_TIMES ||
		    !strcmp(name_of(kind), last))
			continue;
		last = name_of(kind);
		fprintf(out, "%s%s (%s)", before, last, remedy(kind));
		before = ", ";
	}
}

/*
 * "not judged: leak-growing in 3 of 7 places: too little data (1.2 s of 50.0 s); shorten
 * --window"
 */
static void write_unjudged(FILE *out, const struct findings *findings,
			   const struct finding_list *list)
{
	const char *before = "not judged: ";

	(void)findings;
	for (size_t i = 0; i < list->trend_count; i++) {
		const struct finding_trend *trend = &list->trends[i];

		if (!trend->unjudged)
			continue;
		fprintf(out, "%s%s in %s of %s place%s: too little data (%s of %s)", before,
			trend->kind->id, quantity__count(trend->unjudged).text,
			quantity__count(trend->examined).text, trend->examined == 1 ? "" : "s",
			trend->followed_ns ? quantity__time((double)trend->followed_ns).text :
					     "under a second",
			quantity__time((double)trend->needed_ns).text);
		before = ", ";
	}
	if (before[0] == ',')
		fputs("; shorten --window", out);
}

static void print_line(FILE *out, const struct findings *findings, const struct finding_list *list,
		       size_t width,
		       void (*write)(FILE *, const struct findings *, const struct finding_list *))
{
	char *text = NULL;
	size_t length = 0;
	FILE *line = text_stream__open(&text, &length);

	if (!line)
		return;
	write(line, findings, list);
	if (!fclose(line) && length) {
		fputc('\n', out);
		wrap__print(out, text, 0, 2, wrap__width(width));
	}
	free(text);
}

void findings_text__limits(FILE *out, const struct findings *findings,
			   const struct finding_list *list, size_t width)
{
	print_line(out, findings, list, width, write_unlooked);
	print_line(out, findings, list, width, write_unjudged);
}

static void write_trend(struct json *j, const struct finding_trend *trend)
{
	json__object_begin(j);
	json__key_string(j, "id", trend->kind->id);
	json__key_u64(j, "places", trend->unjudged);
	json__key_u64(j, "of_places", trend->examined);
	json__key_double(j, "followed_seconds", (double)trend->followed_ns / 1e9);
	json__key_double(j, "needed_seconds", (double)trend->needed_ns / 1e9);
	json__object_end(j);
}

void json_findings__write_limits(struct json *j, const struct findings *findings,
				 const struct finding_list *list)
{
	json__key(j, "not_looked_for");
	json__array_begin(j);
	for (size_t i = 0; i < finding_kind_count; i++)
		if (!findings__looks_for(findings, finding_kinds[i]))
			json__string(j, finding_kinds[i]->id);
	json__array_end(j);
	json__key(j, "not_judged");
	json__array_begin(j);
	for (size_t i = 0; i < list->trend_count; i++)
		if (list->trends[i].unjudged)
			write_trend(j, &list->trends[i]);
	json__array_end(j);
}
