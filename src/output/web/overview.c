// SPDX-License-Identifier: BSD-2-Clause
// What is watched now, see web.h.
#include "output/web/web.h"

#include <stdlib.h>

#include "base/text_stream.h"
#include "finding/verdict.h"
#include "model/living.h"
#include "model/steps.h"
#include "output/command_text.h"
#include "output/finding/findings.h"
#include "output/finding/verdict.h"
#include "output/json/parts.h"
#include "output/web/parts.h"

/* --- a process --- */

static void write_memory(struct json *j, const struct model *model, const struct process *process)
{
	bool at_least;
	uint64_t bytes = process__held_bytes(process, &at_least);

	json__key_known_u64(j, "memory_bytes", bytes, model->sections & SECTION_MEMORY);
	json__key_bool(j, "memory_at_least", at_least);
}

/* null before the second reading. */
static void write_rates(struct json *j, const struct process_rates *rates,
			const struct process *process)
{
	struct process_rate rate;

	process_rates__of(rates, process, &rate);
	json__key(j, "rates");
	if (!rate.interval_ns) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_double(j, "launches_per_second", rate.launches);
	json__key_double(j, "copies_per_second", rate.copies);
	json__key_double(j, "bytes_to_device_per_second", rate.to_device);
	json__key_double(j, "bytes_to_host_per_second", rate.to_host);
	json__key_double(j, "waiting", rate.waiting);
	if (rate.has_slope)
		json__key_double(j, "memory_bytes_per_second", rate.memory_slope);
	json__object_end(j);
}

/* null if no repetition was seen. */
static void write_step(struct json *j, const struct process *process)
{
	struct step_summary steps;

	step_summary__make(process, &steps);
	json__key(j, "step");
	if (!steps.thread) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_double(j, "usual_seconds", (double)steps.usual_ns / 1e9);
	json__key_double(j, "p99_seconds", (double)steps.p99_ns / 1e9);
	json__key_double(j, "launches", steps.launches);
	json__object_end(j);
}

/* The verdict on the latest minute as a word and a sentence; null if there is none yet. */
static void write_verdict(struct json *j, const struct web_view *view,
			  const struct process *process)
{
	char *text = NULL;
	size_t length = 0;
	FILE *sentence = text_stream__open(&text, &length);
	struct verdict verdict;

	verdict__judge_latest(view->state, view->model, process, &verdict);
	json__key_string(j, "verdict", verdict.window_ns ? verdict__word(verdict.kind) : NULL);
	if (sentence)
		verdict_text__print_sentence(sentence, &verdict);
	if (sentence && fclose(sentence))
		text = NULL;
	json__key_string(j, "verdict_sentence", verdict.window_ns ? text : NULL);
	json__key_known_double(j, "proved_idle", verdict.idle,
			       verdict.window_ns && verdict.profile &&
				       verdict.idle != SHARE_UNKNOWN);
	free(text);
}

void web_parts__write_process(struct json *j, const struct web_view *view,
			      const struct process *process)
{
	char command[sizeof(process->command)];

	command_text__public(process->command, process->comm, command, sizeof(command));
	json__key_u64(j, "id", process->serial);
	json__key_string(j, "command", command);
	json_process__write_life(j, process);
	json_process__write_gpus(j, view->model, process);
	write_memory(j, view->model, process);
	write_rates(j, view->rates, process);
	write_step(j, process);
	write_verdict(j, view, process);
}

static int write_processes(struct json *j, const struct web_view *view)
{
	const struct model *model = view->model;
	const struct process **living;
	size_t count;
	int ret = model__living(model, &living, &count);

	if (ret)
		return ret;
	json__key_u64(j, "process_count", count);
	json__key(j, "processes");
	json__array_begin(j);
	for (size_t i = 0; i < count && i < WEB_PROCESSES; i++) {
		json__object_begin(j);
		web_parts__write_process(j, view, living[i]);
		json__object_end(j);
	}
	json__array_end(j);
	free(living);
	return 0;
}

/* --- findings --- */

/* The advice of each kind once. */
static void write_advice(struct json *j, const struct finding_list *list)
{
	uint64_t given = 0;

	json__key(j, "advice");
	json__object_begin(j);
	for (size_t i = 0; i < list->count; i++) {
		const struct finding_kind *kind = list->items[i].kind;
		uint64_t bit = UINT64_C(1) << finding_kind__index(kind) % 64;

		if (!(given & bit))
			json__key_string(j, kind->id, kind->advice);
		given |= bit;
	}
	json__object_end(j);
}

static void write_findings(struct json *j, const struct finding_list *list)
{
	struct finding_list shown = *list;

	if (shown.count > WEB_FINDINGS)
		shown.count = WEB_FINDINGS;
	json__key_u64(j, "finding_count", list->count);
	json_findings__write(j, &shown);
	write_advice(j, &shown);
}

/* --- the machine --- */

void web_parts__write_head(struct json *j, const struct web_view *view)
{
	const struct model *model = view->model;

	json__key_u64(j, "schema", WEB_SCHEMA);
	json__key_string(j, "version", view->version);
	json_parts__key_time(j, &model->wall);
	json__key_bool(j, "stacks", model->stacks);
	json__key_bool(j, "profile", view->profile);
}

int web_overview__print(FILE *out, const struct web_view *view)
{
	const struct model *model = view->model;
	struct json j;
	int ret;

	json__init(&j, out);
	json__object_begin(&j);
	web_parts__write_head(&j, view);
	json__key_string(&j, "watched", view->watched);
	json__key_known_double(&j, "watched_seconds",
			       (double)(model->now_ns - view->began_ns) / 1e9,
			       view->began_ns && model->now_ns > view->began_ns);
	json_process__write_machine(&j, model);
	ret = write_processes(&j, view);
	write_findings(&j, view->findings);
	json_parts__key_losses(&j, model->lost);
	json__object_end(&j);
	fputc('\n', out);
	return ret;
}

int web_history__print(FILE *out, const struct web_view *view)
{
	struct json j;

	json__init(&j, out);
	json__object_begin(&j);
	web_parts__write_head(&j, view);
	history__write(view->history, &j);
	json__object_end(&j);
	fputc('\n', out);
	return 0;
}
