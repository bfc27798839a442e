// SPDX-License-Identifier: BSD-2-Clause
// The head of the monitor's report: when, how many processes, the GPUs; see parts.h.
#include "base/quantity.h"
#include "base/saturate.h"
#include "model/gpu_label.h"
#include "output/monitor/parts.h"
#include "output/report/line.h"

#define GPUS_SHOWN 8
#define GPU_LINES 4

static uint64_t watched_ns(const struct monitor_page *page)
{
	uint64_t now_ns = page->model->now_ns;

	return now_ns > page->since_ns ? now_ns - page->since_ns : 0;
}

/* "2026-11-22 14:02:11  3 CUDA processes, 1 ended; rates of the last 5.0 s" */
static void print_moment(FILE *out, const struct monitor_page *page)
{
	const struct monitor_rows *rows = page->rows;
	size_t running = rows->count - rows->ended;

	report_line__date(out, page->model);
	if (running || !rows->ended)
		fprintf(out, "  %zu CUDA process%s", running, running == 1 ? "" : "es");
	else
		fprintf(out, "  %zu CUDA process%s ended", rows->ended,
			rows->ended == 1 ? "" : "es");
	if (running && rows->ended)
		fprintf(out, ", %zu ended", rows->ended);
	if (page->model->final)
		fputs("; the last report: totals", out);
	else if (running)
		fprintf(out, "; rates of the last %s",
			quantity__time_as(page->options->form, watched_ns(page)).text);
	fputc('\n', out);
}

/* "GPU 0: 87 % busy, 60.1 GiB of 139.8 GiB" */
static void write_gpu(FILE *out, enum quantity_form form, const struct gpu *gpu)
{
	char label[GPU_LABEL_SIZE];

	gpu_label(gpu, label);
	fprintf(out, "GPU %s: ", label);
	if (gpu->busy_percent != GPU_UNKNOWN_PERCENT)
		fprintf(out, "%u %% busy, ", gpu->busy_percent);
	if (gpu->used_bytes == GPU_UNKNOWN_BYTES || gpu->total_bytes == GPU_UNKNOWN_BYTES)
		fputs("memory unknown", out);
	else
		fprintf(out, "%s of %s", quantity__bytes_as(form, gpu->used_bytes).text,
			quantity__bytes_as(form, gpu->total_bytes).text);
}

static bool is_known(const struct gpu *gpu)
{
	return gpu->busy_percent != GPU_UNKNOWN_PERCENT || gpu->used_bytes != GPU_UNKNOWN_BYTES;
}

/* The instances of a divided GPU stand for it. */
static void write_gpus(FILE *out, enum quantity_form form, const struct model *model)
{
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < model->gpu_count; i++) {
		if (model->gpus[i].divided || !is_known(&model->gpus[i]))
			continue;
		if (shown == GPUS_SHOWN) {
			left++;
			continue;
		}
		fputs(shown++ ? "; " : "", out);
		write_gpu(out, form, &model->gpus[i]);
	}
	if (left)
		fprintf(out, "; and %zu more", left);
}

/* "2 with 600.0 MiB on GPU 0" */
static void write_strangers(FILE *out, enum quantity_form form, const struct gpu *gpu)
{
	char label[GPU_LABEL_SIZE];
	uint64_t bytes = 0;

	for (size_t i = 0; i < gpu->stranger_count && i < GPU_STRANGERS; i++)
		saturate__add(&bytes, gpu->strangers[i].bytes);
	gpu_label(gpu, label);
	fprintf(out, "%zu ", gpu->stranger_count);
	if (bytes)
		fprintf(out, "with %s%s ", gpu->stranger_count > GPU_STRANGERS ? "over " : "",
			quantity__bytes_as(form, bytes).text);
	fprintf(out, "on GPU %s", label);
}

/*
 * "other processes: 2 with 600.0 MiB on GPU 0 (gpuprobe ps)": those that NVML reports and that have
 * no row. They have made no call since attach, or a filter leaves them out.
 */
static void print_others(FILE *out, const struct monitor_page *page)
{
	const struct model *model = page->model;
	struct monitor_words words;
	size_t shown = 0;

	if (!monitor_words__begin(&words))
		return;
	for (size_t i = 0; i < model->gpu_count && shown < GPUS_SHOWN; i++) {
		if (model->gpus[i].divided || !model->gpus[i].stranger_count)
			continue;
		fputs(shown++ ? ", " : "other processes: ", words.out);
		write_strangers(words.out, page->options->form, &model->gpus[i]);
	}
	if (shown)
		fputs(" (gpuprobe ps)", words.out);
	monitor_words__wrap(&words, out, page, "", 0, 0);
}

void monitor_head__print(FILE *out, const struct monitor_page *page)
{
	struct monitor_words gpus;

	print_moment(out, page);
	if (!monitor_words__begin(&gpus))
		return;
	write_gpus(gpus.out, page->options->form, page->model);
	monitor_words__wrap(&gpus, out, page, "", 0, page->options->cut ? GPU_LINES : 0);
	print_others(out, page);
}
