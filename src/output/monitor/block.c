// SPDX-License-Identifier: BSD-2-Clause
/*
 * The block of one process in the monitor's report, see parts.h: its name, then what is known of
 * it, a label and a few lines each. What matters most comes first, since a block may be cut.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "model/copied.h"
#include "model/devices.h"
#include "output/enum_names.h"
#include "output/finding/verdict.h"
#include "output/monitor/parts.h"
#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/report/totals.h"
#include "output/tensors_text.h"

#define FAILURES_SHOWN 3

enum form {
	FORM_SENTENCE, /* to wrap */
	FORM_LIST,     /* lines */
	FORM_REPORT,   /* lines of output/report */
};

struct item {
	const char *label;
	/* Writes nothing if there is nothing to say. */
	void (*write)(FILE *out, const struct monitor_page *page, const struct monitor_row *row);
	enum form form;
};

/* --- what it does --- */

static void write_steps(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	if (report_steps__knows(row->process))
		report_steps__line(out, row->process, page->options->form);
}

static void write_verdict(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	struct verdict verdict = {0};

	if (page->verdicts)
		verdict__judge_latest(page->verdicts, page->model, row->process, &verdict);
	if (verdict.window_ns)
		verdict_text__print_sentence(out, &verdict);
}

/* --- memory --- */

static void write_amount(FILE *out, const struct monitor_page *page, uint64_t bytes, uint64_t count)
{
	fprintf(out, "%s in %s allocation%s", quantity__bytes_as(page->options->form, bytes).text,
		quantity__count(count).text, report_line__plural(count));
}

/* "; device 1.0 GiB, pool 1.1 GiB", if it is of several kinds */
static void write_kinds(FILE *out, const struct monitor_page *page, const struct process *process)
{
	const char *before = "; ";
	int kinds = 0;

	for (enum memory_kind kind = 0; kind < MEMORY_KINDS; kind++)
		kinds += memory_kind__is_device(kind) && process->memory[kind].live_count;
	for (enum memory_kind kind = 0; kinds > 1 && kind < MEMORY_KINDS; kind++) {
		const struct memory_totals *memory = &process->memory[kind];

		if (!memory_kind__is_device(kind) || !memory->live_count)
			continue;
		fprintf(out, "%s%s %s", before, enum_names__memory_kind(kind),
			quantity__bytes_as(page->options->form, memory->live_bytes).text);
		before = ", ";
	}
}

static void write_nvml(FILE *out, const struct monitor_page *page, const struct process *process)
{
	uint64_t bytes = process__nvml_bytes(process);

	if (bytes != GPU_UNKNOWN_BYTES)
		fprintf(out, "; %s by NVML", quantity__bytes_as(page->options->form, bytes).text);
}

static void write_calls(FILE *out, const struct memory_totals *memory)
{
	fprintf(out, "; %s allocated", quantity__count(memory->allocations).text);
	if (memory->allocation_failures)
		fprintf(out, " (%s failed)", quantity__count(memory->allocation_failures).text);
	fprintf(out, ", %s freed", quantity__count(memory->frees).text);
	if (memory->unknown_frees)
		fprintf(out, " (%s of unknown addresses)",
			quantity__count(memory->unknown_frees).text);
}

static void write_memory(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	const struct process *process = row->process;
	struct memory_totals device;

	report__device_memory(process, &device);
	if (page->model->no_returns) {
		fprintf(out,
			"what is live is unknown (--no-return-probes); %s allocations, %s "
			"frees",
			quantity__count(process->unfollowed.allocations).text,
			quantity__count(process->unfollowed.frees).text);
		return;
	}
	if (!device.allocations && !device.allocation_failures && !device.frees &&
	    !row->counts.live_bytes && !process->since_attach)
		return;
	if (row->counts.live_bytes)
		write_amount(out, page, row->counts.live_bytes,
			     process->ended ? process->live_at_exit_count : device.live_count);
	else
		fputs("nothing", out);
	fputs(process->ended ? " live at exit" : " live", out);
	if (process->since_attach)
		fputs(" since attach; what it allocated before is unknown", out);
	write_nvml(out, page, process);
	write_kinds(out, page, process);
	write_calls(out, &device);
}

static void write_tensors(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	if (row->process->tensors)
		tensors_text__print(out, row->process, page->options->form, "; ");
}

/* Memory that is not on devices. */
static void write_host_memory(FILE *out, const struct monitor_page *page,
			      const struct monitor_row *row)
{
	static const struct {
		enum memory_kind kind;
		const char *words;
	} kinds[] = {
		{MEMORY_HOST, "pinned"},
		{MEMORY_REGISTERED, "registered"},
		{MEMORY_IMPORTED, "imported from another process, at least"},
		{MEMORY_RESERVED, "addresses reserved"},
	};
	const char *comma = "";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct memory_totals *memory = &row->process->memory[kinds[i].kind];

		if (!memory->allocations && !memory->live_count && !memory->frees)
			continue;
		fprintf(out, "%s%s ", comma, kinds[i].words);
		write_amount(out, page, memory->live_bytes, memory->live_count);
		if (row->process->ended && memory->live_count)
			fputs(" live at exit", out);
		comma = ", ";
	}
}

