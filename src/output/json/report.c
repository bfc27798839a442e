// SPDX-License-Identifier: BSD-2-Clause
// The report as JSON, see report.h. Each family of calls is in a file of its own.
#include "output/json/report.h"

#include "output/finding/findings.h"
#include "output/json/profile.h"
#include "output/json/parts.h"
#include "output/report/totals.h"
#include "output/finding/verdict.h"
#include "output/enum_names.h"

static void write_sections(struct json *j, unsigned int sections)
{
	unsigned int section;

	json__key(j, "sections");
	json__array_begin(j);
	for (section = 1; section & SECTION_ALL; section <<= 1) {
		if (sections & section)
			json__string(j, enum_names__section(section));
	}
	json__array_end(j);
}

static void write_totals(struct json *j, const struct model *model)
{
	struct report_totals totals;

	report_totals__sum(model, &totals);
	json__key(j, "totals");
	json__object_begin(j);
	json__key_u64(j, "processes", totals.processes);
	if (model->sections & SECTION_MEMORY && !model->no_returns) {
		json_memory__write_totals(j, "device_memory", &totals.device);
		json_memory__write_totals(j, "host_memory", &totals.host);
		json__key_u64(j, "live_at_exit_bytes", totals.live_at_exit_bytes);
		json__key_u64(j, "live_at_exit_allocations", totals.live_at_exit_count);
	}
	if (model->sections & SECTION_LAUNCH) {
		json__key_u64(j, "launches", totals.launches);
		if (totals.estimated)
			json__key_bool(j, "estimated", true);
		json__key_u64(j, "kernels", totals.kernels);
		json__key_u64(j, "captured_launches", totals.captured_launches);
		json__key_u64(j, "graph_launches", totals.graph_launches);
		json__key_u64(j, "graph_kernels", totals.graph_kernels);
		json__key_u64(j, "graph_launches_of_unknown_size",
			      totals.graph_launches_of_unknown_size);
	}
	json__object_end(j);
}

/* Writes the verdict on the latest minute. */
static void write_verdict(struct json *j, const struct findings *verdicts,
			  const struct model *model, const struct process *p)
{
	struct verdict verdict;

	verdict__judge_latest(verdicts, model, p, &verdict);
	verdict_json__write_one(j, &verdict);
}

static void write_process(struct json *j, const struct model *model, const struct process *p,
			  const struct findings *verdicts)
{
	unsigned int sections = model->sections;

	json__object_begin(j);
	json_process__write_life(j, p);
	json_process__write_gpus(j, model, p);
	if (sections & SECTION_MEMORY && !model->no_returns)
		json_memory__write(j, p);
	json_tensors__write(j, model, p);
	json_process__write_shim(j, p);
	json_process__write_unfollowed(j, p);
	json_process__write_slow(j, model, p);
	json_process__write_lost(j, p);
	if (sections & SECTION_LAUNCH)
		json_launch__write(j, model, p);
	if (sections & SECTION_LAUNCH && !model->no_returns)
		json_steps__write(j, p);
	if (sections & SECTION_COPY) {
		json_copy__write(j, p);
		json_wait__write(j, p);
	}
	if (!model->no_returns)
		json_open_calls__write(j, model, p);
	json_object__write(j, p);
	json_error__write(j, p);
	if (model->stacks)
		json_site__write(j, model, p);
	json_functions__write(j, model->no_returns ? sections & SECTION_LAUNCH : sections, p);
	if (verdicts)
		write_verdict(j, verdicts, model, p);
	json__object_end(j);
}

static void write_processes(struct json *j, const struct model *model,
			    const struct findings *verdicts)
{
	size_t i;

	json__key(j, "processes");
	json__array_begin(j);
	for (i = 0; i < model->process_count; i++) {
		if (report__shows(&model->processes[i]))
			write_process(j, model, &model->processes[i], verdicts);
	}
	json__array_end(j);
}

static void write_gpuprobe(struct json *j, const struct model *model)
{
	int i;

	json__key_u64(j, "libraries", model->libraries);
	json__key(j, "probes_attached");
	json__object_begin(j);
	for (i = 0; i < LAYER_COUNT; i++)
		json__key_u64(j, enum_names__layer(i), model->probes_attached[i]);
	json__object_end(j);
	json__key_u64(j, "functions_missing", model->sites_missing);
	json_parts__key_lost(j, model);
}

void report_json__print(FILE *out, const struct model *model, const struct finding_list *findings,
			const struct findings *verdicts, const struct export_counts *exports)
{
	struct json j;

	json__init(&j, out);
	json__object_begin(&j);
	json__key_u64(&j, "schema", REPORT_JSON_SCHEMA);
	json_parts__key_time(&j, &model->wall);
	json__key_u64(&j, "boot_ns", model->now_ns);
	json__key_bool(&j, "final", model->final);
	write_sections(&j, model->sections);
	json__key_u64(&j, "launch_sample", model->launch_sample);
	if (model->no_returns)
		json__key_bool(&j, "returns", false);
	json_sampling__write(&j, &model->sampling);
	write_totals(&j, model);
	write_processes(&j, model, verdicts);
	json_parts__key_without_calls(&j, model);
	json_process__write_machine(&j, model);
	json_xids__write(&j, model);
	if (findings)
		json_findings__write(&j, findings);
	write_gpuprobe(&j, model);
	if (exports)
		json_exports__write(&j, exports);
	json__object_end(&j);
	fputc('\n', out);
}
