/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of processes in an account, and the GPUs that they hold (account.h). */
#ifndef ACCOUNT_GROUPS_H
#define ACCOUNT_GROUPS_H

#include "account/account.h"
#include "base/table.h"

#define ACCOUNT_KEY_SIZE (ACCOUNT_NAME_SIZE + 40)

/* A GPU that a group holds. Without NVML it is known by CUDA's number in the process alone. */
struct holding {
	struct holding_key {
		uint32_t host;
		int32_t gpu; /* index in the model; below 0: -1 - CUDA's number */
	} key;
	uint64_t until_ns;     /* counted so far, CLOCK_BOOTTIME of its machine */
	uint64_t last_call_ns; /* the same clock; 0: none was seen */
	uint64_t first_ns;
	/* the reading at which a living process had it */
	uint32_t source;
	uint64_t reading;
	/* of the reading that is being taken in */
	bool is_open;
	uint64_t from_ns, to_ns, held_ns, most_ns, least_ns;
	UT_hash_handle hh;
};

/* A group with what only the account needs. */
struct group {
	struct account_group shown; /* first: the list shows it */
	char key[ACCOUNT_KEY_SIZE];
	struct holding *holdings;
	uint64_t members; /* processes that may still use it */
	UT_hash_handle hh;
};

/* One process's use of one GPU during a span. */
struct gpu_use {
	int32_t gpu; /* as in holding_key */
	uint64_t most_ns, least_ns;
};

struct groups {
	struct group *table;
	struct group *other; /* NULL: there was room for all */
	struct group total;
	enum account_by by;
	size_t max;
	bool forgets; /* the group whose processes ended first makes room for another one */
};

void groups__clear(struct groups *groups);

/* The group of the process; `other` if there is no room. NULL without memory. */
struct group *groups__of(struct groups *groups, const struct process *process);

/* Notes names of the process, which may become known late. */
void group__name(struct group *group, enum account_by by, const struct process *process);

/*
 * Adds a process's use of a GPU. groups__fold then counts what all processes of this reading had of
 * it once. Returns the holding, or NULL without memory.
 */
struct holding *group__hold(struct group *group, uint32_t host, const struct account_span *span,
			    const struct gpu_use *use);
void groups__fold(struct groups *groups);

#endif
