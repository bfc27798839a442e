// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory that a process keeps reserved but unused all the time: in pools, and physical memory that
 * is mapped nowhere. Memory that one step frees and the next takes again does not count.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/quantity.h"
#include "finding/history.h"
#include "finding/rules.h"

#define LEAST_SHARE 0
#define LEAST_BYTES 1

/* `pool` is NULL for physical memory. */
static int add(const struct finding_input *input, const struct process *process,
	       const struct pool_totals *pool, const struct unused_evidence *unused,
	       struct finding_list *out)
{
	struct finding *finding = finding_list__add(out, input, process);
	uint64_t reserved = pool ? pool->reserved : process->memory[MEMORY_PHYSICAL].live_bytes;
	int ret;

	if (!finding)
		return -ENOMEM;
	finding->weight = (double)unused->bytes;
	finding__number(finding, "unused", (double)unused->bytes, UNIT_BYTES);
	finding__number(finding, "unused_share", unused->share, UNIT_SHARE);
	finding__number(finding, "reserved", (double)reserved, UNIT_BYTES);
	finding__number(finding, "time", (double)unused->span_ns, UNIT_NS);
	finding__number(finding, "samples", (double)unused->samples, UNIT_COUNT);
	if (!pool)
		ret = finding__subject(finding, "physical memory that is mapped nowhere");
	else if (pool->device == DEVICE_UNKNOWN)
		ret = finding__subject(finding, "memory pool 0x%" PRIx64, pool->handle);
	else
		ret = finding__subject(finding, "memory pool 0x%" PRIx64 " of device %u",
				       pool->handle, pool->device);
	if (ret)
		return ret;
	return finding__evidence(
		finding,
		"of %s that %s%s at least %s (%s) %s not used for %s, at each of %s readings",
		quantity__bytes((double)reserved).text,
		pool ? "the pool has reserved" : "were created",
		pool && pool->estimated ? " (estimated)" : "",
		quantity__bytes((double)unused->bytes).text, quantity__share(unused->share).text,
		pool ? "were" : "were mapped nowhere and so",
		quantity__time((double)unused->span_ns).text,
		quantity__amount((double)unused->samples).text);
}

static int detect(const struct finding_input *input, const struct process *process,
		  const struct pool_totals *pool, struct finding_list *out)
{
	struct unused_evidence unused;

	unused_history__judge(findings__history(input->state)->unused, process, pool, &unused);
	if (!unused.samples)
		return 0;
	/* Memory used at any reading is ruled out at once, however short the time. */
	if (!unused.bytes || unused.share < input->thresholds[LEAST_SHARE] ||
	    (double)unused.bytes < input->thresholds[LEAST_BYTES]) {
		finding_list__follow(out, input, true, unused.span_ns, unused.needed_ns);
		return 0;
	}
	finding_list__follow(out, input, unused.known, unused.span_ns, unused.needed_ns);
	if (!unused.known)
		return 0;
	return add(input, process, pool, &unused, out);
}

static int detect_fragmentation(const struct finding_input *input, const struct process *process,
				struct finding_list *out)
{
	int ret = detect(input, process, NULL, out);

	for (size_t i = 0; i < process->pool_count && !ret; i++)
		ret = detect(input, process, &process->pools[i], out);
	return ret;
}

const struct finding_kind fragmentation_kind = {
	.id = "fragmentation",
	.severity = SEVERITY_WARNING,
	.title = "memory is reserved and not used",
	.advice = "The process holds this memory and does not use it. For a pool of "
		  "cudaMallocAsync, lower cudaMemPoolAttrReleaseThreshold, or call "
		  "cudaMemPoolTrimTo() after a phase that needs much; do not if the next phase "
		  "needs it again, since it would have to be allocated again. Physical memory of "
		  "cuMemCreate that is mapped nowhere is released by cuMemRelease once it is "
		  "unmapped. Calls do not show what is unused inside the segments of a caching "
		  "allocator: in PyTorch compare torch.cuda.memory_reserved() with "
		  "torch.cuda.memory_allocated(); "
		  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or max_split_size_mb, and "
		  "torch.cuda.empty_cache() between phases reduce the difference.",
	.thresholds =
		{
			{"share", 0.5, UNIT_SHARE,
			 "minimum share of the reserved memory that is not used"},
			{"bytes", 268435456, UNIT_BYTES,
			 "minimum memory that is reserved and not used"},
		},
	.detect = detect_fragmentation,
};
