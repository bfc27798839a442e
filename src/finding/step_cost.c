// SPDX-License-Identifier: BSD-2-Clause
// The cost per step of a part of the steady time, see step_cost.h.
#include "finding/step_cost.h"

#include "model/steady.h"
#include "model/steps.h"

struct step_cost step_cost__of(const struct process *process, uint64_t now_ns)
{
	uint64_t since_ns = steady__since_ns(process, now_ns),
		 end_ns = process->ended ? process->ended_ns : now_ns;
	struct step_cost cost = {0};
	struct step_summary steps;

	step_summary__make(process, &steps);
	if (!steps.phase || !since_ns || steps.mean_ns <= 0)
		return cost;
	cost.step_ns = steps.usual_ns;
	cost.window_ns = end_ns - since_ns;
	cost.steps = (double)cost.window_ns / steps.mean_ns;
	return cost;
}

double step_cost__ns(const struct step_cost *cost, uint64_t ns)
{
	return cost->window_ns ? (double)ns / (double)cost->window_ns * (double)cost->step_ns : 0;
}

double step_cost__times(const struct step_cost *cost, uint64_t times)
{
	return cost->steps > 0 ? (double)times / cost->steps : 0;
}
