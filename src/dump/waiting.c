// SPDX-License-Identifier: BSD-2-Clause
// What the threads of a process wait for; see waiting.h.
#include "dump/waiting.h"

#include <asm/unistd_64.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump/child.h"
#include "dump/descriptor.h"
#include "dump/gil.h"
#include "dump/run_state.h"
#include "dump/system_call.h"
#include "target/proc.h"

/* The search over the threads of one process. */
struct search {
	struct memory_reader *memory;
	pid_t pid;
	const struct thread_look *const *looks;
	struct dump_thread *threads;
	size_t count;
	uint64_t *python_states; /* of each thread; NULL if none has one or memory ran out */
	struct parent parent;
};

static bool is_taken(const struct thread_look *look)
{
	return look && look->taken;
}

static void keep_comm(char *to, const char *comm)
{
	snprintf(to, LOOK_COMM_SIZE, "%.*s", LOOK_COMM_SIZE - 1, comm);
}

/* --- locks --- */

/* The thread that has this state, except the waiting one. */
static const struct dump_thread *find_holder(const struct search *search, uint64_t state,
					     size_t waits)
{
	for (size_t i = 0; i < search->count; i++)
		if (i != waits && search->python_states[i] == state)
			return &search->threads[i];
	return NULL;
}

static void take_lock(const struct search *search, size_t index, const uint64_t *arguments)
{
	struct dump_waiting *waiting = &search->threads[index].waiting;
	const struct dump_thread *holder;
	struct gil gil;

	waiting->kind = DUMP_WAIT_LOCK;
	if (!search->python_states || !search->python_states[index])
		return;
	if (!gil__find(search->memory, search->pid, arguments[0], search->python_states,
		       search->count, &gil))
		return;
	waiting->kind = DUMP_WAIT_GIL;
	holder = gil.locked ? find_holder(search, gil.holder, index) : NULL;
	if (!holder)
		return;
	waiting->other = holder->tid;
	keep_comm(waiting->other_comm, holder->comm);
}

/* --- descriptors --- */

static void take_descriptor(struct dump_thread *thread, int fd, enum dump_wait otherwise)
{
	struct dump_waiting *waiting = &thread->waiting;
	enum dump_wait type =
		descriptor__describe(thread->tid, fd, waiting->object, sizeof(waiting->object));

	waiting->kind = type == DUMP_WAIT_NONE ? otherwise : type;
}

/* Several descriptors, one, or none; none means that the thread just sleeps. */
static void take_descriptors(struct dump_thread *thread, int fd)
{
	if (fd >= 0)
		take_descriptor(thread, fd, DUMP_WAIT_FILES);
	else
		thread->waiting.kind = fd == DESCRIPTOR_NONE ? DUMP_WAIT_SLEEP : DUMP_WAIT_FILES;
}

/* These calls name a descriptor, but they count as a wait only if it is a driver's device. */
static void take_call_on_file(struct dump_thread *thread, int fd)
{
	take_descriptor(thread, fd, DUMP_WAIT_OTHER);
	if (thread->waiting.kind != DUMP_WAIT_DRIVER)
		thread->waiting.kind = DUMP_WAIT_OTHER;
}

/* --- children --- */

static void take_child(struct dump_thread *thread, pid_t child)
{
	struct process_info info;

	thread->waiting.kind = DUMP_WAIT_CHILD;
	if (child <= 0 || proc__info(child, &info))
		return;
	thread->waiting.other = child;
	keep_comm(thread->waiting.other_comm, info.comm);
}

/* --- all calls --- */

static uint64_t number_of(const struct search *search, const struct thread_look *look,
			  const uint64_t *arguments)
{
	uint64_t end = look->stack.registers.ip;
	uint8_t code[SYSTEM_CALL_CODE_SIZE];

	if (look->system_call != __NR_restart_syscall)
		return look->system_call;
	if (end < sizeof(code) || memory_reader__read(search->memory, search->pid,
						      end - sizeof(code), code, sizeof(code)))
		memset(code, 0, sizeof(code));
	return system_call__restarted(code, arguments);
}

static void take_call(struct search *search, size_t index, uint64_t number,
		      const uint64_t *arguments)
{
	struct system_call call = system_call__of(number);
	struct dump_thread *thread = &search->threads[index];
	struct memory_reader *memory = search->memory;
	pid_t pid = search->pid;

	thread->waiting = (struct dump_waiting){.kind = DUMP_WAIT_OTHER, .name = call.name};
	switch (call.form) {
	case CALL_LOCK: take_lock(search, index, arguments); break;
	case CALL_POLL:
		take_descriptors(thread, descriptor__of_poll(memory, pid, arguments));
		break;
	case CALL_SELECT:
		take_descriptors(thread, descriptor__of_select(memory, pid, arguments));
		break;
	case CALL_EPOLL:
		take_descriptors(thread, descriptor__of_epoll(thread->tid, arguments));
		break;
	case CALL_READ: take_descriptor(thread, (int)arguments[0], DUMP_WAIT_OTHER); break;
	case CALL_SOCKET: take_descriptor(thread, (int)arguments[0], DUMP_WAIT_SOCKET); break;
	case CALL_ON_FILE: take_call_on_file(thread, (int)arguments[0]); break;
	case CALL_WAIT4: take_child(thread, child__of_wait4(&search->parent, arguments)); break;
	case CALL_WAITID:
		take_child(thread, child__of_waitid(&search->parent, thread->tid, arguments));
		break;
	case CALL_VFORK:
		if (child__shares_until_exec(memory, pid, number, arguments))
			take_child(thread, 0);
		break;
	case CALL_SLEEP: thread->waiting.kind = DUMP_WAIT_SLEEP; break;
	case CALL_SIGNAL: thread->waiting.kind = DUMP_WAIT_SIGNAL; break;
	case CALL_OTHER: break;
	}
}

/* --- a process --- */

static void find_runs(const struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		if (is_taken(search->looks[i]))
			search->threads[i].run = run_state__of(search->looks[i]);
}

static uint64_t *list_python_states(const struct search *search)
{
	uint64_t *states = calloc(search->count ? search->count : 1, sizeof(*states));
	bool any = false;

	for (size_t i = 0; states && i < search->count; i++) {
		states[i] = is_taken(search->looks[i]) ? search->looks[i]->python_state : 0;
		any = any || states[i];
	}
	if (!any) {
		free(states);
		return NULL;
	}
	return states;
}

static void find_one(struct search *search, size_t index)
{
	const struct thread_look *look = search->looks[index];
	struct dump_thread *thread = &search->threads[index];
	uint64_t arguments[6];

	thread->waiting = (struct dump_waiting){0};
	if (!is_taken(look) || thread->run == DUMP_RUNS || thread->run == DUMP_READY)
		return;
	if (look->system_call == NO_SYSTEM_CALL)
		return;
	for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++)
		arguments[i] = look->argument[i];
	take_call(search, index, number_of(search, look, arguments), arguments);
}

void waiting__find(struct memory_reader *memory, pid_t pid, const struct thread_look *const *looks,
		   struct dump_thread *threads, size_t count)
{
	struct search search = {
		.memory = memory,
		.pid = pid,
		.looks = looks,
		.threads = threads,
		.count = count,
		.parent = {.pid = pid, .threads = threads, .count = count},
	};

	find_runs(&search);
	search.python_states = list_python_states(&search);
	for (size_t i = 0; i < count; i++)
		find_one(&search, i);
	free(search.python_states);
}
