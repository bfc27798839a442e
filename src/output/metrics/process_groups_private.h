/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of process_groups.h.
 *
 * A member is a process on the page. It remembers the latest value of each counter that it added to
 * a sum, and adds only what came since.
 */
#ifndef OUTPUT_METRICS_PROCESS_GROUPS_PRIVATE_H
#define OUTPUT_METRICS_PROCESS_GROUPS_PRIVATE_H

#include "base/table.h"
#include "output/metrics/process_groups.h"
#include "target/workload.h"

#define KEY_SIZE WORKLOAD_LONG_NAME_SIZE
#define UNKNOWN "unknown" /* as a label */

/* A label of one of many things that has its own series in a group. */
struct admitted {
	char *label; /* behind a digit: the kind of things */
	UT_hash_handle hh;
};

struct group {
	char key[KEY_SIZE]; /* what its processes have in common */
	bool is_other;
	bool is_unknown;       /* of processes that ended before their control group was read */
	struct workload names; /* of the process that was seen last */
	char container_id[CONTAINER_ID_LENGTH + 1];
	char user[sizeof(((struct process *)0)->user)];
	uint64_t page;	  /* number of the latest page it was on */
	uint64_t members; /* that live */
	struct admitted *admitted;
	size_t admitted_count[MANY_THINGS];
	UT_hash_handle hh;
};

/* One series. */
struct sum {
	struct group *group; /* NULL: of several processes */
	char *labels;
	uint64_t value;
	uint64_t page; /* number of the latest page on which a process had it */
	struct sum *next;
	UT_hash_handle hh;
	char key[]; /* group and labels */
};

struct family {
	const char *name;
	struct sum *sums;	   /* by key */
	struct sum *first, **last; /* in order of first sight */
	UT_hash_handle hh;
};

/* What a member added to a sum. */
struct part {
	struct sum *sum;
	uint64_t value; /* so far */
	uint64_t next;	/* on this page */
};

struct member {
	uint64_t serial; /* of its process */
	struct group *group;
	uint64_t page;
	struct part *parts;
	size_t count;
	size_t at; /* where the next sample is probably found: each page has the same order */
	UT_hash_handle hh;
};

struct process_groups {
	enum metrics_by by;
	size_t limits[MANY_THINGS];
	struct group *groups; /* by key */
	struct group other;
	struct family *families; /* by name */
	struct member *members;	 /* by serial */
	uint64_t page;
	int error; /* on this page */

	/* the family being written */
	struct exposition_sink sink;
	struct family *family;
	bool is_counter;
	enum metric_sum how;
	struct member *turn; /* NULL: nobody's */
};

/* The member of a process; NULL: it is none yet. */
struct member *process_groups__member(const struct process_groups *groups, const struct process *p);

/* --- group_sums.c --- */

/* Adds a sample of the family being written to a sum; `arg` is the process_groups. */
void group_sums__take(void *arg, const char *labels, uint64_t value);

/* Drops the sums of a group that is forgotten. */
void group_sums__forget(struct process_groups *groups, const struct group *group);

/* Frees all families and their sums. */
void group_sums__clear(struct process_groups *groups);

/* Writes the group's labels; NULL: of samples of several processes. */
void group_sums__label(struct exposition_writer *w, enum metrics_by by, const struct group *group);

#endif
