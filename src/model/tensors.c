// SPDX-License-Identifier: BSD-2-Clause
// Tensors of a process, see tensors.h.
#include "model/tensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"
#include "base/table.h"
#include "model/steps.h"
#include "stack/stack.h"

struct site_counts {
	uint64_t stack;
	struct tensor_site_record counts;
	uint64_t base_made, base_bytes; /* of these, before the steps that are counted */
	UT_hash_handle hh;
};

struct tensors_detail {
	struct site_table *live; /* live tensors by stack id */
	struct site_counts *sites;
	/* the phase whose steps are counted, by its thread and first step; and its steps then */
	uint64_t base_phase_ns, base_steps;
	int32_t base_tid;
	struct tensor_stretch *segments, *placed;
	size_t segment_count, placed_count;
};

struct tensors *tensors__new(void)
{
	struct tensors *tensors = calloc(1, sizeof(*tensors));

	if (!tensors)
		return NULL;
	tensors->detail = calloc(1, sizeof(*tensors->detail));
	if (tensors->detail)
		tensors->detail->live = site_table__new();
	if (!tensors->detail || !tensors->detail->live) {
		tensors__free(tensors);
		return NULL;
	}
	return tensors;
}

void tensors__free(struct tensors *tensors)
{
	if (!tensors)
		return;
	if (tensors->detail) {
		site_table__free(tensors->detail->live);
		TABLE_CLEAR(tensors->detail->sites, free);
		free(tensors->detail->segments);
		free(tensors->detail->placed);
		free(tensors->detail);
	}
	free(tensors->devices);
	free(tensors->sites);
	free(tensors->live_sites);
	free(tensors->live);
	free(tensors);
}

size_t tensors__bytes(const struct tensors *tensors)
{
	const struct tensors_detail *detail = tensors ? tensors->detail : NULL;

	if (!detail)
		return 0;
	return sizeof(*tensors) + sizeof(*detail) + site_table__bytes(detail->live) +
	       HASH_COUNT(detail->sites) * sizeof(*detail->sites) +
	       (detail->segment_count + detail->placed_count) * sizeof(struct tensor_stretch) +
	       tensors->device_count * sizeof(*tensors->devices) +
	       tensors->site_count * sizeof(*tensors->sites) +
	       tensors->live_site_count * sizeof(*tensors->live_sites) +
	       tensors->live_listed * sizeof(*tensors->live);
}

void tensors__begin(struct tensors *tensors, bool with_lists)
{
	tensors->device_count = 0;
	tensors->live_count = tensors->live_bytes = 0;
	memset(&tensors->total, 0, sizeof(tensors->total));
	if (!with_lists)
		return;
	site_table__begin(tensors->detail->live, true);
	tensors->live_listed = 0;
	tensors->left_out_bytes = tensors->left_out_count = 0;
	tensors->detail->segment_count = tensors->detail->placed_count = 0;
	tensors->stretch_count = 0;
}

/* --- counts --- */

static int by_device(const void *a, const void *b)
{
	const struct tensor_device *x = a, *y = b;

	return (x->device > y->device) - (x->device < y->device);
}

/* For members of the BPF maps' records. */
static void add(__u64 *sum, uint64_t more)
{
	*sum = saturate__sum(*sum, more);
}

static void add_counts(struct tensor_device_record *to, const struct tensor_device_record *more)
{
	to->made += more->made;
	add(&to->made_bytes, more->made_bytes);
	to->freed += more->freed;
	add(&to->freed_bytes, more->freed_bytes);
	to->replaced += more->replaced;
	add(&to->replaced_bytes, more->replaced_bytes);
	to->untracked += more->untracked;
	add(&to->untracked_bytes, more->untracked_bytes);
	to->unsampled += more->unsampled;
	to->unknown_frees += more->unknown_frees;
	if (more->peak_bytes > to->peak_bytes)
		to->peak_bytes = more->peak_bytes;
}

