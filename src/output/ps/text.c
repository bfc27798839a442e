// SPDX-License-Identifier: BSD-2-Clause
// The text of `gpuprobe ps`, see ps.h.
#include "output/ps/ps.h"

#include <string.h>

#include "base/escape.h"
#include "output/clip.h"
#include "output/command_text.h"
#include "output/ps/parts.h"
#include "output/wrap.h"

#define GAP 2
#define LEAST_COMMAND 20 /* columns of the command before others give way to it */
#define GOOD_COMMAND 40	 /* the same, before the libraries give way: they say less */
#define LEAST_CELL 12	 /* of a cell that gives way */
#define WHOLE_CELL 64	 /* columns of a cell where nothing needs to give way */
#define NOTE_COLUMNS 100
#define INDENT 3 /* of a child */
#define DEPTH_SHOWN 16
#define GROUPS_SHOWN 8
#define MORE_COLUMNS 16 /* " and 4095 more" */

static const struct {
	const char *heading;
	bool right; /* a number */
} columns_of[PS_COLUMNS] = {
	[PS_COLUMN_PID] = {"PID", true},
	[PS_COLUMN_USER] = {"USER", false},
	[PS_COLUMN_CONTAINER] = {"CONTAINER", false},
	[PS_COLUMN_GPU] = {"GPU", false},
	[PS_COLUMN_MEMORY] = {"MEMORY", true},
	[PS_COLUMN_STATE] = {"STATE", false},
	[PS_COLUMN_IN_CUDA] = {"IN CUDA", false},
	[PS_COLUMN_LIBRARIES] = {"LIBRARIES", false},
};

struct table {
	FILE *out;
	const struct ps *ps;
	enum quantity_form form;
	int columns;		/* of the terminal; 0: no limit */
	int widths[PS_COLUMNS]; /* 0: the column is not printed */
	int command;		/* columns of the command; 0: no limit */
};

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* --- the command --- */

/* Deep families keep half of a narrow column for the command. */
static int indent_of(const struct table *table, const struct ps_row *row)
{
	int most = table->command ? table->command / 2 / INDENT : DEPTH_SHOWN;

	return INDENT * smaller(row->depth > DEPTH_SHOWN ? DEPTH_SHOWN : (int)row->depth, most);
}

static const char *name_of(const struct ps_row *row)
{
	static const char *const roles[] = {
		[PS_PROGRAM] = NULL,
		[PS_MPS_CONTROL] = "MPS control daemon",
		[PS_MPS_SERVER] = "MPS server",
	};

	if (roles[row->role])
		return roles[row->role];
	if (row->command)
		return row->command;
	return row->process->comm[0] ? row->process->comm : "-";
}

static void print_command(const struct table *table, const struct ps_row *row)
{
	int indent = indent_of(table, row), room = table->command - indent;
	const char *name = name_of(row);
	char text[PS_COMMAND_SIZE];

	if (indent)
		fprintf(table->out, "%*s\\_ ", indent - INDENT, "");
	if (!table->command) {
		escape__text(table->out, name);
		return;
	}
	if (clip__columns(name) > room) {
		command_text__shorten(name, text, sizeof(text));
		name = text;
	}
	clip__print(table->out, name, larger(room, 3));
}

/* --- widths --- */

static void measure(struct table *table, int *command)
{
	bool contained = false;

	*command = 0;
	for (size_t c = 0; c < PS_COLUMNS; c++)
		table->widths[c] = (int)strlen(columns_of[c].heading);
	for (size_t i = 0; i < table->ps->count; i++) {
		const struct ps_row *row = &table->ps->rows[i];
		char text[PS_CELL_SIZE];

		for (size_t c = 0; c < PS_COLUMNS; c++)
			table->widths[c] = larger(table->widths[c],
						  smaller(clip__columns(ps_cell__text(
								  table->ps, row, (enum ps_column)c,
								  table->form, text)),
							  WHOLE_CELL));
		*command = larger(*command, indent_of(table, row) + clip__columns(name_of(row)));
		contained |= ps_cell__is_contained(row->process);
	}
	if (!contained)
		table->widths[PS_COLUMN_CONTAINER] = 0;
}

