// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rows of the monitor's report, see parts.h: a table of running processes with rates, and one
 * of ended processes with totals. Columns are as wide as their cells; if that is too wide, columns
 * of less use are left out. Exact numbers in a file keep all columns.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "model/process_rates.h"
#include "output/clip.h"
#include "output/finding/findings.h"
#include "output/monitor/parts.h"
#include "output/report/parts.h"

#define ROWS_SHOWN 30
#define SHARE_LEAST 0.001
#define ENDED_SHOWN 10 /* of ended processes, if others run */
#define CELL_SIZE MONITOR_COMMAND_SIZE
#define COMMAND_COLUMNS 32
#define COMMAND_LEAST 16
#define USER_COLUMNS 12
#define FINDING_USUAL 24 /* enough for most */
#define FINDING_LEAST 14 /* enough for the severity and the beginning of the id */

enum column {
	COLUMN_PID,
	COLUMN_USER,
	COLUMN_COMMAND,
	COLUMN_GPU,
	COLUMN_MEMORY,
	COLUMN_CHANGE,
	COLUMN_TIME,
	COLUMN_LAUNCHES,
	COLUMN_IN,
	COLUMN_OUT,
	COLUMN_WAIT,
	COLUMN_VERDICT,
	COLUMN_FINDING,
	COLUMNS,
};

struct table {
	const struct monitor_page *page;
	const struct monitor_row *rows;
	size_t shown, count;
	bool totals, ended;
	char (*cells)[COLUMNS][CELL_SIZE]; /* raw text, of the shown rows */
	int width[COLUMNS];		   /* 0: left out */
	int gap;
};

/* --- cells --- */

static void set_text(char *cell, const char *text)
{
	snprintf(cell, CELL_SIZE, "%s", text);
}

static void set(char *cell, const char *mark, struct quantity amount)
{
	snprintf(cell, CELL_SIZE, "%s%s", mark, amount.text);
}

/* "+1.2 MiB", "0" */
static void set_change(char *cell, enum quantity_form form, double change)
{
	struct quantity amount = quantity__bytes_as(form, (uint64_t)fabs(change));

	if (change == 0)
		set_text(cell, "0");
	else
		set(cell, change < 0 ? "-" : "+", amount);
}

static void set_copies(const struct table *table, char *cell, const char *mark,
		       const struct monitor_counts *counts, enum copy_kind kind)
{
	enum quantity_form form = table->page->options->form;
	uint64_t bytes = counts->copy_bytes[kind];

	if (!bytes)
		set_text(cell, "0");
	else if (table->totals)
		set(cell, mark, quantity__bytes_as(form, bytes));
	else
		set(cell, mark, quantity__bandwidth_as(form, monitor_counts__rate(counts, bytes)));
}

/* What an ended process had at its exit is in the counts. */
static uint64_t memory_of(const struct monitor_row *row, bool *at_least)
{
	uint64_t held = process__held_bytes(row->process, at_least);

	return row->process->ended ? row->counts.live_bytes : held;
}

static void set_memory(char (*cells)[CELL_SIZE], enum quantity_form form,
		       const struct monitor_row *row)
{
	bool at_least;
	uint64_t bytes = memory_of(row, &at_least);

	if (bytes)
		set(cells[COLUMN_MEMORY], at_least ? ">" : "", quantity__bytes_as(form, bytes));
	else if (!at_least)
		set_text(cells[COLUMN_MEMORY], "0");
	set_change(cells[COLUMN_CHANGE], form, row->change);
}

static void set_counts(const struct table *table, char (*cells)[CELL_SIZE],
		       const struct monitor_row *row)
{
	const struct monitor_counts *counts = &row->counts;
	enum quantity_form form = table->page->options->form;
	const char *launches = report_sampling__mark(row->process, RATE_LAUNCH);
	const char *copies = report_sampling__mark(row->process, RATE_COPY);

	if (table->totals)
		set(cells[COLUMN_LAUNCHES], launches, quantity__amount_as(form, counts->launches));
	else
		set(cells[COLUMN_LAUNCHES], launches,
		    monitor_line__rate(form, monitor_counts__rate(counts, counts->launches)));
	set_copies(table, cells[COLUMN_IN], copies, counts, COPY_H2D);
	set_copies(table, cells[COLUMN_OUT], copies, counts, COPY_D2H);
	set(cells[COLUMN_TIME], "", quantity__time_as(form, counts->ns));
}

