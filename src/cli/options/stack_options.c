// SPDX-License-Identifier: BSD-2-Clause
// Parses the options of stacks, see stack_options.h.
#include "cli/options/stack_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/options/arguments.h"

#define STACKS_MAX (1ul << 20)
#define SAMPLE_MAX (1ul << 30)

void stack_choice__init(struct stack_choice *choice, enum stack_mode mode)
{
	*choice = (struct stack_choice){
		.mode = mode,
		.needed = mode != STACK_OFF,
		.size = 16384,
		.min_wait_ns = NS_PER_MS,
		.sample = 64,
		.max = 16384,
	};
}

static int take_mode(struct stack_choice *choice, const char *text, struct error *err)
{
	static const char *const words[] = {
		[STACK_OFF] = "off",
		[STACK_FP] = "fp",
		[STACK_DWARF] = "dwarf",
		[STACK_AUTO] = "auto",
	};
	size_t first = choice->needed ? STACK_FP : STACK_OFF, which = 0;
	int ret = arguments__word("--stack", text, words + first,
				  sizeof(words) / sizeof(*words) - first, &which, err);

	if (!ret)
		choice->mode = (enum stack_mode)(first + which);
	return ret;
}

/* "16", "16K" and "16384" mean the same. */
static int take_size(struct stack_choice *choice, const char *text, struct error *err)
{
	uint64_t bytes;

	if (!arguments__size("--stack-size", text, 1, STACK_COPY_MAX, &bytes, err)) {
		if (bytes <= STACK_COPY_MAX / 1024)
			bytes *= 1024;
		if (bytes == 8192 || bytes == 16384 || bytes == 32768) {
			choice->size = (uint32_t)bytes;
			return 0;
		}
	}
	return error__set(err, -EINVAL, "--stack-size '%.100s': choose 8, 16 or 32 (KiB)", text);
}

static int take_sample(struct stack_choice *choice, const char *text, struct error *err)
{
	unsigned long number;
	int ret = arguments__number("--stack-sample", text, 1, SAMPLE_MAX, &number, NULL);

	if (ret || number & (number - 1))
		return error__set(
			err, -EINVAL,
			"--stack-sample '%.100s': give a power of two from 1 to %lu, such as 64",
			text, SAMPLE_MAX);
	choice->sample = (uint32_t)number;
	return 0;
}

static const char *const names[] = {"--stack", "--stack-size", "--stack-storage-size", "--min-wait",
				    "--stack-sample"};

int stack_choice__take(struct stack_choice *choice, int id, const char *text, struct error *err)
{
	unsigned long number = 0;
	int ret;

	if (id >= OPT_STACK && id <= OPT_STACK_SAMPLE)
		choice->given[id - OPT_STACK] = names[id - OPT_STACK];
	switch (id) {
	case OPT_STACK: return take_mode(choice, text, err);
	case OPT_STACK_SIZE: return take_size(choice, text, err);
	case OPT_STACK_STORAGE_SIZE:
		ret = arguments__number("--stack-storage-size", text, 1, STACKS_MAX, &number, err);
		choice->max = number;
		return ret;
	case OPT_MIN_WAIT:
		choice->min_wait_ns = 0;
		return strcmp(text, "0") ?
			       arguments__time("--min-wait", text, &choice->min_wait_ns, err) :
			       0;
	case OPT_STACK_SAMPLE: return take_sample(choice, text, err);
	}
	return -ENOENT;
}

int stack_choice__refuse(const struct stack_choice *choice, enum stack_option_id id,
			 const char *with, struct error *err)
{
	const char *name = choice->given[id - OPT_STACK];

	return name ? error__set(err, -EINVAL, "%s has no effect with %s", name, with) : 0;
}

int stack_choice__check(const struct stack_choice *choice, struct error *err)
{
	int ret = 0;

	if (choice->mode == STACK_FP)
		return stack_choice__refuse(choice, OPT_STACK_SIZE, "--stack fp, which copies none",
					    err);
	for (int id = OPT_STACK_SIZE; choice->mode == STACK_OFF && id <= OPT_STACK_SAMPLE && !ret;
	     id++)
		ret = stack_choice__refuse(choice, id, "--stack off", err);
	return ret;
}

void stack_choice__warn_broken(const struct stack_choice *choice, const struct stack_break *broken,
			       const struct log *log)
{
	if (!broken->found || choice->mode != STACK_FP)
		return;
	if (*broken->object)
		log__warn(log, "some stacks break off at %s: use --stack auto", broken->object);
	else
		log__warn(log, "some stacks break off: use --stack auto");
}

/* --- rows --- */

int stack_choice__take_row(const struct option_row *row, void *field, const char *text,
			   struct error *err)
{
	return stack_choice__take(field, (int)row->min, text, err);
}

const struct option_row stack_storage_rows[] = {
	{"stack-size", 0, "8|16|32", "KiB of stack copied for dwarf and auto [16]",
	 stack_choice__take_row, .min = OPT_STACK_SIZE},
	{"stack-storage-size", 0, "N", "distinct stacks kept [16384]", stack_choice__take_row,
	 .min = OPT_STACK_STORAGE_SIZE},
	{0},
};

const struct option_row stack_rows[] = {
	{"stack", 0, "fp|dwarf|auto|off", STACK_HELP ";\noff: no stacks [off]",
	 stack_choice__take_row, .min = OPT_STACK},
	{.rows = stack_storage_rows},
	{0},
};

const struct option_row stack_needed_rows[] = {
	{"stack", 0, "fp|dwarf|auto", STACK_HELP " [fp]", stack_choice__take_row, .min = OPT_STACK},
	{.rows = stack_storage_rows},
	{0},
};

const struct option_row stack_sample_rows[] = {
	{"stack-sample", 0, "N",
	 "at each call site, take the stack of a kernel's first\n"
	 "launch and of one in N after it, a power of two [64]",
	 stack_choice__take_row, .min = OPT_STACK_SAMPLE},
	{0},
};

const struct option_row stack_call_rows[] = {
	{"min-wait", 0, "TIME", "take stacks of waits this long (ns, us, ms, s) [1ms]",
	 stack_choice__take_row, .min = OPT_MIN_WAIT},
	{.rows = stack_sample_rows},
	{0},
};

const struct option_row all_frames_rows[] = {
	{"all-frames", 0, NULL, "print every frame of each stack, with C++ arguments", option__flag,
	 .offset = 0},
	{0},
};
