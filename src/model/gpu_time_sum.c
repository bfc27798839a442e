// SPDX-License-Identifier: BSD-2-Clause
// Sums of GPU times, see gpu_time_sum.h.
#include "model/gpu_time_sum.h"

#include "base/saturate.h"

bool gpu_work__has_time(const struct gpu_work *work)
{
	return work->start_ns && work->end_ns >= work->start_ns;
}

void gpu_time_sum__add(struct gpu_time_sum *sum, const struct gpu_work *work)
{
	uint64_t ns = work->end_ns - work->start_ns;

	saturate__add(&sum->bytes, work->bytes);
	sum->count++;
	if (!gpu_work__has_time(work)) {
		sum->untimed++;
		return;
	}
	if (sum->count - sum->untimed == 1 || ns < sum->min_ns)
		sum->min_ns = ns;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
	saturate__add(&sum->ns, ns);
	if (work->burst)
		gpu_sample__add(&sum->sample, work->burst, ns);
}

uint64_t gpu_time_sum__mean(const struct gpu_time_sum *sum)
{
	return sum->count > sum->untimed ? sum->ns / (sum->count - sum->untimed) : 0;
}

void gpu_delay__add(struct gpu_delay *delay, uint64_t called_ns, uint64_t start_ns)
{
	uint64_t ns = saturate__difference(start_ns, called_ns);

	delay->count++;
	saturate__add(&delay->ns, ns);
	if (ns > delay->max_ns)
		delay->max_ns = ns;
}

uint64_t gpu_delay__mean(const struct gpu_delay *delay)
{
	return delay->count ? delay->ns / delay->count : 0;
}
