// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory that is never freed: memory that only grows; and, in ended processes, memory live at the
 * end if it grew until then or if most of its kind was freed. Being live at exit alone is not a
 * leak. Judged by call site if stacks are taken, otherwise by function and size if there is a
 * profile.
 *
 * Memory in use at the end, such as the results of the last step, is not a leak either: it is
 * young, and there was as much at any time before. Ages of sizes are unknown, and several call
 * sites may share a size, so the criteria for sizes are stricter.
 */
#include <errno.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "base/saturate.h"
#include "finding/history.h"
#include "finding/rules.h"
#include "finding/size_spans.h"
#include "finding/site_lookup.h"
#include "model/profile.h"
#include "model/allocated_sites.h"
#include "model/devices.h"

#define LEAST_BYTES 0
#define LEAST_FREED 1

/* Share of a site's allocation time that the last step may have taken. */
#define STEP_TIME 0.1
/* Smallest share of a size's allocations that must be kept: more than may be in use. */
#define KEPT_LEAST 0.02
/* A single kept allocation may be in use. */
#define KEPT_COUNT 2
/* Share of the peak that must be live at exit if memory grew. */
#define KEPT_OF_PEAK 0.9

/* Lookup tables for the call sites of a process, which may be tens of thousands. */
struct site_tables {
	const struct process *process;
	struct allocated_sites allocated;
	struct size_spans spans;
};

/* Live memory of one site or size. */
struct kept {
	const struct process *process;
	const struct size_spans *spans;
	const struct stack *stack;
	const struct size_key *size; /* NULL: it is a site */
	size_t row;		     /* of the function; SIZE_MAX: unknown */
	const char *function;	     /* NULL: unknown */
	uint8_t device;		     /* or DEVICE_UNKNOWN */
	uint64_t bytes, count;
	uint64_t allocations, frees; /* 0: unknown */
	uint64_t amount;	     /* bytes of these allocations; sites only */
	bool once;		     /* at most one allocation: setup, which cannot grow */
	struct growth_evidence growth;
};

/* --- live memory --- */

/* The only device of the process with memory, as far as known. */
static uint8_t only_device(const struct process *process)
{
	uint8_t device = DEVICE_UNKNOWN;

	for (size_t i = 0; i < process->device_count; i++) {
		if (!process->devices[i].live_bytes)
			continue;
		if (device != DEVICE_UNKNOWN)
			return DEVICE_UNKNOWN;
		device = process->devices[i].device;
	}
	return device;
}

/* If allocations were lost for lack of room in a table, neither frees nor live memory are known. */
static bool knows_all(const struct model *model)
{
	return !model->lost[LOSS_ALLOCATION_MAP_FULL] && !model->lost[LOSS_NO_MEMORY];
}

static void count_calls(const struct allocated_sites *sites, struct kept *kept)
{
	const struct allocated_site *site = allocated_sites__find(sites, kept->stack);

	if (!site)
		return;
	kept->allocations = site->calls;
	kept->amount = site->bytes;
	kept->row = site->row;
	kept->function = site_lookup__function(site->row);
}

static void know_site(const struct finding_input *input, const struct site_tables *tables,
		      const struct live_site *live, struct kept *kept)
{
	const struct process *process = tables->process;

	*kept = (struct kept){
		.process = process,
		.spans = &tables->spans,
		.stack = live->stack,
		.row = SIZE_MAX,
		.device = only_device(process),
		.bytes = live->bytes,
		.count = live->count,
	};
	growth__judge(findings__history(input->state)->growth, process, live->stack, &kept->growth);
	/* Without a stack, allocations cannot be attributed to one call site. */
	if (live->stack)
		count_calls(&tables->allocated, kept);
	if (!knows_all(input->model) || kept->allocations < kept->count)
		kept->allocations = 0;
	kept->frees = kept->allocations ? kept->allocations - kept->count : 0;
	kept->once = kept->allocations == 1;
}

static bool holds_memory(uint8_t kind)
{
	return memory_kind__is_device(kind) || kind == MEMORY_HOST;
}

static void know_size(const struct finding_input *input, const struct process *process,
		      const struct profile_size *size, struct kept *kept)
{
	*kept = (struct kept){
		.process = process,
		.size = &size->key,
		.row = size->key.row,
		.function = site_lookup__function(size->key.row),
		.device =
			memory_kind__is_device(size->key.kind) ? size->key.device : DEVICE_UNKNOWN,
		.bytes = saturate__product(size->record.live, size->key.size),
		.count = size->record.live,
		.allocations = size->record.allocations,
		.frees = size->record.frees,
		.once = size->record.peak <= 1,
	};
	growth__judge_size(findings__history(input->state)->growth, process, &size->key,
			   &kept->growth);
}

/* --- texts --- */

