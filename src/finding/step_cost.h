/* SPDX-License-Identifier: BSD-2-Clause */
/* What a part of a process's steady time (model/steady.h) costs per step (model/steps.h). */
#ifndef FINDING_STEP_COST_H
#define FINDING_STEP_COST_H

#include <stdint.h>

#include "model/model.h"

struct step_cost {
	/*
	 * duration of a usual step (struct step_summary); 0: nothing repeats, or the steady time is
	 * unknown
	 */
	uint64_t step_ns;
	uint64_t window_ns; /* length of the steady time */
	double steps;	    /* that length in steps */
};

/* At `now_ns`. */
struct step_cost step_cost__of(const struct process *process, uint64_t now_ns);

/* The time per usual step that corresponds to `ns` of the steady time. 0 without steps. */
double step_cost__ns(const struct step_cost *cost, uint64_t ns);

/*
 * How often per step something occurs that occurs `times` times in the steady time. 0 without
 * steps.
 */
double step_cost__times(const struct step_cost *cost, uint64_t times);

#endif
