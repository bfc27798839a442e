// SPDX-License-Identifier: BSD-2-Clause
/*
 * The recorder: one set of counters per thread, made at its first call, added to the retired ones
 * when it ends. A forked child starts from zero.
 */
#include "record/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sim_state sim_state = { .lock = PTHREAD_MUTEX_INITIALIZER, .nr_functions = 1 };

/* One word of static TLS: accessible without a call even in a library opened with dlopen. */
static __thread struct sim_thread *self __attribute__((tls_model("initial-exec")));

static const struct sim_recorder recorder;
static struct sim_recorder hooked;
static bool driver_hooks;

uint64_t sim_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool resize_kernels(struct sim_thread *thread, uint32_t count)
{
	struct sim_launches (*kernels)[SIM_CALLERS];

	if (count <= thread->nr_kernels)
		return true;
	kernels = realloc(thread->kernels, count * sizeof(*kernels));
	if (!kernels)
		return false;
	memset(&kernels[thread->nr_kernels], 0, (count - thread->nr_kernels) * sizeof(*kernels));
	thread->kernels = kernels;
	thread->nr_kernels = count;
	return true;
}

static bool prepare(struct sim_thread *thread)
{
	thread->functions = calloc(SIM_MAX_FUNCTIONS, sizeof(*thread->functions));
	return thread->functions != NULL;
}

static void link_thread(struct sim_thread *thread)
{
	thread->next = sim_state.threads;
	thread->previous = NULL;
	if (thread->next)
		thread->next->previous = thread;
	sim_state.threads = thread;
}

static void unlink_thread(struct sim_thread *thread)
{
	if (thread->next)
		thread->next->previous = thread->previous;
	if (thread->previous)
		thread->previous->next = thread->next;
	else
		sim_state.threads = thread->next;
}

static void add_counters(uint64_t *to, const uint64_t *from, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] += from[i];
}

/* Counts the open calls as abandoned, and forgets them. */
static void abandon_all(struct sim_thread *thread)
{
	while (thread->depth) {
		const struct sim_open_call *open = &thread->open[--thread->depth];

		if (thread->depth >= SIM_MAX_DEPTH)
			continue;
		sim_add(&thread->functions[open->function][open->nested].abandoned, 1);
		if (open->layer == SIM_RUNTIME && thread->runtime_depth)
			thread->runtime_depth--;
	}
}

static SIM_COLD void abandon(struct sim_thread *thread)
{
	thread->left = false;
	abandon_all(thread);
}

uint64_t sim_recorder__abandoned(const struct sim_thread *thread, uint32_t function, bool nested)
{
	uint64_t count = thread->functions[function][nested].abandoned;

	for (uint32_t i = 0; i < thread->depth && i < SIM_MAX_DEPTH; i++)
		count += thread->open[i].function == function && thread->open[i].nested == nested;
	return count;
}

static void retire(void *argument)
{
	struct sim_thread *thread = argument;
	struct sim_thread *retired = &sim_state.retired;

	self = NULL;
	abandon_all(thread);
	pthread_mutex_lock(&sim_state.lock);
	unlink_thread(thread);
	add_counters(&retired->functions[0][0].calls, &thread->functions[0][0].calls,
		     sim_state.nr_functions * sizeof(*thread->functions));
	if (thread->nr_kernels && resize_kernels(retired, thread->nr_kernels))
		add_counters(&retired->kernels[0][0].launches, &thread->kernels[0][0].launches,
			     thread->nr_kernels * sizeof(*thread->kernels));
	add_counters(&retired->copies[0][0][0].calls, &thread->copies[0][0][0].calls,
		     sizeof(thread->copies));
	add_counters(&retired->executed[0][0][0].calls, &thread->executed[0][0][0].calls,
		     sizeof(thread->executed));
	add_counters(retired->null_frees, thread->null_frees, sizeof(thread->null_frees));
	add_counters((uint64_t *)&retired->tallies, (const uint64_t *)&thread->tallies,
		     sizeof(thread->tallies));
	pthread_mutex_unlock(&sim_state.lock);
	free(thread->functions);
	free(thread->kernels);
	free(thread);
}

static SIM_COLD struct sim_thread *first_call(void)
{
	struct sim_thread *thread = calloc(1, sizeof(*thread));

	if (!thread || !prepare(thread))
		sim_parse__refuse("a thread's counters", "calloc", "out of memory");
	thread->recorder = sim_recorder__get();
	thread->timed = sim_state.timed;
	pthread_mutex_lock(&sim_state.lock);
	link_thread(thread);
	pthread_mutex_unlock(&sim_state.lock);
	pthread_setspecific(sim_state.key, thread);
	self = thread;
	return thread;
}

struct sim_thread *sim_recorder__self(void)
{
	return __builtin_expect(self != NULL, 1) ? self : first_call();
}

void sim_tallies__fold(struct sim_tallies *sum)
{
	pthread_mutex_lock(&sim_state.lock);
	*sum = sim_state.retired.tallies;
	for (const struct sim_thread *thread = sim_state.threads; thread; thread = thread->next)
		add_counters((uint64_t *)sum, (const uint64_t *)&thread->tallies, sizeof(*sum));
	pthread_mutex_unlock(&sim_state.lock);
}