static int report_subject(struct finding *finding, const struct kept *kept)
{
	if (kept->size)
		return finding__subject(finding, "%s of %s", kept->function,
					quantity__bytes((double)kept->size->size).text);
	if (!kept->stack)
		return finding__subject(finding, "allocations with unknown stacks");
	return finding__subject(finding, "a call site of %s",
				kept->function ? kept->function : "an unknown function");
}

/* "live memory of this call site grew by 120.0 MiB in 58.0 s (2.0 MiB/s)" */
static int report_growth(struct finding *finding, const struct kept *kept, const char *to,
			 const char *rest)
{
	return finding__evidence(
		finding,
		"live memory of this %s grew by %s within %s (%s), to %s in %s allocation%s%s%s",
		kept->size ? "size" : "call site", quantity__bytes((double)kept->growth.grown).text,
		quantity__time((double)kept->growth.grown_ns).text,
		quantity__growth(kept->growth.slope).text,
		quantity__bytes((double)kept->bytes).text,
		quantity__amount((double)kept->count).text, kept->count == 1 ? "" : "s", to, rest);
}

static void add_numbers(struct finding *finding, const struct kept *kept)
{
	finding__number(finding, "live_bytes", (double)kept->bytes, UNIT_BYTES);
	finding__number(finding, "live_allocations", (double)kept->count, UNIT_COUNT);
	if (kept->allocations) {
		finding__number(finding, "allocations", (double)kept->allocations, UNIT_COUNT);
		finding__number(finding, "frees", (double)kept->frees, UNIT_COUNT);
	}
	if (kept->growth.verdict != GROWTH_GROWING)
		return;
	finding__number(finding, "growth", (double)kept->growth.grown, UNIT_BYTES);
	finding__number(finding, "growth_rate", kept->growth.slope, UNIT_BYTES_PER_SECOND);
	finding__number(finding, "growth_time", (double)kept->growth.grown_ns, UNIT_NS);
}

static struct finding *add(const struct finding_input *input, const struct kept *kept,
			   struct finding_list *out)
{
	struct finding *finding = finding_list__add(out, input, kept->process);

	if (!finding || report_subject(finding, kept))
		return NULL;
	finding->stack = kept->stack;
	add_numbers(finding, kept);
	return finding;
}

/* Notes whether an item large enough for a finding has a verdict. */
static void follow(const struct finding_input *input, const struct kept *kept, bool judged,
		   struct finding_list *out)
{
	if (kept->once || (double)kept->bytes < input->thresholds[LEAST_BYTES])
		return;
	judged = judged || kept->growth.verdict != GROWTH_UNKNOWN || kept->growth.replaces;
	finding_list__follow(out, input, judged,
			     site_lookup__followed_ns(input, kept->process, kept->growth.first_ns),
			     GROWTH_LEAST_NS(findings__history(input->state)->window_ns));
}

/* Called for each site, or each size. */
typedef int (*kept_fn)(const struct finding_input *input, const struct kept *kept,
		       const void *known, struct finding_list *out);

static int detect_sites(const struct finding_input *input, const struct site_tables *tables,
			kept_fn detect, struct finding_list *out)
{
	struct kept kept;
	int ret = 0;

	for (size_t i = 0; i < tables->process->live_site_count && !ret; i++) {
		know_site(input, tables, &tables->process->live_sites[i], &kept);
		ret = detect(input, &kept, &tables->process->live_sites[i], out);
	}
	return ret;
}

static int detect_sizes(const struct finding_input *input, const struct process *process,
			kept_fn detect, struct finding_list *out)
{
	const struct profile *profile = input->model->stacks ? NULL : process->profile;
	struct kept kept;
	int ret = 0;

	for (size_t i = 0; profile && i < profile->size_count && !ret; i++) {
		if (!holds_memory(profile->sizes[i].key.kind))
			continue;
		know_size(input, process, &profile->sizes[i], &kept);
		ret = detect(input, &kept, &profile->sizes[i].record, out);
	}
	return ret;
}

static int detect_each(const struct finding_input *input, const struct process *process,
		       kept_fn detect, struct finding_list *out)
{
	struct site_tables tables = {.process = process};
	int ret = 0;

	if (process->live_site_count)
		ret = allocated_sites__read(process, &tables.allocated);
	if (!ret && process->live_site_count)
		ret = size_spans__read(process->profile, &tables.spans);
	if (!ret)
		ret = detect_sites(input, &tables, detect, out);
	if (!ret)
		ret = detect_sizes(input, process, detect, out);
	allocated_sites__clear(&tables.allocated);
	size_spans__clear(&tables.spans);
	return ret;
}

/* --- leak-growing --- */

/* Time until the device is full; 0: unknown. */
static double seconds_left(const struct finding_input *input, const struct kept *kept)
{
	const struct gpu *gpu =
		kept->device == DEVICE_UNKNOWN ?
			NULL :
			device_history__gpu(input->model, kept->process, kept->device);

	if (!gpu || gpu->total_bytes == GPU_UNKNOWN_BYTES || gpu->used_bytes == GPU_UNKNOWN_BYTES ||
	    gpu->used_bytes > gpu->total_bytes || kept->growth.slope <= 0)
		return 0;
	return (double)(gpu->total_bytes - gpu->used_bytes) / kept->growth.slope;
}

