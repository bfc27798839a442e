/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes held of the GPUs and used of them, added up over readings of the model and by
 * whom they belong to: GPU time, memory by time, bounds of the time with work, the latest call.
 *
 * Readings may come from several sources, such as recordings of several machines. Those of one
 * machine must come in the order of time.
 */
#ifndef ACCOUNT_ACCOUNT_H
#define ACCOUNT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/memory.h"
#include "model/model.h"
#include "target/workload.h"

enum account_by {
	ACCOUNT_BY_JOB = 0, /* of Slurm or PBS, pod, systemd unit; or else by user */
	ACCOUNT_BY_USER,
	ACCOUNT_BY_CONTAINER, /* or else by user */
	ACCOUNT_BY_IMAGE,     /* of the container; ACCOUNT_UNKNOWN by user; or else by user */
	ACCOUNT_BY_PROCESS,   /* by the name of its program, and user */
	ACCOUNT_BYS,
};

enum account_job {
	ACCOUNT_NO_JOB = 0,
	ACCOUNT_SLURM,
	ACCOUNT_PBS,
	ACCOUNT_POD,  /* "namespace/pod" */
	ACCOUNT_UNIT, /* of systemd */
};

#define ACCOUNT_UNKNOWN "unknown" /* the image of a container that no runtime's file names */
#define ACCOUNT_NAME_SIZE (WORKLOAD_NAME_SIZE + 2 * WORKLOAD_LONG_NAME_SIZE + 3)

/* Those who have something in common. All texts come from processes and are raw. */
struct account_group {
	/* what they have in common; empty: nothing, or everything in the total */
	char name[ACCOUNT_NAME_SIZE];
	enum account_job job; /* by job: what the name is of */
	char user[33];	      /* of the process seen first; empty: unknown */
	char pod_uid[37];
	struct workload names; /* of the process seen last */
	bool is_other;	       /* those for whom there was no room */

	uint64_t processes; /* that used a GPU */
	uint64_t alive;	    /* part of these, at the latest reading of their source */
	/*
	 * GPU time in nanoseconds: a GPU that several of its processes hold counts once. The time
	 * with work is between the two bounds.
	 */
	uint64_t held_ns, work_least_ns, work_most_ns;
	struct byte_seconds memory;
	double nvml_byte_seconds; /* part of memory.best: NVML's figure */
	/* part of these processes: of their memory only what was allocated later is known */
	uint64_t partial;
	int64_t last_call_ns; /* CLOCK_REALTIME; 0: none was seen */
	/* GPUs held at the end, and those of them that none of its processes has used for long */
	uint64_t gpus, idle_gpus;
};

struct account;

struct account_options {
	enum account_by by;
	size_t max_groups; /* the rest is in one more, which is_other */
	bool forgets;	   /* a group without processes makes room for another one */
	uint64_t idle_ns;  /* a GPU without a call for so long is idle */
	int64_t since_ns;  /* CLOCK_REALTIME: what was before does not count; 0: all counts */
};

/* NULL without memory. */
struct account *account__new(const struct account_options *options);
void account__free(struct account *account); /* NULL ok */

/*
 * Adds a source of readings, of the machine with this name and boot; NULL or empty: a machine of
 * its own. Returns its number, or -ENOMEM.
 */
int account__add_source(struct account *account, const char *host, const char *boot_id);

/*
 * Takes a reading of a source in. The probes were attached at `began_ns`. `quiet` has processes
 * that have made no call, whose GPUs are those of `model`; NULL: those that NVML lists on these
 * GPUs are without a name. Returns 0, or -ENOMEM: the next reading stands for both.
 */
int account__take(struct account *account, int source, const struct model *model,
		  const struct model *quiet, uint64_t began_ns);

struct account_list {
	struct account_group **groups; /* most GPU time first, is_other last; owned by the list */
	size_t count;
	struct account_group *total;
	int64_t from_ns, to_ns;	   /* CLOCK_REALTIME of what was taken in; 0: nothing */
	bool more_groups;	   /* there was no room for all */
	uint64_t lost[LOSS_COUNT]; /* of all sources */
};

/*
 * The groups as of now; their values remain valid until the next account__take. Returns 0 or
 * -ENOMEM. Release with account_list__clear.
 */
int account__list(struct account *account, struct account_list *list);
void account_list__clear(struct account_list *list);

/* "user"; for messages and JSON. */
extern const char *const account_by_words[ACCOUNT_BYS];

/* "slurm"; NULL for ACCOUNT_NO_JOB. */
const char *account__job_word(enum account_job job);

/* Of 0 to 1: by how much the estimate of memory may be off; 0 without memory. */
double byte_seconds__uncertainty(const struct byte_seconds *memory);

#endif
