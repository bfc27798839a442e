// SPDX-License-Identifier: BSD-2-Clause
// A process's tensors as a whole, see tensors.h.
#include "output/memleak/tensors.h"

#include "base/quantity.h"
#include "model/tensors.h"
#include "output/report/line.h"

static struct quantity bytes_of(const struct memleak_options *options, uint64_t bytes)
{
	return quantity__bytes_as(options->form, bytes);
}

static struct quantity count_of(const struct memleak_options *options, uint64_t count)
{
	return options->form == QUANTITY_EXACT ? quantity__amount_as(options->form, count) :
						 quantity__count(count);
}

/* "2.3 GiB unused (1.9 GiB pinned by 41 tensors)" */
static void print_unused(FILE *out, const struct tensor_segments *segments, bool modelled,
			 const struct memleak_options *options)
{
	bool pinned = segments->pinned_bytes > 0;

	fprintf(out, ", %s unused", bytes_of(options, segments->unused_bytes).text);
	if (modelled || pinned)
		fprintf(out, " (%s%s", modelled ? "modelled" : "", modelled && pinned ? "; " : "");
	if (pinned)
		fprintf(out, "%s pinned by %s tensor%s",
			bytes_of(options, segments->pinned_bytes).text,
			count_of(options, segments->pinning).text,
			report_line__plural(segments->pinning));
	if (modelled || pinned)
		fputc(')', out);
}

/* What the line above does not include. */
static void print_unknown(FILE *out, bool since_attach, uint64_t frees,
			  const struct memleak_options *options)
{
	fputs(REPORT_INDENT, out);
	if (since_attach)
		fputs("since attach: older segments and tensors are unknown", out);
	if (frees)
		fprintf(out, "%s%s free%s of tensors that were not seen allocated",
			since_attach ? "; " : "", count_of(options, frees).text,
			report_line__plural(frees));
	fputc('\n', out);
}

void memleak_tensors__print(FILE *out, const struct process *process,
			    const struct memleak_options *options)
{
	const struct tensors *tensors = process->tensors;
	const struct tensor_segments *segments = &tensors->segments;
	uint64_t unknown = tensors->total.unknown_frees;

	fputs(REPORT_INDENT, out);
	if (segments->count)
		fprintf(out, "%s held, ", bytes_of(options, segments->bytes).text);
	fprintf(out, "%s in %s tensor%s", bytes_of(options, tensors->live_bytes).text,
		count_of(options, tensors->live_count).text,
		report_line__plural(tensors->live_count));
	if (segments->count)
		print_unused(out, segments, process->since_attach || unknown, options);
	fputc('\n', out);
	if (process->since_attach || unknown)
		print_unknown(out, process->since_attach, unknown, options);
}

/* --- JSON --- */

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
		json__key(j, "device");
		if (device->device == TENSOR_DEVICE_UNKNOWN)
			json__null(j);
		else
			json__i64(j, device->device);
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

void memleak_tensors__write(struct json *j, const struct process *process)
{
	const struct tensors *tensors = process->tensors;

	json__key_bool(j, "since_attach", process->since_attach || tensors->total.unknown_frees);
	json__key_u64(j, "live", tensors->live_count);
	json__key_u64(j, "live_bytes", tensors->live_bytes);
	write_counts(j, &tensors->total);
	write_devices(j, tensors);
	write_segments(j, &tensors->segments);
}
