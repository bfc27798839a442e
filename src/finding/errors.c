// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failing calls: errors that the program ignored, as far as its calls show; an error after which a
 * process must end; a storm of failures.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "api/api.h"

/* Threshold indexes of all three kinds. */
enum {
	STORM_RATE,
	STORM_CALLS,
	LEAST_CALLS = 0,
};

#define IGNORED_SHOWN 8

struct error_text {
	char text[96];
};

/* "CUDA_ERROR_OUT_OF_MEMORY", or "error 12345" for a code that the table lacks. */
static struct error_text error_text(const char *name, int code)
{
	struct error_text text;

	if (name)
		snprintf(text.text, sizeof(text.text), "%s", name);
	else
		snprintf(text.text, sizeof(text.text), "error %d", code);
	return text;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* --- unchecked-errors --- */

static int detect_ignored(const struct finding_input *input, const struct process *process,
			  const struct profile_ignored *ignored, struct finding_list *out)
{
	const struct ignored_record *record = &ignored->record;
	size_t row = ignored->key.row;
	const char *name = row < api_function_count ? api__error_name(api_functions[row].desc.layer,
								      ignored->key.code) :
						      NULL;
	struct error_text text = error_text(name, ignored->key.code);
	struct finding *finding = finding_list__add(out, input, process);
	int ret;

	if (!finding)
		return -ENOMEM;
	finding__number(finding, "calls", (double)record->calls, UNIT_COUNT);
	finding__number(finding, "launches_after", (double)record->launches, UNIT_COUNT);
	finding__number(finding, "code", ignored->key.code, UNIT_COUNT);
	finding->weight = (double)record->calls;
	finding->stack = profile__stack(process->profile, record->stack);
	if (!finding->stack)
		finding->stack = site_lookup__of_failure(process, row, ignored->key.code);
	ret = finding__subject(finding, "%s: %s", site_lookup__function(row), text.text);
	if (ret)
		return ret;
	return finding__evidence(finding,
				 "%s call%s of %s returned %s; %s launch%s followed in the same "
				 "thread, and no call asked "
				 "for the error meanwhile; gpuprobe cannot see whether the program "
				 "checked the result",
				 quantity__amount((double)record->calls).text,
				 plural(record->calls), site_lookup__function(row), text.text,
				 quantity__amount((double)record->launches).text,
				 record->launches == 1 ? "" : "es");
}

static int detect_unchecked_errors(const struct finding_input *input, const struct process *process,
				   struct finding_list *out)
{
	const struct profile *profile = process->profile;
	size_t shown = 0;
	int ret = 0;

