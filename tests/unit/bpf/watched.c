// SPDX-License-Identifier: BSD-2-Clause
// A process whose threads call CUDA, see watched.h.
#include "watched.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "native/machine.h"

#define THREADS 16
#define NESTED 4 /* calls in a thread */
#define FRAME_WORDS 64
#define CONFIG_WORD 32	 /* within a frame: a CUlaunchConfig */
#define CONFIG_STREAM 36 /* its hStream */
#define OUT_WORD 48	 /* where a call writes its results */
#define TRAMPOLINE 0x7ffff000ull
#define CODE 0x400000ull

struct watched_thread {
	struct task_struct task;
	struct pid pid;
	struct watched *watched;
	uint64_t frames[NESTED][FRAME_WORDS]; /* the last is the outermost call's */
	struct call_argument written[NESTED]; /* by the calls in progress */
	size_t depth;
};

struct watched {
	struct xol_area trampoline;
	struct mm_struct mm;
	struct signal_struct signal;
	struct cred cred;
	struct pid_namespace namespace;
	struct task_struct parent;
	uint64_t context;
	struct watched_thread threads[THREADS];
	size_t thread_count;
	struct idle_time *idle;
	size_t idle_count;
};

/* --- calls --- */

static uint64_t *frame_of(struct watched_thread *thread)
{
	return thread->frames[NESTED - thread->depth];
}

/* Puts the argument where the function expects it at entry. */
static void set_argument(struct pt_regs *registers, uint64_t *frame, uint8_t location,
			 uint64_t value)
{
	unsigned long *const in_registers[] = {&registers->di, &registers->si, &registers->dx,
					       &registers->cx, &registers->r8, &registers->r9};
	uint8_t at = location & LOCATION_MASK;

	assert(location != LOCATION_NONE);
	/* The upper half of a shorter argument is garbage. */
	if (location & LOCATION_32)
		value |= 0xabcd000000000000;
	if (at < LOCATION_STACK)
		*in_registers[at] = value;
	else
		frame[1 + at - LOCATION_STACK] = value;
}

/* Whether the function writes the argument through a pointer that it gets. */
static bool is_written(const struct function_desc *function, enum role role)
{
	if (role == ROLE_CTX)
		return function->operation == OP_CONTEXT &&
		       (function->kind == CONTEXT_RETAIN || function->kind == CONTEXT_CREATE);
	return role == ROLE_OUT;
}

static void place_argument(struct watched_thread *thread, struct pt_regs *registers,
			   const struct function_desc *function,
			   const struct call_argument *argument)
{
	uint64_t *frame = frame_of(thread), value = argument->value;
	enum role role = argument->role;

	if (is_written(function, role)) {
		thread->written[NESTED - thread->depth] = *argument;
		value = (uintptr_t)&frame[OUT_WORD];
	} else if (role == ROLE_STREAM && function->location[ROLE_STREAM] == LOCATION_NONE) {
		frame[CONFIG_STREAM] = value;
		value = (uintptr_t)&frame[CONFIG_WORD];
		role = ROLE_CONFIG;
	}
	set_argument(registers, frame, function->location[role], value);
}

static void set_machine(struct watched_thread *thread, uint64_t ns)
{
	assert(ns >= machine.now_ns);
	machine.now_ns = ns;
	machine.task = &thread->task;
}

/* The process's ring is read immediately. */
static void take_records(struct watched *watched)
{
	const struct record_idle *idle;
	struct record *record;

	while ((record = machine__take_record())) {
		idle = (const void *)record;
		if (record->type == RECORD_IDLE) {
			watched->idle = realloc(watched->idle,
						(watched->idle_count + 1) * sizeof(*watched->idle));
			assert(watched->idle);
			watched->idle[watched->idle_count++] =
				(struct idle_time){idle->begin_ns, idle->end_ns, idle->device};
		}
		machine__discard(record);
	}
}

void watched__enter(struct watched_thread *thread, uint64_t ns, const struct watched_call *call)
{
	const struct function_desc *function = &api_functions[call->row].desc;
	struct pt_regs registers = {.ip = CODE + call->row};
	uint64_t *frame;

	assert(thread->depth < NESTED);
	thread->depth++;
	thread->written[NESTED - thread->depth] = (struct call_argument){};
	frame = frame_of(thread);
	memset(frame, 0, sizeof(thread->frames[0]));
	frame[0] = TRAMPOLINE;
	registers.sp = (uintptr_t)frame;
	for (size_t i = 0; i < call->count; i++)
		place_argument(thread, &registers, function, &call->arguments[i]);
	set_machine(thread, ns);
	machine.cookie = call->row;
	program__enter(&registers);
	take_records(thread->watched);
}

