// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver's part of the truth file: devices, captures, graphs, objects, pools, and the sides of
 * copies, from the threads' tallies and the driver's state. memory.c writes the live memory.
 */
#include "cuda/clock.h"
#include "cuda/describe.h"
#include "cuda/memory.h"
#include "cuda/usage.h"

#include <inttypes.h>

static const char *const object_names[SIM_OBJECTS] = {
	[SIM_STREAM] = "stream", [SIM_EVENT] = "event", [SIM_CONTEXT] = "context",
	[SIM_PRIMARY_CONTEXT] = "primary_context", [SIM_GREEN_CONTEXT] = "green_context",
	[SIM_MODULE] = "module", [SIM_LIBRARY] = "library", [SIM_GRAPH] = "graph",
	[SIM_GRAPH_EXEC] = "graph_exec", [SIM_POOL] = "pool", [SIM_CUBLAS] = "cublas",
	[SIM_CUDNN] = "cudnn", [SIM_CUFFT] = "cufft", [SIM_NCCL] = "nccl",
};

static void print_kind(FILE *out, int device, enum memory_kind kind)
{
	struct memory_totals totals = memory__totals(device, kind);

	fprintf(out, "\n  \"%s\": {\"allocations\":%" PRIu64 ",\"frees\":%" PRIu64
		",\"bytes_allocated\":%" PRIu64 ",\"bytes_freed\":%" PRIu64
		",\"released_with_context\":%" PRIu64 ",\"bytes_released_with_context\":%" PRIu64
		",\"live_bytes\":%" PRIu64 ",\"live_count\":%" PRIu64 "}",
		memory__kind_name(kind), totals.allocations, totals.frees,
		totals.bytes_allocated, totals.bytes_freed, totals.released,
		totals.bytes_released,
		totals.bytes_allocated - totals.bytes_freed - totals.bytes_released,
		totals.allocations - totals.frees - totals.released);
}

/* The kinds that the program allocates itself. `device`: -1 for all. */
static void print_memory(FILE *out, int device)
{
	fputc('{', out);
	for (int kind = 0; kind < MEMORY_MAPPED; kind++) {
		if (kind)
			fputc(',', out);
		print_kind(out, device, (enum memory_kind)kind);
	}
	fputs("\n }", out);
}

static void print_moves(FILE *out, const char *name, const struct sim_moves *moves)
{
	fprintf(out, ",\"%s_calls\":%" PRIu64 ",\"%s_failures\":%" PRIu64 ",\"%s_captured\":%"
		PRIu64 ",\"%s_bytes\":%" PRIu64, name, moves->calls, name, moves->failures, name,
		moves->captured, name, moves->bytes);
}

static void print_device(FILE *out, const struct sim_device_tally *device)
{
	fprintf(out, "\"launches\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"captured\":%" PRIu64
		",\"abandoned\":%" PRIu64 ",\"graph_launches\":%" PRIu64, device->launches,
		device->failed, device->captured, device->abandoned, device->graph_launches);
	print_moves(out, "copies", &device->copies);
	print_moves(out, "sets", &device->sets);
}

static void print_uuid(FILE *out, int device)
{
	char bytes[16];

	device_uuid(device, bytes);
	fputs("\"uuid\":\"GPU-", out);
	for (int i = 0; i < 16; i++)
		fprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			(unsigned char)bytes[i]);
	fputs("\",", out);
}

static void print_devices(FILE *out, const struct sim_tallies *sum)
{
	const struct sim_device_tally *none = &sum->devices[SIM_NO_DEVICE];
	const char *comma = "";

	fputs(" \"devices\": {", out);
	for (int device = 0; device < driver.nr_devices; device++) {
		fprintf(out, "%s\n  \"%d\": {", comma, device);
		print_uuid(out, device);
		fprintf(out, "\"name\":\"%s\",", DEVICE_NAME);
		print_device(out, &sum->devices[device]);
		if (driver.clock) {
			fputs(",\n   ", out);
			clock__describe(out, device);
		}
		fputs(",\n   \"memory\":", out);
		print_memory(out, device);
		fputc('}', out);
		comma = ",";
	}
	if (none->launches || none->abandoned || none->copies.calls || none->sets.calls) {
		fprintf(out, "%s\n  \"none\": {", comma);
		print_device(out, none);
		fputc('}', out);
	}
	fputs("\n },\n", out);
}

