// SPDX-License-Identifier: BSD-2-Clause
// Threads that make random calls, at times that overlap in any way. The idle time that gpuprobe's
// BPF program proves is compared with the busy time of a device that keeps CUDA's stream order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rounds.h"
#include "true_device.h"
#include "watched.h"

#define START_NS 10000000000ull
#define THREADS 3
#define CALLS 120 /* per thread */
#define SEEDS ROUNDS(100)
#define NOT_READY 600
#define STREAM_HANDLE 0xa000
#define EVENT_HANDLE 0xe000
#define OWN_HANDLE 2 /* CU_STREAM_PER_THREAD */

/* A thread between two of its steps: the call enters, takes effect, and returns. */
enum step {
	STEP_ENTER = 0,
	STEP_ACT,
	STEP_RETURN,
};

enum act {
	ACT_LAUNCH = 0,
	ACT_SET,
	ACT_COPY, /* the host waits for it */
	ACT_RECORD,
	ACT_FOLLOW,
	ACT_WAIT,
	ACT_WAIT_EVENT,
	ACT_WAIT_ALL,
	ACT_QUERY,
	ACT_QUERY_EVENT,
	ACT_DESTROY,
	ACT_CREATE,
	ACT_COUNT,
};

struct program_thread {
	struct watched_thread *thread;
	enum step step;
	enum act act;
	size_t stream, event;
	size_t left;	/* calls */
	size_t to_wait; /* streams that it waits for, one after another, before it pauses */
	uint64_t next_ns;
	int32_t result;
};

struct stream_choice {
	enum stream_kind kind;
	size_t owner; /* number of the thread whose default stream it is, plus 1; 0: none */
};

struct random_program {
	uint64_t random;
	struct watched *watched;
	struct true_device device;
	struct program_thread threads[THREADS];
	const struct stream_choice *streams;
	bool gone[DEVICE_STREAMS]; /* destroyed, or about to be */
	size_t users[DEVICE_STREAMS];
	bool recorded[DEVICE_EVENTS]; /* being recorded now */
};

static uint64_t draw(struct random_program *program, uint64_t below)
{
	/* xorshift64* */
	program->random ^= program->random >> 12;
	program->random ^= program->random << 25;
	program->random ^= program->random >> 27;
	return (program->random * 0x2545f4914f6cdd1dull >> 32) % below;
}

/* Sometimes none, usually some microseconds, rarely a long time. */
static uint64_t draw_ns(struct random_program *program)
{
	uint64_t kind = draw(program, 200);

	if (kind < 40)
		return 0;
	return kind ? 1000 + draw(program, 40000) : 150000000;
}

/* --- calls --- */

static const char *const functions[ACT_COUNT] = {
	[ACT_LAUNCH] = "cuLaunchKernel",	 [ACT_SET] = "cuMemsetD8Async",
	[ACT_COPY] = "cuMemcpyDtoH_v2",		 [ACT_RECORD] = "cuEventRecord",
	[ACT_FOLLOW] = "cuStreamWaitEvent",	 [ACT_WAIT] = "cuStreamSynchronize",
	[ACT_WAIT_EVENT] = "cuEventSynchronize", [ACT_WAIT_ALL] = "cuCtxSynchronize",
	[ACT_QUERY] = "cuStreamQuery",		 [ACT_QUERY_EVENT] = "cuEventQuery",
	[ACT_DESTROY] = "cuStreamDestroy_v2",	 [ACT_CREATE] = "cuStreamCreate",
};

static uint64_t handle_of(const struct random_program *program, size_t stream)
{
	if (program->streams[stream].owner)
		return OWN_HANDLE;
	return program->streams[stream].kind == STREAM_DEFAULT ? 0 : STREAM_HANDLE + 16 * stream;
}

static void add_argument(struct watched_call *call, enum role role, uint64_t value)
{
	call->arguments[call->count++] = (struct call_argument){role, value};
}

static struct watched_call call_of(const struct random_program *program,
				   const struct program_thread *thread)
{
	struct watched_call call = {.row = (uint16_t)api__find(functions[thread->act], API_NEWEST)};
	const struct function_desc *function = &api_functions[call.row].desc;
	uint64_t stream = handle_of(program, thread->stream);

	if (function->location[ROLE_STREAM] != LOCATION_NONE)
		add_argument(&call, ROLE_STREAM, stream);
	if (function->location[ROLE_EVENT] != LOCATION_NONE)
		add_argument(&call, ROLE_EVENT, EVENT_HANDLE + 16 * thread->event);
	if (thread->act == ACT_SET)
		add_argument(&call, ROLE_SIZE, 4096);
	if (thread->act == ACT_DESTROY)
		add_argument(&call, ROLE_HANDLE, stream);
	if (thread->act == ACT_CREATE) {
		add_argument(&call, ROLE_OUT, stream);
		add_argument(&call, ROLE_FLAGS,
			     program->streams[thread->stream].kind == STREAM_APART);
	}
	return call;
}

static size_t default_stream(const struct random_program *program)
{
	size_t stream = 0;

	while (program->streams[stream].kind != STREAM_DEFAULT)
		stream++;
	return stream;
}

