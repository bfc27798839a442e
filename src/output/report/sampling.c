// SPDX-License-Identifier: BSD-2-Clause
// Which calls are sampled, and the cost of the probes, see parts.h.
#include "output/report/parts.h"

#include "base/quantity.h"
#include "output/report/totals.h"
#include "output/enum_names.h"

const char *report_sampling__mark(const struct process *process, enum rate_family family)
{
	return process__is_estimated(process, family) ? "~" : "";
}

static void print_family(FILE *out, const struct sampling *sampling, enum rate_family family)
{
	if (!sampling->sampled[family])
		return;
	if (sampling->share[family] >= 1) {
		fprintf(out, "%s were sampled, and are all counted now\n",
			enum_names__rate_families(family));
		return;
	}
	fprintf(out, "%s are sampled: %s of the time, to keep to about --max-overhead %.4g %%\n",
		enum_names__rate_families(family), quantity__share(sampling->share[family]).text,
		100 * sampling->max_overhead);
}

static bool shows_estimates(const struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++)
		for (enum rate_family family = 0; family < RATE_EXACT; family++)
			if (report__shows(&model->processes[i]) &&
			    process__is_estimated(&model->processes[i], family))
				return true;
	return false;
}

static bool was_any_sampled(const struct sampling *sampling)
{
	for (enum rate_family family = 0; family < RATE_EXACT; family++)
		if (sampling->sampled[family])
			return true;
	return false;
}

void report_sampling__print(FILE *out, const struct model *model)
{
	const struct sampling *sampling = &model->sampling;

	if (!sampling->max_overhead || (sampling->by_default && !was_any_sampled(sampling)))
		return;
	fputc('\n', out);
	for (enum rate_family family = 0; family < RATE_EXACT; family++)
		print_family(out, sampling, family);
	fprintf(out,
		"the probes make the worst-hit thread about %s slower, by their calibrated cost "
		"(--max-overhead "
		"%.4g %%)\n",
		quantity__share(sampling->overhead).text, 100 * sampling->max_overhead);
	if (shows_estimates(model))
		fputs("~ marks estimates; durations, sizes, gaps between launches and call sites "
		      "cover only the "
		      "calls that were counted\n",
		      out);
}
