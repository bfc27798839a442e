// SPDX-License-Identifier: BSD-2-Clause
// Objects in the output of `gpuprobe memleak`, see objects.h.
#include "output/memleak/objects.h"

#include <errno.h>
#include <stdlib.h>

#include "model/object_costs.h"
#include "model/object_sites.h"
#include "output/enum_names.h"
#include "output/folded_stack.h"
#include "output/json/parts.h"
#include "output/report/line.h"

#define OBJECT_SITES_SHOWN 10
#define EVIDENCE_INDENT "            "
#define STACK_INDENT 16

struct judged_site {
	const struct object_site *site;
	struct growth_evidence growth;
	struct object_cost cost;
};

struct judged_list {
	struct judged_site *sites; /* growing ones first, then most live first */
	size_t count;
};

static int by_growth(const void *a, const void *b)
{
	const struct judged_site *x = a, *y = b;
	bool x_grows = x->growth.verdict == GROWTH_GROWING,
	     y_grows = y->growth.verdict == GROWTH_GROWING;

	if (x_grows != y_grows)
		return x_grows ? -1 : 1;
	/* The sites are in one array, most live first. */
	return x->site < y->site ? -1 : x->site > y->site;
}

static int judge(const struct process *process, const struct growth *growth,
		 struct judged_list *list)
{
	list->count = process->object_site_count;
	list->sites = calloc(list->count ? list->count : 1, sizeof(*list->sites));
	if (!list->sites)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		struct judged_site *at = &list->sites[i];

		at->site = &process->object_sites[i];
		growth__judge_objects(growth, process, at->site, &at->growth);
		at->cost = object_costs__of(growth__object_costs(growth), process, at->site->kind);
	}
	if (list->count)
		qsort(list->sites, list->count, sizeof(*list->sites), by_growth);
	return 0;
}

/* --- text --- */

static bool is_of_interest(const struct judged_site *at)
{
	return at->growth.verdict == GROWTH_GROWING ||
	       at->site->live >= object_costs__least(at->site->kind);
}

static void print_growth(FILE *out, const struct judged_site *at,
			 const struct memleak_options *options)
{
	const struct growth_evidence *growth = &at->growth;
	const struct quantity span = quantity__time_as(options->form, growth->span_ns);

	if (growth->verdict == GROWTH_GROWING)
		fprintf(out, ", +%s a minute over the last %s  << growing\n",
			quantity__amount(growth->slope * 60).text, span.text);
	else if (growth->verdict == GROWTH_STABLE)
		fprintf(out, ", stable over the last %s\n", span.text);
	else if (growth->replaces)
		fputs(", may replace objects from before attach\n", out);
	else
		fputs(", too early to tell whether they grow\n", out);
}

/* "123.6 KiB ± 8.0 KiB", or "at most 70 bytes" if it may be nothing. */
static void print_estimate(FILE *out, double bytes, double error)
{
	if (bytes > error)
		fprintf(out, "%s ± %s", quantity__bytes(bytes).text, quantity__bytes(error).text);
	else
		fprintf(out, "at most %s", quantity__bytes(bytes + error).text);
}

static void print_cost(FILE *out, const struct object_cost *cost)
{
	if (cost->included) {
		fputs("memory of each unknown: other objects are made with them", out);
	} else if (!cost->known) {
		fputs("memory of each unknown", out);
	} else {
		print_estimate(out, cost->bytes, cost->error);
		fputs(" each (estimated)", out);
	}
	fputc('\n', out);
}

static void print_site(FILE *out, const struct judged_site *at,
		       const struct memleak_options *options)
{
	const struct object_site *site = at->site;

	fprintf(out, REPORT_INDENT "%s live %s",
		quantity__amount_as(options->form, site->live).text,
		object_kind__plural(site->kind));
	/* Calls are read after objects, so a few more may have been made. */
	if (site->made >= site->live)
		fprintf(out, " of %s made", quantity__amount_as(options->form, site->made).text);
	print_growth(out, at, options);
	fputs(EVIDENCE_INDENT, out);
	print_cost(out, &at->cost);
	folded_stack__print(out, site->stack, STACK_INDENT, options->all_frames);
}

static void print_part(FILE *out, const char *name, const struct object_part *part)
{
	if (!part->known)
		return;
	fprintf(out, EVIDENCE_INDENT "%s ", name);
	print_estimate(out, part->bytes, part->error);
	fputc('\n', out);
}