int tensors__add_device(struct tensors *tensors, int32_t device,
			const struct tensor_device_record *counts)
{
	const struct tensor_device_record *total = &tensors->total;
	const struct tensor_device added = {.device = device, .counts = *counts};

	if (ARRAY_APPEND(tensors->devices, tensors->device_count, added))
		return -ENOMEM;
	qsort(tensors->devices, tensors->device_count, sizeof(*tensors->devices), by_device);
	add_counts(&tensors->total, counts);
	tensors->is_sampled = total->unsampled > 0;
	/* The counters are read one after the other while programs run. */
	tensors->live_count = saturate__difference(total->made, total->freed + total->replaced +
									total->untracked);
	tensors->live_bytes = saturate__difference(
		total->made_bytes,
		saturate__sum(total->freed_bytes,
			      saturate__sum(total->replaced_bytes, total->untracked_bytes)));
	return 0;
}

int tensors__set_site(struct tensors *tensors, uint64_t stack,
		      const struct tensor_site_record *counts)
{
	struct site_counts *site = TABLE_TAKE(tensors->detail->sites, stack, &stack);

	if (!site)
		return -ENOMEM;
	site->counts = *counts;
	return 0;
}

/* --- steps --- */

static void begin_steps(struct tensors_detail *detail, const struct step_summary *steps,
			uint64_t count)
{
	detail->base_tid = steps->thread->tid;
	detail->base_phase_ns = steps->phase->first_ns;
	detail->base_steps = count;
	for (struct site_counts *site = detail->sites; site; site = site->hh.next) {
		site->base_made = site->counts.made;
		site->base_bytes = site->counts.made_bytes;
	}
}

void tensors__follow_steps(struct tensors *tensors, const struct process *process, uint64_t now_ns)
{
	struct tensors_detail *detail = tensors->detail;
	struct step_summary steps;
	uint64_t count;

	tensors->steps = 0;
	step_summary__make(process, &steps);
	/* While launches are sampled, most steps are not seen. */
	if (!steps.phase || process__is_estimated(process, RATE_LAUNCH) ||
	    now_ns < step_phase__steady_ns(steps.phase))
		return;
	count = steps.phase->steps + steps.phase->irregular;
	if (detail->base_tid != steps.thread->tid ||
	    detail->base_phase_ns != steps.phase->first_ns || detail->base_steps > count)
		begin_steps(detail, &steps, count);
	tensors->steps = count - detail->base_steps;
}

/* --- segments --- */

int tensors__add_segment(struct tensors *tensors, uint64_t address, uint64_t bytes, bool expandable,
			 enum segment_owner owner)
{
	struct tensors_detail *detail = tensors->detail;
	const struct tensor_stretch segment = {address, bytes, expandable, owner};

	return ARRAY_APPEND(detail->segments, detail->segment_count, segment);
}

int tensors__place(struct tensors *tensors, uint64_t address, uint64_t bytes)
{
	struct tensors_detail *detail = tensors->detail;
	struct tensor_stretch placed = {.address = address, .bytes = bytes ? bytes : 1};

	if (placed.bytes <= UINT64_MAX - TENSOR_ROUND)
		placed.bytes = (placed.bytes + TENSOR_ROUND - 1) / TENSOR_ROUND * TENSOR_ROUND;
	return ARRAY_APPEND(detail->placed, detail->placed_count, placed);
}

