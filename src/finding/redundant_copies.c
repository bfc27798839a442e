// SPDX-License-Identifier: BSD-2-Clause
// Redundant copies: of data that nothing has used or changed since it was last copied.
#include <errno.h>

#include "base/quantity.h"
#include "finding/copy_sum.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"

enum {
	LEAST_SHARE,
	LEAST_CALLS,
};

/* The repeats that took most time; NULL if none are listed. */
static const struct profile_repeat *worst_repeat(const struct profile *profile)
{
	return profile->repeat_count && profile->repeats[0].record.repeats ? &profile->repeats[0] :
									     NULL;
}

/* The subject is the worst of them; the text mentions others. */
static int name_repeat(struct finding *finding, const struct process *process,
		       const struct profile_repeat *worst)
{
	const struct time_totals *all = process->profile->totals.repeats;
	size_t row = worst->record.row;
	bool others = all[0].calls + all[1].calls > worst->record.repeats;

	finding__number(finding, "most_repeats", (double)worst->record.repeats, UNIT_COUNT);
	finding__number(finding, "most_bytes", (double)worst->key.bytes, UNIT_BYTES);
	finding__number(finding, "most_ns", (double)worst->record.repeat_ns, UNIT_NS);
	finding->stack = site_lookup__of_copy(process, row);
	return finding__subject(finding, "%s of %s%s", site_lookup__function(row),
				quantity__bytes((double)worst->key.bytes).text,
				others ? ", and other ranges" : "");
}

static int report_repeats(struct finding *finding, const struct process_profile *totals,
			  const struct copy_sum *sum, const struct profile_repeat *worst)
{
	finding__number(finding, "to_device", (double)totals->repeats[0].calls, UNIT_COUNT);
	finding__number(finding, "to_device_ns", (double)totals->repeats[0].ns, UNIT_NS);
	finding__number(finding, "to_device_bytes", (double)totals->repeat_bytes[0], UNIT_BYTES);
	finding__number(finding, "to_host", (double)totals->repeats[1].calls, UNIT_COUNT);
	finding__number(finding, "to_host_ns", (double)totals->repeats[1].ns, UNIT_NS);
	finding__number(finding, "to_host_bytes", (double)totals->repeat_bytes[1], UNIT_BYTES);
	finding__saving(finding, sum->ns, "the needless copies are left out");
	return finding__evidence(
		finding,
		"%s copies to the device replaced data that nothing there had used since the "
		"previous copy, and %s to the host read data that nothing had changed since: %s in "
		"%s, %s of the time%s%s%s",
		quantity__amount((double)totals->repeats[0].calls).text,
		quantity__amount((double)totals->repeats[1].calls).text,
		quantity__bytes((double)sum->bytes).text, quantity__time((double)sum->ns).text,
		quantity__share(finding->share).text, worst ? "; one range " : "",
		worst ? quantity__amount((double)worst->record.repeats).text : "",
		worst ? " times" : "");
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	const struct profile *profile = process->profile;
	uint64_t watched_ns = site_lookup__watched_ns(input, process);
	const struct profile_repeat *worst;
	struct finding *finding;
	struct copy_sum sum = {0};
	int ret = 0;

	for (int way = 0; profile && way < 2; way++)
		copy_sum__add(&sum, profile->totals.repeats[way].calls,
			      profile->totals.repeat_bytes[way], profile->totals.repeats[way].ns);
	if (!sum.calls || (double)sum.calls < input->thresholds[LEAST_CALLS] ||
	    (double)sum.ns < input->thresholds[LEAST_SHARE] * (double)watched_ns)
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, sum.ns, watched_ns);
	worst = worst_repeat(profile);
	if (worst)
		ret = name_repeat(finding, process, worst);
	return ret ? ret : report_repeats(finding, &profile->totals, &sum, worst);
}

const struct finding_kind redundant_copies_kind = {
	.id = "redundant-copies",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.every = EVERY_CALL,
	.title = "the same range is copied again needlessly",
	.advice = "The same range is copied again although nothing on the device has used it (to "
		  "the device), or changed it (to the host), since the last time. Copy once, "
		  "before the loop or when the data has changed, and keep the copy. Calls do not "
		  "show whether the host changed its side meanwhile, but a copy to the device "
		  "that nothing used before the next one was needless all the same.",
	.cost = "copies of data that was unchanged or unused since the last copy",
	.thresholds =
		{
			{"share", 0.02, UNIT_SHARE, "minimum share of the watched time"},
			{"calls", 10, UNIT_COUNT, "minimum such copies"},
		},
	.detect = detect,
};