/*
 * Performs the call's effect at `now_ns`, between its entry and its return. Returns when that is
 * done.
 */
static uint64_t act(struct random_program *program, struct program_thread *thread, uint64_t now_ns)
{
	struct true_device *device = &program->device;
	uint64_t lasts_ns = 1000 + draw(program, 200000);

	thread->result = 0;
	switch (thread->act) {
	case ACT_LAUNCH:
	case ACT_SET: true_device__add(device, thread->stream, now_ns, lasts_ns); break;
	case ACT_COPY: return true_device__add(device, default_stream(program), now_ns, lasts_ns);
	case ACT_RECORD: true_device__record(device, thread->event, thread->stream); break;
	case ACT_FOLLOW: true_device__follow(device, thread->stream, thread->event); break;
	case ACT_WAIT: return true_device__done(device, thread->stream);
	case ACT_WAIT_EVENT: return device->events[thread->event];
	case ACT_WAIT_ALL: return device->all_ns;
	case ACT_QUERY:
		thread->result = true_device__done(device, thread->stream) > now_ns ? NOT_READY : 0;
		break;
	case ACT_QUERY_EVENT:
		thread->result = device->events[thread->event] > now_ns ? NOT_READY : 0;
		break;
	case ACT_CREATE: true_device__replace(device, thread->stream); break;
	default: break;
	}
	return now_ns;
}

/* --- choosing a thread's next call --- */

static bool is_of_stream(enum act act)
{
	return act != ACT_COPY && act != ACT_WAIT_EVENT && act != ACT_WAIT_ALL &&
	       act != ACT_QUERY_EVENT;
}

/*
 * Excludes calls that no correct program makes: using a destroyed stream, or recording an event
 * while another thread records it, after which nobody can tell what it stands for.
 */
static bool may_be(const struct random_program *program, const struct program_thread *thread)
{
	size_t stream = thread->stream, owner = program->streams[stream].owner;

	if (!is_of_stream(thread->act))
		return true;
	if (owner && thread != &program->threads[owner - 1])
		return false;
	if (thread->act == ACT_RECORD && program->recorded[thread->event])
		return false;
	if (thread->act == ACT_CREATE)
		return program->gone[stream] && !program->users[stream];
	if (thread->act == ACT_DESTROY &&
	    (program->users[stream] || handle_of(program, stream) < STREAM_HANDLE))
		return false;
	return !program->gone[stream];
}

static void choose_one(struct random_program *program, struct program_thread *thread)
{
	static const unsigned char acts[] = {
		ACT_LAUNCH, ACT_LAUNCH,	     ACT_LAUNCH,  ACT_LAUNCH,	  ACT_LAUNCH,	ACT_LAUNCH,
		ACT_SET,    ACT_COPY,	     ACT_RECORD,  ACT_RECORD,	  ACT_FOLLOW,	ACT_FOLLOW,
		ACT_WAIT,   ACT_WAIT,	     ACT_WAIT,	  ACT_WAIT_EVENT, ACT_WAIT_ALL, ACT_QUERY,
		ACT_QUERY,  ACT_QUERY_EVENT, ACT_DESTROY, ACT_CREATE,	  ACT_CREATE};

	thread->act = acts[draw(program, sizeof(acts))];
	thread->stream = draw(program, program->device.stream_count);
	thread->event = draw(program, DEVICE_EVENTS);
}

static void choose(struct random_program *program, struct program_thread *thread)
{
	if (!thread->to_wait && !draw(program, 12))
		thread->to_wait = program->device.stream_count;
	do {
		choose_one(program, thread);
		if (!thread->to_wait)
			continue;
		thread->act = ACT_WAIT;
		thread->stream = --thread->to_wait;
	} while (!may_be(program, thread));
}

static void enter(struct random_program *program, struct program_thread *thread)
{
	struct watched_call call;

	choose(program, thread);
	if (is_of_stream(thread->act))
		program->users[thread->stream]++;
	if (thread->act == ACT_RECORD)
		program->recorded[thread->event] = true;
	if (thread->act == ACT_DESTROY)
		program->gone[thread->stream] = true;
	call = call_of(program, thread);
	watched__enter(thread->thread, thread->next_ns, &call);
}

static void leave(struct random_program *program, struct program_thread *thread)
{
	watched__return(thread->thread, thread->next_ns, thread->result);
	if (is_of_stream(thread->act))
		program->users[thread->stream]--;
	if (thread->act == ACT_RECORD)
		program->recorded[thread->event] = false;
	if (thread->act == ACT_CREATE)
		program->gone[thread->stream] = false;
	thread->left--;
}

static void step(struct random_program *program, struct program_thread *thread)
{
	uint64_t done_ns;

	switch (thread->step) {
	case STEP_ENTER:
		enter(program, thread);
		thread->step = STEP_ACT;
		break;
	case STEP_ACT:
		done_ns = act(program, thread, thread->next_ns);
		if (done_ns > thread->next_ns)
			thread->next_ns = done_ns;
		thread->step = STEP_RETURN;
		break;
	case STEP_RETURN:
		leave(program, thread);
		thread->step = STEP_ENTER;
		break;
	}
	thread->next_ns += draw_ns(program);
}

