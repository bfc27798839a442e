// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stack copies unwound with a mapped file of any contents: its frame information is checked first,
 * then libdwfl uses it. The input: where the thread is, the number of words on the stack, the
 * words, the file. A stack word is two bytes: an offset in the mapping, or on the stack.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "stack/unwind.h"
#include "symbol/process_map.h"
#include "symbol/symbol_cache.h"

#define CODE 0x7f0000000000ull
#define STACK 0x7ffc00000000ull
#define WORDS_MAX 128
#define FRAMES_MAX 300

static const char maps[] = "7f0000000000-7f0000008000 r-xp 00000000 08:01 5 /input.so\n"
			   "7f0000010000-7f0000012000 r-xp 00000000 00:00 0 [vdso]\n"
			   "7f0000020000-7f0000021000 r-xp 00000000 00:00 0 \n";

static uint64_t address(uint64_t word)
{
	return word & 0x8000 ? STACK + (word & 0x7fff) : CODE + word;
}

static struct stack_record *make_record(struct input *input)
{
	uint64_t ip = input__number(input, 2), bp = input__number(input, 2);
	size_t words = input__number(input, 1) % WORDS_MAX;
	struct stack_record *record = calloc(1, sizeof(*record) + words * 8);

	MUST(record);
	record->id = 1;
	record->pid = getpid();
	record->registers = (struct stack_registers){
		.ip = address(ip),
		.sp = STACK,
		.bp = address(bp),
		.bx = bp,
		.r12 = STACK + 8,
	};
	record->callers = words % (STACK_CALLERS + 1);
	record->copied = (uint32_t)(words * 8);
	for (size_t i = 0; i < words; i++) {
		uint64_t word = address(input__number(input, 2));

		memcpy(record->copy + i * 8, &word, 8);
		if (i < record->callers)
			record->caller[i] = (struct stack_caller){STACK + 64 + i * 8, word};
	}
	return record;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t addresses[FRAMES_MAX], interrupted[(FRAMES_MAX + 63) / 64];
	struct input input = {data, size};
	struct stack_record *record = make_record(&input);
	struct symbol_cache *cache = symbol_cache__new(8);
	struct process_map *map = process_map__new(getpid());
	struct unwinder *unwinder;
	enum unwind_end end;
	int count;

	MUST(cache && map);
	harness__set_maps(maps);
	harness__set_file("/input.so", input.at, input.left);
	process_map__read(map, cache);
	unwinder = unwinder__new(map, cache);
	MUST(unwinder);
	count = unwinder__run(unwinder, record, addresses, interrupted, FRAMES_MAX, &end);
	MUST(count >= 1 && count <= FRAMES_MAX && addresses[0] == record->registers.ip);
	unwinder__changed(unwinder);
	unwinder__run(unwinder, record, addresses, interrupted, 5, &end);
	unwinder__free(unwinder);
	process_map__free(map);
	symbol_cache__free(cache);
	free(record);
	harness__set_file(NULL, NULL, 0);
	harness__set_maps(NULL);
	return 0;
}
