// SPDX-License-Identifier: BSD-2-Clause
// Cells of the table of processes, see columns.h.
#include "output/top/columns.h"

#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "finding/verdict.h"
#include "model/gpu_label.h"
#include "model/steps.h"
#include "output/command_text.h"
#include "output/report/parts.h"
#include "output/top/text.h"

#define COMMAND_LEAST 24 /* less does not tell programs apart */
#define COMMAND_PART 5	 /* of a narrow terminal, the command line gets this part */
#define GPUS_NAMED 16

/* A row with all that its cells may need. */
struct facts {
	const struct model *model;
	const struct process *process;
	const struct process_rate *rate;
	bool quiet;
	enum quantity_form form;
	struct verdict verdict; /* window_ns 0: none */
};

struct cell {
	char text[64]; /* raw */
};

struct top_column {
	const char *head;
	int width, exact_width;
	bool left;
	int rank; /* the smaller, the more important */
	int sort; /* enum top_sort that sorts by it; -1: none */
	struct cell (*make)(const struct facts *facts);
};

static struct cell text_cell(const char *text)
{
	struct cell cell;

	snprintf(cell.text, sizeof(cell.text), "%s", text);
	return cell;
}

static struct cell unknown(void)
{
	return text_cell("-");
}

/* A program may claim any size. */
static uint64_t whole(double amount)
{
	return (uint64_t)fmin(fmax(round(amount), 0), 1.8e19);
}

/* --- cells --- */

static struct cell pid_of(const struct facts *facts)
{
	struct cell cell;

	snprintf(cell.text, sizeof(cell.text), "%d", facts->process->pid);
	return cell;
}

static struct cell user_of(const struct facts *facts)
{
	return facts->process->identified ? text_cell(facts->process->user) : unknown();
}

/* "0", "0,2", "0:1"; a GPU of which only CUDA's number is known is not named. */
static struct cell gpus_of(const struct facts *facts)
{
	const struct process *process = facts->process;
	struct cell cell = {""};
	size_t named = 0;

	for (size_t i = 0; i < process->gpu_count && named < GPUS_NAMED; i++) {
		const struct gpu *gpu = gpu_label__find(facts->model, &process->gpus[i]);
		char label[GPU_LABEL_SIZE];
		size_t length = strlen(cell.text);

		if (!gpu || !gpu_label__is_used(process, &process->gpus[i]))
			continue;
		gpu_label(gpu, label);
		snprintf(cell.text + length, sizeof(cell.text) - length, "%s%s", named++ ? "," : "",
			 label);
	}
	return named ? cell : unknown();
}

/* ">1.0 GiB": at least. */
static struct cell memory_of(const struct facts *facts)
{
	bool at_least;
	uint64_t bytes = process__held_bytes(facts->process, &at_least);
	struct cell cell;

	if (facts->process->ended || (at_least && !bytes))
		return unknown();
	snprintf(cell.text, sizeof(cell.text), "%s%s", at_least ? ">" : "",
		 quantity__bytes_as(facts->form, bytes).text);
	return cell;
}

static struct cell growth_of(const struct facts *facts)
{
	double slope = facts->rate->memory_slope;
	struct cell cell;

	if (!facts->rate->has_slope || facts->process->ended)
		return unknown();
	if (slope > -0.5 && slope < 0.5)
		return (struct cell){"0"};
	snprintf(cell.text, sizeof(cell.text), "%c%s", slope < 0 ? '-' : '+',
		 quantity__bytes_as(facts->form, whole(fabs(slope))).text);
	return cell;
}

static bool has_rate(const struct facts *facts)
{
	return facts->rate->interval_ns && !facts->process->ended;
}

/* The mark of an estimate before a text. */
static struct cell marked(const struct facts *facts, enum rate_family family, const char *text)
{
	struct cell cell;

	snprintf(cell.text, sizeof(cell.text), "%s%s",
		 report_sampling__mark(facts->process, family), text);
	return cell;
}

static struct cell launches_of(const struct facts *facts)
{
	if (!has_rate(facts))
		return unknown();
	return marked(facts, RATE_LAUNCH,
		      quantity__amount_as(facts->form, whole(facts->rate->launches)).text);
}

static struct cell bandwidth(const struct facts *facts, double bytes)
{
	if (!has_rate(facts))
		return unknown();
	return bytes > 0 ?
		       marked(facts, RATE_COPY, quantity__bandwidth_as(facts->form, bytes).text) :
		       text_cell("0");
}

static struct cell to_device_of(const struct facts *facts)
{
	return bandwidth(facts, facts->rate->to_device);
}

static struct cell to_host_of(const struct facts *facts)
{
	return bandwidth(facts, facts->rate->to_host);
}

#define LEAST_SHOWN 0.001 /* of shares: a column has no room for "under 0.1 %" */

static struct cell share_cell(double share)
{
	return text_cell(quantity__share(share < LEAST_SHOWN ? 0 : share).text);
}

static struct cell waiting_of(const struct facts *facts)
{
	if (!has_rate(facts))
		return unknown();
	return marked(facts, RATE_WAIT, share_cell(facts->rate->waiting).text);
}

static struct cell step_of(const struct facts *facts)
{
	struct step_summary summary;

	step_summary__make(facts->process, &summary);
	return summary.thread ? text_cell(quantity__time_as(facts->form, summary.usual_ns).text) :
				unknown();
}

