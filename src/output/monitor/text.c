// SPDX-License-Identifier: BSD-2-Clause
/*
 * The monitor's report by process, see monitor.h. The parts around the blocks are written first:
 * the blocks get the lines that are left.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "output/finding/findings.h"
#include "output/monitor/parts.h"
#include "output/prose.h"
#include "output/report/line.h"
#include "output/report/parts.h"

#define BLOCKS_SHOWN 3
#define BLOCK_LINES_LEAST 4
#define RULES 2 /* lines around the report */

struct monitor_text {
	struct monitor_text_options options;
	struct monitor_history *history;
};

struct monitor_text *monitor_text__new(const struct monitor_text_options *options)
{
	struct monitor_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->options = *options;
	text->history = monitor_history__new();
	if (text->history)
		return text;
	free(text);
	return NULL;
}

void monitor_text__free(struct monitor_text *text)
{
	if (!text)
		return;
	monitor_history__free(text->history);
	free(text);
}

int monitor_text__begin(struct monitor_text *text, uint64_t began_ns, const struct model *model)
{
	monitor_history__begin(text->history, began_ns);
	return model ? monitor_history__keep(text->history, model) : 0;
}

/* --- lines --- */

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Limit of the whole report, for so many processes. */
static size_t most_lines(size_t processes)
{
	if (processes <= 1)
		return 40;
	return processes <= 10 ? 60 : 80;
}

/* Writes the block's first lines. Returns their number. */
static size_t put_block(FILE *out, const char *block, size_t lines)
{
	const char *end = block;
	size_t written = 0;

	for (; *end && written < lines; written++)
		end = strchr(end, '\n') + 1;
	fprintf(out, "%.*s", (int)(end - block), block);
	return written;
}

/* --- parts --- */

/* Everything after the findings. Programs that read the report find whole lines. */
static void print_tail(FILE *stream, const struct monitor_page *page)
{
	const struct model *model = page->model;
	struct prose prose;
	size_t width = page->options->cut_names ? (size_t)page->options->columns : 0;
	FILE *out = prose__begin(&prose, stream, width);

	report_line__silent(out, model);
	report_errors__unseen(out, model);
	if (model->no_returns)
		fputs("\nonly the start of calls is watched (--no-return-probes):\n"
		      "results, durations and live memory are unknown\n",
		      out);
	report_sampling__print(out, model);
	report_line__evicted(out, model);
	report_line__losses(out, model);
	prose__end(&prose, out);
}

/* *lines is set to the number of lines written, *left to whether the block has more. */
static int print_block(FILE *out, const struct monitor_page *page, const struct monitor_row *row,
		       size_t most, size_t *lines, bool *left)
{
	char *block = NULL;
	size_t length = 0;
	FILE *stream = text_stream__open(&block, &length);
	int ret = 0;

	if (!stream)
		return -ENOMEM;
	monitor_block__print(stream, page, row);
	if (fclose(stream)) {
		ret = -ENOMEM;
	} else {
		*lines = put_block(out, block, most);
		*left = *left || lines_of(block) > *lines;
	}
	free(block);
	return ret;
}

/* Shares `most` lines among the blocks; one that needs fewer leaves them to the others. */
static int print_blocks(FILE *out, const struct monitor_page *page, size_t most)
{
	const struct monitor_rows *rows = page->rows;
	bool limited = page->options->cut && !page->options->all_frames;
	size_t shown = monitor_line__shown(page, rows->count, BLOCKS_SHOWN), lines = 0;
	bool left = shown < rows->count;
	int ret = 0;

	most -= most > 0; /* for the line after them */
	for (size_t i = 0; !ret && i < shown; i++) {
		size_t share = limited ? most / (shown - i) : SIZE_MAX;

		if (share < BLOCK_LINES_LEAST) {
			left = true;
			break;
		}
		ret = print_block(out, page, &rows->items[i], share, &lines, &left);
		most -= limited ? lines : 0;
	}
	if (left)
		fputs("... --top 0 shows all processes in full\n", out);
	return ret;
}

static int print_parts(FILE *out, const struct monitor_page *page)
{
	char *around[2] = {NULL, NULL};
	size_t lengths[2], used, most = most_lines(page->rows->count);
	FILE *above = text_stream__open(&around[0], &lengths[0]);
	FILE *below = text_stream__open(&around[1], &lengths[1]);
	int ret = above && below ? 0 : -ENOMEM;

	if (!ret) {
		monitor_head__print(above, page);
		ret = monitor_table__print(above, page);
		monitor_findings__print(below, page);
		print_tail(below, page);
	}
	if (above && fclose(above))
		ret = -ENOMEM;
	if (below && fclose(below))
		ret = -ENOMEM;
	if (!ret) {
		used = RULES + lines_of(around[0]) + lines_of(around[1]);
		fputs(around[0], out);
		ret = print_blocks(out, page, most > used ? most - used : 0);
		fputs(around[1], out);
	}
	free(around[0]);
	free(around[1]);
	return ret;
}

static void print_nothing(FILE *out, const struct model *model)
{
	report_line__date(out, model);
	fputc('\n', out);
	report_line__no_process(out, model);
	if (!model->final && !model->targets.count)
		fputs("gpuprobe ps lists processes that use CUDA, also idle ones\n", out);
}

int monitor_text__print(FILE *out, struct monitor_text *text, const struct model *model,
			const struct finding_list *findings, const struct findings *verdicts)
{
	struct monitor_rows rows;
	const struct monitor_page page = {
		.options = &text->options,
		.model = model,
		.findings = findings,
		.verdicts = verdicts,
		.rows = &rows,
		.since_ns = monitor_history__since_ns(text->history),
	};
	int ret = monitor_rows__make(text->history, model, findings, &rows);

	if (ret)
		return ret;
	fputs(REPORT_RULE, out);
	if (rows.count) {
		ret = print_parts(out, &page);
	} else {
		print_nothing(out, model);
		print_tail(out, &page);
	}
	fputs(REPORT_RULE, out);
	free(rows.items);
	return ret ? ret : monitor_history__keep(text->history, model);
}
