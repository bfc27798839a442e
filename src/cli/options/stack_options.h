/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of stacks, which the monitor and the commands that show call
 * sites have in common: --stack, --stack-size, --stack-storage-size,
 * --min-wait and --stack-sample.
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

struct stack_choice {
	enum stack_mode mode;
	uint32_t size;	      /* bytes of stack copied, of STACK_DWARF and STACK_AUTO */
	uint64_t min_wait_ns; /* waits shorter than this have no stack taken */
	uint32_t sample;      /* of a kernel's launches from one place one in so many, after the first; a power of two */
	size_t max;	      /* distinct stacks kept */
	bool needed;	      /* there is nothing to show with STACK_OFF: it is not to choose */
	const char *given[5]; /* by enum stack_option_id, from OPT_STACK on: the option, where it was */
};

enum stack_option_id {
	OPT_STACK = 0,
	OPT_STACK_SIZE,
	OPT_STACK_STORAGE_SIZE,
	OPT_MIN_WAIT,
	OPT_STACK_SAMPLE,
};

/* Rows of a struct stack_choice, for commands that take none unless asked to, and that show nothing without. */
extern const struct option_row stack_rows[];
extern const struct option_row stack_needed_rows[];
/* Of both: --stack-size and --stack-storage-size; what is of waits and launches, and of that what is of launches. */
extern const struct option_row stack_storage_rows[];
extern const struct option_row stack_call_rows[];
extern const struct option_row stack_sample_rows[];

/* A row's own; its `min` is an enum stack_option_id. */
int stack_choice__take_row(const struct option_row *row, void *field, const char *text, struct error *err);

/* Stacks as they are by default, in this mode; `needed` where that is not STACK_OFF. */
void stack_choice__init(struct stack_choice *choice, enum stack_mode mode);

/*
 * Takes the value of an option in `id`, an enum stack_option_id. 0, -EINVAL with a line for a
 * person, or -ENOENT where `id` is none of these.
 */
int stack_choice__take(struct stack_choice *choice, int id, const char *text, struct error *err);

/* Once all are taken: whether each has an effect in this mode. 0, or -EINVAL with a line for a person. */
int stack_choice__check(const struct stack_choice *choice, struct error *err);

/* The same for one of them, which `with` leaves without effect: "--by bytes". */
int stack_choice__refuse(const struct stack_choice *choice, enum stack_option_id id, const char *with,
			 struct error *err);

/* Warns where stacks that are shown break off (`broken`), as they do with frame pointers alone. */
void stack_choice__warn_broken(const struct stack_choice *choice, bool broken, const struct log *log);

#endif