static void set_wait(char *cell, const struct monitor_row *row)
{
	double share = monitor_counts__rate(&row->counts, monitor_counts__wait_ns(&row->counts)) /
		       (double)NS_PER_S;

	/* "under 0.1 %" would make the column wide. */
	if (row->counts.ns)
		set(cell, report_sampling__mark(row->process, RATE_WAIT),
		    quantity__share(share < SHARE_LEAST ? 0 : share));
}

static void set_judgement(const struct table *table, char (*cells)[CELL_SIZE],
			  const struct monitor_row *row)
{
	const struct monitor_page *page = table->page;
	const struct finding *worst = row->worst;
	struct verdict verdict = {0};

	if (page->verdicts)
		verdict__judge_latest(page->verdicts, page->model, row->process, &verdict);
	if (verdict.window_ns && verdict.kind != VERDICT_UNKNOWN)
		set_text(cells[COLUMN_VERDICT], verdict__word(verdict.kind));
	if (worst)
		snprintf(cells[COLUMN_FINDING], CELL_SIZE, "%s %s",
			 findings_text__severity_word(worst->severity), worst->kind->id);
}

static void fill(const struct table *table, char (*cells)[CELL_SIZE], const struct monitor_row *row)
{
	const struct process *process = row->process;
	const struct model *model = table->page->model;

	for (int column = 0; column < COLUMNS; column++)
		set_text(cells[column], "-");
	snprintf(cells[COLUMN_PID], CELL_SIZE, "%d", process->pid);
	if (process->user[0])
		set_text(cells[COLUMN_USER], process->user);
	monitor_line__command(process, cells[COLUMN_COMMAND]);
	monitor_line__gpus(model, process, cells[COLUMN_GPU]);
	set_counts(table, cells, row);
	/* Without returns of calls, what is live and how long calls take is unknown. */
	if (!model->no_returns) {
		set_memory(cells, table->page->options->form, row);
		set_wait(cells[COLUMN_WAIT], row);
	}
	set_judgement(table, cells, row);
}

/* --- widths --- */

static const char *head_of(const struct table *table, enum column column)
{
	switch (column) {
	case COLUMN_PID: return "pid";
	case COLUMN_USER: return "user";
	case COLUMN_COMMAND: return "command";
	case COLUMN_GPU: return "GPU";
	case COLUMN_MEMORY: return table->ended ? "live at exit" : "memory";
	case COLUMN_CHANGE: return "change";
	case COLUMN_TIME: return "watched";
	case COLUMN_LAUNCHES: return "launches";
	case COLUMN_IN: return "H2D";
	case COLUMN_OUT: return "D2H";
	case COLUMN_WAIT: return "waits";
	case COLUMN_VERDICT: return "verdict";
	default: return "worst finding";
	}
}

static bool is_left_aligned(enum column column)
{
	return column == COLUMN_USER || column == COLUMN_COMMAND || column == COLUMN_VERDICT ||
	       column == COLUMN_FINDING;
}

static int columns_of(const struct table *table)
{
	const struct monitor_text_options *options = table->page->options;

	return options->form == QUANTITY_EXACT && !options->cut_names ? INT_MAX : options->columns;
}

static int greater(int a, int b)
{
	return a > b ? a : b;
}

static int widest(const struct table *table, enum column column, int most)
{
	int width = (int)strlen(head_of(table, column));

	for (size_t i = 0; i < table->shown; i++)
		width = greater(width, clip__columns_of(table->cells[i][column], most));
	return width;
}

static int total_width(const struct table *table)
{
	int total = -table->gap;

	for (int column = 0; column < COLUMNS; column++)
		total += table->width[column] ? table->width[column] + table->gap : 0;
	return total;
}

