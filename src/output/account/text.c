// SPDX-License-Identifier: BSD-2-Clause
// The text of `gpuprobe account`, see account.h.
#include "output/account/account.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "output/clip.h"
#include "output/enum_names.h"

#define GAP 2
#define WHOLE_NAME 48 /* columns of a name */
#define CELL_SIZE 96
#define NOW_NS (10 * (int64_t)NS_PER_S) /* a call so short ago is of now */
#define EXACT 0.001			/* what memory may be off without a mark */
#define IDLE_MARK "<< idle"

enum column {
	COLUMN_USER = 0,
	COLUMN_NAME,
	COLUMN_GPUS,
	COLUMN_IDLE,
	COLUMN_HELD,
	COLUMN_WORK,
	COLUMN_MEMORY,
	COLUMN_LAST,
	COLUMNS,
};

struct table {
	FILE *out;
	const struct account_list *list;
	const struct account_output *output;
	int widths[COLUMNS]; /* 0: the column is not printed */
};

static const char *heading(const struct table *table, enum column column)
{
	static const char *const names[ACCOUNT_BYS] = {
		[ACCOUNT_BY_JOB] = "JOB",
		[ACCOUNT_BY_CONTAINER] = "CONTAINER",
		[ACCOUNT_BY_IMAGE] = "IMAGE",
		[ACCOUNT_BY_PROCESS] = "PROGRAM",
	};
	static const char *const headings[COLUMNS] = {
		[COLUMN_USER] = "USER",	     [COLUMN_GPUS] = "GPUS",
		[COLUMN_IDLE] = "IDLE",	     [COLUMN_HELD] = "GPU TIME",
		[COLUMN_WORK] = "WITH WORK", [COLUMN_MEMORY] = "MEMORY x TIME",
		[COLUMN_LAST] = "LAST CALL",
	};

	return column == COLUMN_NAME ? names[table->output->by] : headings[column];
}

/* --- cells --- */

static const char *or_dash(const char *text)
{
	return text[0] ? text : "-";
}

static bool is_total(const struct table *table, const struct account_group *group)
{
	return group == table->list->total;
}

/* What is marked is explained below the table. */
static const char *mark_before(const struct account_group *group)
{
	return byte_seconds__uncertainty(&group->memory) > EXACT ? "~" : "";
}

static const char *mark_behind(const struct account_group *group)
{
	return group->nvml_byte_seconds > 0 ? "*" : group->partial ? "+" : "";
}

/* A time of the account: not negative. */
static struct quantity time_of(const struct table *table, int64_t ns)
{
	return quantity__time_as(table->output->form, ns > 0 ? (uint64_t)ns : 0);
}

static void put_memory(const struct table *table, const struct account_group *group,
		       char text[CELL_SIZE])
{
	const double hours = fmin(group->memory.best / 3600, 1e19);

	snprintf(text, CELL_SIZE, "%s%s h%s", mark_before(group),
		 quantity__bytes_as(table->output->form, (uint64_t)hours).text, mark_behind(group));
}

static void put_work(const struct table *table, const struct account_group *group,
		     char text[CELL_SIZE])
{
	const enum quantity_form form = table->output->form;

	snprintf(text, CELL_SIZE, "%s to %s", quantity__time_as(form, group->work_least_ns).text,
		 quantity__time_as(form, group->work_most_ns).text);
}

static void put_last(const struct table *table, const struct account_group *group,
		     char text[CELL_SIZE])
{
	int64_t ago = table->list->to_ns - group->last_call_ns;

	if (!group->last_call_ns)
		snprintf(text, CELL_SIZE, "none seen");
	else if (ago < NOW_NS)
		snprintf(text, CELL_SIZE, "%s", table->output->is_recorded ? "at the end" : "now");
	else
		snprintf(text, CELL_SIZE, "%s %s", time_of(table, ago).text,
			 table->output->is_recorded ? "before the end" : "ago");
}

static const char *user_of(const struct table *table, const struct account_group *group)
{
	if (is_total(table, group))
		return "all";
	return group->is_other ? "others" : or_dash(group->user);
}

/* The cell's raw text; `text` is room for it. */
static const char *cell(const struct table *table, const struct account_group *group,
			enum column column, char text[CELL_SIZE])
{
	switch (column) {
	case COLUMN_USER: return user_of(table, group);
	case COLUMN_NAME: return or_dash(group->name);
	case COLUMN_GPUS: snprintf(text, CELL_SIZE, "%s", quantity__count(group->gpus).text); break;
	case COLUMN_IDLE:
		snprintf(text, CELL_SIZE, "%s", quantity__count(group->idle_gpus).text);
		break;
	case COLUMN_HELD:
		snprintf(text, CELL_SIZE, "%s",
			 quantity__time_as(table->output->form, group->held_ns).text);
		break;
	case COLUMN_WORK: put_work(table, group, text); break;
	case COLUMN_MEMORY: put_memory(table, group, text); break;
	case COLUMN_LAST: put_last(table, group, text); break;
	case COLUMNS: break;
	}
	return text;
}