static void print_captured(FILE *out, const struct sim_tallies *sum)
{
	fprintf(out, " \"captured\": {\"launches\":%" PRIu64 ",\"graph_launches\":%" PRIu64
		",\"copies_calls\":%" PRIu64 ",\"copies_bytes\":%" PRIu64 ",\"sets_calls\":%" PRIu64
		",\"sets_bytes\":%" PRIu64 ",\"allocations\":%" PRIu64 ",\"frees\":%" PRIu64
		"},\n", sum->captured.launches, sum->captured.graph_launches,
		sum->captured.copies.calls, sum->captured.copies.bytes,
		sum->captured.sets.calls, sum->captured.sets.bytes,
		sum->captured.allocations, sum->captured.frees);
	fprintf(out, " \"graphs\": {\"launches\":%" PRIu64 ",\"kernels\":%" PRIu64 "},\n",
		sum->graphs.launches, sum->graphs.kernels);
}

static void print_objects(FILE *out, const struct sim_tallies *sum)
{
	fputs(" \"objects\": {", out);
	for (int kind = 0; kind < SIM_OBJECTS; kind++) {
		const struct sim_object_tally *tally = &sum->objects[kind];

		fprintf(out, "%s\n  \"%s\": {\"created\":%" PRIu64 ",\"destroyed\":%" PRIu64
			",\"with_context\":%" PRIu64 ",\"live\":%" PRIu64 "}", kind ? "," : "",
			object_names[kind], tally->created, tally->destroyed,
			tally->with_context,
			tally->created - tally->destroyed - tally->with_context);
	}
	fputs("\n },\n", out);
}

static void print_side(FILE *out, const char *name, const struct sim_calls_bytes *side)
{
	fprintf(out, "\"%s\":{\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", name, side->calls,
		side->bytes);
}

static void print_host_sides(FILE *out, const char *name, const struct sim_calls_bytes *sides)
{
	fprintf(out, "\n  \"%s\": {", name);
	print_side(out, "pinned", &sides[SIM_PINNED]);
	fputc(',', out);
	print_side(out, "pageable", &sides[SIM_PAGEABLE]);
	fputc(',', out);
	print_side(out, "managed", &sides[SIM_MANAGED]);
	fputs("},", out);
}

static void print_sides(FILE *out, const char *name,
			const struct sim_calls_bytes (*sides)[SIM_HOST_SIDES])
{
	fprintf(out, " \"%s\": {", name);
	print_host_sides(out, "H2D", sides[SIM_TO_DEVICE]);
	print_host_sides(out, "D2H", sides[SIM_TO_HOST]);
	fputs("\n  ", out);
	print_side(out, "D2D", &sides[SIM_ON_DEVICE][0]);
	fputs(",\n  ", out);
	print_side(out, "H2H", &sides[SIM_ON_HOST][0]);
	fputs("\n },\n", out);
}

static void print_pools(FILE *out)
{
	struct CUmemPoolHandle_st *pool = NULL;
	const char *comma = "";

	fputs(" \"pools\": [", out);
	while (driver.pools && (pool = pool__next(driver.pools, pool)) != NULL) {
		fprintf(out, "%s\n  {\"device\":%d,\"handle\":\"0x%" PRIxPTR "\",\"default\":%s,"
			"\"destroyed\":%s,\"used_bytes\":%" PRIu64 ",\"reserved_bytes\":%" PRIu64
			",\"release_threshold\":%" PRIu64 "}", comma, pool->device,
			(uintptr_t)pool, mempool__is_default(pool) ? "true" : "false",
			pool->doomed ? "true" : "false", pool->used, pool->reserved_bytes,
			pool->threshold);
		comma = ",";
	}
	fputs("\n ],\n", out);
}

void describe__driver(FILE *out)
{
	struct sim_tallies sum;

	sim_tallies__fold(&sum);
	print_devices(out, &sum);
	print_captured(out, &sum);
	print_objects(out, &sum);
	print_sides(out, "copy_sides", sum.sides);
	print_sides(out, "batch_sides", sum.batch_sides);
	print_pools(out);
	virtual__describe(out);
	fputs(" \"memory\": ", out);
	print_memory(out, -1);
	fputs(",\n", out);
	memory__describe_live(out);
}