/* The index of an earlier function with the same name, 0 if there is none. */
static uint32_t find_earlier(const struct sim_function *function, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (sim_state.functions[i]->layer == function->layer &&
		    !strcmp(sim_state.functions[i]->name, function->name))
			return i;
	return 0;
}

/* If the process has a second runtime, its calls count with those of the first. */
static void attach(struct sim_function *const *begin, struct sim_function *const *end)
{
	uint32_t earlier;

	pthread_mutex_lock(&sim_state.lock);
	earlier = sim_state.nr_functions;
	for (; begin < end && sim_state.nr_functions < SIM_MAX_FUNCTIONS; begin++) {
		(*begin)->index = find_earlier(*begin, earlier);
		if (!(*begin)->index) {
			(*begin)->index = sim_state.nr_functions;
			sim_state.functions[sim_state.nr_functions++] = *begin;
		}
		sim_faults__arm(*begin);
	}
	sim_faults__check(end[-1]->layer);
	pthread_mutex_unlock(&sim_state.lock);
}

static void count_error(uint32_t function, bool nested, int result)
{
	struct sim_error *errors = sim_state.errors;
	size_t i;

	for (i = 0; i < sim_state.nr_errors; i++) {
		if (errors[i].function == function && errors[i].nested == nested &&
		    errors[i].result == result)
			break;
	}
	if (i == sim_state.nr_errors) {
		errors = realloc(errors, (i + 1) * sizeof(*errors));
		if (!errors)
			return;
		errors[i] = (struct sim_error){ function, nested, result, 0 };
		sim_state.errors = errors;
		sim_state.nr_errors++;
	}
	errors[i].count++;
}

static void fail(const struct sim_call *call, int result)
{
	uint32_t index = call->function->index;
	struct sim_counts *counts = &call->thread->functions[index][call->nested];

	if (result == SIM_NOT_READY) {
		sim_add(&counts->not_ready, 1);
		return;
	}
	sim_add(&counts->failures, 1);
	pthread_mutex_lock(&sim_state.lock);
	count_error(index, call->nested, result);
	pthread_mutex_unlock(&sim_state.lock);
}

static struct sim_launches *grow(struct sim_thread *thread, const struct sim_call *call,
				 enum sim_caller caller)
{
	bool grown;

	pthread_mutex_lock(&sim_state.lock);
	grown = resize_kernels(thread, sim_names__count() + 64);
	pthread_mutex_unlock(&sim_state.lock);
	return grown ? &thread->kernels[call->kernel][caller] : NULL;
}

static uint32_t no_kernel(const void *handle)
{
	(void)handle;
	return SIM_NO_KERNEL;
}

static void *no_context(void)
{
	return NULL;
}

static const struct sim_recorder recorder = {
	.self = sim_recorder__self,
	.attach = attach,
	.inject = sim_faults__inject,
	.abandon = abandon,
	.fail = fail,
	.grow = grow,
	.now = sim_now,
	.intern = sim_names__intern,
	.kernel_of = no_kernel,
	.context = no_context,
};

const struct sim_recorder *sim_recorder__get(void)
{
	return driver_hooks ? &hooked : &recorder;
}

void sim_recorder__driver(uint32_t (*kernel_of)(const void *), void *(*context)(void),
			  void (*describe)(FILE *out))
{
	hooked = recorder;
	hooked.kernel_of = kernel_of;
	hooked.context = context;
	sim_state.describe = describe;
	driver_hooks = true;
}

static void forget(struct sim_thread *thread)
{
	memset(thread->functions, 0, SIM_MAX_FUNCTIONS * sizeof(*thread->functions));
	if (thread->kernels)
		memset(thread->kernels, 0, thread->nr_kernels * sizeof(*thread->kernels));
	memset(thread->copies, 0, sizeof(thread->copies));
	memset(thread->executed, 0, sizeof(thread->executed));
	memset(thread->null_frees, 0, sizeof(thread->null_frees));
	memset(&thread->tallies, 0, sizeof(thread->tallies));
	thread->runtime_depth = 0;
	thread->depth = 0;
	thread->interrupt.run = NULL;
	thread->left = false;
}

static void before_fork(void)
{
	pthread_mutex_lock(&sim_state.lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&sim_state.lock);
}

/* Only the forking thread continues in the child: the counters of the others are dropped. */
static void after_fork_child(void)
{
	sim_state.threads = NULL;
	if (self) {
		forget(self);
		link_thread(self);
	}
	forget(&sim_state.retired);
	sim_state.nr_errors = 0;
	for (uint32_t i = 1; i < sim_state.nr_functions; i++)
		sim_state.functions[i]->armed_calls = 0;
	sim_state.muted = !sim_truth__per_process();
	pthread_mutex_unlock(&sim_state.lock);
}

__attribute__((constructor(101))) static void start(void)
{
	if (!prepare(&sim_state.retired) || pthread_key_create(&sim_state.key, retire))
		sim_parse__refuse("the recorder", "start", "out of memory");
	sim_state.timed = sim_truth__wanted();
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

__attribute__((destructor(101))) static void finish(void)
{
	sim_truth__write();
}
