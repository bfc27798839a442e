// SPDX-License-Identifier: BSD-2-Clause
// Live memory by call site or size, see kept.h.
#include <errno.h>

#include "base/quantity.h"
#include "base/saturate.h"
#include "finding/history.h"
#include "finding/kept.h"
#include "finding/site_lookup.h"
#include "finding/size_spans.h"
#include "model/allocated_sites.h"
#include "model/devices.h"

/* Lookup tables for the call sites of a process, which may be tens of thousands. */
struct site_tables {
	const struct process *process;
	struct allocated_sites allocated;
	struct size_spans spans;
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

int kept__report_growth(struct finding *finding, const struct kept *kept, const char *to,
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

struct finding *kept__add(const struct finding_input *input, const struct kept *kept,
			  struct finding_list *out)
{
	struct finding *finding = finding_list__add(out, input, kept->process);

	if (!finding || report_subject(finding, kept))
		return NULL;
	finding->stack = kept->stack;
	add_numbers(finding, kept);
	return finding;
}

void kept__follow(const struct finding_input *input, const struct kept *kept, bool judged,
		  struct finding_list *out)
{
	if (kept->once || (double)kept->bytes < input->thresholds[LEAK_LEAST_BYTES])
		return;
	judged = judged || kept->growth.verdict != GROWTH_UNKNOWN || kept->growth.replaces;
	finding_list__follow(out, input, judged,
			     site_lookup__followed_ns(input, kept->process, kept->growth.first_ns),
			     GROWTH_LEAST_NS(findings__history(input->state)->window_ns));
}

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

int kept__each(const struct finding_input *input, const struct process *process, kept_fn detect,
	       struct finding_list *out)
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
