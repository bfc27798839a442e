// SPDX-License-Identifier: BSD-2-Clause
/*
 * leak-at-exit: memory that was live when its process ended, if it grew until then or if most of
 * its kind was freed. Being live at exit alone is not a leak.
 *
 * Memory in use at the end, such as the results of the last step, is not a leak either: it is
 * young, and there was as much at any time before. Ages of sizes are unknown, and several call
 * sites may share a size, so the criteria for sizes are stricter.
 */
#include <errno.h>

#include "base/quantity.h"
#include "base/saturate.h"
#include "finding/kept.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "finding/size_spans.h"

enum {
	LEAST_FREED = LEAK_LEAST_BYTES + 1,
};

/* Share of a site's allocation time that the last step may have taken. */
#define STEP_TIME 0.1
/* Smallest share of a size's allocations that must be kept: more than may be in use. */
#define KEPT_LEAST 0.02
/* A single kept allocation may be in use. */
#define KEPT_COUNT 2
/* Share of the peak that must be live at exit if memory grew. */
#define KEPT_OF_PEAK 0.9

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

static int detect_one(const struct finding_input *input, const struct kept *kept, const void *known,
		      struct finding_list *out)
{
	bool found = kept->growth.verdict == GROWTH_GROWING || is_kept(input, kept, known);
	struct finding *finding;

	kept__follow(input, kept, found, out);
	if (!found || !kept->bytes || (double)kept->bytes < input->thresholds[LEAK_LEAST_BYTES])
		return 0;
	finding = kept__add(input, kept, out);
	if (!finding)
		return -ENOMEM;
	finding->weight = (double)kept->bytes;
	if (kept->growth.verdict == GROWTH_GROWING)
		return kept__report_growth(finding, kept, " when the process ended", "");
	return finding__evidence(
		finding,
		"%s of %s allocations of this %s were freed, and %s (%s) were not: live when the "
		"process ended",
		quantity__amount((double)kept->frees).text,
		quantity__amount((double)kept->allocations).text, kept->size ? "size" : "call site",
		quantity__amount((double)kept->count).text,
		quantity__bytes((double)kept->bytes).text);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	return process->ended ? kept__each(input, process, detect_one, out) : 0;
}

const struct finding_kind leak_at_exit_kind = {
	.id = "leak-at-exit",
	.severity = SEVERITY_WARNING,
	.title = "memory stayed live where most was freed, or grew until the exit",
	.advice = "Memory that is live at exit costs nothing any more. But in a program that runs "
		  "longer, or code that is called more often, it is lost each time. Look for "
		  "paths without a free: an error path, an early return, an exception, a buffer "
		  "that is replaced by another. Tie the free to the allocation: a C++ object "
		  "whose destructor calls cudaFree, thrust::device_vector, rmm::device_buffer. "
		  "Memory that is kept on purpose, such as weights or the segments of PyTorch's "
		  "caching allocator, is not reported, since hardly any of it is freed before the "
		  "end. If the process was killed, gpuprobe allows for the latest allocations, "
		  "which had no time to be freed.",
	.thresholds =
		{
			{"bytes", 1048576, UNIT_BYTES, "minimum memory live at exit"},
			{"freed", 0.5, UNIT_SHARE,
			 "minimum share of its allocations that were freed"},
		},
	.detect = detect,
};