/* Whether the column says anything of a shown process. */
static bool is_used(const struct table *table, enum column column)
{
	for (size_t i = 0; i < table->shown; i++)
		if (strcmp(table->cells[i][column], "-") != 0)
			return true;
	return false;
}

/* Shrinks a column as far as needed, at most to `least` columns. */
static void shrink(struct table *table, enum column column, int least)
{
	int excess = total_width(table) - columns_of(table);

	if (excess > 0 && table->width[column] > least)
		table->width[column] = greater(least, table->width[column] - excess);
}

static void leave_out(struct table *table, enum column column)
{
	if (total_width(table) > columns_of(table))
		table->width[column] = 0;
}

/* "python3 train.py" becomes "train.py", which tells processes apart. */
static void leave_interpreters_out(struct table *table)
{
	for (size_t i = 0; i < table->shown; i++) {
		char *cell = table->cells[i][COLUMN_COMMAND], *script = strchr(cell, ' ');

		if (script && table->rows[i].process->command[0])
			memmove(cell, script + 1, strlen(script));
	}
	table->width[COLUMN_COMMAND] = widest(table, COLUMN_COMMAND, COMMAND_COLUMNS);
}

static void fit(struct table *table)
{
	static const enum column expendable[] = {COLUMN_TIME,	COLUMN_OUT, COLUMN_IN,
						 COLUMN_CHANGE, COLUMN_GPU, COLUMN_WAIT,
						 COLUMN_VERDICT};
	int columns = columns_of(table);

	table->gap = 2;
	if (total_width(table) > columns)
		table->gap = 1;
	if (total_width(table) > columns)
		leave_interpreters_out(table);
	shrink(table, COLUMN_COMMAND, COMMAND_LEAST);
	shrink(table, COLUMN_FINDING, FINDING_USUAL);
	leave_out(table, COLUMN_USER);
	shrink(table, COLUMN_FINDING, FINDING_LEAST);
	for (size_t i = 0; i < sizeof(expendable) / sizeof(*expendable); i++)
		leave_out(table, expendable[i]);
	/* What was left out may have made room. */
	if (table->width[COLUMN_FINDING] && columns < INT_MAX)
		table->width[COLUMN_FINDING] += columns - total_width(table);
}

static void set_widths(struct table *table)
{
	for (enum column column = 0; column < COLUMNS; column++)
		table->width[column] = widest(table, column,
					      column == COLUMN_COMMAND ? COMMAND_COLUMNS :
					      column == COLUMN_USER    ? USER_COLUMNS :
									 CELL_SIZE);
	table->width[table->totals ? COLUMN_CHANGE : COLUMN_TIME] = 0;
	for (enum column column = COLUMN_VERDICT; column <= COLUMN_FINDING; column++)
		if (!is_used(table, column))
			table->width[column] = 0;
	fit(table);
}

/* --- printing --- */

static void print_cell(FILE *out, const struct table *table, enum column column, const char *text,
		       bool last)
{
	int width = table->width[column], blanks = width - clip__columns_of(text, width);

	fprintf(out, "%*s", is_left_aligned(column) ? 0 : blanks, "");
	clip__print(out, text, width);
	if (!last)
		fprintf(out, "%*s", (is_left_aligned(column) ? blanks : 0) + table->gap, "");
}

static void print_line(FILE *out, const struct table *table, char (*cells)[CELL_SIZE])
{
	enum column last = COLUMNS - 1;

	while (!table->width[last])
		last--;
	for (enum column column = 0; column <= last; column++)
		if (table->width[column])
			print_cell(out, table, column,
				   cells ? cells[column] : head_of(table, column), column == last);
	fputc('\n', out);
}

