// SPDX-License-Identifier: BSD-2-Clause
// The memory section of the text report, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "base/saturate.h"
#include "model/devices.h"
#include "output/report/line.h"
#include "output/report/totals.h"
#include "output/enum_names.h"

/* "8000000 Bytes in 1 allocation" */
static void print_amount(FILE *out, uint64_t bytes, uint64_t count)
{
	fprintf(out, "%" PRIu64 " Bytes in %" PRIu64 " allocation%s", bytes, count,
		report_line__plural(count));
}

static void print_unknown_frees(FILE *out, const char *indent, uint64_t count)
{
	if (count)
		fprintf(out, "%sfrees of addresses never seen allocated: %" PRIu64 "\n", indent,
			count);
}

/* Words for memory that is not device memory. */
struct aside_words {
	enum memory_kind kind;
	const char *name, *done, *undone, *to_do, *to_undo;
};

static const struct aside_words host_words = {
	MEMORY_HOST, "host: ", "allocated", "freed", "allocate", "free",
};
static const struct aside_words registered_words = {
	MEMORY_REGISTERED, "registered host memory: ", "registered", "unregistered", "register",
	"unregister",
};
/* The sizes of some are unknown. */
static const struct aside_words imported_words = {
	MEMORY_IMPORTED, "imported, not its own: at least ", "opened", "closed", "open", "close",
};
static const struct aside_words reserved_words = {
	MEMORY_RESERVED, "reserved addresses: ", "reserved", "freed", "reserve", "free",
};

static void print_aside(FILE *out, const char *indent, const struct aside_words *words,
			const struct memory_totals *m, bool ended)
{
	if (!memory_totals__has_any(m))
		return;
	fprintf(out, "%s%s", indent, words->name);
	print_amount(out, m->live_bytes, m->live_count);
	if (ended && m->live_count)
		fputs(" live at exit", out);
	fprintf(out, " (%" PRIu64 " %s, %" PRIu64 " %s", m->allocations, words->done, m->frees,
		words->undone);
	if (m->allocation_failures)
		fprintf(out, ", %" PRIu64 " failed to %s", m->allocation_failures, words->to_do);
	if (m->free_failures)
		fprintf(out, ", %" PRIu64 " failed to %s", m->free_failures, words->to_undo);
	if (m->with_context)
		fprintf(out, ", %" PRIu64 " gone with their context", m->with_context);
	fputs(")\n", out);
}

static void print_process_aside(FILE *out, const struct process *p)
{
	static const struct aside_words *const all[] = {
		&host_words,
		&registered_words,
		&imported_words,
		&reserved_words,
	};
	const struct memory_totals *mapped = &p->memory[MEMORY_MAPPED];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		print_aside(out, REPORT_INDENT, all[i], &p->memory[all[i]->kind], p->ended);
	if (memory_totals__has_any(mapped))
		fprintf(out,
			REPORT_INDENT "mapped of these: %" PRIu64 " Bytes in %" PRIu64
				      " mapping%s\n",
			mapped->live_bytes, mapped->live_count,
			report_line__plural(mapped->live_count));
}

/* The kinds that make up device memory, if there are several. */
static void print_kinds(FILE *out, const struct process *p)
{
	const char *before = REPORT_INDENT "of these: ";
	int kinds = 0, kind;

	for (kind = 0; kind < MEMORY_KINDS; kind++)
		kinds += memory_kind__is_device(kind) && p->memory[kind].live_count;
	if (kinds < 2)
		return;
	for (kind = 0; kind < MEMORY_KINDS; kind++) {
		const struct memory_totals *m = &p->memory[kind];

		if (!memory_kind__is_device(kind) || !m->live_count)
			continue;
		fprintf(out, "%s%s ", before, enum_names__memory_kind(kind));
		print_amount(out, m->live_bytes, m->live_count);
		before = ", ";
	}
	fputc('\n', out);
}

static void print_pools(FILE *out, const struct process *p)
{
	for (size_t i = 0; i < p->pool_count; i++) {
		const struct pool_totals *pool = &p->pools[i];
		/* The driver's value includes memory from before gpuprobe attached. */
		const char *least = p->since_attach && pool->estimated ? "at least " : "";

		fputs(REPORT_INDENT "pool", out);
		if (pool->handle)
			fprintf(out, " 0x%" PRIx64, pool->handle);
		if (pool->device != DEVICE_UNKNOWN)
			fprintf(out, " of device %" PRIu8, pool->device);
		fprintf(out, ": %s%" PRIu64 " Bytes used, %s%" PRIu64 " Bytes reserved%s%s\n",
			least, pool->used, least, pool->reserved,
			pool->estimated ? " (estimate)" : "", pool->destroyed ? ", destroyed" : "");
	}
}

static void print_odd_frees(FILE *out, const struct process *p, uint64_t unknown,
			    uint64_t with_context, uint64_t with_context_bytes)
{
	if (with_context) {
		fputs(REPORT_INDENT "gone with their context: ", out);
		print_amount(out, with_context_bytes, with_context);
		fputc('\n', out);
	}
	print_unknown_frees(out, REPORT_INDENT, unknown);
	if (p->double_frees)
		fprintf(out, REPORT_INDENT "frees of what had been freed before: %" PRIu64 "\n",
			p->double_frees);
}