static struct cell idle_of(const struct facts *facts)
{
	const struct verdict *verdict = &facts->verdict;

	/* What is less than 0.1 % proves nothing. */
	if (!verdict->window_ns || verdict->unfed < LEAST_SHOWN)
		return unknown();
	return share_cell(verdict->unfed);
}

static struct cell verdict_of(const struct facts *facts)
{
	if (facts->process->ended)
		return text_cell("ended");
	if (facts->quiet)
		return text_cell("idle");
	switch (facts->verdict.kind) {
	case VERDICT_GPU_BOUND: return text_cell("GPU-bound");
	case VERDICT_HOST_BOUND: return text_cell("host-bound");
	case VERDICT_NO_WORK: return text_cell("no work");
	case VERDICT_OTHERS: return text_cell("waiting");
	default: return unknown();
	}
}

/* clang-format off */
static const struct top_column all[] = {
	{"PID",       7,  7, false,  1, TOP_BY_PID,      pid_of},
	{"USER",      8,  8, true,  12, -1,              user_of},
	{"GPU",       3,  3, false,  5, -1,              gpus_of},
	{"MEMORY",   11, 23, false,  2, TOP_BY_MEMORY,   memory_of},
	{"GROWTH/s", 11, 22, false, 10, TOP_BY_GROWTH,   growth_of},
	{"LAUNCH/s",  9, 10, false,  3, TOP_BY_LAUNCHES, launches_of},
	{"COPY IN",  11, 23, false,  8, TOP_BY_COPIES,   to_device_of},
	{"COPY OUT", 11, 23, false,  9, TOP_BY_COPIES,   to_host_of},
	{"WAIT",      8,  8, false,  6, TOP_BY_WAIT,     waiting_of},
	{"STEP",     11, 18, false, 11, -1,              step_of},
	{"IDLE",      7,  7, false,  7, -1,              idle_of},
	{"VERDICT",  10, 10, true,   4, -1,              verdict_of},
};
/* clang-format on */

#define COLUMNS (sizeof(all) / sizeof(*all))
_Static_assert(COLUMNS <= TOP_COLUMNS_MAX, "room for all columns");

/* --- the choice --- */

static int rank_of(const struct top_column *column, enum top_sort sort)
{
	return column->sort == (int)sort ? 0 : column->rank;
}

static int width_of(const struct top_column *column, enum quantity_form form)
{
	return form == QUANTITY_EXACT ? column->exact_width : column->width;
}

/* Whether the column is among the most important ones that have room together. */
static bool has_room(const struct top_column *column, int width, enum top_sort sort,
		     enum quantity_form form)
{
	int rank = rank_of(column, sort), taken = 0;

	for (size_t i = 0; i < COLUMNS; i++)
		if (rank_of(&all[i], sort) <= rank)
			taken += width_of(&all[i], form) + 1;
	return taken + (width / COMMAND_PART < COMMAND_LEAST ? width / COMMAND_PART :
							       COMMAND_LEAST) <=
	       width;
}

void top_columns__choose(struct top_columns *columns, int width, enum top_sort sort,
			 enum quantity_form form)
{
	*columns = (struct top_columns){.command = width, .form = form};
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!has_room(&all[i], width, sort, form))
			continue;
		columns->shown[columns->count++] = &all[i];
		columns->command -= width_of(&all[i], form) + 1;
	}
}

/* --- lines --- */

void top_columns__heads(FILE *out, const struct top_columns *columns, enum top_sort sort)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct top_column *column = columns->shown[i];
		char head[32];

		/* The mark takes the place of the blank before a wide head. */
		snprintf(head, sizeof(head), "%s%s", column->sort == (int)sort ? "*" : "",
			 column->head);
		top_text__cell(out, head, width_of(column, columns->form), column->left);
		fputc(' ', out);
	}
	top_text__cell(out, "COMMAND", columns->command, true);
}

static void write_command(FILE *out, const struct top_columns *columns,
			  const struct top_table *table, const struct top_row *row)
{
	const char *command = row->process->command;
	char text[sizeof(row->process->command)];
	int indent = (int)row->depth * 2;

	if (indent > columns->command / 2)
		indent = columns->command / 2;
	if (!*command)
		command = row->process->comm;
	else if (!table->full_path)
		command = command_text__without_folder(command);
	if (!table->full_path && top_text__columns(command, TOP_RAW) > columns->command - indent) {
		command_text__shorten(command, text, sizeof(text));
		command = text;
	}
	fprintf(out, "%*s", indent, "");
	top_text__cell(out, command, columns->command - indent, true);
}

void top_columns__row(FILE *out, const struct top_columns *columns, const struct top_table *table,
		      const struct top_row *row)
{
	struct facts facts = {
		.model = table->model,
		.process = row->process,
		.rate = &row->rate,
		.quiet = row->quiet,
		.form = columns->form,
	};

	if (table->findings && !row->quiet)
		verdict__judge_latest(table->findings, table->model, row->process, &facts.verdict);
	for (size_t i = 0; i < columns->count; i++) {
		const struct top_column *column = columns->shown[i];

		top_text__cell(out, column->make(&facts).text, width_of(column, columns->form),
			       column->left);
		fputc(' ', out);
	}
	write_command(out, columns, table, row);
}
