// SPDX-License-Identifier: BSD-2-Clause
// What gpuprobe diff reads. The first byte chooses: a budget (even), which is checked for an empty
// run; or stat's JSON (odd), up to a NUL, and that of another run, which are compared and printed.
#include <stdlib.h>
#include <string.h>

#include "compare/budget.h"
#include "compare/compare.h"
#include "harness.h"
#include "output/compare/compare.h"

static const char usual_budget[] =
	"launches per step <= 4\nwaits in all == 0\npeak memory < 1 KiB\n"
	"cudaMalloc in steady state == 0\nfindings warning > 0\n";

struct fuzzed_run {
	char *text; /* its byte at the end is the reader's to write */
	struct json_document *document;
	struct compared_run run;
	bool is_read;
};

static void begin_run(struct fuzzed_run *run, char *text)
{
	size_t length = strlen(text);
	struct error err = {""};
	char *at;

	*run = (struct fuzzed_run){.text = harness__exactly(text, length + 1)};
	free(text);
	at = run->text;
	if (json_document__parse(&at, run->text + length, &run->document, &err)) {
		MUST(err.text[0]);
		return;
	}
	MUST(at <= run->text + length);
	run->is_read =
		!compared_run__read(&run->run, json_document__value(run->document), "run", &err);
	MUST(run->is_read || err.text[0]);
}

static void end_run(struct fuzzed_run *run)
{
	if (run->is_read)
		compared_run__clear(&run->run);
	json_document__free(run->document);
	free(run->text);
}

/* A budget that was parsed checks any run. */
static void check(const struct budget *budget, const struct compared_run *run)
{
	struct compare_report report = {.run = run};
	struct budget_result *results;

	MUST(!budget__check(budget, run, &results, &report.limit_count));
	report.limits = results;
	compare_text__print(harness__sink(), &report, true);
	compare_json__print(harness__sink(), &report);
	free(results);
}

static void fuzz_budget(struct input *input)
{
	char *text = harness__exactly(input->at, input->left);
	const struct compared_run none = {.path = "none"};
	struct budget *budget;
	struct error err = {""};

	if (budget__parse(text, input->left, &budget, &err)) {
		MUST(err.text[0]);
	} else {
		check(budget, &none);
		budget__free(budget);
	}
	free(text);
}

static void compare(const struct compared_run *a, const struct compared_run *b)
{
	struct comparison comparison;
	struct compare_report report = {.comparison = &comparison, .run = b};

	MUST(!comparison__make(&comparison, a, b, SHOWN_SHARE));
	MUST(comparison.refused || comparison.pair_count);
	compare_text__print(harness__sink(), &report, false);
	compare_text__print(harness__sink(), &report, true);
	compare_json__print(harness__sink(), &report);
	comparison__clear(&comparison);
}

static void fuzz_runs(struct input *input)
{
	struct fuzzed_run a, b;
	struct budget *budget;

	begin_run(&a, input__string(input));
	begin_run(&b, input__rest(input));
	MUST(!budget__parse(usual_budget, sizeof(usual_budget) - 1, &budget, NULL));
	if (a.is_read) {
		compare(&a.run, &a.run);
		check(budget, &a.run);
	}
	if (a.is_read && b.is_read)
		compare(&a.run, &b.run);
	budget__free(budget);
	end_run(&a);
	end_run(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	if (input__number(&input, 1) % 2)
		fuzz_runs(&input);
	else
		fuzz_budget(&input);
	return 0;
}