void watched__return(struct watched_thread *thread, uint64_t ns, int32_t result)
{
	uint64_t *frame = frame_of(thread);
	struct pt_regs registers = {
		.ip = TRAMPOLINE, .sp = (uintptr_t)(frame + 1), .ax = (uint32_t)result};

	assert(thread->depth);
	frame[OUT_WORD] = thread->written[NESTED - thread->depth].value;
	set_machine(thread, ns);
	program__return(&registers);
	thread->depth--;
	take_records(thread->watched);
}

void watched__return_late(struct watched_thread *thread, uint64_t ns, int32_t result,
			  void (*meanwhile)(void *arg), void *arg)
{
	machine.meanwhile = meanwhile;
	machine.meanwhile_arg = arg;
	watched__return(thread, ns, result);
	assert(!machine.meanwhile);
}

/* --- threads --- */

static struct watched_thread *find_thread(struct watched *watched, int tid)
{
	for (size_t i = 0; i < watched->thread_count; i++)
		if (watched->threads[i].task.pid == tid)
			return &watched->threads[i];
	return NULL;
}

static struct watched_thread *add_thread(struct watched *watched, int tid, uint64_t start_ns)
{
	struct watched_thread *thread = &watched->threads[watched->thread_count++];

	assert(watched->thread_count <= THREADS);
	thread->watched = watched;
	thread->pid = (struct pid){.level = 0, .numbers = {{.nr = tid, .ns = &watched->namespace}}};
	thread->task = (struct task_struct){
		.pid = tid,
		.tgid = WATCHED_PID,
		.mm = &watched->mm,
		.real_parent = &watched->parent,
		.group_leader = &watched->threads[0].task,
		.thread_pid = &thread->pid,
		.real_cred = &watched->cred,
		.signal = &watched->signal,
		.start_boottime = start_ns,
		.comm = "python3",
	};
	watched->signal.live.counter++;
	machine__report_memory(thread->frames, sizeof(thread->frames));
	return thread;
}

/* A call of `function` with one argument of this role and, if it takes one, device 0. */
static void call_briefly(struct watched_thread *thread, uint64_t ns, const char *function,
			 uint64_t context)
{
	const struct watched_call call = {
		.row = (uint16_t)api__find(function, API_NEWEST),
		.count = 1,
		.arguments = {{ROLE_CTX, context}},
	};

	watched__enter(thread, ns, &call);
	watched__return(thread, ns + 1, 0);
}

struct watched_thread *watched__thread(struct watched *watched, int tid, uint64_t first_ns)
{
	struct watched_thread *thread = find_thread(watched, tid);

	if (thread)
		return thread;
	thread = add_thread(watched, tid, first_ns - 3);
	call_briefly(thread, first_ns - 2, "cuCtxSetCurrent", watched->context);
	return thread;
}

void watched__thread_ends(struct watched_thread *thread, uint64_t ns)
{
	set_machine(thread, ns);
	thread->watched->signal.live.counter--;
	program__thread_ends();
	thread->task.pid = 0;
	take_records(thread->watched);
}

/* --- the process --- */

struct watched *watched__new(uint64_t now_ns, uint64_t context)
{
	struct watched *watched = calloc(1, sizeof(*watched));
	struct watched_thread *first;

	assert(watched);
	watched->context = context ? context : WATCHED_CONTEXT;
	watched->namespace.ns.inum = PROGRAM_PIDNS;
	watched->trampoline.vaddr = TRAMPOLINE;
	watched->mm.uprobes_state.xol_area = &watched->trampoline;
	watched->parent.group_leader = &watched->parent;
	watched->mm.owner = &watched->threads[0].task;
	program__load(now_ns);
	first = add_thread(watched, WATCHED_PID, now_ns);
	call_briefly(first, now_ns + 1, "cuDevicePrimaryCtxRetain", watched->context);
	call_briefly(first, now_ns + 3, "cuCtxSetCurrent", watched->context);
	return watched;
}

void watched__free(struct watched *watched)
{
	if (!watched)
		return;
	program__unload();
	free(watched->idle);
	free(watched);
}

const struct idle_time *watched__idle(struct watched *watched, size_t *count)
{
	*count = watched->idle_count;
	return watched->idle;
}

struct process_profile *watched__profile(void)
{
	return program__profile(0);
}
