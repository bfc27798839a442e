/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of commands that read a recording instead of watching: -i, --from and --to. */
#ifndef CLI_RECORDING_OPTIONS_H
#define CLI_RECORDING_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/options/targets.h"
#include "cli/options/option_table.h"
#include "record/reader.h"

struct recording_choice {
	const char *path;   /* NULL: watch, no recording */
	uint64_t from_ns;   /* since the recording's beginning */
	uint64_t to_ns;	    /* the same; 0: to its end */
	unsigned int needs; /* NEEDS_* of the options: a recording without them is refused */
};

/*
 * A row's function for a uint64_t, nanoseconds: as option__time, and seconds without a unit,
 * minutes and hours. Only --from may be 0.
 */
int recording_choice__take_moment(const struct option_row *row, void *field, const char *text,
				  struct error *err);

extern const struct option_row recording_rows[]; /* for a struct recording_choice */

/* The same for commands that show readings. */
extern const struct option_row reading_rows[];

/* The same for commands that show a single one: without --from. */
extern const struct option_row moment_rows[];

/*
 * Checks that a command with -i has nothing to watch beside it: no process, COMMAND, filter or
 * duration. Returns 0, or -EINVAL.
 */
int recording_choice__check_targets(const struct recording_choice *choice,
				    const struct targets *targets, double duration,
				    struct error *err);

/* Checks, after all options were taken, that they go together. Returns 0, or -EINVAL. */
int recording_choice__check(const struct recording_choice *choice, struct error *err);

/*
 * Opens the recording with the permissions of gpuprobe's caller, and checks that it is of `level`
 * or, if that is RECORDING_SUMMARY, of any. Returns 0 or a negative errno with a message.
 */
int recording_choice__open(const struct recording_choice *choice, enum recording_level level,
			   struct recording **out, struct error *err);

#endif