/* --- the table --- */

static bool is_number(enum column column)
{
	return column >= COLUMN_GPUS && column <= COLUMN_MEMORY;
}

static void widen(struct table *table, const struct account_group *group)
{
	char text[CELL_SIZE];

	for (int c = 0; c < COLUMNS; c++) {
		int width = clip__columns_of(cell(table, group, (enum column)c, text), WHOLE_NAME);

		if (table->widths[c] && width > table->widths[c])
			table->widths[c] = width;
	}
}

static void print_cell(const struct table *table, enum column column, const char *text)
{
	int width = table->widths[column], used = clip__columns_of(text, WHOLE_NAME);
	int gap = column == COLUMN_USER ? 0 : GAP;

	if (!width)
		return;
	fprintf(table->out, "%*s", gap + (is_number(column) ? width - used : 0), "");
	clip__print(table->out, text, WHOLE_NAME);
	if (!is_number(column) && column != COLUMN_LAST)
		fprintf(table->out, "%*s", width - used, "");
}

static void print_row(const struct table *table, const struct account_group *group)
{
	char text[CELL_SIZE];

	for (int c = 0; c < COLUMNS; c++)
		print_cell(table, (enum column)c, cell(table, group, (enum column)c, text));
	if (group->gpus && group->gpus == group->idle_gpus && !is_total(table, group))
		fputs("  " IDLE_MARK, table->out);
	fputc('\n', table->out);
}

static void print_table(struct table *table)
{
	const struct account_list *list = table->list;

	for (int c = 0; c < COLUMNS; c++) {
		const char *text = heading(table, (enum column)c);

		table->widths[c] = text ? (int)strlen(text) : 0;
	}
	for (size_t i = 0; i < list->count; i++)
		widen(table, list->groups[i]);
	widen(table, list->total);
	for (int c = 0; c < COLUMNS; c++)
		if (table->widths[c])
			print_cell(table, (enum column)c, heading(table, (enum column)c));
	fputc('\n', table->out);
	for (size_t i = 0; i < list->count; i++)
		print_row(table, list->groups[i]);
	if (list->count > 1)
		print_row(table, list->total);
}

/* --- around it --- */

static void print_moment(FILE *out, int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / (int64_t)NS_PER_S);
	char text[32];
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%F %T", &tm))
		strcpy(text, "an unknown time");
	fputs(text, out);
}

static void print_head(const struct table *table)
{
	const struct account_list *list = table->list;

	fputs("Use of GPUs from ", table->out);
	print_moment(table->out, list->from_ns);
	fputs(" to ", table->out);
	print_moment(table->out, list->to_ns);
	fprintf(table->out, " (%s), by %s\n\n", time_of(table, list->to_ns - list->from_ns).text,
		account_by_words[table->output->by]);
}

static bool any(const struct table *table, bool (*has)(const struct account_group *group))
{
	for (size_t i = 0; i < table->list->count; i++)
		if (has(table->list->groups[i]))
			return true;
	return false;
}

static bool is_rough(const struct account_group *group)
{
	return mark_before(group)[0];
}

static bool is_by_nvml(const struct account_group *group)
{
	return mark_behind(group)[0] == '*';
}

static bool is_partial(const struct account_group *group)
{
	return mark_behind(group)[0] == '+';
}

static void print_notes(const struct table *table)
{
	const struct account_group *total = table->list->total;
	FILE *out = table->out;

	fputc('\n', out);
	fprintf(out,
		"Idle: no call for %s. With work: at least while threads waited for the GPU, at\n"
		"most while it is not proved idle.\n",
		quantity__time_as(table->output->form, table->output->idle_ns).text);
	if (any(table, is_rough))
		fprintf(out,
			"~ off by more than 0.1 %%, in all by %s at most: memory that came and "
			"went\n"
			"  between two readings.\n",
			quantity__share(byte_seconds__uncertainty(&total->memory)).text);
	if (any(table, is_by_nvml))
		fputs("* with NVML's figure for processes from before gpuprobe started; it "
		      "includes\n"
		      "  the CUDA context.\n",
		      out);
	if (any(table, is_partial))
		fputs("+ or more: of processes from before gpuprobe started, only memory "
		      "allocated\n"
		      "  since then is known.\n",
		      out);
	if (table->list->more_groups)
		fputs("There were too many to list: the rest is in \"others\".\n", out);
}

static void print_losses(FILE *out, const struct account_list *list)
{
	for (int loss = 0; loss < LOSS_COUNT; loss++)
		if (list->lost[loss])
			fprintf(out, "lost: %s: %s\n", enum_names__loss_text(loss),
				quantity__count(list->lost[loss]).text);
}

void account_text__print(FILE *out, const struct account_list *list,
			 const struct account_output *output)
{
	struct table table = {.out = out, .list = list, .output = output};

	if (!list->count) {
		fputs("No process has used a GPU.\n", out);
		print_losses(out, list);
		return;
	}
	print_head(&table);
	print_table(&table);
	print_notes(&table);
	print_losses(out, list);
}