	for (size_t i = 0; profile && i < profile->ignored_count && shown < IGNORED_SHOWN && !ret;
	     i++) {
		const struct ignored_record *record = &profile->ignored[i].record;

		if (!record->launches || (double)record->calls < input->thresholds[LEAST_CALLS])
			continue;
		ret = detect_ignored(input, process, &profile->ignored[i], out);
		shown++;
	}
	return ret;
}

const struct finding_kind unchecked_errors_kind = {
	.id = "unchecked-errors",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE | NEEDS_ASKS,
	.every = EVERY_COPY | EVERY_WAIT,
	.title = "a call returned an error, launches followed, and no call asked for the error",
	.advice = "A call returned an error, and its thread went on to launch work. Before that "
		  "it made no call that asks for the error (cudaGetLastError, "
		  "cudaPeekAtLastError, cudaGetErrorName, cuGetErrorString and the like), and "
		  "none that usually responds to one: the same call with success, a free, the end "
		  "of its context. From outside gpuprobe cannot see whether the program checked "
		  "the return value. If it did, and can safely continue, this is no fault. If it "
		  "did not, results of later work may be silently wrong: check the result of each "
		  "call, and cudaGetLastError() after each launch, at least in debug builds.",
	.thresholds =
		{
			{"calls", 1, UNIT_COUNT, "minimum failed calls"},
		},
	.detect = detect_unchecked_errors,
};

/* --- sticky-error --- */

/* The earliest failure with this code; NULL: no listed function has it. */
static const struct failure *first_with(const struct process *process, int code)
{
	const struct failure *first = NULL;

	for (size_t i = 0; i < process->failure_count; i++) {
		const struct failure *failure = &process->failures[i];

		if (!failure->is_rest && failure->code == code &&
		    (!first || failure->first_ns < first->first_ns))
			first = failure;
	}
	return first;
}

/*
 * The stack of a failing call; NULL if it failed at several call sites: which came first is
 * unknown.
 */
static const struct stack *only_site(const struct process *process, const char *function, int code)
{
	const struct stack *found = NULL;

	for (size_t i = 0; i < process->site_count; i++) {
		const struct call_site *site = &process->sites[i];

		if (site->kind != SITE_FAILURE || site->code != code ||
		    strcmp(site_lookup__function(site->row), function))
			continue;
		if (found)
			return NULL;
		found = site->stack;
	}
	return found;
}

static int report_sticky(struct finding *finding, const struct process *process, uint64_t since_ns)
{
	const struct sticky_error *sticky = &process->sticky;
	const struct failure *first = first_with(process, sticky->code);
	struct error_text text = error_text(
		first ? first->error : api__error_name(LAYER_DRIVER, sticky->code), sticky->code);
	int ret = 0;

	if (first) {
		finding->stack = only_site(process, first->function, sticky->code);
		ret = finding__subject(finding, "%s: %s", first->function, text.text);
	}
	if (ret)
		return ret;
	return finding__evidence(
		finding,
		"%s failed with %s, after which a process can only end; in the %s since "
		"then %s call%s failed with it and %s did not",
		first ? first->function : "a call", text.text,
		quantity__time((double)since_ns).text, quantity__amount((double)sticky->same).text,
		plural(sticky->same), quantity__amount((double)sticky->others).text);
}

static int detect_sticky_error(const struct finding_input *input, const struct process *process,
			       struct finding_list *out)
{
	const struct sticky_error *sticky = &process->sticky;
	uint64_t end_ns = process->ended ? process->ended_ns : input->model->now_ns;
	uint64_t since_ns = end_ns > sticky->ns ? end_ns - sticky->ns : 0;
	struct finding *finding;

