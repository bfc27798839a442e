/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parsing shared by the command lines of the monitor and of other commands: numbers, times, words
 * to choose from. `name` is the option's name, for messages. All functions return 0, or -EINVAL
 * (-ENOMEM) with a message in `err`.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

int arguments__number(const char *name, const char *text, unsigned long min, unsigned long max,
		      unsigned long *value, struct error *err);

/* Seconds, "5", or a time with its unit ms, s, m or h: 0, or at least `min` seconds. */
int arguments__seconds(const char *name, const char *text, double min, double *value,
		       struct error *err);

/* Sets the message that these are not such seconds. Returns -EINVAL. */
int arguments__refuse_seconds(const char *name, const char *text, double min, struct error *err);

/*
 * A part of the time that is watched, "5" or "5%", from 0.1 percent to below 100. The value is a
 * fraction; 100 gives 0: all of it.
 */
int arguments__share(const char *name, const char *text, double *fraction, struct error *err);

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

/* Appends a pointer to a growing array. */
int arguments__append(const char ***list, size_t *count, const char *text, struct error *err);

/* Makes the error after getopt_long (with opterr 0 and "+:…") has returned ':' or '?'. */
int arguments__bad_option(int id, int argc, char **argv, const struct option *options,
			  const char *program, struct error *err);

#endif
