// SPDX-License-Identifier: BSD-2-Clause
// Memory in the metrics: live memory by kind, allocations and frees, see series.h.
#include "output/metrics/series.h"

#include "output/enum_names.h"

/*
 * A kind has series once it was used. Device memory always has them, because its 0 is worth
 * knowing, except in a process that is older than gpuprobe.
 */
static bool has_kind(const struct process *p, int kind)
{
	const struct memory_totals *m = &p->memory[kind];

	if (kind == MEMORY_DEVICE && !p->since_attach)
		return true;
	if (kind == MEMORY_UNKNOWN)
		return m->live_count > 0;
	return m->allocations || m->allocation_failures || m->frees || m->free_failures ||
	       m->live_count;
}

static void write_live(struct metrics_page *page, const struct process *p)
{
	struct exposition_writer *w = &page->writer;

	for (int kind = 0; kind < MEMORY_KINDS; kind++) {
		if (!has_kind(p, kind))
			continue;
		metrics_page__sample(w, p);
		exposition__label(w, "kind", enum_names__memory_kind(kind));
		exposition__number(w, metrics_page__value(page, &p->memory[kind]));
	}
}

static void write_sum(struct metrics_page *page, const struct process *p)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		if (kind != MEMORY_RESERVED && kind != MEMORY_MAPPED)
			sum += metrics_page__value(page, &p->memory[kind]);
	metrics_page__sample(&page->writer, p);
	exposition__number(&page->writer, sum);
}

static void write_live_at_exit(struct metrics_page *page)
{
	exposition__sample(&page->writer);
	exposition__number(&page->writer, page->model->live_at_exit_bytes);
}

#define LIVE(member) .process = write_live, METRIC_VALUE(struct memory_totals, member)
#define SUM(member) .process = write_sum, METRIC_VALUE(struct memory_totals, member)

static const struct metric metrics[] = {
	{{"gpuprobe_memory_live_bytes", METRIC_GAUGE,
	  "Bytes allocated and not freed, by kind of memory."},
	 LIVE(live_bytes)},
	{{"gpuprobe_memory_live_allocations", METRIC_GAUGE,
	  "Allocations not freed, by kind of memory."},
	 LIVE(live_count)},
	{{"gpuprobe_allocations", METRIC_COUNTER,
	  "Successful allocation calls for memory of every kind, host memory included; address "
	  "ranges are no memory."},
	 SUM(allocations)},
	{{"gpuprobe_allocation_failures", METRIC_COUNTER,
	  "Failed allocation calls for memory of every kind, host memory included."},
	 SUM(allocation_failures)},
	{{"gpuprobe_out_of_memory", METRIC_COUNTER,
	  "Allocations of device memory that failed for good; at most one a second of a thread."},
	 METRIC_TOTAL(out_of_memory)},
	{{"gpuprobe_frees", METRIC_COUNTER,
	  "Successful free calls for memory of every kind, host memory included."},
	 SUM(frees)},
	{{"gpuprobe_free_failures", METRIC_COUNTER,
	  "Failed free calls for memory of every kind, host memory included."},
	 SUM(free_failures)},
	{{"gpuprobe_allocation_seconds", METRIC_COUNTER,
	  "Time inside successful allocation calls, in seconds."},
	 SUM(allocation_ns)},
	{{"gpuprobe_live_at_exit_bytes", METRIC_COUNTER,
	  "Bytes of memory on devices that ended processes had not freed."},
	 .page = write_live_at_exit},
};

void memory_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
