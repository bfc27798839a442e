// SPDX-License-Identifier: BSD-2-Clause
// Budgets, see budget.h.
#include "compare/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/array.h"
#include "compare/limit.h"

struct budget {
	struct limit *limits;
	size_t count;
};

/* --- parsing --- */

/* The part before a comment; 0: nothing but blanks. */
static size_t without_comment(const char *line, size_t length)
{
	const char *comment = memchr(line, '#', length);

	if (comment)
		length = (size_t)(comment - line);
	while (length && strchr(" \t\r", line[length - 1]) && line[length - 1])
		length--;
	return length;
}

static int add_line(struct budget *budget, const char *line, size_t length, unsigned int number,
		    struct error *err)
{
	struct limit *limit;
	int ret;

	length = without_comment(line, length);
	if (!length)
		return 0;
	if (budget->count == BUDGET_LINES_MAX)
		return error__set(err, -EINVAL, "a budget has at most %d limits", BUDGET_LINES_MAX);
	if (ARRAY_RESERVE(budget->limits, budget->count, 1))
		return error__set(err, -ENOMEM, "out of memory");
	limit = &budget->limits[budget->count++];
	*limit = (struct limit){.line = number};
	ret = limit__parse(limit, line, length, err);
	return ret ? error__prefix(err, ret, "line %u", number) : 0;
}

int budget__parse(const char *text, size_t length, struct budget **out, struct error *err)
{
	struct budget *budget = calloc(1, sizeof(*budget));
	const char *end = text + length;
	unsigned int number = 0;
	int ret = 0;

	if (!budget)
		return error__set(err, -ENOMEM, "out of memory");
	while (!ret && text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		ret = add_line(budget, text, (size_t)(stop - text), ++number, err);
		text = stop + 1;
	}
	if (!ret && !budget->count)
		ret = error__set(err, -EINVAL, "it has no limit");
	if (ret) {
		budget__free(budget);
		return ret;
	}
	*out = budget;
	return 0;
}

void budget__free(struct budget *budget)
{
	if (!budget)
		return;
	for (size_t i = 0; i < budget->count; i++)
		free(budget->limits[i].text);
	free(budget->limits);
	free(budget);
}

/* --- checking --- */

static const char *measure_figure(const struct limit *limit, const struct compared_process *process,
				  double *value)
{
	*value = process->figures[limit->figure];
	switch (process->states[limit->figure]) {
	case FIGURE_KNOWN: return NULL;
	case FIGURE_ESTIMATED:
		return "it is an estimate, because calls were sampled: use --max-overhead off";
	case FIGURE_PARTIAL: return "only a part of the run was watched";
	default: break;
	}
	return !strncmp(figure_kinds[limit->figure].paths[0], "steps.", strlen("steps.")) ?
		       "no steps were found, or for too short a time" :
		       "the file does not have it";
}

static bool is_called(const char *symbol, const char *word)
{
	int row = api__find(symbol, API_NEWEST);

	return !strcmp(symbol, word) || (row >= 0 && (!strcmp(api_functions[row].base, word) ||
						      !strcmp(api_functions[row].shown, word)));
}

static const char *measure_function(const struct limit *limit,
				    const struct compared_process *process, double *value)
{
	bool steady = limit->time == LIMIT_STEADY;
	const struct json_value *list =
		json_value__at(process->json, steady ? "steady.functions" : "functions");

	if (!list || list->type != JSON_ARRAY)
		return steady ? "the steady time was not found, or is shorter than 2 s" :
				"the file does not have it";
	if (json_value__member(process->json, "sampling"))
		return "calls were sampled: use --max-overhead off";
	for (list = list->first; list; list = list->next) {
		const char *symbol = json_value__string(list, "function");
		double calls;

		if (symbol && is_called(symbol, limit->word) &&
		    json_value__number(list, "calls", &calls))
			*value += calls;
	}
	return NULL;
}

static const char *measure(const struct limit *limit, const struct compared_process *process,
			   double *value)
{
	*value = 0;
	return limit->subject == LIMIT_FIGURE ? measure_figure(limit, process, value) :
						measure_function(limit, process, value);
}

static void set_unknown(struct budget_result *result, const char *why)
{
	result->state = BUDGET_UNKNOWN;
	strncpy(result->why, why, sizeof(result->why) - 1);
}

static bool counts(const struct limit *limit, const struct json_value *finding)
{
	const char *id = json_value__string(finding, "id");
	const char *severity = json_value__string(finding, "severity");

	return !*limit->word || (id && !strcmp(id, limit->word)) ||
	       (severity && !strcmp(severity, limit->word));
}

static void check_findings(const struct limit *limit, const struct compared_run *run,
			   struct budget_result *result)
{
	const struct json_value *list = json_value__member(run->json, "findings");

	if (!list || list->type != JSON_ARRAY) {
		set_unknown(result, "the file does not have them");
		return;
	}
	for (list = list->first; list; list = list->next)
		result->value += counts(limit, list);
	result->state = limit__is_kept(limit, result->value) ? BUDGET_KEPT : BUDGET_BROKEN;
}

/* A process that breaks the limit counts more than one in which the figure is unknown. */
static void check_processes(const struct limit *limit, const struct compared_run *run,
			    struct budget_result *result)
{
	const char *unknown = NULL;

	for (size_t i = 0; i < run->process_count; i++) {
		double value;
		const char *why = measure(limit, &run->processes[i], &value);

		unknown = unknown ? unknown : why;
		if (why || (result->process && !limit__is_worse(limit, value, result->value)))
			continue;
		result->process = &run->processes[i];
		result->value = value;
	}
	if (result->process && !limit__is_kept(limit, result->value))
		result->state = BUDGET_BROKEN;
	else if (unknown)
		set_unknown(result, unknown);
}

static void check(const struct limit *limit, const struct compared_run *run,
		  struct budget_result *result)
{
	char loss[96];

	*result = (struct budget_result){
		.text = limit->text, .line = limit->line, .unit = limit->unit};
	if (limit->subject == LIMIT_FINDINGS)
		check_findings(limit, run, result);
	else if (!run->process_count)
		set_unknown(result, "no process used CUDA");
	else
		check_processes(limit, run, result);
	if (result->state == BUDGET_KEPT && compared_run__loss(run, loss, sizeof(loss))) {
		result->state = BUDGET_UNKNOWN;
		snprintf(result->why, sizeof(result->why), "the run is incomplete: %s", loss);
	} else if (result->state == BUDGET_KEPT && run->processes_left) {
		set_unknown(result, "the run has too many processes");
	}
}

int budget__check(const struct budget *budget, const struct compared_run *run,
		  struct budget_result **results, size_t *count)
{
	*results = calloc(budget->count, sizeof(**results));
	if (!*results)
		return -ENOMEM;
	*count = budget->count;
	for (size_t i = 0; i < budget->count; i++)
		check(&budget->limits[i], run, &(*results)[i]);
	return 0;
}