/* Columns of a row in front of the command. */
static int taken(const struct table *table)
{
	int sum = 0;

	for (size_t c = 0; c < PS_COLUMNS; c++)
		sum += table->widths[c] ? table->widths[c] + GAP : 0;
	return sum;
}

/* A column goes below the table if the command would have less than `least` columns. */
static void leave_room(struct table *table, enum ps_column column, int least)
{
	if (taken(table) + least > table->columns)
		table->widths[column] = 0;
}

/* Libraries and containers go below the table first. Then the widest texts are cut. */
static void fit(struct table *table, int command)
{
	static const enum ps_column yielding[] = {PS_COLUMN_IN_CUDA, PS_COLUMN_STATE, PS_COLUMN_GPU,
						  PS_COLUMN_USER};
	int longest = larger(command, (int)strlen("COMMAND"));
	int least = smaller(longest, LEAST_COMMAND);

	if (!table->columns)
		return;
	leave_room(table, PS_COLUMN_LIBRARIES, smaller(longest, GOOD_COMMAND));
	leave_room(table, PS_COLUMN_CONTAINER, least);
	for (size_t i = 0; i < sizeof(yielding) / sizeof(*yielding); i++) {
		int *width = &table->widths[yielding[i]];
		int over = taken(table) + least - table->columns;

		if (over > 0 && *width > LEAST_CELL)
			*width = larger(*width - over, LEAST_CELL);
	}
	table->command = larger(table->columns - taken(table), LEAST_CELL);
}

/* --- rows --- */

static void print_cell(const struct table *table, size_t column, const char *text)
{
	int width = table->widths[column], pad;

	if (!width)
		return;
	pad = width - clip__columns_of(text, width);
	if (columns_of[column].right)
		fprintf(table->out, "%*s", pad, "");
	clip__print(table->out, text, width);
	fprintf(table->out, "%*s", (columns_of[column].right ? 0 : pad) + GAP, "");
}

static void print_headings(const struct table *table)
{
	for (size_t c = 0; c < PS_COLUMNS; c++)
		print_cell(table, c, columns_of[c].heading);
	fputs("COMMAND\n", table->out);
}

static void print_row(const struct table *table, const struct ps_row *row)
{
	char text[PS_CELL_SIZE];

	for (size_t c = 0; c < PS_COLUMNS; c++)
		if (table->widths[c])
			print_cell(table, c,
				   ps_cell__text(table->ps, row, (enum ps_column)c, table->form,
						 text));
	print_command(table, row);
	fputc('\n', table->out);
}

/* --- what has left the table --- */

/* Whether the row has anything in the column that can be grouped. */
static bool is_known(const struct ps_row *row, enum ps_column column)
{
	if (column == PS_COLUMN_LIBRARIES)
		return row->libraries.known;
	return ps_cell__is_contained(row->process);
}

/* Columns of amounts are not grouped. */
static bool same(const struct ps *ps, const struct ps_row *a, const struct ps_row *b,
		 enum ps_column column)
{
	char first[PS_CELL_SIZE], second[PS_CELL_SIZE];

	if (!is_known(a, column) || !is_known(b, column))
		return false;
	if (column == PS_COLUMN_LIBRARIES)
		return !memcmp(a->libraries.list, b->libraries.list, sizeof(a->libraries.list));
	ps_cell__text(ps, a, column, QUANTITY_ROUNDED, first);
	ps_cell__text(ps, b, column, QUANTITY_ROUNDED, second);
	return !strcmp(first, second);
}

