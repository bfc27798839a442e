// SPDX-License-Identifier: BSD-2-Clause
// A program that makes very many queries: calls that change nothing.
#include <errno.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "api/api.h"

enum {
	LEAST_RATE,
};

struct getters {
	uint64_t calls, ns;
	const struct profile_function *most; /* the one with the most calls */
	size_t functions;
};

static bool is_getter(size_t row)
{
	const struct function_desc *function =
		row < api_function_count ? &api_functions[row].desc : NULL;

	return function && function->operation == OP_ASK &&
	       (function->kind == ASK_GETTER || function->kind == ASK_COUNT);
}

static struct getters sum_up(const struct profile *profile)
{
	struct getters getters = {0};

	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (!is_getter(function->row))
			continue;
		getters.calls += function->time.calls;
		getters.ns += function->time.ns;
		getters.functions++;
		if (!getters.most || function->time.calls > getters.most->time.calls)
			getters.most = function;
	}
	return getters;
}

static int report(struct finding *finding, const struct getters *getters, double rate)
{
	const struct duration_record *most = &getters->most->time;
	const char *name = site_lookup__function(getters->most->row);
	int ret;

	finding__number(finding, "calls", (double)getters->calls, UNIT_COUNT);
	finding__number(finding, "ns", (double)getters->ns, UNIT_NS);
	finding__number(finding, "rate", rate, UNIT_PER_SECOND);
	finding__number(finding, "functions", (double)getters->functions, UNIT_COUNT);
	finding__number(finding, "most_calls", (double)most->calls, UNIT_COUNT);
	ret = finding__subject(finding, "%s", name);
	if (ret)
		return ret;
	return finding__evidence(
		finding,
		"%s getter calls, %s, took %s, %s of the time; %s of them %s, %s "
		"each, including up "
		"to about a microsecond for the probe",
		quantity__amount((double)getters->calls).text, quantity__rate(rate).text,
		quantity__time((double)getters->ns).text, quantity__share(finding->share).text,
		quantity__amount((double)most->calls).text, name,
		quantity__time((double)most->ns / (double)most->calls).text);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	uint64_t watched_ns = site_lookup__watched_ns(input, process);
	struct getters getters = {0};
	struct finding *finding;
	double rate;

	if (process->profile)
		getters = sum_up(process->profile);
	rate = watched_ns ? (double)getters.calls * 1e9 / (double)watched_ns : 0;
	if (!getters.calls || rate < input->thresholds[LEAST_RATE])
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, getters.ns, watched_ns);
	return report(finding, &getters, rate);
}

const struct finding_kind chatty_getters_kind = {
	.id = "chatty-getters",
	.severity = SEVERITY_INFO,
	.needs = NEEDS_PROFILE | NEEDS_GETTERS,
	.steady = true,
	.title = "the program asks the same questions all the time",
	.advice = "The program asks for the same things over and over: the current device, "
		  "attributes, whether a stream captures. Each call is short, but they add up, "
		  "and they hold locks of the driver. Ask once and keep the answer; set the "
		  "device when a thread starts, not at each call.",
	.cost = "getter calls",
	.thresholds =
		{
			{"rate", 50000, UNIT_PER_SECOND, "minimum such calls"},
		},
	.detect = detect,
};
