/* SPDX-License-Identifier: BSD-2-Clause */
/* What something that takes a part of a process's steady time (model/steady.h) costs in a step (model/steps.h). */
#ifndef FINDING_STEP_COST_H
#define FINDING_STEP_COST_H

#include <stdint.h>

#include "model/model.h"

struct step_cost {
	uint64_t step_ns;   /* a usual step (struct step_summary); 0: nothing repeats, or the steady time is not known */
	uint64_t window_ns; /* the steady time */
	double steps;	    /* that it is as long as */
};

/* As of `now_ns`. */
struct step_cost step_cost__of(const struct process *process, uint64_t now_ns);

/* The part of a usual step that is as large as that of so many ns of the steady time. 0 without steps. */
double step_cost__ns(const struct step_cost *cost, uint64_t ns);

/* How many of so many things in the steady time come in a step. 0 without steps. */
double step_cost__times(const struct step_cost *cost, uint64_t times);

#endif
