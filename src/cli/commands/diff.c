// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe diff`: compares two runs and checks budgets; see subcommand.h.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/commands/diff_input.h"
#include "cli/commands/subcommand.h"
#include "cli/options/diff_options.h"
#include "cli/session/privileges.h"
#include "compare/budget.h"
#include "compare/compare.h"
#include "output/compare/compare.h"

#define BUDGET_BYTES_MAX ((size_t)1 << 20)

struct diff {
	const struct diff_options *options;
	struct log log;
	struct diff_input inputs[2];
	int budget_fd; /* -1: none */
	struct budget *budget;
	struct comparison comparison;
	struct budget_result *limits;
	size_t limit_count;
};

static int open_files(struct diff *diff, struct error *err)
{
	const struct diff_options *options = diff->options;
	int ret = 0;

	if (options->budget) {
		diff->budget_fd = diff_input__open_file(options->budget, err);
		if (diff->budget_fd < 0)
			return diff->budget_fd;
	}
	for (unsigned int i = 0; i < options->path_count && !ret; i++)
		ret = diff_input__open(&diff->inputs[i], options->paths[i], &diff->log, err);
	return ret;
}

static int read_budget(struct diff *diff, struct error *err)
{
	char *text;
	size_t length;
	int ret = diff_input__read_file(diff->budget_fd, diff->options->budget, BUDGET_BYTES_MAX,
					&text, &length, err);

	diff->budget_fd = -1;
	if (ret)
		return ret;
	ret = budget__parse(text, length, &diff->budget, err);
	free(text);
	return ret ? error__prefix(err, ret, "--budget %s", diff->options->budget) : 0;
}

/* B, or the only one. */
static const struct compared_run *latest_run(const struct diff *diff)
{
	return &diff->inputs[diff->options->path_count - 1].run;
}

static int judge(struct diff *diff, struct error *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < diff->options->path_count && !ret; i++)
		ret = diff_input__read(&diff->inputs[i], err);
	if (ret)
		return ret;
	if (diff->options->path_count == 2)
		ret = comparison__make(&diff->comparison, &diff->inputs[0].run,
				       &diff->inputs[1].run, diff->options->share);
	if (!ret && diff->budget)
		ret = budget__check(diff->budget, latest_run(diff), &diff->limits,
				    &diff->limit_count);
	return ret ? error__set(err, ret, "out of memory") : 0;
}

static void print(const struct diff *diff)
{
	const struct compare_report report = {
		.comparison = diff->options->path_count == 2 ? &diff->comparison : NULL,
		.run = latest_run(diff),
		.limits = diff->limits,
		.limit_count = diff->limit_count,
		.full_names = diff->options->full_names,
		.form = diff->options->form,
	};

	if (diff->options->json)
		compare_json__print(stdout, &report);
	else
		compare_text__print(stdout, &report, diff->options->all);
}

static const struct budget_result *find_limit(const struct diff *diff, enum budget_state state)
{
	for (size_t i = 0; i < diff->limit_count; i++)
		if (diff->limits[i].state == state)
			return &diff->limits[i];
	return NULL;
}

static bool lacks_comparison(const struct diff *diff)
{
	return diff->comparison.refused ||
	       (diff->options->fails_on_worse && diff->comparison.refusal_count);
}

/* Why nothing that is worse was found, but the run does not pass. */
static int refuse(const struct diff *diff, struct error *err)
{
	const struct comparison *comparison = &diff->comparison;
	const struct budget_result *limit = find_limit(diff, BUDGET_UNKNOWN);
	char more[48] = "";

	if (!lacks_comparison(diff))
		return error__set(err, -ENODATA, "--budget: line %u cannot be checked: %.200s: %s",
				  limit->line, limit->text, limit->why);
	if (comparison->refusal_count > 1)
		snprintf(more, sizeof(more), "; and %zu more, see above",
			 comparison->refusal_count - 1);
	return error__set(err, -ENODATA, "%s: %s%s",
			  comparison->refused ?
				  "the runs cannot be compared" :
				  "cannot tell whether B is worse, not all was compared",
			  comparison->refusals[0].text, more);
}

/* A gate that could not judge everything must not let the run pass. */
static int pass_or_fail(const struct diff *diff, int *status, struct error *err)
{
	if ((diff->options->fails_on_worse && diff->comparison.worse) ||
	    find_limit(diff, BUDGET_BROKEN)) {
		*status = EXIT_WORSE;
		return 0;
	}
	if (lacks_comparison(diff) || find_limit(diff, BUDGET_UNKNOWN)) {
		fflush(stdout);
		return refuse(diff, err);
	}
	*status = 0;
	return 0;
}

static int run(struct diff *diff, int *status, struct error *err)
{
	int ret = open_files(diff, err);

	if (!ret)
		ret = privileges__give_up_all(err);
	if (!ret && diff->budget_fd >= 0)
		ret = read_budget(diff, err);
	if (!ret)
		ret = judge(diff, err);
	if (ret)
		return ret;
	print(diff);
	return pass_or_fail(diff, status, err);
}

int diff_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct diff_options options;
	struct diff diff = {
		.options = &options, .inputs = {{.fd = -1}, {.fd = -1}}, .budget_fd = -1};
	int ret = diff_options__parse(&options, argc, argv, err);

	if (subcommand__is_done(ret, &diff_options, status))
		return ret;
	diff.log = subcommand__set_log(options.log_level);
	ret = run(&diff, status, err);
	comparison__clear(&diff.comparison);
	free(diff.limits);
	budget__free(diff.budget);
	for (int i = 0; i < 2; i++)
		diff_input__clear(&diff.inputs[i]);
	if (diff.budget_fd >= 0)
		close(diff.budget_fd);
	return ret;
}
