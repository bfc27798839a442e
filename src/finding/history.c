// SPDX-License-Identifier: BSD-2-Clause
// History of what findings judge over time, see history.h.
#include "finding/history.h"

#include <stdlib.h>

struct finding_history *finding_history__new(uint64_t window_ns, bool latest)
{
	struct finding_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->window_ns = window_ns;
	history->growth = growth__new(window_ns, GROWTH_SITES_MAX);
	history->devices = device_history__new(window_ns);
	history->unused = unused_history__new(window_ns);
	history->graphs = graph_history__new();
	history->loads = latest ? load_history__new() : NULL;
	if (history->growth && history->devices && history->unused && history->graphs &&
	    (history->loads || !latest))
		return history;
	finding_history__free(history);
	return NULL;
}

void finding_history__free(struct finding_history *history)
{
	if (!history)
		return;
	growth__free(history->growth);
	device_history__free(history->devices);
	unused_history__free(history->unused);
	graph_history__free(history->graphs);
	load_history__free(history->loads);
	free(history);
}

static int first_of(int failed, int ret)
{
	return failed ? failed : ret;
}

int finding_history__sample(struct finding_history *history, const struct model *model)
{
	int failed;

	/*
	 * Half an interval, because a timer may fire a little early; more frequent samples would
	 * fill the windows too soon.
	 */
	if (history->sampled_ns &&
	    model->now_ns - history->sampled_ns < GROWTH_SAMPLE_NS(history->window_ns) / 2)
		return 0;
	history->sampled_ns = model->now_ns;
	failed = growth__sample(history->growth, model);
	failed = first_of(failed, device_history__sample(history->devices, model));
	failed = first_of(failed, unused_history__sample(history->unused, model));
	failed = first_of(failed, graph_history__sample(history->graphs, model));
	return history->loads ? first_of(failed, load_history__sample(history->loads, model)) :
				failed;
}