static int detect_growing(const struct finding_input *input, const struct kept *kept,
			  const void *known, struct finding_list *out)
{
	double left = seconds_left(input, kept);
	struct finding *finding;

	(void)known;
	follow(input, kept, false, out);
	if (kept->growth.verdict != GROWTH_GROWING ||
	    (double)kept->growth.grown < input->thresholds[LEAST_BYTES])
		return 0;
	finding = add(input, kept, out);
	if (!finding)
		return -ENOMEM;
	finding->weight = (double)kept->growth.grown;
	if (!left)
		return report_growth(finding, kept, "", "");
	finding__number(finding, "full_in", left * (double)NS_PER_S, UNIT_NS);
	return report_growth(finding, kept, "; at this pace its device is full in ",
			     quantity__time(left * (double)NS_PER_S).text);
}

int leak_growing__detect(const struct finding_input *input, const struct process *process,
			 struct finding_list *out)
{
	/* For an ended process leak-at-exit applies. */
	return process->ended ? 0 : detect_each(input, process, detect_growing, out);
}

/* --- leak-at-exit --- */

/*
 * The first and last time that the site's function allocated this size, or any (0); false: unknown.
 */
static bool find_span(const struct kept *kept, uint64_t size, uint64_t *first_ns, uint64_t *last_ns)
{
	const struct size_span *span = size_spans__find(kept->spans, kept->row, size);

	*first_ns = span ? span->first_ns : UINT64_MAX;
	*last_ns = span ? span->last_ns : 0;
	return *last_ns > *first_ns;
}

/* Whether all allocations of the site have one size. */
static bool is_uniform(const struct kept *kept)
{
	uint64_t size = kept->amount / kept->allocations;

	return saturate__product(size, kept->allocations) == kept->amount &&
	       saturate__product(size, kept->count) == kept->bytes;
}

/*
 * Whether the oldest live allocation is older than the last step, and older than the latest
 * allocations equal in number to the live ones.
 */
static bool is_old(const struct finding_input *input, const struct kept *kept,
		   const struct live_site *live)
{
	uint64_t first_ns, last_ns;
	double span, latest, age;

	/*
	 * A buffer that was replaced by larger ones several times is not a leak: the last one is in
	 * use.
	 */
	if (!is_uniform(kept) && kept->count < KEPT_COUNT)
		return false;
	if (!(is_uniform(kept) &&
	      find_span(kept, kept->amount / kept->allocations, &first_ns, &last_ns)) &&
	    !find_span(kept, 0, &first_ns, &last_ns)) {
		last_ns = kept->process->ended_ns;
		first_ns = last_ns - site_lookup__watched_ns(input, kept->process);
	}
	span = (double)(last_ns - first_ns);
	latest = span / (double)kept->allocations * (double)kept->count;
	age = last_ns > live->oldest_ns ? (double)(last_ns - live->oldest_ns) : 0;
	return age > STEP_TIME * span && age > latest;
}

static bool keeps_more(const struct kept *kept, const struct size_record *record)
{
	return record->live >= KEPT_COUNT &&
	       (double)record->live >= KEPT_OF_PEAK * (double)record->peak &&
	       (double)record->live >= KEPT_LEAST * (double)kept->allocations;
}

static bool is_kept(const struct finding_input *input, const struct kept *kept, const void *known)
{
	if (!kept->allocations ||
	    (double)kept->frees <= input->thresholds[LEAST_FREED] * (double)kept->allocations)
		return false;
	return kept->size ? keeps_more(kept, known) : is_old(input, kept, known);
}

static int detect_at_exit(const struct finding_input *input, const struct kept *kept,
			  const void *known, struct finding_list *out)
{
	bool found = kept->growth.verdict == GROWTH_GROWING || is_kept(input, kept, known);
	struct finding *finding;

	follow(input, kept, found, out);
	if (!found || !kept->bytes || (double)kept->bytes < input->thresholds[LEAST_BYTES])
		return 0;
	finding = add(input, kept, out);
	if (!finding)
		return -ENOMEM;
	finding->weight = (double)kept->bytes;
	if (kept->growth.verdict == GROWTH_GROWING)
		return report_growth(finding, kept, " when the process ended", "");
	return finding__evidence(
		finding,
		"%s of %s allocations of this %s were freed, and %s (%s) were not: live when the "
		"process ended",
		quantity__amount((double)kept->frees).text,
		quantity__amount((double)kept->allocations).text, kept->size ? "size" : "call site",
		quantity__amount((double)kept->count).text,
		quantity__bytes((double)kept->bytes).text);
}

int leak_at_exit__detect(const struct finding_input *input, const struct process *process,
			 struct finding_list *out)
{
	return process->ended ? detect_each(input, process, detect_at_exit, out) : 0;
}
