// SPDX-License-Identifier: BSD-2-Clause
/*
 * What threads wait for, with any system call, arguments, /proc files and memory. The input: the
 * system call number, its arguments, the length of the text of every file and link, that text, the
 * memory, which starts at the address BASE.
 */
#include <string.h>

#include "dump/waiting.h"
#include "harness.h"

#define BASE 0x10000ull
#define STATE 0x20000ull /* of the first of two threads; the second uses the next page */

static void take_look(struct input *input, struct thread_look *look)
{
	look->taken = 1;
	look->state = TASK_SLEEPS;
	look->python_state = STATE;
	look->system_call = input__number(input, 2);
	for (size_t i = 0; i < sizeof(look->argument) / sizeof(*look->argument); i++)
		look->argument[i] = input__number(input, 8);
	look->stack.registers.ip = BASE + 16;
}

static void must_be_sound(const struct dump_waiting *waiting)
{
	MUST(waiting->kind < DUMP_WAITS);
	MUST(waiting->other >= 0);
	MUST(memchr(waiting->object, '\0', sizeof(waiting->object)));
	MUST(memchr(waiting->other_comm, '\0', sizeof(waiting->other_comm)));
	if (waiting->kind == DUMP_WAIT_GIL)
		MUST(waiting->name && (waiting->other == 0 || waiting->other == 2));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct thread_look looks[2];
	const struct thread_look *const seen[] = {&looks[0], &looks[1]};
	struct dump_thread threads[2] = {{.tid = 1}, {.tid = 2, .comm = "holds"}};
	struct input input = {data, size};
	const uint8_t *text;
	size_t length;

	memset(looks, 0, sizeof(looks));
	take_look(&input, &looks[0]);
	looks[1] = (struct thread_look){
		.taken = 1, .state = TASK_SLEEPS, .system_call = NO_SYSTEM_CALL};
	looks[1].python_state = STATE + 4096;
	length = input__bytes(&input, input__number(&input, 2), &text);
	harness__set_file("/proc/", text, length);
	harness__set_memory(BASE, input.at, input.left);
	waiting__find(NULL, 1, seen, threads, 2);
	must_be_sound(&threads[0].waiting);
	MUST(threads[1].waiting.kind == DUMP_WAIT_NONE);
	harness__set_memory(0, NULL, 0);
	harness__set_file(NULL, NULL, 0);
	return 0;
}
