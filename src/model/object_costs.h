/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device memory that objects of a process take, which no allocation shows. The driver does not
 * report it, so it is estimated: by least squares over readings of the process's memory (NVML's
 * figure without the tracked allocations) against how many objects there were. Freed objects do not
 * return their memory, since the driver keeps it for later ones. So the number is the highest so
 * far (the peak) of live objects.
 */
#ifndef MODEL_OBJECT_COSTS_H
#define MODEL_OBJECT_COSTS_H

#include "model/model.h"

#define OBJECT_COST_READINGS 48 /* kept; more halve the earlier ones */
#define NVML_STEP (2ull << 20)	/* NVML's figure moves in such steps */

struct object_cost {
	bool known;
	/*
	 * its number rises with that of another kind, such as graphs and executable graphs, and the
	 * other kind's cost includes it
	 */
	bool included;
	double bytes; /* each; 0 is possible */
	double error; /* of `bytes`: plus or minus, two standard errors */
};

struct object_part {
	bool known;
	double bytes, error;
};

/* The untracked memory of a process. All parts except `total` are estimated. */
struct untracked_split {
	bool known;
	uint64_t total;
	struct object_part context;		/* contexts and what they load */
	struct object_part kinds[OBJECT_KINDS]; /* cost times peak */
	struct object_part rest;		/* the total without the known parts */
};

struct object_costs;

/* NULL without memory. */
struct object_costs *object_costs__new(void);
void object_costs__free(struct object_costs *costs);

/* Samples the processes whose memory NVML reports. 0 or -ENOMEM: some are not followed then. */
int object_costs__sample(struct object_costs *costs, const struct model *model);

/*
 * How many objects of the kind must be made during the readings for an estimate: fewer handles of
 * libraries than others, because they are few and take MiBs each.
 */
unsigned int object_costs__least(enum object_kind kind);

/* What an object of this kind costs in the process. */
struct object_cost object_costs__of(const struct object_costs *costs, const struct process *process,
				    enum object_kind kind);

/* The parts of the process's untracked memory, as of the latest sample. */
struct untracked_split object_costs__split(const struct object_costs *costs,
					   const struct process *process);

#endif
