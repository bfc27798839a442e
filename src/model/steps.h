/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of a process: what its threads submit over and over, found and
 * counted as gpuprobe/steps.h tells. Plain data beside struct process, from
 * the records by collect/steps.c.
 *
 * A step goes from one anchor, a submission that comes once in each, to the
 * next. What is submitted before the first and after the last is in none.
 */
#ifndef MODEL_STEPS_H
#define MODEL_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/steps.h"

#define STEP_FIRSTS 32	     /* steps at the begin of a phase that are kept one by one */
#define STEP_PHASES 4	     /* of a thread that are told apart */
#define STEP_THREADS_KEPT 32 /* of a process, those that have ended included */

struct process;

/* Steps of one kind. Those whose sums are not known came before the anchor was: how long they took was looked up. */
struct step_phase {
	struct step_anchor anchor; /* its launches: of the thread alone */
	uint64_t steps, ns, max_ns;
	uint64_t first_ns, latest_ns;		/* the begin of the first, the end of the latest; CLOCK_BOOTTIME */
	uint64_t irregular, irregular_ns;	/* with other launches in between, or of other numbers of them: not among `steps` */
	__u64 buckets[TIME_BUCKETS];		/* of `steps` */
	uint64_t summed;			/* of `steps`: those whose sums are known */
	struct step_sums sums;			/* of these, the process's other threads included */
	uint64_t listed;			/* beside them: of which the thread's launches, copies and waits are known, no more */
	struct step_sums listed_sums;		/* of these */
	struct slow_step slowest[STEP_SLOWEST]; /* slowest first; ns 0: no more. Without launches: no sums are known */
	/* The first, of those whose sums are not known; BPF counts later ones */
	struct {
		uint64_t begin_ns, ns;
	} first[STEP_FIRSTS];
	size_t first_count;
};

struct step_thread {
	int32_t tid;
	uint64_t start_ns; /* of the thread */
	char comm[16];
	uint64_t ended_ns; /* 0: it lives */
	uint64_t submissions;
	struct step_sums totals; /* of the thread alone, since it had submitted STEP_FIRST times */
	struct step_phase phases[STEP_PHASES];
	size_t phase_count; /* 0: nothing repeats, or not often enough yet */
	size_t current;	    /* the phase that it is in, or was in last */
	uint64_t *round;    /* handles of what one round of that launches, in their order; malloc */
	size_t round_length;
};

struct process_steps {
	struct step_thread **threads;
	size_t count;
};

/* Everything zero; release with process_steps__free. NULL without memory. */
struct process_steps *process_steps__new(void);
void process_steps__free(struct process_steps *steps);

/* What it takes in memory, about; 0 for NULL. */
size_t process_steps__bytes(const struct process_steps *steps);

/* A new thread at the end of the list, all zero; NULL without memory, or with STEP_THREADS_KEPT there already. */
struct step_thread *process_steps__add(struct process_steps *steps);

/* Adds a step whose sums are not known. */
void step_phase__add(struct step_phase *phase, uint64_t begin_ns, uint64_t ns);

/* Adds what a record has counted since it took the phase's anchor. */
void step_phase__add_record(struct step_phase *phase, const struct step_record *record);

/*
 * When the phase's steps began to last as long as they do: modules that are loaded, kernels that are tried make the
 * first ones of a program last longer. The begin of the first of two steps that last at most twice the median.
 */
uint64_t step_phase__steady_ns(const struct step_phase *phase);

/* The phase in which a thread spent most time in steps; NULL: it has none. */
const struct step_phase *step_thread__main_phase(const struct step_thread *thread);

/* What the steps of a process are: those of one thread, which others work for. */
struct step_summary {
	const struct step_thread *thread; /* NULL: nothing repeats, as far as was seen */
	const struct step_phase *phase;
	double mean_ns;
	uint64_t p50_ns, p99_ns;
	uint64_t usual_ns; /* the median; the mean where that is far longer: what is queued without a wait goes by in jumps */
	bool sums_known;   /* else `mean` has launches, copies and waits alone */
	double launches;   /* of a step, as the next */
	double copies[STEP_DIRECTIONS], bytes[STEP_DIRECTIONS];
	double waits, allocations, frees;
	double inside_ns[TIME_CLASSES]; /* in all threads that count */
};

/* Of all that was seen so far. */
void step_summary__make(const struct process *process, struct step_summary *summary);

/* What was most out of the common in a slow step, and by how much more than usual. */
enum step_excess {
	STEP_EXCESS_OUTSIDE = 0, /* time outside CUDA calls */
	STEP_EXCESS_INSIDE,	 /* + enum time_class: time inside calls of that class */
	STEP_EXCESS_UNKNOWN = STEP_EXCESS_INSIDE + TIME_CLASSES,
};

enum step_excess step_summary__excess(const struct step_summary *summary, const struct slow_step *step, uint64_t *ns);

#endif
