// SPDX-License-Identifier: BSD-2-Clause
// The findings of a run: thresholds, history, and running each rule, see finding.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "finding/finding.h"
#include "finding/history.h"
#include "finding/step_cost.h"
#include "finding/threshold.h"
#include "finding/verdict.h"
#include "model/profile.h"
#include "model/steady.h"

struct findings {
	struct findings_options options;
	uint64_t began_ns;
	double (*thresholds)[FINDING_THRESHOLDS]; /* values in use, by kind */
	struct finding_history *history;
};

struct findings *findings__new(const struct findings_options *options)
{
	struct findings *findings = calloc(1, sizeof(*findings));

	if (!findings)
		return NULL;
	findings->options = *options;
	findings->thresholds = calloc(finding_kind_count, sizeof(*findings->thresholds));
	findings->history = finding_history__new(options->window_ns, options->latest);
	if (!findings->thresholds || !findings->history) {
		findings__free(findings);
		return NULL;
	}
	for (size_t i = 0; i < finding_kind_count; i++)
		for (size_t n = 0; n < FINDING_THRESHOLDS && finding_kinds[i]->thresholds[n].name;
		     n++)
			findings->thresholds[i][n] = finding_kinds[i]->thresholds[n].value;
	return findings;
}

void findings__free(struct findings *findings)
{
	if (!findings)
		return;
	finding_history__free(findings->history);
	free(findings->thresholds);
	free(findings);
}

const struct finding_history *findings__history(const struct findings *findings)
{
	return findings->history;
}

int findings__set_threshold(struct findings *findings, const char *text, struct error *err)
{
	struct threshold_choice choice;
	int ret = threshold__parse(text, &choice, err);

	if (!ret)
		findings->thresholds[finding_kind__index(choice.kind)][choice.index] = choice.value;
	return ret;
}

int findings__set_thresholds(struct findings *findings, const char *const *texts, size_t count,
			     struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = findings__set_threshold(findings, texts[i], err);
	return ret;
}

double findings__threshold(const struct findings *findings, const struct finding_kind *kind,
			   size_t index)
{
	return findings->thresholds[finding_kind__index(kind)][index];
}

uint64_t findings__nccl_hang_ns(const struct findings *findings)
{
	return (uint64_t)findings__threshold(findings, finding_kind__find("nccl-hang"), 0);
}

void findings__begin(struct findings *findings, uint64_t began_ns)
{
	findings->began_ns = began_ns;
}

uint64_t findings__began_ns(const struct findings *findings)
{
	return findings->began_ns;
}

/*
 * A busy machine may take a second between the first probe and the last: calls of that second
 * count, so it counts as watched. Otherwise shares of the watched time would exceed 100 %.
 */
static void find_first_call(struct findings *findings, const struct model *model)
{
	for (size_t i = 0; findings->began_ns && i < model->process_count; i++) {
		const struct profile *profile = model->processes[i].profile;
		uint64_t first_ns = profile ? profile__first_call_ns(profile) : 0;

		if (first_ns && first_ns < findings->began_ns)
			findings->began_ns = first_ns;
	}
}

int findings__sample(struct findings *findings, const struct model *model)
{
	find_first_call(findings, model);
	return model->broken_off ? 0 : finding_history__sample(findings->history, model);
}

/* --- drawing --- */

/* What the command provides; rules that need a profile are not run for a process without one. */
static bool has_needs(const struct findings *findings, const struct finding_kind *kind)
{
	return !(kind->needs & ~findings->options.needs);
}

static bool knows_every(const struct finding_kind *kind, const struct process *process)
{
	for (enum rate_family family = 0; family < RATE_FAMILIES; family++)
		if (kind->every & (1u << family) && process__is_estimated(process, family))
			return false;
	return true;
}

static bool knows_every_of_all(const struct finding_kind *kind, const struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (!knows_every(kind, &model->processes[i]))
			return false;
	return true;
}

/* Whether the process has a finding of another kind that suppresses this one. */
static bool is_taken(const struct findings *findings, const struct finding_kind *kind,
		     const struct process *process)
{
	for (size_t i = 0; i < finding_kind_count; i++)
		if (finding_kinds[i]->stands_alone && finding_kinds[i] != kind &&
		    finding_kinds[i]->stands_alone(process, findings->thresholds[i]))
			return true;
	return false;
}

