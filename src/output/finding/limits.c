// SPDX-License-Identifier: BSD-2-Clause
// What may be wrong without being a finding, since it was not looked for or not for long enough; see findings.h.
#include <stdlib.h>

#include "base/quantity.h"
#include "base/text_stream.h"
#include "output/finding/findings.h"
#include "output/wrap.h"

#define LINE_WIDTH 100

/* What makes it be looked for. */
static const char *remedy(const struct finding_kind *kind)
{
	return kind->needs & NEEDS_GETTERS ? "see --getters" : "gpuprobe diagnose does";
}

static void write_unlooked(FILE *out, const struct findings *findings, const struct finding_list *list)
{
	const char *before = "not looked for: ";

	(void)list;
	for (size_t i = 0; i < finding_kind_count; i++) {
		if (findings__looks_for(findings, &finding_kinds[i]))
			continue;
		fprintf(out, "%s%s (%s)", before, finding_kinds[i].id, remedy(&finding_kinds[i]));
		before = ", ";
	}
}

/* "not judged: leak-growing in 3 of 7 places, followed for 1.2 s of 50.0 s that it takes; see --window" */
static void write_unjudged(FILE *out, const struct findings *findings, const struct finding_list *list)
{
	const char *before = "not judged: ";

	(void)findings;
	for (size_t i = 0; i < list->course_count; i++) {
		const struct finding_course *course = &list->courses[i];

		if (!course->unjudged)
			continue;
		fprintf(out, "%s%s in %s of %s place%s, followed for %s of the %s that it takes", before,
			course->kind->id, quantity__count(course->unjudged).text, quantity__count(course->places).text,
			course->places == 1 ? "" : "s",
			course->followed_ns ? quantity__time((double)course->followed_ns).text : "under a second",
			quantity__time((double)course->needed_ns).text);
		before = ", ";
	}
	if (before[0] == ',')
		fputs("; see --window", out);
}

static void print_line(FILE *out, const struct findings *findings, const struct finding_list *list,
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
		wrap__print(out, text, 0, 2, LINE_WIDTH);
	}
	free(text);
}

void findings_text__limits(FILE *out, const struct findings *findings, const struct finding_list *list)
{
	print_line(out, findings, list, write_unlooked);
	print_line(out, findings, list, write_unjudged);
}

static void write_course(struct json *j, const struct finding_course *course)
{
	json__object_begin(j);
	json__key_string(j, "id", course->kind->id);
	json__key_u64(j, "places", course->unjudged);
	json__key_u64(j, "of_places", course->places);
	json__key_double(j, "followed_seconds", (double)course->followed_ns / 1e9);
	json__key_double(j, "needed_seconds", (double)course->needed_ns / 1e9);
	json__object_end(j);
}

void json_findings__write_limits(struct json *j, const struct findings *findings, const struct finding_list *list)
{
	json__key(j, "not_looked_for");
	json__array_begin(j);
	for (size_t i = 0; i < finding_kind_count; i++)
		if (!findings__looks_for(findings, &finding_kinds[i]))
			json__string(j, finding_kinds[i].id);
	json__array_end(j);
	json__key(j, "not_judged");
	json__array_begin(j);
	for (size_t i = 0; i < list->course_count; i++)
		if (list->courses[i].unjudged)
			write_course(j, &list->courses[i]);
	json__array_end(j);
}