	if (!sticky->code || (double)(sticky->same + 1) < input->thresholds[LEAST_CALLS])
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__number(finding, "code", sticky->code, UNIT_COUNT);
	finding__number(finding, "calls", (double)sticky->same + 1, UNIT_COUNT);
	finding__number(finding, "calls_without_it", (double)sticky->others, UNIT_COUNT);
	finding__number(finding, "since", (double)since_ns, UNIT_NS);
	finding->weight = (double)sticky->same + 1;
	return report_sticky(finding, process, since_ns);
}

const struct finding_kind sticky_error_kind = {
	.id = "sticky-error",
	.severity = SEVERITY_CRITICAL,
	.title = "everything fails after this call",
	.advice = "After this error the context is lost: every later call fails, and only a new "
		  "process helps. A kernel failed, most often by an access out of bounds, and a "
		  "later call reports it. Run the program under compute-sanitizer, or with "
		  "CUDA_LAUNCH_BLOCKING=1 so that the launch itself reports the error, and let "
		  "the program end when it gets it.",
	.thresholds =
		{
			{"calls", 1, UNIT_COUNT, "minimum calls that failed with it"},
		},
	.detect = detect_sticky_error,
};

/* --- error-storm --- */

struct storm {
	const struct failure *worst;
	uint64_t failures, first_ns, last_ns;
	/* all calls of the function that failed most, including failures; 0: unknown */
	uint64_t calls;
};

/* The profile counts every call. */
static void add_accounted(struct storm *storm, const struct profile *profile, const char *function)
{
	for (size_t i = 0; i < profile->function_count; i++)
		if (!strcmp(site_lookup__function(profile->functions[i].row), function))
			storm->calls += profile->functions[i].time.calls;
}

static void add_calls(struct storm *storm, const struct process *process, const char *function)
{
	int row = api__find(function, API_NEWEST);

	if (process->profile) {
		add_accounted(storm, process->profile, function);
		return;
	}
	/* Frees without an address are not counted anywhere. */
	if (row >= 0 && api_functions[row].desc.operation == OP_FREE)
		return;
	for (size_t i = 0; i < process->function_count; i++) {
		const struct function_totals *totals = &process->functions[i];

		/* These counters do not count calls. */
		if (!(totals->flags & (TALLY_REPLACED | TALLY_WITH_CONTEXT | TALLY_ENDED)) &&
		    !strcmp(site_lookup__function(totals->row), function))
			storm->calls += totals->calls + totals->failures;
	}
}

/* A sticky error makes all calls fail, and is a finding of its own. */
static bool is_storm(const struct process *process, const struct failure *failure)
{
	return failure->count &&
	       (failure->is_rest || !process->sticky.code || failure->code != process->sticky.code);
}

static void gather(struct storm *storm, const struct process *process)
{
	for (size_t i = 0; i < process->failure_count; i++) {
		const struct failure *failure = &process->failures[i];

		if (!is_storm(process, failure))
			continue;
		if (!storm->failures || failure->first_ns < storm->first_ns)
			storm->first_ns = failure->first_ns;
		if (failure->last_ns > storm->last_ns)
			storm->last_ns = failure->last_ns;
		if (!failure->is_rest && (!storm->worst || failure->count > storm->worst->count))
			storm->worst = failure;
		storm->failures += failure->count;
	}
	if (storm->worst)
		add_calls(storm, process, storm->worst->function);
}

static double rate_of(const struct storm *storm)
{
	uint64_t ns = storm->last_ns > storm->first_ns ? storm->last_ns - storm->first_ns : 1;

	return (double)storm->failures * 1e9 / (double)ns;
}

static int report_storm(struct finding *finding, const struct process *process,
			const struct storm *storm)
{
	const struct failure *worst = storm->worst;
	struct error_text text = error_text(worst->error, worst->code);
	bool known = storm->calls >= worst->count && !worst->sampled;
	double share = known ? (double)worst->count / (double)storm->calls : 0;
	int row = api__find(worst->function, API_NEWEST);
	int ret;

	finding__number(finding, "calls", (double)storm->failures, UNIT_COUNT);
	finding__number(finding, "rate", rate_of(storm), UNIT_PER_SECOND);
	finding__number(finding, "most_calls", (double)worst->count, UNIT_COUNT);
	finding__number(finding, "most_code", worst->code, UNIT_COUNT);
	if (known)
		finding__number(finding, "most_share", share, UNIT_SHARE);
	finding->weight = (double)storm->failures;
	if (row >= 0)
		finding->stack = site_lookup__of_failure(process, (size_t)row, worst->code);
	ret = finding__subject(finding, "%s: %s", worst->function, text.text);
	if (ret)
		return ret;
	return finding__evidence(
		finding, "%s calls failed within %s, %s; %s %s with %s, %s time%s%s%s%s%s",
		quantity__amount((double)storm->failures).text,
		quantity__time((double)(storm->last_ns - storm->first_ns)).text,
		quantity__rate(rate_of(storm)).text,
		worst->count > storm->failures / 2 ? "most of them" : "the most frequent:",
		worst->function, text.text, quantity__amount((double)worst->count).text,
		plural(worst->count), worst->sampled ? " among the launches that were checked" : "",
		known ? " (" : "", known ? quantity__share(share).text : "",
		known ? " of its calls)" : "");
}

static int detect_error_storm(const struct finding_input *input, const struct process *process,
			      struct finding_list *out)
{
	struct storm storm = {0};
	struct finding *finding;

	gather(&storm, process);
	if (!storm.worst || (double)storm.failures < input->thresholds[STORM_CALLS] ||
	    rate_of(&storm) < input->thresholds[STORM_RATE])
		return 0;
	finding = finding_list__add(out, input, process);
	return finding ? report_storm(finding, process, &storm) : -ENOMEM;
}

const struct finding_kind error_storm_kind = {
	.id = "error-storm",
	.severity = SEVERITY_WARNING,
	.title = "calls fail all the time",
	.advice = "Calls fail again and again, and each costs time. Look at the first of them: a "
		  "feature that the device lacks, an argument that is always wrong, an endless "
		  "retry. Ask once whether something is supported, and remember the answer.",
	.thresholds =
		{
			{"rate", 10, UNIT_PER_SECOND, "minimum failures"},
			{"calls", 100, UNIT_COUNT, "minimum failures"},
		},
	.detect = detect_error_storm,
};
