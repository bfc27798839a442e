/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe trace`. */
#ifndef CLI_TRACE_OPTIONS_H
#define CLI_TRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/targets.h"
#include "cli/options/option_table.h"
#include "cli/options/recording_options.h"
#include "cli/options/stack_options.h"
#include "output/timeline/timeline.h"
#include "output/trace/output.h"
#include "trace/selection.h"

/* Readings of the model in a recording. */
struct reading_choice {
	bool beside;	 /* calls; without them the recording has only readings */
	double interval; /* seconds from one reading to the next */
	bool tensors;	 /* see struct live_model_options, as for the next two */
	double max_overhead;
	bool overhead_by_default;
	struct stack_choice stacks;
};

/* Of gpuprobe record: the lines go to a recording. */
struct record_choice {
	uint64_t max_bytes; /* of the file; 0: no limit */
	uint64_t ring_ns;   /* keep so much and write it when something happens; 0: write all */
	unsigned int ring_files; /* with it: at most so many */
	bool anonymize;
	struct reading_choice readings;
	char words[1024]; /* the command line, to be recorded */
};

struct trace_options {
	struct targets targets;
	struct trace_selection *selection;
	/* all except wake_bytes and the cgroup, which is in targets.filter */
	struct trace_config config;
	struct trace_output_options output; /* format, timestamps, columns, entry_return */
	bool draws;			    /* the lines become a timeline, not text */
	enum timeline_format timeline;	    /* with `draws` */
	struct stack_choice stacks;	    /* min_wait_ns and sample are unused */
	const char *file;		    /* output file; NULL: stdout */
	struct recording_choice input;	    /* the lines come from a recording */
	bool nested_as_recorded;	    /* config.nested is no wish that may fail */
	const char *findings; /* with `draws`: of this recording of readings; NULL: none */
	const struct record_choice *record; /* the lines go to one, `file`; NULL: they do not */
	uint64_t count;			    /* ends after this many calls; 0: never */
	double duration;		    /* seconds; 0: until stopped */
	uint32_t ring_bytes;		    /* a power of two, in whole pages */
	bool lines;			    /* show calls as they happen */
	bool summary;			    /* print a summary at the end */
	bool full_names;
	bool nvtx;		/* lines of COMMAND's NVTX ranges */
	bool chooses_functions; /* -e or --api was given */
	bool no_returns;	/* see struct selection */
	bool gpu_times;		/* also what GPUs did for COMMAND */
	bool strict;		/* losses set the exit status to EXIT_LOST */
	bool quiet;		/* -q, at any position: no last line unless calls were lost */
	enum log_level log_level;
};

enum trace_options_result {
	TRACE_OPTIONS_SCHEMA = OPTIONS_VERSION + 1, /* --json-schema */
	TRACE_OPTIONS_LIST,			    /* --list-functions: those of the selection */
};

extern const struct option_table trace_option_table;

/*
 * Parses the command line; argv[0] is "trace". Returns an enum option_result or
 * trace_options_result, or a negative errno with a message in `err` (exit status 2). The caller
 * always calls trace_options__clear.
 */
int trace_options__parse(struct trace_options *options, int argc, char **argv, struct error *err);
void trace_options__clear(struct trace_options *options);

/* Only a program that gpuprobe starts gets the library. Returns 0, or -EINVAL with a message. */
int trace_options__check_gpu_times(const struct trace_options *options, struct error *err);

/*
 * Makes options->selection from the texts of -e. Returns 0 or a negative errno with a message.
 */
int trace_options__select(struct trace_options *options, const struct option_list *events,
			  enum api_mode api, struct error *err);

/* --nvtx needs COMMAND. Returns 0, or -EINVAL with a message. */
int trace_options__check_nvtx(const struct trace_options *options, struct error *err);

/* Takes over which processes of options->targets BPF can choose. */
void trace_options__choose_processes(struct trace_options *options);

/* A row's function for a uint32_t: --buffer, rounded up to a valid size of a ring. */
int trace_options__take_buffer(const struct option_row *row, void *field, const char *text,
			       struct error *err);

/* A row's function for a struct trace_options: --quiet. */
int trace_options__take_quiet(const struct option_row *row, void *field, const char *text,
			      struct error *err);

#define BUFFER_DEFAULT (16u << 20)
#define BUFFER_MIN (64u << 10)
#define BUFFER_MAX (2ul << 30) /* largest power of two for the size of a BPF map */

/* Whether -o selected the column. */
bool trace_options__shows(const struct trace_options *options, enum trace_column column);

#endif