/* Only if something is known of the objects: otherwise the rest is all of it. */
static void print_untracked(FILE *out, const struct process *process, const struct growth *growth,
			    const struct memleak_options *options)
{
	struct untracked_split split = object_costs__split(growth__object_costs(growth), process);
	bool any = false;

	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		any = any || split.kinds[kind].known;
	if (!split.known || !any)
		return;
	fprintf(out,
		REPORT_INDENT "%s of its device memory are in no allocation. Estimated parts, by "
			      "the peak of live objects:\n",
		quantity__bytes_as(options->form, split.total).text);
	print_part(out, "context", &split.context);
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		print_part(out, object_kind__plural((enum object_kind)kind), &split.kinds[kind]);
	print_part(out, "rest", &split.rest);
}

static void print_sites(FILE *out, const struct judged_list *list,
			const struct memleak_options *options)
{
	uint64_t objects = 0;
	size_t shown = 0;

	while (shown < list->count && shown < OBJECT_SITES_SHOWN &&
	       is_of_interest(&list->sites[shown]))
		print_site(out, &list->sites[shown++], options);
	for (size_t i = shown; i < list->count; i++)
		objects += list->sites[i].site->live;
	if (objects)
		fprintf(out, REPORT_INDENT "... and %s object%s of %zu more call site%s\n",
			quantity__amount_as(options->form, objects).text,
			report_line__plural(objects), list->count - shown,
			report_line__plural(list->count - shown));
}

int memleak_objects__print(FILE *out, const struct process *process, const struct growth *growth,
			   const struct memleak_options *options)
{
	struct judged_list list;
	int ret = judge(process, growth, &list);

	if (ret)
		return ret;
	if (list.count && is_of_interest(&list.sites[0])) {
		fprintf(out, "    objects%s:\n", process->ended ? " live at exit" : "");
		print_sites(out, &list, options);
		print_untracked(out, process, growth, options);
	}
	free(list.sites);
	return 0;
}

/* --- JSON --- */

static void write_part(struct json *j, const char *name, const struct object_part *part)
{
	if (!part->known)
		return;
	json__key(j, name);
	json__object_begin(j);
	json__key_double(j, "bytes", part->bytes);
	json__key_double(j, "error", part->error);
	json__key_bool(j, "estimated", true);
	json__object_end(j);
}

static void write_site(struct json *j, const struct judged_site *at)
{
	const struct growth_evidence *growth = &at->growth;
	bool grows = growth->verdict == GROWTH_GROWING;

	json__object_begin(j);
	json__key_string(j, "kind", enum_names__object_kind(at->site->kind));
	json__key_u64(j, "live", at->site->live);
	json__key_known_u64(j, "made", at->site->made, at->site->made >= at->site->live);
	json__key_string(j, "growth",
			 grows				  ? "growing" :
			 growth->verdict == GROWTH_STABLE ? "stable" :
							    "unknown");
	json__key_double(j, "per_second", growth->slope);
	json__key_u64(j, "span_ns", growth->span_ns);
	write_part(j, "each",
		   &(struct object_part){.known = at->cost.known,
					 .bytes = at->cost.bytes,
					 .error = at->cost.error});
	json_stack__write(j, at->site->stack);
	json__object_end(j);
}

static void write_untracked(struct json *j, const struct untracked_split *split)
{
	json__key(j, "untracked");
	if (!split->known) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_u64(j, "bytes", split->total);
	write_part(j, "contexts", &split->context);
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		write_part(j, enum_names__object_kind((enum object_kind)kind), &split->kinds[kind]);
	write_part(j, "rest", &split->rest);
	json__object_end(j);
}

int memleak_objects__write(struct json *j, const struct process *process,
			   const struct growth *growth)
{
	struct untracked_split split = object_costs__split(growth__object_costs(growth), process);
	struct judged_list list;
	int ret = judge(process, growth, &list);

	if (ret)
		return ret;
	json__key_u64(j, "object_sites", list.count);
	json__key(j, "objects");
	json__array_begin(j);
	for (size_t i = 0; i < list.count && i < OBJECT_SITES_SHOWN; i++)
		write_site(j, &list.sites[i]);
	json__array_end(j);
	write_untracked(j, &split);
	free(list.sites);
	return 0;
}
