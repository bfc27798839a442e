// SPDX-License-Identifier: BSD-2-Clause
// Memory: peak, live at the end, churn by size, in the text of `gpuprobe stat`; see tables.h.
#include <inttypes.h>

#include "model/profile.h"
#include "api/api.h"
#include "output/function_text.h"
#include "output/report/line.h"
#include "output/report/totals.h"
#include "output/prose.h"
#include "output/stat/tables.h"
#include "output/tensors_text.h"
#include "output/enum_names.h"

static void print_part(FILE *out, uint64_t count, const char *what)
{
	if (count)
		fprintf(out, ", %s %s", quantity__count(count).text, what);
}

/* "1,000 allocations, 990 frees, 3 gone with their context": live memory follows from these. */
static void print_calls(FILE *out, const struct memory_totals *m)
{
	fprintf(out, "; %s allocation%s", quantity__count(m->allocations).text,
		report_line__plural(m->allocations));
	if (m->never_live)
		fprintf(out, " (%s never live)", quantity__count(m->never_live).text);
	fprintf(out, ", %s free%s", quantity__count(m->frees).text, report_line__plural(m->frees));
	if (m->unknown_frees)
		fprintf(out, " (%s of memory not known)", quantity__count(m->unknown_frees).text);
	print_part(out, m->with_context, "gone with their context");
	print_part(out, m->replaced, "freed where it was not seen");
	print_part(out, m->allocation_failures, "failed to allocate");
	print_part(out, m->free_failures, "failed to free");
	fputc('\n', out);
}

static void print_live(FILE *out, const struct stat_report *report, const struct process *p,
		       uint64_t bytes, uint64_t count)
{
	fprintf(out, "%s live", stat_cell__bytes(report, bytes).text);
	fputs(p->ended ? " at exit" : "", out);
	if (count)
		fprintf(out, " in %s allocation%s", quantity__count(count).text,
			report_line__plural(count));
}

/* Below the memory from CUDA that they fill. */
static void print_tensors(FILE *out, const struct stat_report *report, const struct process *p)
{
	if (!p->tensors)
		return;
	fputs(REPORT_INDENT "tensors: ", out);
	tensors_text__print(out, p, report->options->form, "; ");
	fputc('\n', out);
}

static void print_totals(FILE *out, const struct stat_report *report, const struct process *p)
{
	const struct memory_totals *host = &p->memory[MEMORY_HOST];
	struct memory_totals device;

	report__device_memory(p, &device);
	/* Includes frees of memory that had already been freed. */
	device.unknown_frees = p->memory[MEMORY_UNKNOWN].frees;
	if (p->ended) {
		device.live_bytes = p->live_at_exit_bytes;
		device.live_count = p->live_at_exit_count;
	}
	fputs(REPORT_INDENT "on devices: ", out);
	if (p->profile->peak_bytes)
		fprintf(out, "peak at least %s, ",
			stat_cell__bytes(report, p->profile->peak_bytes).text);
	print_live(out, report, p, device.live_bytes, device.live_count);
	print_calls(out, &device);
	if (!host->allocations && !host->frees && !host->live_count)
		return;
	fputs(REPORT_INDENT "pinned host memory: ", out);
	print_live(out, report, p, host->live_bytes, host->live_count);
	print_calls(out, host);
}

static void add_size(struct stat_table *table, const struct profile_size *size)
{
	const struct size_record *record = &size->record;
	FILE *name = stat_table__name(table);

	stat_table__count(table, "", record->allocations);
	stat_table__count(table, "", record->frees);
	stat_table__count(table, "", record->peak);
	stat_table__time(table, "",
			 record->allocations ? record->allocation_ns / record->allocations : 0);
	stat_table__time(table, "", record->frees ? record->free_ns / record->frees : 0);
	stat_table__time(table, "", record->allocation_ns + record->free_ns);
	stat_table__bytes(table, "", size->key.size);
	function_text__print(name, size->key.row);
	if (size->key.kind != MEMORY_DEVICE)
		fprintf(name, " (%s)", enum_names__memory_kind(size->key.kind));
	stat_table__end_row(table);
}

static void print_sizes(FILE *out, const struct stat_report *report, const struct profile *profile)
{
	static const char *const heads[] = {"allocated", "freed", "most live", "each",
					    "each free", "total", "size"};
	size_t shown = report_line__cut(report->options, profile->size_count);
	struct stat_table table;

	if (!shown || !stat_table__begin(&table, report, heads, sizeof(heads) / sizeof(*heads),
					 "allocations"))
		return;
	table.optional = 1u << 4; /* each free */
	for (size_t i = 0; i < shown; i++)
		add_size(&table, &profile->sizes[i]);
	stat_table__print(&table, out);
	stat_cell__rest(out, profile->size_count - shown, "size");
}

void stat_memory__print(FILE *out, const struct stat_report *report, const struct process *p)
{
	struct memory_totals device;
	struct prose prose;
	FILE *text;

	report__device_memory(p, &device);
	if (!p->profile || !(device.allocations + device.frees +
			     p->memory[MEMORY_HOST].allocations + p->since_attach))
		return;
	text = prose__begin(&prose, out, stat__width(report));
	fputs("\n    memory:\n", text);
	print_totals(text, report, p);
	print_tensors(text, report, p);
	report_line__before_attach(text, p, report->options->form);
	prose__end(&prose, text);
	print_sizes(out, report, p->profile);
}
