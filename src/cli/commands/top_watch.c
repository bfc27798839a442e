// SPDX-License-Identifier: BSD-2-Clause
// What top learns over time, see top_watch.h.
#include "cli/commands/top_watch.h"

#include <errno.h>

#include "model/growth.h"

void top_watch__clear(struct top_watch *watch)
{
	process_rates__free(watch->rates);
	findings__free(watch->findings);
	watch->rates = NULL;
	watch->findings = NULL;
}

int top_watch__begin(struct top_watch *watch, uint64_t began_ns)
{
	const struct findings_options findings = {
		.needs = NEEDS_PROFILE | NEEDS_NCCL,
		.latest = true,
		.full_names = watch->full_names,
		.window_ns = GROWTH_WINDOW_NS,
	};

	top_watch__clear(watch);
	watch->findings = findings__new(&findings);
	watch->rates = process_rates__new();
	if (!watch->findings || !watch->rates)
		return -ENOMEM;
	findings__begin(watch->findings, began_ns);
	process_rates__begin(watch->rates, began_ns);
	return 0;
}
