// SPDX-License-Identifier: BSD-2-Clause
// Memory in the metrics: what is live by kind, and how it came and went, see series.h.
#include "output/metrics/series.h"

#include "output/enum_names.h"

static const struct metric_family live_bytes = {
	"gpuprobe_memory_live_bytes",
	METRIC_GAUGE,
	"Bytes allocated and not freed, by kind of memory.",
};
static const struct metric_family live_allocations = {
	"gpuprobe_memory_live_allocations",
	METRIC_GAUGE,
	"Allocations not freed, by kind of memory.",
};
static const struct metric_family allocations = {
	"gpuprobe_allocations",
	METRIC_COUNTER,
	"Successful allocation calls for memory of every kind, host memory included; address ranges"
	" are no memory.",
};
static const struct metric_family allocation_failures = {
	"gpuprobe_allocation_failures",
	METRIC_COUNTER,
	"Failed allocation calls for memory of every kind, host memory included.",
};
static const struct metric_family frees = {
	"gpuprobe_frees",
	METRIC_COUNTER,
	"Successful free calls for memory of every kind, host memory included.",
};
static const struct metric_family free_failures = {
	"gpuprobe_free_failures",
	METRIC_COUNTER,
	"Failed free calls for memory of every kind, host memory included.",
};
static const struct metric_family allocation_seconds = {
	"gpuprobe_allocation_seconds",
	METRIC_COUNTER,
	"Time inside successful allocation calls, in seconds.",
};
static const struct metric_family live_at_exit = {
	"gpuprobe_live_at_exit_bytes",
	METRIC_COUNTER,
	"Bytes of memory on devices that ended processes had not freed.",
};

/*
 * A kind has series once it was used, device memory always: its 0 is worth knowing. It is none of a process that was
 * there before gpuprobe.
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

static void write_live(struct metrics_page *page, const struct metric_family *family)
{
	struct exposition_writer *w = &page->writer;
	size_t i;
	int kind;

	exposition__family(w, family);
	for (i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];

		for (kind = 0; kind < MEMORY_KINDS; kind++) {
			const struct memory_totals *m = &p->memory[kind];

			if (!has_kind(p, kind))
				continue;
			metrics_page__sample(w, p);
			exposition__label(w, "kind", enum_names__memory_kind(kind));
			exposition__u64(w, family == &live_bytes ? m->live_bytes : m->live_count);
		}
	}
}

static uint64_t memory_value(const struct memory_totals *m, const struct metric_family *family)
{
	if (family == &allocations)
		return m->allocations;
	if (family == &allocation_failures)
		return m->allocation_failures;
	if (family == &frees)
		return m->frees;
	if (family == &free_failures)
		return m->free_failures;
	return m->allocation_ns;
}

static void write_memory_counter(struct metrics_page *page, const struct metric_family *family)
{
	struct exposition_writer *w = &page->writer;
	size_t i;
	int kind;

	exposition__family(w, family);
	for (i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];
		uint64_t sum = 0;

		for (kind = 0; kind < MEMORY_KINDS; kind++) {
			if (kind != MEMORY_RESERVED && kind != MEMORY_MAPPED)
				sum += memory_value(&p->memory[kind], family);
		}
		metrics_page__sample(w, p);
		if (family == &allocation_seconds)
			exposition__seconds(w, sum);
		else
			exposition__u64(w, sum);
	}
}

void memory_series__write(struct metrics_page *page)
{
	write_live(page, &live_bytes);
	write_live(page, &live_allocations);
	write_memory_counter(page, &allocations);
	write_memory_counter(page, &allocation_failures);
	write_memory_counter(page, &frees);
	write_memory_counter(page, &free_failures);
	write_memory_counter(page, &allocation_seconds);
	exposition__family(&page->writer, &live_at_exit);
	exposition__sample(&page->writer);
	exposition__u64(&page->writer, page->model->live_at_exit_bytes);
}
