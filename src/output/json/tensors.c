// SPDX-License-Identifier: BSD-2-Clause
// Tensors of a process in JSON, see parts.h.
#include "model/tensors.h"
#include "output/json/parts.h"

static void write_counts(struct json *j, const struct tensor_device_record *counts)
{
	json__key_u64(j, "allocations", counts->made);
	json__key_u64(j, "allocated_bytes", counts->made_bytes);
	json__key_u64(j, "frees", counts->freed);
	json__key_u64(j, "freed_bytes", counts->freed_bytes);
	json__key_u64(j, "unknown_frees", counts->unknown_frees);
	json__key_u64(j, "missed_frees", counts->replaced);
	json__key_u64(j, "untracked", counts->untracked);
	json__key_u64(j, "untracked_bytes", counts->untracked_bytes);
	json__key_u64(j, "peak_bytes", counts->peak_bytes);
}

static void write_devices(struct json *j, const struct tensors *tensors)
{
	json__key(j, "devices");
	json__array_begin(j);
	for (size_t i = 0; i < tensors->device_count; i++) {
		const struct tensor_device *device = &tensors->devices[i];

		json__object_begin(j);
		json__key_known_i64(j, "device", device->device,
				    device->device != TENSOR_DEVICE_UNKNOWN);
		write_counts(j, &device->counts);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_segments(struct json *j, const struct tensor_segments *segments)
{
	json__key(j, "segments");
	json__object_begin(j);
	json__key_bool(j, "modelled", true);
	json__key_u64(j, "segments", segments->count);
	json__key_u64(j, "bytes", segments->bytes);
	json__key_u64(j, "tensor_bytes", segments->tensor_bytes);
	json__key_u64(j, "unused_bytes", segments->unused_bytes);
	json__key_u64(j, "pinned_bytes", segments->pinned_bytes);
	json__key_u64(j, "pinning_tensors", segments->pinning);
	json__key_u64(j, "largest_hole_bytes", segments->largest_hole);
	json__object_end(j);
}

void json_tensors__write_totals(struct json *j, const struct process *p)
{
	const struct tensors *tensors = p->tensors;

	json__key_bool(j, "since_attach", p->since_attach || tensors->total.unknown_frees);
	json__key_u64(j, "live", tensors->live_count);
	json__key_u64(j, "live_bytes", tensors->live_bytes);
	write_counts(j, &tensors->total);
	json__key_u64(j, "unsampled", tensors->total.unsampled);
	json__key_bool(j, "sites_estimated", tensors->is_sampled);
	if (tensors->steps >= TENSOR_STEPS_LEAST)
		json__key_u64(j, "steps", tensors->steps);
	write_devices(j, tensors);
	write_segments(j, &tensors->segments);
}

void json_tensors__write_step(struct json *j, const struct tensors *tensors,
			      const struct tensor_site *site)
{
	if (tensors->steps < TENSOR_STEPS_LEAST)
		return;
	json__key_double(j, "per_step", (double)site->step_made / (double)tensors->steps);
	json__key_double(j, "bytes_per_step", (double)site->step_bytes / (double)tensors->steps);
}

static void write_made(struct json *j, const struct tensors *tensors,
		       const struct tensor_site *site)
{
	json__key_u64(j, "made", site->counts.made);
	json__key_u64(j, "made_bytes", site->counts.made_bytes);
	json__key_u64(j, "freed", site->counts.freed);
	json__key_u64(j, "freed_bytes", site->counts.freed_bytes);
	json__key_u64(j, "peak_bytes", site->counts.peak_bytes);
	json_tensors__write_step(j, tensors, site);
}

static void write_site(struct json *j, const struct tensors *tensors, const struct live_site *site)
{
	const struct tensor_site *made = site->stack ? tensors__site(tensors, site->stack) : NULL;

	json__object_begin(j);
	json__key_u64(j, "bytes", site->bytes);
	json__key_u64(j, "count", site->count);
	json__key_u64(j, "oldest_ns", site->oldest_ns);
	json__key_u64(j, "newest_ns", site->newest_ns);
	if (made)
		write_made(j, tensors, made);
	json_stack__write(j, site->stack);
	json__object_end(j);
}

/* Those without a live tensor, which live_sites has not. */
static void write_churn(struct json *j, const struct tensors *tensors)
{
	json__key(j, "churn_sites");
	json__array_begin(j);
	for (size_t i = 0; i < tensors->site_count; i++) {
		const struct tensor_site *site = &tensors->sites[i];

		if (!site->counts.made || site->counts.made != site->counts.freed)
			continue;
		json__object_begin(j);
		write_made(j, tensors, site);
		json_stack__write(j, site->stack);
		json__object_end(j);
	}
	json__array_end(j);
}

void json_tensors__write(struct json *j, const struct model *model, const struct process *p)
{
	if (!p->tensors)
		return;
	json__key(j, "tensors");
	json__object_begin(j);
	json_tensors__write_totals(j, p);
	if (model->stacks) {
		json__key(j, "live_sites");
		json__array_begin(j);
		for (size_t i = 0; i < p->tensors->live_site_count; i++)
			write_site(j, p->tensors, &p->tensors->live_sites[i]);
		json__array_end(j);
		write_churn(j, p->tensors);
	}
	json__object_end(j);
}
