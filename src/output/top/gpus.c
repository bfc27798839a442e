// SPDX-License-Identifier: BSD-2-Clause
// GPUs in lines, see gpus.h. What NVML does not report is "-".
#include "output/top/gpus.h"

#include <inttypes.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "base/saturate.h"
#include "model/gpu_label.h"
#include "output/top/text.h"

#define MEMORY_COLUMNS 24	/* "1023.9 MiB of 1023.9 GiB" */
#define EXACT_MEMORY_COLUMNS 46 /* "151,397,597,184 bytes of 151,397,597,184 bytes" */

static void write_percent(FILE *out, uint32_t percent)
{
	if (percent == GPU_UNKNOWN_PERCENT)
		fputs("    -", out);
	else
		fprintf(out, "%3" PRIu32 " %%", percent);
}

static void write_memory(FILE *out, uint64_t used, uint64_t total, enum quantity_form form)
{
	char text[2 * sizeof(struct quantity) + sizeof(" of ")] = "-";

	if (used != GPU_UNKNOWN_BYTES && total != GPU_UNKNOWN_BYTES)
		snprintf(text, sizeof(text), "%s of %s", quantity__bytes_as(form, used).text,
			 quantity__bytes_as(form, total).text);
	top_text__cell(out, text, form == QUANTITY_EXACT ? EXACT_MEMORY_COLUMNS : MEMORY_COLUMNS,
		       false);
}

static void write_power(FILE *out, uint64_t milliwatts)
{
	if (milliwatts == GPU_UNKNOWN_NUMBER)
		fputs("     -", out);
	else
		fprintf(out, "%4" PRIu64 " W", (milliwatts + 500) / 1000);
}

static void write_temperature(FILE *out, uint32_t celsius)
{
	if (celsius == GPU_UNKNOWN_NUMBER)
		fputs("    -", out);
	else
		fprintf(out, "%3" PRIu32 " C", celsius);
}

struct gpu_line {
	const struct gpu *gpu;
	const struct top_list *list;
	enum quantity_form form;
};

/* A process on the GPU that the table does not list; 0: none. */
static int32_t find_unlisted(const struct gpu_line *line)
{
	for (size_t i = 0; i < GPU_STRANGERS && i < line->gpu->stranger_count; i++)
		if (!top_list__has(line->list, line->gpu->strangers[i].pid))
			return line->gpu->strangers[i].pid;
	return 0;
}

static void write_gpu(FILE *out, const void *arg)
{
	const struct gpu_line *line = arg;
	const struct gpu *gpu = line->gpu;
	int32_t unlisted = find_unlisted(line);
	char label[GPU_LABEL_SIZE];

	gpu_label(gpu, label);
	fprintf(out, "GPU %-3s busy ", label);
	write_percent(out, gpu->busy_percent);
	fputs("  memory ", out);
	write_memory(out, gpu->used_bytes, gpu->total_bytes, line->form);
	fputc(' ', out);
	write_power(out, gpu->milliwatts);
	fputc(' ', out);
	write_temperature(out, gpu->celsius);
	/* Its memory is in the sum, but it has no row. */
	if (unlisted)
		fprintf(out, "  also pid %d (not listed)", unlisted);
	fputs("  ", out);
	escape__text(out, gpu->name[0] ? gpu->name : "-");
}

/* Sums over whole GPUs; what one of them does not report is unknown of all. */
struct all_gpus {
	unsigned int count, busy_count;
	uint64_t busy_percents;
	uint64_t used_bytes, total_bytes, milliwatts;
	uint32_t hottest;
};

static void sum_up(const struct model *model, struct all_gpus *all)
{
	*all = (struct all_gpus){0};
	for (size_t i = 0; i < model->gpu_count; i++) {
		const struct gpu *gpu = &model->gpus[i];

		/* Instances share the memory and the power of their GPU. */
		if (gpu->mig != GPU_NONE)
			continue;
		all->count++;
		saturate__add(&all->used_bytes, gpu->used_bytes);
		saturate__add(&all->total_bytes, gpu->total_bytes);
		if (gpu->busy_percent != GPU_UNKNOWN_PERCENT) {
			all->busy_percents += gpu->busy_percent;
			all->busy_count++;
		}
		if (gpu->milliwatts == GPU_UNKNOWN_NUMBER || all->milliwatts == GPU_UNKNOWN_NUMBER)
			all->milliwatts = GPU_UNKNOWN_NUMBER;
		else
			all->milliwatts += gpu->milliwatts;
		if (gpu->celsius > all->hottest)
			all->hottest = gpu->celsius;
	}
}

struct all_line {
	const struct model *model;
	enum quantity_form form;
};

static void write_all(FILE *out, const void *arg)
{
	const struct all_line *line = arg;
	struct all_gpus all;

	sum_up(line->model, &all);
	fprintf(out, "%u GPU%s  busy ", all.count, all.count == 1 ? "" : "s");
	write_percent(out, all.busy_count == all.count && all.count ?
				   (uint32_t)(all.busy_percents / all.count) :
				   GPU_UNKNOWN_PERCENT);
	fputs(" mean  memory ", out);
	write_memory(out, all.used_bytes, all.total_bytes, line->form);
	fputc(' ', out);
	write_power(out, all.milliwatts);
	fputs("  hottest ", out);
	write_temperature(out, all.hottest);
}

int top_gpus__add(struct top_page *page, const struct model *model, const struct top_list *list,
		  bool folded, enum quantity_form form)
{
	struct gpu_line line = {.list = list, .form = form};
	const struct all_line sums = {model, form};
	int ret = 0;

	if (!model->gpu_count)
		return top_page__add_text(page, TOP_PLAIN, "GPUs unknown: NVML has not answered");
	if (folded)
		return top_page__add(page, TOP_PLAIN, write_all, &sums);
	for (size_t i = 0; i < model->gpu_count && !ret; i++) {
		line.gpu = &model->gpus[i];
		ret = top_page__add(page, TOP_PLAIN, write_gpu, &line);
	}
	return ret;
}
