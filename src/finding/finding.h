/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings: what is wrong with a program according to its CUDA calls, what it costs, and what
 * usually fixes it. They are derived from the model only.
 *
 * kinds.c lists the kinds. A kind has severity, thresholds and advice, and stands in the file of
 * its rule. A rule (struct finding_kind's `detect`) examines one process, or all, and adds a
 * finding only if the evidence exceeds the thresholds.
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

/*
 * A threshold: below it there is no finding. `--threshold ID=VALUE` sets the first one of a kind.
 */
struct finding_threshold {
	const char *name; /* NULL ends the list */
	double value;	  /* default, in `unit` */
	enum finding_unit unit;
	const char *meaning; /* "minimum share of the watched time" */
	double least;	     /* smallest allowed value */
};

#define FINDING_THRESHOLDS 4

struct findings;
struct finding_kind;

/* The input of a rule. Threshold values are indexed as in the kind's list. */
struct finding_input {
	const struct model *model;
	/* history: growth of sites and sizes, of the devices' free memory */
	const struct findings *state;
	const struct finding_kind *kind;
	const double *thresholds;
	uint64_t began_ns; /* when the probes were attached, CLOCK_BOOTTIME */
};

struct finding_list;

/* What a rule requires. */
#define NEEDS_PROFILE 0x1 /* process->profile: stat, diagnose, the monitor's --verdict */
#define NEEDS_ASKS 0x2	  /* error queries are probed */
#define NEEDS_GETTERS 0x4
#define NEEDS_TENSORS 0x8    /* of no finding: for readings of a recording */
#define NEEDS_NCCL 0x10	     /* model->nccl: calls of NCCL are traced where it is in use */
#define NEEDS_XIDS 0x20	     /* model->xids: errors of GPUs are watched */
#define NEEDS_GPU_TIMES 0x40 /* model->gpu_times: --gpu-times */

struct finding_kind {
	const char *id; /* "alloc-churn" */
	enum finding_severity severity;
	unsigned int needs; /* NEEDS_* */
	bool steady;	    /* judged by the steady time only, if that is known (model/steady.h) */
	/*
	 * with `steady`: the rule gets the whole process, and restricts itself to the steady time
	 */
	bool whole;
	bool host_limits; /* skipped if the process is GPU-bound and NVML says so, too */
	/* 1 << enum rate_family that it needs complete: skipped if those calls are sampled */
	unsigned int every;
	/*
	 * what is wrong, in a few words: "the same memory is allocated and freed again and again"
	 */
	const char *title;
	const char *advice; /* one paragraph */
	const char *cost;   /* what its cost is the time of; NULL: it has no cost in time */
	struct finding_threshold thresholds[FINDING_THRESHOLDS + 1];
	/* Adds the findings of one process. 0 or -ENOMEM. NULL if detect_all is set. */
	int (*detect)(const struct finding_input *input, const struct process *process,
		      struct finding_list *out);
	/* The same over all processes: compares devices and ranks. */
	int (*detect_all)(const struct finding_input *input, struct finding_list *out);
	/*
	 * Whether, by its thresholds, the process has this finding, which suppresses all others.
	 * Optional.
	 */
	bool (*stands_alone)(const struct process *process, const double *thresholds);
};

/* In the order in which findings are listed by id; finding_kind_count entries. */
extern const struct finding_kind *const finding_kinds[];
extern const size_t finding_kind_count;

/* The kind's index in finding_kinds. */
size_t finding_kind__index(const struct finding_kind *kind);

/* NULL: unknown id. */
const struct finding_kind *finding_kind__find(const char *id);

/*
 * Returns -EINVAL and sets `err` to say that there is no kind with the `length`-byte id at `id`,
 * and which one may have been meant.
 */
int finding_kind__unknown(const char *id, size_t length, struct error *err);

/* A number in the evidence. */
struct finding_number {
	const char *name; /* "allocations": static; the member's name in JSON */
	double value;
	enum finding_unit unit;
};

#define FINDING_NUMBERS 12

struct finding {
	const struct finding_kind *kind;
	/* the kind's severity, or a higher one if the evidence is worse */
	enum finding_severity severity;
	int32_t pid;	   /* 0: not about a single process */
	int32_t tid;	   /* 0: not about a single thread */
	uint64_t start_ns; /* start of the process; with the pid it identifies the process */
	char comm[16];	   /* the process's name */
	/*
	 * what it is about: "cudaMalloc of 1.0 GiB", a kernel; NULL: the process. Escaped on output
	 */
	char *subject;
	char *title;	/* a title of its own; NULL: the kind's. Escaped on output */
	char *evidence; /* one sentence; numbers have units. Escaped on output */
	char *details;	/* more of it for programs, a JSON object on one line; NULL: none */
	struct finding_number numbers[FINDING_NUMBERS];
	size_t number_count;
	bool has_cost;
	uint64_t cost_ns;
	/*
	 * cost as a share of the process's watched time, or, if a thread is given, of the time from
	 * its first to its latest call
	 */
	double share;
	bool steady;	  /* everything in it refers to the steady time (model/steady.h) */
	double a_step_ns; /* cost per usual step; 0: nothing repeats, or not of the steady time */
	uint64_t step_ns; /* duration of the step */
	bool has_saving;
	uint64_t saving_ns;
	/* assumption behind the saving; static; NULL without has_saving */
	const char *assumption;
	const struct stack *stack; /* call site; owned by the model; NULL: unknown */
	/* the activity of the process's threads explains it: finding/host_reasons.h */
	bool has_reasons;
	/* A second call site, and its relation to the first: "held up by"; NULL: none */
	const struct stack *other_stack;
	const char *other_title;
	double weight; /* order among findings of the same kind: the cost, or bytes, or calls */
};

/*
 * For a kind judged by history: the items (call sites, sizes, pools, devices) that were examined.
 */
struct finding_trend {
	const struct finding_kind *kind;
	uint64_t examined;
	uint64_t unjudged;    /* part of these: followed for too short a time to judge */
	uint64_t followed_ns; /* longest time that one of these was followed */
	uint64_t needed_ns;
};

#define FINDING_COURSES 8

/*
 * What a finding has in common with the same one of another moment. Hashed as bytes: there is no
 * padding.
 */
struct finding_key {
	uint64_t start_ns;
	int32_t pid, tid;
	uint32_t kind;	  /* index in finding_kinds */
	uint32_t subject; /* its hash; 0: none */
};

struct finding_list {
	struct finding *items;
	size_t count;
	/* 1 << index in finding_kinds: skipped for some process because its calls are sampled */
	uint64_t sampled_kinds;
	/* for kinds that examined at least one item */
	struct finding_trend trends[FINDING_COURSES];
	size_t trend_count;
};

/*
 * Appends a finding with kind, severity and process filled in; NULL without memory. `process` may
 * be NULL.
 */
struct finding *finding_list__add(struct finding_list *list, const struct finding_input *input,
				  const struct process *process);

/*
 * Notes that an item was examined whose verdict takes `needed_ns`; `judged`: there is a verdict.
 * Courses beyond FINDING_COURSES are dropped.
 */
void finding_list__follow(struct finding_list *list, const struct finding_input *input, bool judged,
			  uint64_t followed_ns, uint64_t needed_ns);

/* printf formats; a previous text is released. 0 or -ENOMEM. */
int finding__subject(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int finding__title(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int finding__evidence(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Numbers beyond FINDING_NUMBERS are dropped (a bug of the rule, which its test reveals). */
void finding__number(struct finding *finding, const char *name, double value,
		     enum finding_unit unit);

struct finding_key finding__key(const struct finding *finding);

/* Sets the cost, and its share of `of_ns`. */
void finding__cost(struct finding *finding, uint64_t cost_ns, uint64_t of_ns);
void finding__saving(struct finding *finding, uint64_t saving_ns, const char *assumption);

/*
 * Worst first: by severity, cost, index of the kind, weight, then order of addition. 0, or -ENOMEM:
 * the order is unchanged.
 */
int finding_list__sort(struct finding_list *list);

/* Releases the findings for which `keep` returns false; the others stay in order. */
void finding_list__retain(struct finding_list *list,
			  bool (*keep)(const struct finding *finding, const void *arg),
			  const void *arg);

/* Releases the findings and leaves the list empty. */
void finding_list__clear(struct finding_list *list);

/* --- findings of a run --- */

struct findings_options {
	unsigned int needs; /* NEEDS_* that are available */
	bool latest;	    /* keep the data that verdict__judge_latest needs */
	bool full_names;    /* kernels have whole names in texts, not labels */
	uint64_t window_ns; /* window of growth detection, see model/growth.h */
};

/* All thresholds have their defaults. NULL without memory. */
struct findings *findings__new(const struct findings_options *options);
void findings__free(struct findings *findings);

/*
 * Parses "ID=VALUE" or "ID.NAME=VALUE"; VALUE depends on the unit: 5%, 0.05, 64K, 100ms, 10/s, 12.
 * Returns 0 or -EINVAL with the reason.
 */
int findings__set_threshold(struct findings *findings, const char *text, struct error *err);

/* Sets several, up to the first invalid one. */
int findings__set_thresholds(struct findings *findings, const char *const *texts, size_t count,
			     struct error *err);

/* Whether the kind's needs are available: other kinds are skipped. */
bool findings__looks_for(const struct findings *findings, const struct finding_kind *kind);

/* Adds needs that are available after all. Call it before the first sample. */
void findings__add_needs(struct findings *findings, unsigned int needs);

/* As in the options. */
bool findings__has_full_names(const struct findings *findings);

/* The value in use, by kind and index in its list: for help and JSON. */
double findings__threshold(const struct findings *findings, const struct finding_kind *kind,
			   size_t index);

/* How long ranks of NCCL wait before they hang (nccl-hang.time), in nanoseconds. */
uint64_t findings__nccl_hang_ns(const struct findings *findings);

/* Call it when the probes are attached. */
void findings__begin(struct findings *findings, uint64_t began_ns);
/* That time, or the first call in a profile if it came before the last probe was attached. */
uint64_t findings__began_ns(const struct findings *findings);

/*
 * Samples everything that is judged by history; call it about every second. Incomplete readings are
 * skipped. 0 or -ENOMEM.
 */
int findings__sample(struct findings *findings, const struct model *model);

/*
 * Draws all findings that have evidence by now, worst first. Releases the list's previous contents.
 * 0 or -ENOMEM: some are missing then.
 */
int findings__detect(struct findings *findings, const struct model *model,
		     struct finding_list *list);

#endif