static int by_address(const void *a, const void *b)
{
	const struct tensor_stretch *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static uint64_t end_of(const struct tensor_stretch *stretch)
{
	return saturate__sum(stretch->address, stretch->bytes);
}

uint64_t tensors__block_end(uint64_t end, uint64_t limit, uint64_t segment_bytes, bool expandable)
{
	uint64_t rest =
		expandable || segment_bytes == TENSOR_SMALL_SEGMENT ? 0 : TENSOR_LARGEST_REST;

	return limit > end && limit - end <= rest ? limit : end;
}

/* Whether the framework holds the segment, which has no tensor on record. */
static bool is_cached(const struct tensor_stretch *segment)
{
	if (segment->owner == SEGMENT_UNKNOWN)
		return !segment->expandable;
	return segment->owner == SEGMENT_FRAMEWORK;
}

/* Adds one segment, with the tensors from number `first` on that begin before its end. */
static void sum_segment(const struct tensors_detail *detail, const struct tensor_stretch *segment,
			size_t first, struct tensor_segments *sums)
{
	uint64_t at = segment->address, end = end_of(segment), used = 0, inside = 0, hole = 0;

	for (size_t i = first; i < detail->placed_count && detail->placed[i].address < end; i++) {
		uint64_t begins = detail->placed[i].address, ends = end_of(&detail->placed[i]),
			 limit = i + 1 < detail->placed_count ? detail->placed[i + 1].address : end;

		begins = begins > at ? begins : at;
		ends = tensors__block_end(ends, limit < end ? limit : end, segment->bytes,
					  segment->expandable);
		ends = ends < end ? ends : end;
		if (begins - at > hole)
			hole = begins - at;
		if (ends > begins) {
			used += ends - begins;
			at = ends;
		}
		inside++;
	}
	if (!inside && !is_cached(segment))
		return;
	hole = end - at > hole ? end - at : hole;
	sums->count++;
	saturate__add(&sums->bytes, segment->bytes);
	saturate__add(&sums->tensor_bytes, used);
	saturate__add(&sums->unused_bytes, segment->bytes - used);
	if (hole > sums->largest_hole)
		sums->largest_hole = hole;
	if (!inside || used == segment->bytes)
		return;
	saturate__add(&sums->pinned_bytes, segment->bytes - used);
	sums->pinning += inside;
}

/* Sorts segments. Mappings that follow each other are one. */
static size_t join_mappings(struct tensor_stretch *segments, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(segments, count, sizeof(*segments), by_address);
	for (size_t i = 0; i < count; i++) {
		struct tensor_stretch *last = kept ? &segments[kept - 1] : NULL;

		if (last && last->expandable && segments[i].expandable &&
		    last->owner == segments[i].owner && end_of(last) == segments[i].address)
			last->bytes = end_of(&segments[i]) - last->address;
		else
			segments[kept++] = segments[i];
	}
	return kept;
}

int tensors__sum_segments(struct tensors *tensors)
{
	struct tensors_detail *detail = tensors->detail;
	struct tensor_segments sums = {.tensors = detail->placed_count};
	size_t first = 0;

	detail->segment_count = join_mappings(detail->segments, detail->segment_count);
	tensors->stretches = detail->segments;
	tensors->stretch_count = detail->segment_count;
	if (detail->placed_count)
		qsort(detail->placed, detail->placed_count, sizeof(*detail->placed), by_address);
	for (size_t i = 0; i < detail->segment_count; i++) {
		const struct tensor_stretch *segment = &detail->segments[i];

		while (first < detail->placed_count &&
		       end_of(&detail->placed[first]) <= segment->address)
			first++;
		sum_segment(detail, segment, first, &sums);
	}
	tensors->segments = sums;
	return 0;
}

/* --- lists --- */

int tensors__add_live(struct tensors *tensors, const struct allocation *tensor, uint64_t stack,
		      uint32_t weight, bool listed)
{
	int ret = 0;

	if (weight)
		ret = site_table__add_live(tensors->detail->live, stack, weight, tensor->size,
					   tensor->start_ns);

	if (ret || !listed)
		return ret;
	return ARRAY_APPEND(tensors->live, tensors->live_listed, *tensor);
}

static int by_stack(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct tensor_site *)a)->stack,
		  y = (uintptr_t)((const struct tensor_site *)b)->stack;

	return (x > y) - (x < y);
}

void tensors__sort_sites(struct tensors *tensors)
{
	if (tensors->site_count)
		qsort(tensors->sites, tensors->site_count, sizeof(*tensors->sites), by_stack);
}