/*
 * The GPU has enough work, so what the process could do faster costs nothing. That calls were held
 * up is not enough: on a busy machine they may have waited for a CPU.
 */
static bool is_gpu_bound(const struct model *model, const struct process *process)
{
	struct verdict verdict;

	verdict__judge(model, process, &verdict);
	return verdict.kind == VERDICT_GPU_BOUND &&
	       (verdict.busy >= VERDICT_LEAST_BUSY || verdict.exact_ns);
}

static void pass_over(const struct finding_kind *kind, struct finding_list *list)
{
	list->sampled_kinds |= 1ull << finding_kind__index(kind);
}

/* Draws findings from the steady time, as if the process had been watched only from its start. */
static int detect_steady(const struct finding_input *input, const struct process *process,
			 uint64_t since_ns, struct finding_list *list)
{
	struct finding_input since = *input;
	struct process view;
	int ret = steady__view(process, input->model->now_ns, &view);

	if (ret)
		return ret;
	since.began_ns = since_ns;
	ret = input->kind->detect(&since, input->kind->whole ? process : &view, list);
	steady__clear_view(&view);
	return ret;
}

/* Sets the cost per step of findings from index `before` on. */
static void report_steps(const struct finding_input *input, const struct process *process,
			 struct finding_list *list, size_t before)
{
	const struct step_cost cost = step_cost__of(process, input->model->now_ns);

	for (size_t i = before; i < list->count; i++) {
		struct finding *finding = &list->items[i];

		finding->steady = true;
		if (!finding->has_cost)
			continue;
		finding->step_ns = cost.step_ns;
		finding->a_step_ns = step_cost__ns(&cost, finding->cost_ns);
	}
}

/* Estimates cover the whole time: too little of the steady time alone was watched. */
static bool is_of_steady_time(const struct finding_kind *kind, const struct process *process)
{
	for (enum rate_family family = 0; family < RATE_FAMILIES; family++)
		if (!kind->whole && process__is_estimated(process, family))
			return false;
	return kind->steady;
}

static int detect_process(const struct finding_input *input, const struct process *process,
			  struct finding_list *list)
{
	uint64_t since_ns = is_of_steady_time(input->kind, process) ?
				    steady__since_ns(process, input->model->now_ns) :
				    0;
	size_t before = list->count;
	int ret;

	if (!since_ns)
		return input->kind->detect(input, process, list);
	ret = detect_steady(input, process, since_ns, list);
	report_steps(input, process, list, before);
	return ret;
}

static int detect_kind(const struct findings *findings, const struct model *model,
		       const struct finding_kind *kind, struct finding_list *list)
{
	const struct finding_input input = {
		.model = model,
		.state = findings,
		.kind = kind,
		.thresholds = findings->thresholds[finding_kind__index(kind)],
		.began_ns = findings->began_ns,
	};
	int failed = 0, ret;

	for (size_t i = 0; kind->detect && i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		if (((kind->needs & NEEDS_PROFILE) && !process->profile) ||
		    is_taken(findings, kind, process) ||
		    (kind->host_limits && is_gpu_bound(model, process)))
			continue;
		if (!knows_every(kind, process)) {
			pass_over(kind, list);
			continue;
		}
		ret = detect_process(&input, process, list);
		failed = failed ? failed : ret;
	}
	if (!kind->detect_all)
		return failed;
	if (!knows_every_of_all(kind, model)) {
		pass_over(kind, list);
		return failed;
	}
	ret = kind->detect_all(&input, list);
	return failed ? failed : ret;
}

bool findings__has_full_names(const struct findings *findings)
{
	return findings->options.full_names;
}

void findings__add_needs(struct findings *findings, unsigned int needs)
{
	findings->options.needs |= needs;
}

bool findings__looks_for(const struct findings *findings, const struct finding_kind *kind)
{
	return has_needs(findings, kind);
}

int findings__detect(struct findings *findings, const struct model *model,
		     struct finding_list *list)
{
	int failed = 0, ret;

	find_first_call(findings, model);
	finding_list__clear(list);
	for (size_t i = 0; i < finding_kind_count; i++) {
		if (!has_needs(findings, finding_kinds[i]))
			continue;
		ret = detect_kind(findings, model, finding_kinds[i], list);
		failed = failed ? failed : ret;
	}
	ret = finding_list__sort(list);
	return failed ? failed : ret;
}