/* --- the whole run --- */

static struct program_thread *next_thread(struct random_program *program)
{
	struct program_thread *next = NULL;

	for (size_t i = 0; i < THREADS; i++)
		if (program->threads[i].left &&
		    (!next || program->threads[i].next_ns < next->next_ns))
			next = &program->threads[i];
	return next;
}

static void make_objects(struct random_program *program)
{
	struct program_thread *first = &program->threads[0];

	for (size_t i = 0; i < program->device.stream_count; i++) {
		const struct program_thread maker = {.act = ACT_CREATE, .stream = i};
		const struct watched_call call = call_of(program, &maker);

		if (handle_of(program, i) < STREAM_HANDLE)
			continue;
		watched__enter(first->thread, START_NS + 1000 * i + 100, &call);
		watched__return(first->thread, START_NS + 1000 * i + 200, 0);
	}
	for (size_t i = 0; i < DEVICE_EVENTS; i++) {
		struct watched_call call = {
			.row = (uint16_t)api__find("cuEventCreate", API_NEWEST)};

		add_argument(&call, ROLE_OUT, EVENT_HANDLE + 16 * i);
		watched__enter(first->thread, START_NS + 1000 * (DEVICE_STREAMS + i) + 100, &call);
		watched__return(first->thread, START_NS + 1000 * (DEVICE_STREAMS + i) + 200, 0);
	}
}

static void begin(struct random_program *program, uint64_t seed,
		  const struct stream_choice *streams, size_t count)
{
	*program = (struct random_program){.random = 0x9e3779b97f4a7c15ull * (seed + 1),
					   .streams = streams};
	program->device.stream_count = count;
	for (size_t i = 0; i < count; i++)
		program->device.streams[i].kind = streams[i].kind;
	program->watched = watched__new(START_NS, 0);
	program->threads[0].thread = watched__thread(program->watched, WATCHED_PID, 0);
	make_objects(program);
	for (size_t i = 0; i < THREADS; i++) {
		program->threads[i].thread = watched__thread(program->watched, WATCHED_PID + (int)i,
							     START_NS + 100000 + 1000 * i);
		program->threads[i].next_ns = START_NS + 200000;
		program->threads[i].left = CALLS;
	}
}

static void expect_truly_idle(const struct random_program *program, const struct idle_time *idle,
			      uint64_t seed)
{
	const struct device_work *work;

	for (size_t i = 0; i < program->device.work_count; i++) {
		work = &program->device.work[i];
		if (work->begin_ns < idle->end_ns && work->end_ns > idle->begin_ns)
			fail_msg("seed %lu: idle from %lu to %lu, but busy from %lu to %lu",
				 (unsigned long)seed, (unsigned long)(idle->begin_ns - START_NS),
				 (unsigned long)(idle->end_ns - START_NS),
				 (unsigned long)(work->begin_ns - START_NS),
				 (unsigned long)(work->end_ns - START_NS));
	}
}

/* Returns the number of idle times. */
static size_t run(uint64_t seed, const struct stream_choice *streams, size_t count)
{
	struct random_program program;
	struct program_thread *next;
	const struct idle_time *idle;
	size_t found;

	begin(&program, seed, streams, count);
	while ((next = next_thread(&program)))
		step(&program, next);
	idle = watched__idle(program.watched, &found);
	for (size_t i = 0; i < found; i++)
		expect_truly_idle(&program, &idle[i], seed);
	watched__free(program.watched);
	true_device__clear(&program.device);
	return found;
}

static void run_all(const struct stream_choice *streams, size_t count)
{
	size_t found = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++)
		found += run(seed, streams, count);
	print_message("%zu idle times\n", found);
	assert_true(found > SEEDS);
}

#define RUN_ALL(...) \
	do { \
		const struct stream_choice streams[] = {__VA_ARGS__}; \
\
		run_all(streams, sizeof(streams) / sizeof(*streams)); \
	} while (0)

static void test_streams_apart(void **state)
{
	(void)state;
	RUN_ALL({STREAM_APART, 0}, {STREAM_APART, 0}, {STREAM_DEFAULT, 0});
}

static void test_blocking_streams(void **state)
{
	(void)state;
	RUN_ALL({STREAM_MEETS, 0}, {STREAM_MEETS, 0}, {STREAM_DEFAULT, 0});
}

static void test_streams_of_both_kinds(void **state)
{
	(void)state;
	RUN_ALL({STREAM_MEETS, 0}, {STREAM_APART, 0}, {STREAM_DEFAULT, 0}, {STREAM_APART, 0},
		{STREAM_MEETS, 0});
}

static void test_default_streams_of_threads(void **state)
{
	(void)state;
	RUN_ALL({STREAM_MEETS, 1}, {STREAM_MEETS, 2}, {STREAM_MEETS, 3}, {STREAM_DEFAULT, 0},
		{STREAM_APART, 0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams_apart),
		cmocka_unit_test(test_blocking_streams),
		cmocka_unit_test(test_streams_of_both_kinds),
		cmocka_unit_test(test_default_streams_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
