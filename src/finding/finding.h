/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings: what is wrong with a program, by the evidence of its CUDA calls,
 * what that costs, and what usually fixes it. Drawn from the model alone.
 *
 * kinds.c is the one table of them, with severities, thresholds and advice. A
 * rule (struct finding_kind's `draw`) looks at one process, or at all, and
 * adds a finding only with evidence above its thresholds.
 */
#ifndef FINDING_FINDING_H
#define FINDING_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/model.h"

enum finding_severity {
	SEVERITY_INFO = 0,
	SEVERITY_WARNING,
	SEVERITY_CRITICAL, /* the program fails, or is about to */
};

enum finding_unit {
	UNIT_COUNT = 0,
	UNIT_BYTES,
	UNIT_NS,
	UNIT_SHARE, /* 0 to 1, shown as percent */
	UNIT_PER_SECOND,
	UNIT_BYTES_PER_SECOND,
	UNIT_RATIO,
};

/* A threshold: below it there is no finding. The first of a kind is what `--threshold ID=VALUE` sets. */
struct finding_threshold {
	const char *name; /* NULL ends the list */
	double value;	  /* by default, in `unit` */
	enum finding_unit unit;
	const char *meaning; /* "least share of the watched time" */
	double least;	     /* that it can be set to */
};

#define FINDING_THRESHOLDS 4

struct findings;
struct finding_kind;

/* What a rule is given. Values of thresholds by their place in the kind's list. */
struct finding_input {
	const struct model *model;
	const struct findings *state; /* history: growth of sites and sizes, of the devices' free memory */
	const struct finding_kind *kind;
	const double *thresholds;
	uint64_t began_ns; /* when the probes were in, CLOCK_BOOTTIME */
};

struct finding_list;

/* What there must be for a rule to be asked. */
#define NEEDS_ACCOUNT 0x1 /* process->profile: of stat and diagnose */
#define NEEDS_ASKS 0x2	  /* calls that ask for errors are probed */
#define NEEDS_GETTERS 0x4

struct finding_kind {
	const char *id; /* "alloc-churn" */
	enum finding_severity severity;
	unsigned int needs; /* NEEDS_* */
	bool steady;	    /* judged by the steady time alone, where that is known (model/steady.h) */
	bool whole;	    /* with `steady`: it is given all of the process, and takes the steady time by itself */
	unsigned int every; /* 1 << enum rate_family, of which it must know every call: not where they are sampled */
	const char *title;  /* what is wrong, a few words: "the same memory is allocated and freed again and again" */
	const char *advice; /* one paragraph */
	const char *cost;   /* what its cost is the time of; NULL: it has none in time */
	struct finding_threshold thresholds[FINDING_THRESHOLDS + 1];
	/* Adds what it finds of one process, which has ended or not. 0 or -ENOMEM. NULL where detect_all is there. */
	int (*detect)(const struct finding_input *input, const struct process *process, struct finding_list *out);
	/* The same over all processes: devices and ranks compared. */
	int (*detect_all)(const struct finding_input *input, struct finding_list *out);
	/* Whether, by its thresholds, it is found of the process, of which nothing else is looked for then. Optional. */
	bool (*stands_alone)(const struct process *process, const double *thresholds);
};

/* In the order they are shown in by id; `count` of them. */
extern const struct finding_kind finding_kinds[];
extern const size_t finding_kind_count;

/* NULL where there is none. */
const struct finding_kind *finding_kind__find(const char *id);

/* -EINVAL, and in `err` that there is none called by the `length` bytes at `id`, and which was meant, maybe. */
int finding_kind__unknown(const char *id, size_t length, struct error *err);

/* A number of the evidence. */
struct finding_number {
	const char *name; /* "allocations": static, JSON's member */
	double value;
	enum finding_unit unit;
};

#define FINDING_NUMBERS 12

struct finding {
	const struct finding_kind *kind;
	/* the kind's, unless the evidence is worse */
	enum finding_severity severity;
	int32_t pid;	   /* 0: of no one process */
	int32_t tid;	   /* 0: of no one thread */
	uint64_t start_ns; /* the process's: with the pid tells which it is */
	char comm[16];	   /* the process's */
	/* what it is about: "cudaMalloc of 1.0 GiB", a kernel; NULL: the process. Escaped when shown */
	char *subject;
	char *title;	/* of this one; NULL: the kind's. Escaped when shown */
	char *evidence; /* one sentence, numbers with their units. Escaped when shown */
	struct finding_number numbers[FINDING_NUMBERS];
	size_t number_count;
	bool has_cost;
	uint64_t cost_ns;
	double share;	  /* of the watched time of the process, or of the thread's from its first call to its latest where there is one */
	bool steady;	  /* all of it is of the steady time (model/steady.h) */
	double a_step_ns; /* the cost in a usual step; 0: nothing repeats, or it is not of the steady time */
	uint64_t step_ns; /* the step */
	bool has_saving;
	uint64_t saving_ns;
	const char *assumption;	   /* under which; static; NULL without has_saving */
	const struct stack *stack; /* where; the model's; NULL: not known */
	bool has_reasons;	   /* what the process's threads did says why: finding/host_reasons.h */
	/* a second place, and what it is to the first: "held up by"; NULL: there is none */
	const struct stack *other_stack;
	const char *other_title;
	double weight; /* order among those of its kind: the cost, or bytes, calls */
};

/* Of a kind that is judged by its course: places (call sites, sizes, pools, devices) that were looked at. */
struct finding_trend {
	const struct finding_kind *kind;
	uint64_t places;
	uint64_t unjudged;    /* of these: followed for too short a time to say */
	uint64_t followed_ns; /* the longest of them */
	uint64_t needed_ns;
};

#define FINDING_COURSES 8

struct finding_list {
	struct finding *items;
	size_t count, capacity;
	uint64_t sampled_kinds; /* 1 << place in finding_kinds: not looked for in a process whose calls are sampled */
	/* of kinds that looked at a place */
	struct finding_trend trends[FINDING_COURSES];
	size_t trend_count;
};

/* A new finding at the end of the list, its kind, severity and process filled in; NULL without memory. `process` may be NULL. */
struct finding *finding_list__add(struct finding_list *list, const struct finding_input *input,
				  const struct process *process);

/* A place was looked at whose verdict takes `needed_ns`; `judged`: there is one. Courses beyond FINDING_COURSES are left out. */
void finding_list__follow(struct finding_list *list, const struct finding_input *input, bool judged,
			  uint64_t followed_ns, uint64_t needed_ns);

/* Texts as printf; what was there is released. 0 or -ENOMEM. */
int finding__subject(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
int finding__title(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
int finding__evidence(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Numbers beyond FINDING_NUMBERS are left out (a mistake of the rule, which its test shows). */
void finding__number(struct finding *finding, const char *name, double value, enum finding_unit unit);

/* The cost, and its share of `of_ns`. */
void finding__cost(struct finding *finding, uint64_t cost_ns, uint64_t of_ns);
void finding__saving(struct finding *finding, uint64_t saving_ns, const char *assumption);

/*
 * Worst first: by severity, cost, place of the kind, weight, and then as they
 * were added. 0, or -ENOMEM: the order is as it was.
 */
int finding_list__sort(struct finding_list *list);

/* Releases those that `keep` has no use for; the others stay in their order. */
void finding_list__retain(struct finding_list *list, bool (*keep)(const struct finding *finding, const void *arg),
			  const void *arg);

/* Releases the findings and leaves the list empty. */
void finding_list__clear(struct finding_list *list);

/* --- of a run --- */

struct findings_options {
	unsigned int needs; /* NEEDS_* that are met */
	bool latest;	    /* keep what verdict__judge_latest needs */
	uint64_t window_ns; /* of growth, see model/growth.h */
};

/* All at their default thresholds. NULL without memory. */
struct findings *findings__new(const struct findings_options *options);
void findings__free(struct findings *findings);

/*
 * "ID=VALUE" or "ID.NAME=VALUE"; VALUE as the unit has it: 5%, 0.05, 64K, 100ms, 10/s, 12.
 * Returns 0 or -EINVAL with the reason.
 */
int findings__set_threshold(struct findings *findings, const char *text, struct error *err);

/* Several of them, to the first that is none. */
int findings__set_thresholds(struct findings *findings, const char *const *texts, size_t count, struct error *err);

/* Whether there is what a kind needs: other kinds are not looked for. */
bool findings__looks_for(const struct findings *findings, const struct finding_kind *kind);

/* The value in use, by the kind and the place in its list: for help and JSON. */
double findings__threshold(const struct findings *findings, const struct finding_kind *kind, size_t place);

/* The probes are in. */
void findings__begin(struct findings *findings, uint64_t began_ns);
uint64_t findings__began_ns(const struct findings *findings);

/* Takes a sample of what is judged by its course; every second or so; none of a reading that broke off. 0 or -ENOMEM. */
int findings__sample(struct findings *findings, const struct model *model);

/*
 * Draws all findings there are evidence for by now, worst first. What was in
 * the list is released. 0 or -ENOMEM: some are missing then.
 */
int findings__detect(struct findings *findings, const struct model *model, struct finding_list *list);

#endif
