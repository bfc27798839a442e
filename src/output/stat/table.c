// SPDX-License-Identifier: BSD-2-Clause
// A table of the text of `gpuprobe stat`, see table.h.
#include "output/stat/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/text_stream.h"
#include "output/stat/tables.h"
#include "output/trace/text.h"

#define INDENT 4
#define GAP 2	      /* between columns */
#define NAME_LEAST 8  /* columns of a name, however narrow the terminal is */
#define NAME_USUAL 18 /* if it gets less, optional columns are left out */

bool stat_table__begin(struct stat_table *table, const struct stat_report *report,
		       const char *const *heads, size_t count, const char *last)
{
	*table =
		(struct stat_table){.report = report, .heads = heads, .count = count, .last = last};
	table->rows = text_stream__open(&table->text, &table->length);
	for (size_t i = 0; i < count; i++)
		table->widths[i] = (int)strlen(heads[i]);
	return table->rows;
}

void stat_table__text(struct stat_table *table, const char *text)
{
	size_t i = table->column++;
	int width = (int)strlen(text);

	table->widths[i] = width > table->widths[i] ? width : table->widths[i];
	table->used[i] |= *text && strcmp(text, "-");
	fprintf(table->rows, "%s\t", text);
}

static void put(struct stat_table *table, const char *mark, bool known, struct quantity amount)
{
	char text[sizeof(amount.text) + 8];

	snprintf(text, sizeof(text), "%s%s", mark, amount.text);
	stat_table__text(table, known ? text : "-");
}

void stat_table__count(struct stat_table *table, const char *mark, uint64_t count)
{
	put(table, mark, count, quantity__amount_as(table->report->options->form, count));
}

void stat_table__time(struct stat_table *table, const char *mark, uint64_t ns)
{
	put(table, mark, ns, stat_cell__time(table->report, ns));
}

void stat_table__bytes(struct stat_table *table, const char *mark, uint64_t bytes)
{
	put(table, mark, bytes, stat_cell__bytes(table->report, bytes));
}

void stat_table__bandwidth(struct stat_table *table, uint64_t bytes, uint64_t ns)
{
	put(table, "", ns, stat_cell__bandwidth(table->report, bytes, ns));
}

FILE *stat_table__name(struct stat_table *table)
{
	return table->rows;
}

void stat_table__end_row(struct stat_table *table)
{
	table->column = 0;
	fputc('\n', table->rows);
}

/* The columns that a terminal leaves to names; SIZE_MAX: they are not cut. */
static size_t name_width(const struct stat_table *table)
{
	size_t used = INDENT, width = stat__width(table->report);

	for (size_t i = 0; i < table->count; i++)
		if (table->used[i])
			used += (size_t)table->widths[i] + GAP;
	if (!table->report->width)
		return SIZE_MAX;
	return width > used + NAME_LEAST ? width - used : NAME_LEAST;
}

static void leave_out_optional(struct stat_table *table)
{
	for (size_t i = table->count; i-- > 0 && name_width(table) < NAME_USUAL;)
		if (table->optional & 1u << i)
			table->used[i] = false;
}

static void print_name(FILE *out, const char *name, size_t length, size_t width)
{
	char *room = malloc(length + sizeof("…"));

	if (!room)
		return;
	memcpy(room, name, length);
	fwrite(room, 1, (size_t)(trace_text__cut(room, room + length, width) - room), out);
	free(room);
}

/* Prints the cell behind `blank` columns, and returns how many follow it: none, if it is empty. */
static int print_cell(FILE *out, const char *text, int length, int blank)
{
	if (!length)
		return blank;
	fprintf(out, "%*s%.*s", blank - length, "", length, text);
	return 0;
}

/* `cells` end with a tab each. Returns the end of them. */
static const char *print_cells(const struct stat_table *table, FILE *out, const char *cells,
			       int *blank)
{
	*blank = INDENT - GAP;
	for (size_t i = 0; i < table->count; i++) {
		int length = (int)strcspn(cells, "\t");

		if (table->used[i])
			*blank = print_cell(out, cells, length, *blank + GAP + table->widths[i]);
		cells += length + 1;
	}
	return cells;
}

static void print_row(const struct stat_table *table, FILE *out, const char *row, size_t width)
{
	int blank;
	const char *name = print_cells(table, out, row, &blank);
	size_t length = strcspn(name, "\n");

	if (length) {
		fprintf(out, "%*s", blank + GAP, "");
		print_name(out, name, length, width);
	}
	fputc('\n', out);
}

static void print_heads(const struct stat_table *table, FILE *out, size_t width)
{
	int blank = INDENT - GAP;

	fputc('\n', out);
	for (size_t i = 0; i < table->count; i++)
		if (table->used[i])
			blank = print_cell(out, table->heads[i], (int)strlen(table->heads[i]),
					   blank + GAP + table->widths[i]);
	fprintf(out, "%*s", blank + GAP, "");
	print_name(out, table->last, strlen(table->last), width);
	fputc('\n', out);
}

void stat_table__print(struct stat_table *table, FILE *out)
{
	size_t width;

	leave_out_optional(table);
	width = name_width(table);
	if (fclose(table->rows))
		return;
	print_heads(table, out, width);
	for (const char *row = table->text; *row; row = strchr(row, '\n') + 1)
		print_row(table, out, row, width);
	free(table->text);
	table->text = NULL;
}
