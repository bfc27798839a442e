// SPDX-License-Identifier: BSD-2-Clause
// Objects by process, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "model/object_sites.h"
#include "output/report/line.h"
#include "output/report/totals.h"

static bool is_loaded(int kind)
{
	return kind == OBJECT_MODULE || kind == OBJECT_LIBRARY;
}

static bool has_kind(const struct object_totals *o)
{
	return o->created || o->destroyed || o->live;
}

static void print_kind(FILE *out, int kind, const struct object_totals *o, bool ended)
{
	if (!has_kind(o))
		return;
	fprintf(out, REPORT_INDENT "%s %" PRIu64 " live%s (%" PRIu64 " %s",
		object_kind__plural(kind), o->live, ended ? " at exit" : "", o->created,
		is_loaded(kind) ? "loaded" : "created");
	if (is_loaded(kind) && o->created) {
		fputs(" in ", out);
		report_line__seconds(out, o->ns);
	}
	if (o->with_context)
		fprintf(out, ", %" PRIu64 " gone with their context", o->with_context);
	if (o->in_launch) {
		fprintf(out, "; %" PRIu64 " inside launches in ", o->in_launch);
		report_line__seconds(out, o->in_launch_ns);
	}
	fputs(")\n", out);
}

static bool has_objects(const struct process *p)
{
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		if (has_kind(&p->objects[kind]))
			return true;
	return false;
}

void report_objects__print(FILE *out, const struct model *model)
{
	bool first = true;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !has_objects(p))
			continue;
		if (first)
			fputs("\nobjects:\n", out);
		first = false;
		report_line__process(out, p);
		for (int kind = 0; kind < OBJECT_KINDS; kind++)
			print_kind(out, kind, &p->objects[kind], p->ended);
		if (p->since_attach)
			fputs(REPORT_INDENT "made before attach: unknown\n", out);
	}
}
