// SPDX-License-Identifier: BSD-2-Clause
// The JSON of `gpuprobe stat` and `gpuprobe diagnose`, see stat.h.
#include "model/profile.h"
#include "output/finding/findings.h"
#include "output/json/gpu_times.h"
#include "output/json/ranges.h"
#include "output/json/profile.h"
#include "output/json/parts.h"
#include "output/report/totals.h"
#include "output/finding/reasons.h"
#include "output/stat/stat.h"
#include "output/finding/verdict.h"
#include "output/enum_names.h"
#include "output/oom/oom_text.h"

static void write_profile(struct json *j, const struct stat_report *report, const struct process *p)
{
	const struct profile *profile = p->profile;
	uint64_t now_ns = profile__counted_until_ns(p, report->model->now_ns);

	if (!profile)
		return;
	json_threads__write(j, p, report->began_ns, now_ns);
	json_totals__write(j, &profile->totals);
	json_steps__write(j, p);
	json_steady__write(j, p, report->model->now_ns);
	json_start__write(j, p, report->began_ns);
	json__key_u64(j, "peak_bytes", profile->peak_bytes);
	json__key(j, "inflight_at_exit");
	json__object_begin(j);
	json__key_u64(j, "calls", profile->inflight_at_exit[0]);
	json__key_u64(j, "bytes", profile->inflight_at_exit[1]);
	json__object_end(j);
	json_durations__write(j, p);
	json_sizes__write(j, profile);
}

static void write_memory(struct json *j, const struct process *p)
{
	json__key(j, "memory");
	json__object_begin(j);
	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		if (memory_totals__has_any(&p->memory[kind]))
			json_memory__write_totals(j, enum_names__memory_kind(kind),
						  &p->memory[kind]);
	if (p->ended) {
		json__key_u64(j, "live_at_exit_bytes", p->live_at_exit_bytes);
		json__key_u64(j, "live_at_exit_allocations", p->live_at_exit_count);
	}
	json__object_end(j);
}

static void write_process(struct json *j, const struct stat_report *report, const struct process *p)
{
	json__object_begin(j);
	json_process__write_life(j, p);
	verdict_json__write(j, report, p);
	reasons_json__write(j, p, report->model->now_ns);
	write_profile(j, report, p);
	write_memory(j, p);
	json_tensors__write(j, report->model, p);
	json_launch__write(j, report->model, p);
	json_copy__write(j, p);
	json_wait__write(j, p);
	if (report->gpu_times)
		json_gpu_times__write(j, report->gpu_times, p);
	if (report->ranges)
		json_ranges__write(j, report->ranges, p);
	json_open_calls__write(j, report->model, p);
	json_error__write(j, p);
	if (report->model->stacks)
		json_site__write(j, report->model, p);
	json__object_end(j);
}

void stat_json__print(FILE *out, const struct stat_report *report)
{
	const struct model *model = report->model;
	struct json j;

	json__init(&j, out);
	json__object_begin(&j);
	json__key_string(&j, "schema", STAT_JSON_SCHEMA);
	json_parts__key_time(&j, &model->wall);
	json__key_u64(&j, "boot_ns", model->now_ns);
	json__key_u64(&j, "began_ns", report->began_ns);
	json__key_bool(&j, "final", model->final);
	json_sampling__write(&j, &model->sampling);
	reasons_json__write_host(&j, model);
	json__key(&j, "processes");
	json__array_begin(&j);
	for (size_t i = 0; i < model->process_count; i++)
		if (report__shows(&model->processes[i]))
			write_process(&j, report, &model->processes[i]);
	json__array_end(&j);
	json_parts__key_without_calls(&j, model);
	if (report->gpu_times)
		json_gpu_times__write_losses(&j, report->gpu_times);
	if (report->ranges)
		json_ranges__write_losses(&j, report->ranges);
	oom_json__write(&j, model);
	json_findings__write(&j, report->findings);
	json_findings__write_limits(&j, report->state, report->findings);
	json_findings__write_thresholds(&j, report->state);
	json__key_bool(&j, "getters", report->getters);
	json__key_u64(&j, "shape_sample", model->shape_sample);
	json_parts__key_lost(&j, model);
	json__object_end(&j);
	fputc('\n', out);
}
