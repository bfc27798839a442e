/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parsing shared by the command lines of the monitor and of other commands: numbers, times, words
 * to choose from, and the processes and libraries to watch. `name` is the option's name, for
 * messages. All functions return 0, or -EINVAL (-ENOMEM) with a message in `err`.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/option_table.h"
#include "probe/selection.h"
#include "target/process_filter.h"

/* What to watch. The texts belong to argv. */
struct targets {
	pid_t *pids;
	size_t pid_count;
	const char **libraries; /* from --libcudart-path and --libcuda-path */
	size_t library_count;
	char **command; /* NULL-terminated, or NULL */
	struct process_filter filter;
};

int targets__add_pid(struct targets *targets, const char *text, struct error *err);
int targets__add_library(struct targets *targets, const char *path, struct error *err);

/*
 * Takes COMMAND from where getopt_long stopped (optind). `program` names the help in messages,
 * "gpuprobe trace". COMMAND and processes exclude each other.
 */
int targets__take_command(struct targets *targets, int argc, char **argv, const char *program,
			  struct error *err);

/* What is watched, for a person: "the whole machine, only --uid alice". Not escaped. */
struct targets_text {
	char text[400];
};
struct targets_text targets__text(const struct targets *targets);

void targets__clear(struct targets *targets);

int arguments__number(const char *name, const char *text, unsigned long min, unsigned long max,
		      unsigned long *value, struct error *err);

/* Seconds, "5", or a time with its unit ms, s, m or h: 0, or at least `min` seconds. */
int arguments__seconds(const char *name, const char *text, double min, double *value,
		       struct error *err);

/* Sets the message that these are not such seconds. Returns -EINVAL. */
int arguments__refuse_seconds(const char *name, const char *text, double min, struct error *err);

/* --max-overhead: "5" or "5%", from 0.1 to 100 percent. The value is a fraction, 0 for "off". */
int arguments__overhead(const char *text, double *fraction, struct error *err);

/* Reads "1.5ms" as nanoseconds; units are ns, us, ms and s. */
int arguments__time(const char *name, const char *text, uint64_t *ns, struct error *err);

/*
 * Reads a number followed by `unit`, of `unit_ns` nanoseconds. Returns whether the text has this
 * form.
 */
bool arguments__in_unit(const char *text, const char *unit, double unit_ns, uint64_t *ns);

/* --window: the time window for growth detection, from a second to a day. */
int arguments__window(const char *text, uint64_t *ns, struct error *err);

/*
 * Reads "16M" as bytes: a whole number, optionally with K, M or G (k, m, g), which are powers of
 * 1024.
 */
int arguments__size(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *bytes,
		    struct error *err);

/* Finds the text among `count` words. */
int arguments__word(const char *name, const char *text, const char *const *words, size_t count,
		    size_t *which, struct error *err);

/*
 * Limits of BPF map sizes; no kernel has the memory for larger ones. A process has 64 entries in
 * some maps.
 */
#define MAX_ENTRIES (1ul << 26)
#define MAX_PROCESSES (1ul << 16)

/* The number of entries that BPF maps are created with: --max-processes and similar options. */
int arguments__capacity(const char *name, const char *text, unsigned long max, uint32_t *value,
			struct error *err);

/*
 * For an option that takes effect only once: `*given`, NULL before, becomes `text`. Returns an
 * error if it had a different value, which would otherwise be silently ignored.
 */
int arguments__once(const char *name, const char **given, const char *text, struct error *err);

/* The output file. */
int arguments__file(const char *name, const char **file, const char *text, struct error *err);

/*
 * arguments__library checks the text of a library's path. arguments__library_error adds what to do
 * if `ret` says that there is no such library; returns `ret`.
 */
int arguments__library(const char *path, struct error *err);
int arguments__library_error(int ret, struct error *err);

/* Appends a pointer to a growing array. */
int arguments__append(const char ***list, size_t *count, const char *text, struct error *err);

/* Makes the error after getopt_long (with opterr 0 and "+:…") has returned ':' or '?'. */
int arguments__bad_option(int id, int argc, char **argv, const struct option *options,
			  const char *program, struct error *err);

/* --- rows that commands share --- */

#define CAPACITIES "Capacities (whatever does not fit is reported as lost):"

/* The help of options whose rows differ in their fields or limits. */
#define DURATION_HELP "stop after S seconds; COMMAND runs on [0 = no limit]"
#define OUTPUT_HELP "write to FILE instead of standard output"
#define API_HELP \
	"layers to probe [auto: the driver for everything, the\n" \
	"runtime for allocations and frees]"
#define THRESHOLD_HELP \
	"threshold that triggers a finding, or ID.NAME=VALUE\n" \
	"(repeatable); gpuprobe diagnose --list has them all"

/* for a struct targets: --libcudart-path and --libcuda-path */
extern const struct option_row library_rows[];
/* for a double, a fraction: --max-overhead if all families may be sampled */
extern const struct option_row overhead_rows[];
extern const struct option_row tensor_rows[];	/* for a bool: --tensors */
extern const struct option_row capacity_rows[]; /* for a struct live_model_limits */
extern const struct option_row exact_rows[];	/* for an enum quantity_form: --exact */
extern const char *const api_words[4];		/* for an enum api_mode */

/* struct targets */
int arguments__take_pid(const struct option_row *row, void *field, const char *text,
			struct error *err);
/* enum api_mode, not API_AUTO */
int arguments__take_layers(const struct option_row *row, void *field, const char *text,
			   struct error *err);
/* uint32_t, up to max */
int arguments__take_capacity(const struct option_row *row, void *field, const char *text,
			     struct error *err);
/* double, a fraction */
int arguments__take_overhead(const struct option_row *row, void *field, const char *text,
			     struct error *err);
/* uint64_t */
int arguments__take_window(const struct option_row *row, void *field, const char *text,
			   struct error *err);

#endif