static void print_totals(FILE *out, const struct report_totals *totals)
{
	const struct memory_totals *m = &totals->device;

	fprintf(out, "num_successful_mallocs:  %" PRIu64 "\n", m->allocations);
	fprintf(out, "num_failed_mallocs:      %" PRIu64 "\n", m->allocation_failures);
	fprintf(out, "num_successful_frees:    %" PRIu64 "\n", m->frees);
	fprintf(out, "num_failed_frees:        %" PRIu64 "\n", m->free_failures);
	fputs("live: ", out);
	print_amount(out, m->live_bytes, m->live_count);
	fputc('\n', out);
	if (totals->since_attach)
		fprintf(out, "allocated before attach: unknown, of %zu process%s\n",
			totals->since_attach, totals->since_attach == 1 ? "" : "es");
	if (totals->live_at_exit_count) {
		fputs("live at exit: ", out);
		print_amount(out, totals->live_at_exit_bytes, totals->live_at_exit_count);
		fputc('\n', out);
	}
	print_aside(out, "", &host_words, &totals->host, false);
	print_unknown_frees(out, "", m->unknown_frees + totals->host.unknown_frees);
}

static void print_allocation(FILE *out, const struct allocation *a, bool ended)
{
	fprintf(out, REPORT_INDENT "0x%016" PRIx64 ": %" PRIu64 " Bytes", a->address, a->size);
	if (a->kind != MEMORY_DEVICE)
		fprintf(out, " %s", enum_names__memory_kind(a->kind));
	fputs(ended ? " live at exit\n" : "\n", out);
}

/*
 * Lists the largest allocations and the number of further ones of `device`; host memory has its own
 * line.
 */
static void print_live(FILE *out, const struct process *p, const struct memory_totals *device,
		       const struct report_options *options)
{
	size_t shown = report_line__cut(options, p->live_listed), i;
	uint64_t count = 0, bytes = 0;

	for (i = 0; i < shown; i++) {
		print_allocation(out, &p->live[i], p->ended);
		if (p->live[i].kind == MEMORY_HOST)
			continue;
		count++;
		saturate__add(&bytes, p->live[i].size);
	}
	/*
	 * Counters and list are read one after the other, so they may differ by a call in between.
	 */
	if (device->live_count <= count)
		return;
	count = device->live_count - count;
	bytes = saturate__difference(device->live_bytes, bytes);
	fprintf(out, REPORT_INDENT "... and %" PRIu64 " more allocation%s (%" PRIu64 " Bytes)\n",
		count, report_line__plural(count), bytes);
}

static void print_freed(FILE *out, const struct process *p, const struct report_options *options)
{
	size_t shown = report_line__cut(options, p->freed_listed), i;
	uint64_t rest = p->freed_listed - shown + p->freed_unlisted;

	for (i = 0; i < shown; i++)
		print_allocation(out, &p->freed[i], false);
	if (rest)
		fprintf(out, REPORT_INDENT "... and %" PRIu64 " more free%s\n", rest,
			rest == 1 ? "" : "s");
}

/* Calls that may have allocated or freed more: they are not part of live memory. */
static void print_unfollowed(FILE *out, const struct process *p)
{
	const struct unfollowed_totals *u = &p->unfollowed;

	if (u->allocations || u->frees)
		fprintf(out,
			REPORT_INDENT "not followed: %" PRIu64 " allocation%s (%" PRIu64
				      " Bytes asked for), %" PRIu64 " free%s\n",
			u->allocations, report_line__plural(u->allocations), u->allocated_bytes,
			u->frees, report_line__plural(u->frees));
}

/* The report if live memory is unknown. */
static void print_entries(FILE *out, const struct model *model)
{
	bool any = false;

	fputs("memory: what is live is unknown (--no-return-probes)\n", out);
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !(p->unfollowed.allocations || p->unfollowed.frees))
			continue;
		report_line__process(out, p);
		print_unfollowed(out, p);
		any = true;
	}
	if (!any)
		fputs("no allocation and no free was made\n", out);
}

/* As report_line__before_attach, with the bytes of this report. */
static void print_before_attach(FILE *out, const struct process *p)
{
	uint64_t bytes = process__nvml_bytes(p);

	if (!p->since_attach)
		return;
	fputs(REPORT_INDENT "allocated before attach: unknown", out);
	if (bytes != GPU_UNKNOWN_BYTES)
		fprintf(out, "; by NVML the process has %" PRIu64 " Bytes in all", bytes);
	fputc('\n', out);
}

static void print_process(FILE *out, const struct process *p, const struct report_options *options)
{
	const struct memory_totals *host = &p->memory[MEMORY_HOST];
	struct memory_totals device;

	report__device_memory(p, &device);
	if (p->ended) {
		device.live_bytes = p->live_at_exit_bytes;
		device.live_count = p->live_at_exit_count;
	}
	report_line__process(out, p);
	print_live(out, p, &device, options);
	print_freed(out, p, options);
	fputs(REPORT_INDENT "total: ", out);
	print_amount(out, device.live_bytes, device.live_count);
	fputs(p->ended && device.live_count ? " live at exit\n" : "\n", out);
	print_before_attach(out, p);
	print_kinds(out, p);
	print_pools(out, p);
	print_process_aside(out, p);
	print_odd_frees(out, p, device.unknown_frees + host->unknown_frees, device.with_context,
			device.with_context_bytes);
	print_unfollowed(out, p);
}

static bool says_something(const struct process *p)
{
	int kind;

	for (kind = 0; kind < MEMORY_KINDS; kind++) {
		if (memory_totals__has_any(&p->memory[kind]))
			return true;
	}
	return p->since_attach || p->live_listed || p->freed_listed || p->pool_count ||
	       p->unfollowed.allocations || p->unfollowed.frees;
}

void report_memory__print(FILE *out, const struct model *model, const struct report_totals *totals,
			  const struct report_options *options)
{
	bool first = true;
	size_t i;

	if (model->no_returns) {
		print_entries(out, model);
		return;
	}
	print_totals(out, totals);
	for (i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !says_something(p))
			continue;
		if (first)
			fputs("per-process memory maps:\n", out);
		first = false;
		print_process(out, p, options);
	}
}
