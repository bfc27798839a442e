/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the command lines of the monitor and of other commands have in common:
 * numbers, times, words to choose from, and the processes and libraries that
 * are to be watched. `name` is the option's, for messages. All return 0, or
 * -EINVAL (-ENOMEM) with a line for a person in `err`.
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

/* What is to be watched. The texts are argv's. */
struct targets {
	pid_t *pids;
	size_t pid_count;
	const char **libraries; /* of --libcudart-path and --libcuda-path */
	size_t library_count;
	char **command; /* NULL-terminated, or NULL */
};

int targets__add_pid(struct targets *targets, const char *text, struct error *err);
int targets__add_library(struct targets *targets, const char *path, struct error *err);

/*
 * COMMAND, from where getopt_long has stopped (optind). `program` is what has
 * the help, "gpuprobe trace". COMMAND and processes exclude each other.
 */
int targets__take_command(struct targets *targets, int argc, char **argv, const char *program, struct error *err);

void targets__clear(struct targets *targets);

int arguments__number(const char *name, const char *text, unsigned long min, unsigned long max, unsigned long *value,
		      struct error *err);

/* Seconds, 0 or from `min` up. */
int arguments__seconds(const char *name, const char *text, double min, double *value, struct error *err);

/* --max-overhead: "5" or "5%", from 0.1 to 100 percent; as a fraction, 0 for "off". */
int arguments__overhead(const char *text, double *fraction, struct error *err);

/* "1.5ms" in nanoseconds: ns, us, ms or s. */
int arguments__time(const char *name, const char *text, uint64_t *ns, struct error *err);

/* The number before `unit`, in units of `unit_ns`; whether that is what the text is. */
bool arguments__in_unit(const char *text, const char *unit, double unit_ns, uint64_t *ns);

/* --window: over how long growth is judged, from a second to a day. */
int arguments__window(const char *text, uint64_t *ns, struct error *err);

/* "16M" in bytes: a whole number, K, M and G (k, m, g) being powers of 1024. */
int arguments__size(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *bytes,
		    struct error *err);

/* Which of `count` words it is. */
int arguments__word(const char *name, const char *text, const char *const *words, size_t count, size_t *which,
		    struct error *err);

/* What BPF maps can be made for, and no kernel would have the memory for more; a process has 64 entries of some maps. */
#define MAX_ENTRIES (1ul << 26)
#define MAX_PROCESSES (1ul << 16)

/* How many of something BPF maps are made for: --max-processes and its like. */
int arguments__capacity(const char *name, const char *text, unsigned long max, uint32_t *value, struct error *err);

/*
 * What one thing alone can be chosen by: `*given`, NULL before, becomes `text`. An error where it was another one already,
 * which would else have been asked for in vain.
 */
int arguments__once(const char *name, const char **given, const char *text, struct error *err);

/* The file that is to be written. */
int arguments__file(const char *name, const char **file, const char *text, struct error *err);

/* A library's path, as far as its text goes; and what to do, where `ret` says that no such library is there. Returns `ret`. */
int arguments__library(const char *path, struct error *err);
int arguments__library_error(int ret, struct error *err);

/* Appends a pointer to an array that grows. */
int arguments__append(const char ***list, size_t *count, const char *text, struct error *err);

/* The error where getopt_long (with opterr 0 and "+:…") has returned ':' or '?'. */
int arguments__bad_option(int id, int argc, char **argv, const struct option *options, const char *program,
			  struct error *err);

/* --- rows that commands have in common --- */

#define CAPACITIES "Capacities (whatever does not fit is reported as lost):"

extern const struct option_row library_rows[];	/* of a struct targets: --libcudart-path and --libcuda-path */
extern const struct option_row overhead_rows[]; /* of a double, a share: --max-overhead where all families may be sampled */
extern const struct option_row capacity_rows[]; /* of a struct live_model_limits */
extern const char *const api_words[4];		/* of an enum api_mode */

int arguments__take_pid(const struct option_row *row, void *field, const char *text, struct error *err);      /* struct targets */
int arguments__take_layers(const struct option_row *row, void *field, const char *text, struct error *err);   /* enum api_mode, not API_AUTO */
int arguments__take_capacity(const struct option_row *row, void *field, const char *text, struct error *err); /* uint32_t, up to max */
int arguments__take_overhead(const struct option_row *row, void *field, const char *text, struct error *err); /* double, a share */
int arguments__take_window(const struct option_row *row, void *field, const char *text, struct error *err);   /* uint64_t */

#endif
