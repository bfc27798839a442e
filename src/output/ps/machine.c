// SPDX-License-Identifier: BSD-2-Clause
// The driver and the GPUs above the table of `gpuprobe ps`, see parts.h.
#include "output/ps/parts.h"

#include "base/escape.h"
#include "base/quantity.h"
#include "model/gpu_label.h"
#include "output/clip.h"

#define NAME_COLUMNS 40
#define MEMORY_SIZE (2 * sizeof(struct quantity) + sizeof(" of "))

static void print_driver(FILE *out, const struct ps *ps)
{
	size_t whole = 0;

	for (size_t i = 0; i < ps->model.gpu_count; i++)
		whole += ps->model.gpus[i].mig == GPU_NONE;
	fputs("driver ", out);
	escape__text(out, ps->driver[0] ? ps->driver : "unknown");
	fprintf(out, ", %zu GPU%s\n", whole, whole == 1 ? "" : "s");
}

static void memory_text(const struct gpu *gpu, enum quantity_form form, char text[MEMORY_SIZE])
{
	const char *used = "-", *total = "-";
	struct quantity used_text, total_text;

	if (gpu->used_bytes != GPU_UNKNOWN_BYTES) {
		used_text = quantity__bytes_as(form, gpu->used_bytes);
		used = used_text.text;
	}
	if (gpu->total_bytes != GPU_UNKNOWN_BYTES) {
		total_text = quantity__bytes_as(form, gpu->total_bytes);
		total = total_text.text;
	}
	snprintf(text, MEMORY_SIZE, "%s of %s", used, total);
}

static const char *name_of(const struct gpu *gpu)
{
	return gpu->name[0] ? gpu->name : "-";
}

/* Widths of the columns: label, name, memory. */
struct widths {
	int label, name, memory;
};

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static struct widths measure(const struct ps *ps, enum quantity_form form, int name_columns)
{
	struct widths widths = {0};

	for (size_t i = 0; i < ps->model.gpu_count; i++) {
		const struct gpu *gpu = &ps->model.gpus[i];
		char label[GPU_LABEL_SIZE], memory[MEMORY_SIZE];

		gpu_label(gpu, label);
		memory_text(gpu, form, memory);
		widths.label = larger(widths.label, clip__columns(label));
		widths.name = larger(widths.name, clip__columns_of(name_of(gpu), name_columns));
		widths.memory = larger(widths.memory, clip__columns(memory));
	}
	return widths;
}

static void print_gpu(FILE *out, const struct gpu *gpu, enum quantity_form form,
		      const struct widths *widths)
{
	char label[GPU_LABEL_SIZE], memory[MEMORY_SIZE];
	int name = clip__columns_of(name_of(gpu), widths->name);

	gpu_label(gpu, label);
	memory_text(gpu, form, memory);
	fprintf(out, "GPU %-*s  ", widths->label, label);
	clip__print(out, name_of(gpu), widths->name);
	fprintf(out, "%*s  %*s  ", widths->name - name, "", widths->memory, memory);
	if (gpu->busy_percent == GPU_UNKNOWN_PERCENT)
		fputs("  - busy\n", out);
	else
		fprintf(out, "%3u %% busy\n", gpu->busy_percent);
}

void ps_machine__print(FILE *out, const struct ps *ps, enum quantity_form form, int columns)
{
	struct widths widths = measure(ps, form, columns && columns < 80 ? 20 : NAME_COLUMNS);

	if (!ps->driver[0] && !ps->model.gpu_count)
		return;
	print_driver(out, ps);
	for (size_t i = 0; i < ps->model.gpu_count; i++)
		print_gpu(out, &ps->model.gpus[i], form, &widths);
	fputc('\n', out);
}