static void write_pools(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	const struct process *process = row->process;
	size_t shown = monitor_line__shown(page, process->pool_count, 2);

	for (size_t i = 0; i < shown; i++) {
		const struct pool_totals *pool = &process->pools[i];

		fprintf(out, "%s%s used of %s reserved%s", i ? "; " : "",
			quantity__bytes_as(page->options->form, pool->used).text,
			quantity__bytes_as(page->options->form, pool->reserved).text,
			pool->estimated ? " (estimate)" : "");
	}
	if (shown < process->pool_count)
		fprintf(out, "; and %zu more", process->pool_count - shown);
}

/* --- copies and waits --- */

/* "H2D 5.9 GB/s (12.0 GiB in 3,456 calls), ..." */
static void write_copies(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	const struct process *process = row->process;
	const char *mark = report_sampling__mark(process, RATE_COPY), *comma = "";

	for (enum copy_kind kind = 0; kind < COPY_KINDS; kind++) {
		struct copied copied = process__copied(process, kind);
		double rate = monitor_counts__rate(&row->counts, row->counts.copy_bytes[kind]);

		if (!copied.calls)
			continue;
		fprintf(out, "%s%s %s%s (%s%s in %s%s call%s", comma, enum_names__copy_kind(kind),
			mark, quantity__bandwidth_as(page->options->form, rate).text, mark,
			quantity__bytes_as(page->options->form, copied.bytes).text, mark,
			quantity__count(copied.calls).text, report_line__plural(copied.calls));
		if (copied.pageable_bytes)
			fprintf(out, ", %s of it pageable",
				quantity__bytes_as(page->options->form, copied.pageable_bytes)
					.text);
		fputc(')', out);
		if (process->inflight[kind].calls)
			fprintf(out, ", %s in flight",
				quantity__count(process->inflight[kind].calls).text);
		comma = ", ";
	}
}

static const char *wait_word(int wait)
{
	switch (wait) {
	case MONITOR_WAIT_COPIES: return "synchronous copies";
	case MONITOR_WAIT_FREES: return "frees";
	default: return enum_names__wait_scope((enum wait_scope)wait);
	}
}

/* "stream 45.1 % (12.1 s in 345 calls), ..." */
static void write_waits(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	const struct process *process = row->process;
	const char *comma = "";

	for (int i = 0; i < MONITOR_WAITS; i++) {
		const struct wait_totals *waits = i == MONITOR_WAIT_COPIES ? &process->copy_waits :
						  i == MONITOR_WAIT_FREES  ? &process->free_waits :
									     &process->waits[i];
		const char *mark = i == MONITOR_WAIT_FREES ?
					   "" :
					   report_sampling__mark(process, i == MONITOR_WAIT_COPIES ?
										  RATE_COPY :
										  RATE_WAIT);
		double rate = monitor_counts__rate(&row->counts, row->counts.wait_ns[i]);

		if (!waits->calls && !waits->ns)
			continue;
		fprintf(out, "%s%s %s%s (%s%s in %s%s call%s", comma, wait_word(i), mark,
			quantity__share(rate / (double)NS_PER_S).text, mark,
			quantity__time_as(page->options->form, waits->ns).text, mark,
			quantity__count(waits->calls).text, report_line__plural(waits->calls));
		if (waits->open)
			fprintf(out, ", %s in progress", quantity__count(waits->open).text);
		fputc(')', out);
		comma = ", ";
	}
}

static void write_queries(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	const char *comma = "";

	(void)page;
	for (enum wait_scope scope = 0; scope < WAIT_SCOPES; scope++) {
		const struct query_totals *queries = &row->process->queries[scope];

		if (!queries->calls)
			continue;
		fprintf(out, "%s%s %s (%s not ready)", comma, enum_names__wait_scope(scope),
			quantity__count(queries->calls).text,
			quantity__count(queries->not_ready).text);
		comma = ", ";
	}
}

/* --- what went wrong --- */

static void write_open_calls(FILE *out, const struct monitor_page *page,
			     const struct monitor_row *row)
{
	report_open_calls__list(out, page->model, row->process);
}

static void write_failures(FILE *out, const struct monitor_page *page,
			   const struct monitor_row *row)
{
	const struct report_options options = {
		.top = page->options->cut ? FAILURES_SHOWN : page->options->top,
	};

	report_errors__list(out, page->model, row->process, &options);
}

/* --- the rest --- */

