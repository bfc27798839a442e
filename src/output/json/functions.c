// SPDX-License-Identifier: BSD-2-Clause
// Counts by function and by device in the JSON report, see parts.h.

#include "api/api.h"
#include "output/json/parts.h"
#include "output/enum_names.h"

static void write_flags(struct json *j, uint16_t flags)
{
	json__key(j, "flags");
	json__array_begin(j);
	for (uint16_t flag = 1; flag; flag = (uint16_t)(flag << 1)) {
		if (flags & flag)
			json__string(j, enum_names__tally_flag(flag));
	}
	json__array_end(j);
}

static void write_function(struct json *j, const struct process *p, const struct function_totals *f)
{
	const struct api_function *function = &api_functions[f->row];

	json__object_begin(j);
	json__key_string(j, "function", function->symbol);
	json__key_string(j, "layer", enum_names__layer(function->desc.layer));
	json__key_string(j, "kind", enum_names__kind_of(function->desc.operation, f->kind));
	write_flags(j, f->flags);
	json_parts__key_device(j, f->device);
	json__key_u64(j, "calls", f->calls);
	json__key_u64(j, "failures", f->failures);
	json__key_u64(j, "bytes", f->bytes);
	json__key_u64(j, "ns", f->ns);
	if (f->open) {
		json__key_u64(j, "in_progress", f->open);
		json__key_u64(j, "in_progress_ns", f->open_ns);
	}
	json_sampling__key_estimated(j, p, api__tally_family(f->row));
	json__object_end(j);
}

static void write_device(struct json *j, unsigned int sections, const struct device_totals *d)
{
	json__object_begin(j);
	json_parts__key_device(j, d->device);
	if (sections & SECTION_LAUNCH)
		json__key_u64(j, "launches", d->launches);
	if (sections & SECTION_MEMORY) {
		json__key_u64(j, "allocations", d->allocations);
		json__key_u64(j, "live_bytes", d->live_bytes);
		json__key_u64(j, "live_allocations", d->live_count);
	}
	if (sections & SECTION_COPY) {
		json__key_u64(j, "copies", d->copies);
		json__key_u64(j, "copy_bytes", d->copy_bytes);
		json__key_u64(j, "wait_ns", d->wait_ns);
	}
	json__object_end(j);
}

void json_functions__write(struct json *j, unsigned int sections, const struct process *p)
{
	size_t i;

	json__key(j, "devices");
	json__array_begin(j);
	for (i = 0; i < p->device_count; i++)
		write_device(j, sections, &p->devices[i]);
	json__array_end(j);
	json__key(j, "functions");
	json__array_begin(j);
	for (i = 0; i < p->function_count; i++)
		write_function(j, p, &p->functions[i]);
	json__array_end(j);
}
