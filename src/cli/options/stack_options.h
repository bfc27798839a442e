/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options for stacks, shared by the monitor and the commands that show call sites: --stack,
 * --stack-size, --stack-storage-size, --min-wait and --stack-sample.
 */
#ifndef CLI_STACK_OPTIONS_H
#define CLI_STACK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/option_table.h"
#include "gpuprobe/stack.h"
#include "stack/stack_break.h"

struct stack_choice {
	enum stack_mode mode;
	uint32_t size;	      /* bytes of stack copied by STACK_DWARF and STACK_AUTO */
	uint64_t min_wait_ns; /* no stack is taken of shorter waits */
	/*
	 * stacks of a kernel's launches from one call site: the first, then one in this many; a
	 * power of two
	 */
	uint32_t sample;
	size_t max; /* maximum number of distinct stacks */
	/* the command shows nothing without stacks, so STACK_OFF cannot be chosen */
	bool needed;
	const char *given[5]; /* by enum stack_option_id: the option's name if it was given */
};

enum stack_option_id {
	OPT_STACK = 0,
	OPT_STACK_SIZE,
	OPT_STACK_STORAGE_SIZE,
	OPT_MIN_WAIT,
	OPT_STACK_SAMPLE,
};

/* The help of --stack, whose default differs. */
#define STACK_HELP \
	"fp: take stacks by frame pointers; dwarf: by DWARF\n" \
	"unwinding; auto: fp, falling back to dwarf"

/*
 * Rows for a struct stack_choice: stack_rows for commands that take stacks only on request,
 * stack_needed_rows for commands that show nothing without them.
 */
extern const struct option_row stack_rows[];
extern const struct option_row stack_needed_rows[];
/*
 * Parts of both: --stack-size and --stack-storage-size; options for waits and launches; and, among
 * those, the ones for launches.
 */
extern const struct option_row stack_storage_rows[];
extern const struct option_row stack_call_rows[];
extern const struct option_row stack_sample_rows[];

/* --all-frames, a row for a bool. */
extern const struct option_row all_frames_rows[];

/* The rows' function; `min` of a row is an enum stack_option_id. */
int stack_choice__take_row(const struct option_row *row, void *field, const char *text,
			   struct error *err);

/* Sets the defaults for this mode; `needed` unless it is STACK_OFF. */
void stack_choice__init(struct stack_choice *choice, enum stack_mode mode);

/*
 * Takes the value of an option; `id` is an enum stack_option_id. Returns 0, -EINVAL with a message,
 * or -ENOENT if `id` is none of these.
 */
int stack_choice__take(struct stack_choice *choice, int id, const char *text, struct error *err);

/*
 * Checks, after all options were taken, that each has an effect in this mode. Returns 0, or -EINVAL
 * with a message.
 */
int stack_choice__check(const struct stack_choice *choice, struct error *err);

/* The same for one option that has no effect together with `with`: "--by bytes". */
int stack_choice__refuse(const struct stack_choice *choice, enum stack_option_id id,
			 const char *with, struct error *err);

/* Warns if shown stacks break off, as happens with frame pointers. */
void stack_choice__warn_broken(const struct stack_choice *choice, const struct stack_break *broken,
			       const struct log *log);

#endif