/* "... and 70 more: 12.3 k/s launches, H2D 1.2 GB/s, D2H 0; 4.5 GiB" */
static void print_rest(FILE *out, const struct table *table)
{
	struct monitor_counts sum = {0};
	enum quantity_form form = table->page->options->form;
	double launches = 0, in = 0, back = 0;
	struct monitor_words words;
	bool at_least;

	if (table->shown == table->count || !monitor_words__begin(&words))
		return;
	for (size_t i = table->shown; i < table->count; i++) {
		const struct monitor_counts *counts = &table->rows[i].counts;

		launches += monitor_counts__rate(counts, counts->launches);
		in += monitor_counts__rate(counts, counts->copy_bytes[COPY_H2D]);
		back += monitor_counts__rate(counts, counts->copy_bytes[COPY_D2H]);
		saturate__add(&sum.live_bytes, memory_of(&table->rows[i], &at_least));
		saturate__add(&sum.launches, counts->launches);
		saturate__add(&sum.copy_bytes[COPY_H2D], counts->copy_bytes[COPY_H2D]);
		saturate__add(&sum.copy_bytes[COPY_D2H], counts->copy_bytes[COPY_D2H]);
	}
	fprintf(words.out, "... and %zu more: ", table->count - table->shown);
	if (table->totals)
		fprintf(words.out, "%s launches, H2D %s, D2H %s",
			quantity__amount_as(form, sum.launches).text,
			quantity__bytes_as(form, sum.copy_bytes[COPY_H2D]).text,
			quantity__bytes_as(form, sum.copy_bytes[COPY_D2H]).text);
	else
		fprintf(words.out, "%s launches, H2D %s, D2H %s",
			monitor_line__rate(form, launches).text,
			quantity__bandwidth_as(form, in).text,
			quantity__bandwidth_as(form, back).text);
	if (!table->page->model->no_returns)
		fprintf(words.out, ", %s %s", quantity__bytes_as(form, sum.live_bytes).text,
			table->ended ? "live at exit" : "of memory");
	monitor_words__wrap(&words, out, table->page, "", 0, 0);
}

/* --top may ask for more blocks than there would be rows, and 0 for all. */
static size_t rows_shown(const struct monitor_page *page, size_t count, size_t few)
{
	const struct monitor_text_options *options = page->options;

	if (!options->cut && !options->top)
		return count;
	if (!options->cut && options->top > few)
		few = options->top;
	return few < count ? few : count;
}

static int print_table(FILE *out, const struct monitor_page *page, bool ended)
{
	const struct monitor_rows *rows = page->rows;
	size_t running = rows->count - rows->ended;
	struct table table = {
		.page = page,
		.rows = rows->items + (ended ? running : 0),
		.count = ended ? rows->ended : running,
		.totals = ended || page->model->final,
		.ended = ended,
	};

	if (!table.count)
		return 0;
	table.shown = rows_shown(page, table.count, ended && running ? ENDED_SHOWN : ROWS_SHOWN);
	table.cells = calloc(table.shown, sizeof(*table.cells));
	if (!table.cells)
		return -ENOMEM;
	for (size_t i = 0; i < table.shown; i++)
		fill(&table, table.cells[i], &table.rows[i]);
	set_widths(&table);
	fputc('\n', out);
	if (ended)
		fputs("ended:\n", out);
	print_line(out, &table, NULL);
	for (size_t i = 0; i < table.shown; i++)
		print_line(out, &table, table.cells[i]);
	print_rest(out, &table);
	free(table.cells);
	return 0;
}

static void print_note(FILE *out, size_t count, const char *note)
{
	if (count)
		fprintf(out, "%zu process%s since attach: %s\n", count, count == 1 ? "" : "es",
			note);
}

/* What programs allocated before gpuprobe came, only NVML knows. */
static void print_since_attach(FILE *out, const struct monitor_page *page)
{
	size_t reported = 0, unknown = 0;

	if (!(page->model->sections & SECTION_MEMORY) || page->model->no_returns)
		return;
	for (size_t i = 0; i < page->rows->count; i++) {
		const struct process *process = page->rows->items[i].process;
		bool known = !process->ended && process__nvml_bytes(process) != GPU_UNKNOWN_BYTES;

		reported += process->since_attach && known;
		unknown += process->since_attach && !known;
	}
	print_note(out, reported, "memory is what NVML reports");
	print_note(out, unknown, "memory allocated before is not in these numbers");
}

int monitor_table__print(FILE *out, const struct monitor_page *page)
{
	int ret = print_table(out, page, false);

	if (!ret)
		ret = print_table(out, page, true);
	print_since_attach(out, page);
	return ret;
}
