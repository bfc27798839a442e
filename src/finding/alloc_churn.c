// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory of one size that is allocated and freed repeatedly. A size churns if the buffers it needed
 * at any one time were each allocated and freed many times; memory allocated once, or all at once,
 * does not churn.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/saturate.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "model/profile.h"

#define LEAST_SHARE 0
#define LEAST_PAIRS 1

static const char assumption[] =
	"as many buffers as were live at a time are allocated once and reused";

/* The churning sizes of one function. */
struct churn {
	uint16_t row;
	const struct profile_size *worst; /* the size with the most time */
	size_t sizes;
	uint64_t allocations, frees, bytes;
	uint64_t ns, saving_ns;
};

/*
 * The first allocation is necessary, and may have created the context: that took 220 of 245 ms on
 * an H200.
 */
static uint64_t allocating_ns(const struct size_record *record)
{
	return record->allocation_ns > record->first_took_ns ?
		       record->allocation_ns - record->first_took_ns :
		       0;
}

static uint64_t time_of(const struct size_record *record)
{
	return allocating_ns(record) + record->free_ns;
}

static bool is_churning(const struct size_record *record, double pairs)
{
	return record->frees && (double)record->frees >= pairs * (double)record->peak;
}

/* The part of `ns` that would be saved if only `kept` of the `calls` were made. */
static uint64_t without(uint64_t ns, uint64_t calls, uint64_t kept)
{
	return calls > kept ? (uint64_t)((double)ns * (double)(calls - kept) / (double)calls) : 0;
}

static void add_size(struct churn *churn, const struct profile_size *size)
{
	const struct size_record *record = &size->record;

	if (!churn->worst || time_of(record) > time_of(&churn->worst->record))
		churn->worst = size;
	churn->sizes++;
	churn->allocations += record->allocations;
	churn->frees += record->frees;
	saturate__add(&churn->bytes, saturate__product(size->key.size, record->allocations));
	churn->ns += time_of(record);
	churn->saving_ns += without(allocating_ns(record), record->allocations - 1,
				    record->peak - !!record->peak) +
			    without(record->free_ns, record->frees, record->peak);
}

/* Sums the sizes of one function, whose first churning size is at `first`. */
static void sum_up(const struct profile *profile, size_t first, double pairs, struct churn *churn)
{
	*churn = (struct churn){.row = profile->sizes[first].key.row};
	for (size_t i = first; i < profile->size_count; i++)
		if (profile->sizes[i].key.row == churn->row &&
		    is_churning(&profile->sizes[i].record, pairs))
			add_size(churn, &profile->sizes[i]);
}

static bool is_site(const struct call_site *site, const void *arg)
{
	const struct churn *churn = arg;

	return site->row == churn->row && site->calls &&
	       site->amount == saturate__product(site->calls, churn->worst->key.size);
}

/* The call site that allocated most of the worst size, and nothing else. */
static const struct call_site *site_of(const struct process *process, const struct churn *churn)
{
	return site_lookup__most(process, SITE_ALLOCATION, is_site, churn);
}

static double mean(uint64_t ns, uint64_t calls)
{
	return calls ? (double)ns / (double)calls : 0;
}

static int report(struct finding *finding, const struct churn *churn, uint64_t watched_ns)
{
	const struct size_record *record = &churn->worst->record;
	struct quantity size = quantity__bytes((double)churn->worst->key.size);
	char others[64] = "";

	if (finding__subject(finding, "%s of %s", site_lookup__function(churn->row), size.text))
		return -ENOMEM;
	if (churn->sizes > 1)
		snprintf(others, sizeof(others), ", with %s other size%s",
			 quantity__amount((double)(churn->sizes - 1)).text,
			 churn->sizes > 2 ? "s" : "");
	return finding__evidence(
		finding,
		"%s allocations of %s by %s (%s each) and %s frees (%s each), at most %s live at a "
		"time; that took "
		"%s%s, %s of the %s that were watched",
		quantity__amount((double)record->allocations).text, size.text,
		site_lookup__function(churn->row),
		quantity__time(mean(allocating_ns(record), record->allocations - 1)).text,
		quantity__amount((double)record->frees).text,
		quantity__time(mean(record->free_ns, record->frees)).text,
		quantity__amount((double)record->peak).text, quantity__time((double)churn->ns).text,
		others, quantity__share(finding->share).text,
		quantity__time((double)watched_ns).text);
}

