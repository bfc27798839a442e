// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stack records as BPF programs send them, of any contents: taken in, followed, unwound by the
 * vdso, named, stored. The input: how stacks are taken, then records, each with the number of bytes
 * copied.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "output/frame_text.h"
#include "stack/merge.h"
#include "stack/stacks.h"
#include "target/proc.h"

#define RECORDS_MAX 8
#define COPY_MAX 512

static const char maps[] = "00400000-00401000 r-xp 00000000 08:01 5 /nowhere/program\n"
			   "7f0000010000-7f0000012000 r-xp 00000000 00:00 0 [vdso]\n"
			   "7f0000020000-7f0000021000 r-xp 00000000 00:00 0 \n";

static int forgotten;

static int forget(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
	forgotten++;
	return 0;
}

static void look_at(struct stacks *stacks, uint64_t id)
{
	const struct stack *stack;

	stacks__catch_up(stacks);
	stack = stacks__find(stacks, id);
	stacks__same(stacks, id);
	frame_text__print_stack(harness__sink(), stack, 2);
	for (uint32_t i = 0; stack && i < stack->count; i++) {
		frame_text__print_label(harness__sink(), &stack->frames[i]);
		MUST(stack->frames[i].kind != FRAME_MARK || i + 1 >= stack->count ||
		     stack->frames[i].function);
	}
}

/* The interpreter is at the program's address in the mappings. */
static void merge(const struct stack_record *record)
{
	static const struct merge_ranges ranges = {0x400000, 0x401000, 0x400100, 0x400200};
	static struct merged_frame merged[STACK_FRAMES_MAX + PYTHON_FRAMES_MAX + 1];
	static bool entry[PYTHON_FRAMES_MAX + 1];
	uint32_t natives = record->natives % (STACK_FRAMES_MAX + 1),
		 pythons = record->pythons % (PYTHON_FRAMES_MAX + 1);

	for (uint32_t i = 0; i < pythons; i++)
		entry[i] = record->python[i].instruction & PYTHON_ENTRY;
	MUST(python_merge((const void *)record->native, natives, entry, pythons, &ranges, merged) <=
	     natives + pythons);
}

/*
 * Most of the record is the input's. The fields that identify the process are true, or the record
 * would be ignored.
 */
static void take_record(struct stacks *stacks, struct input *input, const struct process_info *own)
{
	struct stack_record *record = calloc(1, sizeof(*record) + COPY_MAX + 8);
	size_t copied = input__number(input, 2) % (COPY_MAX + 8), size;
	uint64_t flags = input__number(input, 1);
	const uint8_t *bytes;
	void *exact;

	MUST(record);
	size = input__bytes(input, sizeof(*record) + (copied < COPY_MAX ? copied : COPY_MAX),
			    &bytes);
	memcpy(record, bytes, size);
	if (flags & 1) {
		record->pid = own->pid;
		record->start_ns = own->start_ns;
		record->copied = (uint32_t)copied;
		record->natives %= STACK_FRAMES_MAX + 2;
		record->pythons %= PYTHON_FRAMES_MAX + 3;
		record->callers %= STACK_CALLERS + 2;
	}
	size = sizeof(*record) + (flags & 2 ? copied : copied % 8);
	exact = harness__exactly(record, size);
	stacks__take(stacks, exact, size);
	free(exact);
	if (flags & 4)
		look_at(stacks, record->id);
	merge(record);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct process_info own;
	struct input input = {data, size};
	uint64_t how = input__number(&input, 1);
	struct stacks_options options = {
		.mode = (enum stack_mode)(STACK_FP + how % 3),
		.max = 1 + how / 3 % 4,
		.ring_fd = -1,
		.hooks = {.forget = forget},
	};
	struct stacks_counts counts;
	struct stacks *stacks;
	struct error err = {""};

	if (!own.pid)
		MUST(!proc__info(getpid(), &own));
	MUST(!stacks__new(&options, NULL, &stacks, &err));
	harness__set_maps(maps);
	stacks__look_at(stacks, own.pid, how & 64);
	for (int i = 0; i < RECORDS_MAX && input.left; i++)
		take_record(stacks, &input, &own);
	look_at(stacks, 1);
	stacks__count(stacks, &counts);
	MUST(counts.kept <= options.max);
	stacks__free(stacks);
	harness__set_maps(NULL);
	return 0;
}
