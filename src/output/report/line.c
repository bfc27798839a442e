// SPDX-License-Identifier: BSD-2-Clause
// Pieces that the sections of the text report share, see line.h.
#include "output/report/line.h"

#include <inttypes.h>

#include "base/escape.h"
#include "output/enum_names.h"

void report_line__date(FILE *out, const struct model *model)
{
	char text[32];
	struct tm tm;

	if (!localtime_r(&model->wall.tv_sec, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		fprintf(out, "%lld", (long long)model->wall.tv_sec);
	else
		fputs(text, out);
}

bool report_line__no_call(FILE *out, const struct model *model)
{
	char text[SILENT_TEXT_SIZE];

	if (!silent_targets__write(&model->targets, text))
		return false;
	escape__text(out, text);
	fputc('\n', out);
	return true;
}

void report_line__silent(FILE *out, const struct model *model)
{
	if (!model->process_count || !silent_targets__count(&model->targets))
		return;
	fputc('\n', out);
	report_line__no_call(out, model);
}

void report_line__no_process(FILE *out, const struct model *model)
{
	fputc('\n', out);
	if (model->process_count || silent_targets__count(&model->targets) < model->targets.count)
		fputs("no CUDA process is running\n", out);
	else if ((model->final || model->libraries) && report_line__no_call(out, model))
		return;
	else if (model->final)
		fputs("no CUDA process was seen\n", out);
	else if (!model->libraries)
		fputs("no CUDA library found yet, waiting for a process that brings one\n", out);
	else
		fputs("no CUDA process seen yet\n", out);
}

size_t report_line__cut(const struct report_options *options, size_t count)
{
	return options->top && count > options->top ? options->top : count;
}

void report_line__process(FILE *out, const struct process *process)
{
	fprintf(out, "process %d (", process->pid);
	escape__text(out, process->comm);
	fputc(')', out);
	if (process->since_attach)
		fputs(" since attach", out);
	if (process->ended)
		fputs(process->since_attach ? ", ended" : " ended", out);
	fputc('\n', out);
}

void report_line__before_attach(FILE *out, const struct process *process, enum quantity_form form)
{
	uint64_t bytes = process__nvml_bytes(process);

	if (!process->since_attach)
		return;
	fputs(REPORT_INDENT "allocated before attach: unknown", out);
	if (bytes != GPU_UNKNOWN_BYTES)
		fprintf(out, "; by NVML the process has %s in all",
			quantity__bytes_as(form, bytes).text);
	fputc('\n', out);
}

void report_line__evicted(FILE *out, const struct model *model)
{
	if (model->stacks_evicted)
		fprintf(out,
			REPORT_INDENT "%" PRIu64
				      " stack%s no longer known: see --stack-storage-size\n",
			model->stacks_evicted, model->stacks_evicted == 1 ? " is" : "s are");
}

void report_line__losses(FILE *out, const struct model *model)
{
	bool first = true;

	for (int loss = 0; loss < LOSS_COUNT; loss++) {
		if (!model->lost[loss])
			continue;
		if (first)
			fputs("\nlost:\n", out);
		first = false;
		fprintf(out, REPORT_INDENT "%s: %" PRIu64 "\n", enum_names__loss_text(loss),
			model->lost[loss]);
	}
}

void report_line__time(FILE *out, uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	size_t unit = 0;

	for (; value >= 1000 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
		value /= 1000;
	fprintf(out, "%.12g%s", value, units[unit]);
}

void report_line__seconds(FILE *out, uint64_t ns)
{
	/* Below 10 us, five decimals would show at most one digit. */
	fprintf(out, "%.*f secs", ns && ns < 10000 ? 9 : 5, (double)ns / 1e9);
}

const char *report_line__plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}
