// SPDX-License-Identifier: BSD-2-Clause
// Address ranges and memory pools in the metrics, see series.h.
#include "output/metrics/series.h"

#include <inttypes.h>

#include "model/gpu_label.h"
#include "output/enum_names.h"

static const struct metric_family virtual_reserved = {
	"gpuprobe_virtual_reserved_bytes",
	METRIC_GAUGE,
	"Bytes of address ranges reserved for virtual memory management; no memory by themselves.",
};
static const struct metric_family virtual_mapped = {
	"gpuprobe_virtual_mapped_bytes",
	METRIC_GAUGE,
	"Bytes of reserved address ranges that have memory mapped behind them.",
};
static const struct metric_family pool_used = {
	"gpuprobe_pool_used_bytes",
	METRIC_GAUGE,
	"Bytes that live allocations have of the memory pools of a device.",
};
static const struct metric_family pool_reserved = {
	"gpuprobe_pool_reserved_bytes",
	METRIC_GAUGE,
	"Bytes that the memory pools of a device hold; reckoned unless the program asked the driver.",
};
static const struct metric_family with_context = {
	"gpuprobe_allocations_ended_with_context",
	METRIC_COUNTER,
	"Allocations that ended with their context and not by a free, by kind of memory.",
};
static const struct metric_family double_frees = {
	"gpuprobe_double_frees",
	METRIC_COUNTER,
	"Free calls for what had been freed before, failed or not.",
};

static void write_ranges(struct metrics_page *page, const struct metric_family *family, enum memory_kind kind)
{
	exposition__family(&page->writer, family);
	for (size_t i = 0; i < page->process_count; i++) {
		const struct memory_totals *m = &page->processes[i]->memory[kind];

		if (!m->allocations && !page->processes[i]->memory[MEMORY_RESERVED].allocations)
			continue;
		metrics_page__sample(&page->writer, page->processes[i]);
		exposition__u64(&page->writer, m->live_bytes);
	}
}

/* The pools of one device are next to one another. Returns how many there are from `first` on. */
static size_t sum_pools(const struct process *p, size_t first, uint64_t *used, uint64_t *reserved)
{
	size_t count = 0;

	*used = 0;
	*reserved = 0;
	while (first + count < p->pool_count && p->pools[first + count].device == p->pools[first].device) {
		*used += p->pools[first + count].used;
		*reserved += p->pools[first + count].reserved;
		count++;
	}
	return count;
}

/* The machine's number of the device where that is known, or else the process's. */
static void label_device(struct metrics_page *page, const struct process *p, uint8_t device)
{
	const struct gpu *gpu = NULL;
	char label[GPU_LABEL_SIZE] = "unknown";

	for (size_t i = 0; i < p->gpu_count && !gpu; i++)
		if (p->gpus[i].ordinal == device)
			gpu = gpu_label__find(page->model, &p->gpus[i]);
	if (gpu)
		gpu_label(gpu, label);
	else if (device != DEVICE_UNKNOWN)
		snprintf(label, sizeof(label), "%" PRIu8, device);
	exposition__label(&page->writer, "gpu", label);
	exposition__label(&page->writer, "uuid", gpu ? gpu->uuid : "");
}

static void write_pools(struct metrics_page *page, const struct metric_family *family)
{
	exposition__family(&page->writer, family);
	for (size_t i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];
		uint64_t used, reserved;
		size_t count;

		for (size_t pool = 0; pool < p->pool_count; pool += count) {
			count = sum_pools(p, pool, &used, &reserved);
			metrics_page__sample(&page->writer, p);
			label_device(page, p, p->pools[pool].device);
			exposition__u64(&page->writer, family == &pool_used ? used : reserved);
		}
	}
}

static void write_context_ends(struct metrics_page *page)
{
	exposition__family(&page->writer, &with_context);
	for (size_t i = 0; i < page->process_count; i++) {
		for (int kind = 0; kind < MEMORY_KINDS; kind++) {
			const struct memory_totals *m = &page->processes[i]->memory[kind];

			if (!m->with_context)
				continue;
			metrics_page__sample(&page->writer, page->processes[i]);
			exposition__label(&page->writer, "kind", enum_names__memory_kind(kind));
			exposition__u64(&page->writer, m->with_context);
		}
	}
}

void virtual_series__write(struct metrics_page *page)
{
	write_ranges(page, &virtual_reserved, MEMORY_RESERVED);
	write_ranges(page, &virtual_mapped, MEMORY_MAPPED);
	write_pools(page, &pool_used);
	write_pools(page, &pool_reserved);
	write_context_ends(page);
	exposition__family(&page->writer, &double_frees);
	for (size_t i = 0; i < page->process_count; i++) {
		metrics_page__sample(&page->writer, page->processes[i]);
		exposition__u64(&page->writer, page->processes[i]->double_frees);
	}
}