static void add_to_site(struct tensor_site *site, const struct tensor_site *other)
{
	site->step_made += other->step_made;
	saturate__add(&site->step_bytes, other->step_bytes);
	site->counts.made += other->counts.made;
	add(&site->counts.made_bytes, other->counts.made_bytes);
	site->counts.freed += other->counts.freed;
	add(&site->counts.freed_bytes, other->counts.freed_bytes);
	/* Ids of one stack follow each other, as a rule. */
	if (other->counts.peak_bytes > site->counts.peak_bytes)
		site->counts.peak_bytes = other->counts.peak_bytes;
}

/* Several ids may have the same stack. */
static size_t merge_sites(struct tensor_site *sites, size_t count)
{
	size_t used = 0;

	if (count)
		qsort(sites, count, sizeof(*sites), by_stack);
	for (size_t i = 0; i < count; i++) {
		if (used && sites[used - 1].stack == sites[i].stack)
			add_to_site(&sites[used - 1], &sites[i]);
		else
			sites[used++] = sites[i];
	}
	return used;
}

static int list_sites(struct tensors *tensors, site_stack_fn find, void *arg)
{
	size_t room = HASH_COUNT(tensors->detail->sites), count = 0;
	struct tensor_site *list = realloc(tensors->sites, (room ? room : 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	tensors->sites = list;
	for (const struct site_counts *at = tensors->detail->sites; at; at = at->hh.next)
		list[count++] = (struct tensor_site){
			.stack = at->stack ? find(arg, at->stack) : NULL,
			.counts = at->counts,
			.step_made = saturate__difference(at->counts.made, at->base_made),
			.step_bytes = saturate__difference(at->counts.made_bytes, at->base_bytes),
		};
	tensors->site_count = merge_sites(list, count);
	tensors->has_python = false;
	for (size_t i = 0; i < tensors->site_count && !tensors->has_python; i++)
		tensors->has_python = stack__has_python(list[i].stack);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const struct allocation *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return (x->address > y->address) - (x->address < y->address);
}

int tensors__list(struct tensors *tensors, site_stack_fn find, void *arg)
{
	int ret = list_sites(tensors, find, arg);

	if (!ret)
		ret = site_table__list_live(tensors->detail->live, &tensors->live_sites,
					    &tensors->live_site_count, find, arg);
	if (tensors->live_listed)
		qsort(tensors->live, tensors->live_listed, sizeof(*tensors->live), by_size);
	for (size_t i = 0; i < tensors->live_listed; i++)
		tensors->live[i].stack =
			tensors->live[i].stack_id ? find(arg, tensors->live[i].stack_id) : NULL;
	return ret;
}

void tensors__forget_stacks(struct tensors *tensors)
{
	if (!tensors)
		return;
	tensors->site_count = 0;
	tensors->live_site_count = 0;
	for (size_t i = 0; i < tensors->live_listed; i++)
		tensors->live[i].stack = NULL;
}

const struct tensor_site *tensors__site(const struct tensors *tensors, const struct stack *stack)
{
	const struct tensor_site key = {.stack = stack};

	return tensors->site_count ? bsearch(&key, tensors->sites, tensors->site_count,
					     sizeof(*tensors->sites), by_stack) :
				     NULL;
}

static int by_made(const void *a, const void *b)
{
	const struct tensor_site *x = *(const struct tensor_site *const *)a,
				 *y = *(const struct tensor_site *const *)b;

	if (x->counts.made_bytes != y->counts.made_bytes)
		return x->counts.made_bytes < y->counts.made_bytes ? 1 : -1;
	return (x > y) - (x < y);
}

const struct tensor_site **tensors__by_made(const struct tensors *tensors, size_t *count)
{
	const struct tensor_site **list = calloc(tensors->site_count + 1, sizeof(const void *));

	*count = 0;
	for (size_t i = 0; list && i < tensors->site_count; i++)
		if (tensors->sites[i].counts.made)
			list[(*count)++] = &tensors->sites[i];
	if (list)
		qsort(list, *count, sizeof(*list), by_made);
	return list;
}