static void write_first_launches(FILE *out, const struct monitor_page *page,
				 const struct monitor_row *row)
{
	const struct wait_totals *first = &row->process->first_launches;
	const struct wait_totals loads = process__loads_in_launches(row->process);

	if (!first->calls)
		return;
	fprintf(out, "first launches: %s took %s", quantity__count(first->calls).text,
		quantity__time_as(page->options->form, first->ns).text);
	if (loads.calls)
		fprintf(out, " (lazy loading: %s load%s inside launches in %s)",
			quantity__count(loads.calls).text, report_line__plural(loads.calls),
			quantity__time_as(page->options->form, loads.ns).text);
}

static void write_objects(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	const char *comma = "";

	(void)page;
	for (enum object_kind kind = 0; kind < OBJECT_KINDS; kind++) {
		const struct object_totals *objects = &row->process->objects[kind];

		if (!objects->created && !objects->destroyed)
			continue;
		fprintf(out, "%s%s %s live, %s created", comma, enum_names__object_kind(kind),
			quantity__count(objects->live).text,
			quantity__count(objects->created).text);
		comma = "; ";
	}
}

static void write_identity(FILE *out, const struct monitor_page *page,
			   const struct monitor_row *row)
{
	const struct process *process = row->process;

	(void)page;
	if (!process->identified)
		return;
	if (process->parent)
		fprintf(out, "parent %d", process->parent);
	else
		fputs("parent unknown", out);
	if (process->namespace_pid && process->namespace_pid != process->pid)
		fprintf(out, ", own pid %d", process->namespace_pid);
	if (!process->cgroup_known)
		fputs(", container unknown", out);
	if (process->pod[0])
		fprintf(out, ", pod %s", process->pod);
	if (process->container[0])
		fprintf(out, ", container %s", process->container);
}

static void write_notes(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	report_process__notes(out, page->model, row->process);
}

/* --- the block --- */

/* Of a wrapped text. */
static size_t lines_shown(const struct monitor_page *page)
{
	if (!page->options->cut)
		return 0;
	return page->rows->count == 1 ? 3 : 2;
}

static void print_item(FILE *out, const struct monitor_page *page, const struct monitor_row *row,
		       const struct item *item)
{
	char label[MONITOR_INDENT + 1];
	struct monitor_words words;

	if (!monitor_words__begin(&words))
		return;
	item->write(words.out, page, row);
	snprintf(label, sizeof(label), "  %s", item->label);
	switch (item->form) {
	case FORM_SENTENCE:
		monitor_words__wrap(&words, out, page, label, MONITOR_INDENT, lines_shown(page));
		break;
	case FORM_REPORT: monitor_words__lines(&words, out, page, label, MONITOR_INDENT); break;
	default: monitor_words__list(&words, out, page, label, MONITOR_INDENT);
	}
}

/* "process 12 (python3 train.py) since attach, user ann, GPU 0" */
static void print_name(FILE *out, const struct monitor_page *page, const struct process *process)
{
	char command[MONITOR_COMMAND_SIZE], gpus[MONITOR_GPUS_SIZE];

	monitor_line__command(process, command);
	monitor_line__gpus(page->model, process, gpus);
	fprintf(out, "process %d (", process->pid);
	escape__text(out, command);
	fprintf(out, ")%s%s", process->since_attach ? " since attach" : "",
		process->ended ? ", ended" : "");
	if (process->user[0]) {
		fputs(", user ", out);
		escape__text(out, process->user);
	}
	if (gpus[0] != '-')
		fprintf(out, ", %s%s", gpus[0] == 'c' ? "" : "GPU ", gpus);
}

static const struct item items[] = {
	{"steps", write_steps, FORM_SENTENCE},
	{"verdict", write_verdict, FORM_SENTENCE},
	{"stuck", write_open_calls, FORM_REPORT},
	{"errors", write_failures, FORM_REPORT},
	{"memory", write_memory, FORM_SENTENCE},
	{"tensors", write_tensors, FORM_SENTENCE},
	{"sites", monitor_sites__write, FORM_LIST},
	{"kernels", monitor_kernels__write, FORM_LIST},
	{"copies", write_copies, FORM_SENTENCE},
	{"waits", write_waits, FORM_SENTENCE},
	{"host", write_host_memory, FORM_SENTENCE},
	{"pools", write_pools, FORM_SENTENCE},
	{"notes", write_notes, FORM_REPORT},
	{"loading", write_first_launches, FORM_SENTENCE},
	{"queries", write_queries, FORM_SENTENCE},
	{"objects", write_objects, FORM_SENTENCE},
	{"identity", write_identity, FORM_SENTENCE},
};

void monitor_block__print(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	struct monitor_words name;

	if (!monitor_words__begin(&name))
		return;
	print_name(name.out, page, row->process);
	fputc('\n', out);
	monitor_words__list(&name, out, page, "", 0);
	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++)
		print_item(out, page, row, &items[i]);
}