static int add(const struct finding_input *input, const struct process *process,
	       const struct churn *churn, uint64_t watched_ns, struct finding_list *out)
{
	const struct size_record *record = &churn->worst->record;
	const struct call_site *site = site_of(process, churn);
	struct finding *finding = finding_list__add(out, input, process);

	if (!finding)
		return -ENOMEM;
	finding__cost(finding, churn->ns, watched_ns);
	finding__saving(finding, churn->saving_ns, assumption);
	finding__number(finding, "size", (double)churn->worst->key.size, UNIT_BYTES);
	finding__number(finding, "allocations", (double)record->allocations, UNIT_COUNT);
	finding__number(finding, "frees", (double)record->frees, UNIT_COUNT);
	finding__number(finding, "allocation_mean",
			mean(allocating_ns(record), record->allocations - 1), UNIT_NS);
	finding__number(finding, "free_mean", mean(record->free_ns, record->frees), UNIT_NS);
	finding__number(finding, "live_at_once", (double)record->peak, UNIT_COUNT);
	finding__number(finding, "sizes", (double)churn->sizes, UNIT_COUNT);
	finding__number(finding, "all_allocations", (double)churn->allocations, UNIT_COUNT);
	finding__number(finding, "all_frees", (double)churn->frees, UNIT_COUNT);
	finding__number(finding, "all_bytes", (double)churn->bytes, UNIT_BYTES);
	if (site && site->stack) {
		finding->stack = site->stack;
		finding__number(finding, "allocations_here", (double)site->calls, UNIT_COUNT);
	}
	return report(finding, churn, watched_ns);
}

/* Draws each function once; `seen` is indexed by row. */
static int detect_functions(const struct finding_input *input, const struct process *process,
			    bool *seen, struct finding_list *out)
{
	uint64_t watched_ns = site_lookup__watched_ns(input, process);
	double pairs = input->thresholds[LEAST_PAIRS];
	const struct profile *profile = process->profile;
	struct churn churn;
	int ret = 0;

	for (size_t i = 0; i < profile->size_count && !ret; i++) {
		if (seen[profile->sizes[i].key.row] ||
		    !is_churning(&profile->sizes[i].record, pairs))
			continue;
		seen[profile->sizes[i].key.row] = true;
		sum_up(profile, i, pairs, &churn);
		if (churn.worst &&
		    (double)churn.ns >= input->thresholds[LEAST_SHARE] * (double)watched_ns)
			ret = add(input, process, &churn, watched_ns, out);
	}
	return ret;
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	bool *seen = calloc(UINT16_MAX + 1, sizeof(*seen));
	int ret = seen ? detect_functions(input, process, seen, out) : -ENOMEM;

	free(seen);
	return ret;
}

const struct finding_kind alloc_churn_kind = {
	.id = "alloc-churn",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.title = "the same memory is allocated and freed again and again",
	.advice = "Allocate the buffer once, before the loop, at the largest size needed, and use "
		  "it in every step; or keep freed buffers in a list by size and reuse them. "
		  "cudaMalloc and cudaFree go to the driver each time, cudaFree waits for the "
		  "device, and cudaMallocHost and cudaHostRegister pin pages, which takes longer "
		  "for larger buffers. If sizes vary, cudaMallocAsync and cudaFreeAsync take "
		  "memory from a pool in stream order; set cudaMemPoolAttrReleaseThreshold (to "
		  "UINT64_MAX, say), since by default the pool returns its memory at each "
		  "synchronisation, and then churns as well. In PyTorch the caching allocator "
		  "does all this: look for PYTORCH_NO_CUDA_MEMORY_CACHING, for "
		  "torch.cuda.empty_cache() within the loop, and for extensions that call "
		  "cudaMalloc themselves. None of this helps if the buffers of one step must be "
		  "freed to make room for those of another.",
	.cost = "allocations and frees of recurring sizes",
	.thresholds =
		{
			{"share", 0.02, UNIT_SHARE, "minimum share of the watched time"},
			{"pairs", 10, UNIT_COUNT,
			 "minimum frees of one size, for each live at a time"},
		},
	.detect = detect,
};