static bool is_first(const struct ps *ps, size_t row, enum ps_column column)
{
	for (size_t i = 0; i < row; i++)
		if (same(ps, &ps->rows[i], &ps->rows[row], column))
			return false;
	return is_known(&ps->rows[row], column);
}

/* The text of the cell, then the processes that have it, as many as the line has room for. */
static void print_group(const struct table *table, size_t first, enum ps_column column)
{
	const struct ps *ps = table->ps;
	char text[PS_CELL_SIZE], pid[16];
	size_t left = 0;
	int at;

	ps_cell__text(ps, &ps->rows[first], column, table->form, text);
	clip__print(table->out, text, WHOLE_CELL);
	at = 2 + clip__columns_of(text, WHOLE_CELL);
	fputs(": ", table->out);
	for (size_t i = first; i < ps->count; i++) {
		if (!same(ps, &ps->rows[first], &ps->rows[i], column))
			continue;
		snprintf(pid, sizeof(pid), "%s%d", i > first ? ", " : "", ps->rows[i].process->pid);
		if (i > first && (left || at + (int)strlen(pid) + MORE_COLUMNS > table->columns)) {
			left++;
			continue;
		}
		at += (int)strlen(pid);
		fputs(pid, table->out);
	}
	if (left)
		fprintf(table->out, " and %zu more", left);
	fputc('\n', table->out);
}

static void print_groups(const struct table *table, enum ps_column column, const char *heading)
{
	size_t groups = 0;

	if (table->widths[column])
		return;
	for (size_t i = 0; i < table->ps->count && groups <= GROUPS_SHOWN; i++) {
		if (!is_first(table->ps, i, column))
			continue;
		if (!groups++)
			fprintf(table->out, "\n%s:\n", heading);
		if (groups > GROUPS_SHOWN)
			fputs("others: gpuprobe ps | cat\n", table->out);
		else
			print_group(table, i, column);
	}
}

static void print_table(FILE *out, const struct ps *ps, enum quantity_form form, int columns)
{
	struct table table = {.out = out, .ps = ps, .form = form, .columns = columns};
	int command;

	measure(&table, &command);
	fit(&table, command);
	print_headings(&table);
	for (size_t i = 0; i < ps->count; i++)
		print_row(&table, &ps->rows[i]);
	print_groups(&table, PS_COLUMN_CONTAINER, "containers");
	print_groups(&table, PS_COLUMN_LIBRARIES, "CUDA libraries");
}

/* --- below the table --- */

static void print_stuck(FILE *out, const struct ps *ps, int columns)
{
	char text[PS_NOTE_SIZE];
	const struct ps_row *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < ps->count; i++)
		if (ps->rows[i].state == PS_STUCK && !count++)
			first = &ps->rows[i];
	if (!first)
		return;
	if (count == 1)
		snprintf(text, sizeof(text),
			 "pid %d seems stuck in CUDA: gpuprobe dump -p %d --again 5 shows whether "
			 "it "
			 "moves",
			 first->process->pid, first->process->pid);
	else
		snprintf(text, sizeof(text),
			 "%zu processes seem stuck in CUDA: gpuprobe dump --again 5 shows which "
			 "move",
			 count);
	fputc('\n', out);
	wrap__print(out, text, 0, 2, columns);
}

void ps_text__print(FILE *out, const struct ps *ps, enum quantity_form form, int columns)
{
	ps_machine__print(out, ps, form, columns);
	if (ps->count)
		print_table(out, ps, form, columns);
	else if (!ps->filtered) /* else a warning says so */
		fputs(ps->unread ? "no process is known to use CUDA\n" : "no process uses CUDA\n",
		      out);
	print_stuck(out, ps, columns ? columns : NOTE_COLUMNS);
	if (ps->note_count)
		fputc('\n', out);
	for (size_t i = 0; i < ps->note_count; i++)
		wrap__print(out, ps->notes[i], 0, 2, columns ? columns : NOTE_COLUMNS);
}
