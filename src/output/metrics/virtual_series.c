// SPDX-License-Identifier: BSD-2-Clause
// Address ranges and memory pools in the metrics, see series.h.
#include "output/metrics/series.h"

#include <inttypes.h>

#include "model/gpu_label.h"
#include "output/enum_names.h"

/* Sums over a process's pools on one device. */
struct device_pools {
	uint64_t used, reserved;
};

static void write_ranges(struct metrics_page *page, const struct process *p)
{
	const struct memory_totals *m = &p->memory[page->metric->kind];

	if (!m->allocations && !p->memory[MEMORY_RESERVED].allocations)
		return;
	metrics_page__sample(&page->writer, p);
	exposition__number(&page->writer, m->live_bytes);
}

/* Sums the pools of one device, which are adjacent. Returns their number from `first` on. */
static size_t sum_pools(const struct process *p, size_t first, struct device_pools *sum)
{
	size_t count = 0;

	*sum = (struct device_pools){0};
	while (first + count < p->pool_count &&
	       p->pools[first + count].device == p->pools[first].device) {
		sum->used += p->pools[first + count].used;
		sum->reserved += p->pools[first + count].reserved;
		count++;
	}
	return count;
}

/* Labels the device with the machine's number if it is known, otherwise with the process's. */
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

static void write_pools(struct metrics_page *page, const struct process *p)
{
	struct device_pools sum;
	size_t count;

	for (size_t pool = 0; pool < p->pool_count; pool += count) {
		count = sum_pools(p, pool, &sum);
		metrics_page__sample(&page->writer, p);
		label_device(page, p, p->pools[pool].device);
		exposition__number(&page->writer, metrics_page__value(page, &sum));
	}
}

static void write_context_ends(struct metrics_page *page, const struct process *p)
{
	for (int kind = 0; kind < MEMORY_KINDS; kind++) {
		if (!p->memory[kind].with_context)
			continue;
		metrics_page__sample(&page->writer, p);
		exposition__label(&page->writer, "kind", enum_names__memory_kind(kind));
		exposition__number(&page->writer, p->memory[kind].with_context);
	}
}

#define RANGES(kind_) .process = write_ranges, .kind = (kind_)
#define POOLS(member) .process = write_pools, METRIC_VALUE(struct device_pools, member)

static const struct metric metrics[] = {
	{{"gpuprobe_virtual_reserved_bytes", METRIC_GAUGE,
	  "Bytes of address ranges reserved for virtual memory management; no memory by "
	  "themselves."},
	 RANGES(MEMORY_RESERVED)},
	{{"gpuprobe_virtual_mapped_bytes", METRIC_GAUGE,
	  "Bytes of reserved address ranges that have memory mapped behind them."},
	 RANGES(MEMORY_MAPPED)},
	{{"gpuprobe_pool_used_bytes", METRIC_GAUGE,
	  "Bytes that live allocations have of the memory pools of a device."},
	 POOLS(used)},
	{{"gpuprobe_pool_reserved_bytes", METRIC_GAUGE,
	  "Bytes that the memory pools of a device hold; reckoned unless the program asked the "
	  "driver."},
	 POOLS(reserved)},
	{{"gpuprobe_allocations_ended_with_context", METRIC_COUNTER,
	  "Allocations that ended with their context and not by a free, by kind of memory."},
	 .process = write_context_ends},
	{{"gpuprobe_double_frees", METRIC_COUNTER,
	  "Free calls for what had been freed before, failed or not."},
	 METRIC_TOTAL(double_frees)},
};

void virtual_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
