// SPDX-License-Identifier: BSD-2-Clause
/*
 * What objects cost, by NVML's figure in steps of 2 MiB. The costs are those measured on an H100
 * with driver 580.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/object_costs.h"

#define CONTEXT 543162368.0
#define STREAM 573571.0
#define EXEC 146800.0
#define MODULE 10485.0
#define HANDLE (3.0 * (1 << 20))
#define HUNDREDTH(value) ((value) / 100)

struct machine {
	struct object_costs *costs;
	struct process process;
	struct process_gpu gpu;
	struct model model;
	double bytes_each[OBJECT_KINDS];
	uint64_t peaks[OBJECT_KINDS];
	uint64_t other; /* untracked bytes of something else */
};

static void set_up(struct machine *m)
{
	*m = (struct machine){.costs = object_costs__new()};
	assert_non_null(m->costs);
	m->process.pid = 42;
	m->process.start_ns = 7;
	m->process.gpus = &m->gpu;
	m->process.gpu_count = 1;
	m->model.processes = &m->process;
	m->model.process_count = 1;
	m->process.objects[OBJECT_CONTEXT].live = 1;
	m->bytes_each[OBJECT_STREAM] = STREAM;
	m->bytes_each[OBJECT_GRAPH_EXEC] = EXEC;
	m->bytes_each[OBJECT_MODULE] = MODULE;
}

static void sample(struct machine *m)
{
	double bytes = CONTEXT + (double)m->other;

	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		if (m->process.objects[kind].live > m->peaks[kind])
			m->peaks[kind] = m->process.objects[kind].live;
		bytes += m->bytes_each[kind] * (double)m->peaks[kind];
	}
	m->gpu.untracked_bytes = (uint64_t)ceil(bytes / (double)NVML_STEP) * NVML_STEP;
	m->model.now_ns += NS_PER_S;
	assert_int_equal(object_costs__sample(m->costs, &m->model), 0);
}

static void make(struct machine *m, enum object_kind kind, uint64_t each, int readings)
{
	sample(m);
	for (int i = 0; i < readings; i++) {
		m->process.objects[kind].live += each;
		sample(m);
	}
}

static struct object_cost cost_of(const struct machine *m, enum object_kind kind)
{
	return object_costs__of(m->costs, &m->process, kind);
}

static void costs(const struct machine *m, enum object_kind kind, double bytes)
{
	struct object_cost cost = cost_of(m, kind);

	assert_true(cost.known);
	assert_true(fabs(cost.bytes - bytes) <= cost.error);
	assert_true(fabs(cost.bytes - bytes) <= 10 * HUNDREDTH(bytes));
}

static void knows_the_cost_of_streams(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	make(&m, OBJECT_STREAM, 100, 20);
	costs(&m, OBJECT_STREAM, STREAM);
	object_costs__free(m.costs);
}

/* They are few, and take MiBs each. */
static void needs_eight_handles(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	m.bytes_each[OBJECT_NCCL] = HANDLE;
	make(&m, OBJECT_NCCL, 1, 7);
	assert_false(cost_of(&m, OBJECT_NCCL).known);
	m.process.objects[OBJECT_NCCL].live++;
	sample(&m);
	costs(&m, OBJECT_NCCL, HANDLE);
	object_costs__free(m.costs);
}

/* Each handle has a stream and an event: their memory is the handle's. */
static void a_handle_has_what_is_made_with_it(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	m.bytes_each[OBJECT_CUBLAS] = HANDLE;
	sample(&m);
	for (int i = 0; i < 20; i++) {
		m.process.objects[OBJECT_CUBLAS].live += 10;
		m.process.objects[OBJECT_STREAM].live += 10;
		m.process.objects[OBJECT_EVENT].live += 10;
		sample(&m);
	}
	costs(&m, OBJECT_CUBLAS, HANDLE + STREAM);
	assert_true(cost_of(&m, OBJECT_STREAM).included && cost_of(&m, OBJECT_EVENT).included);
	object_costs__free(m.costs);
}

/* NVML answers once in five readings; until then its figure is as it was. */
static void a_figure_that_is_not_renewed(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	sample(&m);
	for (int i = 0; i < 40; i++) {
		m.process.objects[OBJECT_STREAM].live += 20;
		if (i % 5 == 0) {
			m.gpu.untracked_ns = m.model.now_ns + NS_PER_S;
			sample(&m);
			continue;
		}
		m.peaks[OBJECT_STREAM] = m.process.objects[OBJECT_STREAM].live;
		m.model.now_ns += NS_PER_S;
		assert_int_equal(object_costs__sample(m.costs, &m.model), 0);
	}
	costs(&m, OBJECT_STREAM, STREAM);
	object_costs__free(m.costs);
}

static void needs_fifty_objects(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	make(&m, OBJECT_STREAM, 7, 7);
	assert_false(cost_of(&m, OBJECT_STREAM).known);
	m.process.objects[OBJECT_STREAM].live++;
	sample(&m);
	assert_true(cost_of(&m, OBJECT_STREAM).known);
	object_costs__free(m.costs);
}

static void events_cost_nothing(void **state)
{
	struct machine m;
	struct object_cost cost;

	(void)state;
	set_up(&m);
	make(&m, OBJECT_EVENT, 2000, 60);
	cost = cost_of(&m, OBJECT_EVENT);
	assert_true(cost.known);
	assert_true(cost.bytes + cost.error < 18);
	object_costs__free(m.costs);
}

/* Graphs and executable graphs that alternate with streams. */
static void tells_kinds_apart(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	make(&m, OBJECT_STREAM, 50, 15);
	make(&m, OBJECT_GRAPH_EXEC, 100, 15);
	make(&m, OBJECT_MODULE, 1000, 15);
	costs(&m, OBJECT_STREAM, STREAM);
	costs(&m, OBJECT_GRAPH_EXEC, EXEC);
	costs(&m, OBJECT_MODULE, MODULE);
	object_costs__free(m.costs);
}

static void kinds_made_together_are_one(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	sample(&m);
	for (int i = 0; i < 20; i++) {
		m.process.objects[OBJECT_GRAPH].live += 50;
		m.process.objects[OBJECT_GRAPH_EXEC].live += 50;
		sample(&m);
	}
	costs(&m, OBJECT_GRAPH_EXEC, EXEC);
	assert_false(cost_of(&m, OBJECT_GRAPH).known);
	assert_true(cost_of(&m, OBJECT_GRAPH).included);
	object_costs__free(m.costs);
}

/* The driver keeps the memory, so live objects that come and go do not lower the estimate. */
static void counts_the_peak(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	for (int i = 0; i < 30; i++) {
		m.process.objects[OBJECT_GRAPH_EXEC].live = i % 2 ? 0 : 100 * (uint64_t)i;
		sample(&m);
	}
	costs(&m, OBJECT_GRAPH_EXEC, EXEC);
	object_costs__free(m.costs);
}

static void a_day_of_readings(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	make(&m, OBJECT_GRAPH_EXEC, 1, 5000);
	costs(&m, OBJECT_GRAPH_EXEC, EXEC);
	object_costs__free(m.costs);
}

static void splits_the_untracked(void **state)
{
	struct untracked_split split;
	struct machine m;

	(void)state;
	set_up(&m);
	make(&m, OBJECT_STREAM, 100, 20);
	for (int i = 0; i < 20; i++) {
		if (i == 10)
			m.other = 300 << 20;
		sample(&m);
	}
	make(&m, OBJECT_STREAM, 100, 20);
	split = object_costs__split(m.costs, &m.process);
	assert_true(split.known);
	assert_true(split.context.known);
	assert_true(fabs(split.context.bytes - CONTEXT) <= split.context.error);
	assert_true(fabs(split.kinds[OBJECT_STREAM].bytes - 4000 * STREAM) <=
		    split.kinds[OBJECT_STREAM].error);
	assert_true(fabs(split.rest.bytes - (300 << 20)) <= split.rest.error);
	assert_false(split.kinds[OBJECT_EVENT].known);
	object_costs__free(m.costs);
}

/* What a process had before gpuprobe came is not the context's alone. */
static void attached_later_the_context_is_unknown(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	m.process.since_attach = true;
	make(&m, OBJECT_STREAM, 100, 20);
	assert_false(object_costs__split(m.costs, &m.process).context.known);
	costs(&m, OBJECT_STREAM, STREAM);
	object_costs__free(m.costs);
}

static void a_new_context_starts_again(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	make(&m, OBJECT_STREAM, 100, 10);
	m.process.objects[OBJECT_CONTEXT].live++;
	m.other = (uint64_t)CONTEXT;
	make(&m, OBJECT_STREAM, 100, 10);
	costs(&m, OBJECT_STREAM, STREAM);
	object_costs__free(m.costs);
}

static void without_nvml_nothing_is_known(void **state)
{
	struct machine m;

	(void)state;
	set_up(&m);
	m.gpu.untracked_bytes = GPU_UNKNOWN_BYTES;
	m.process.objects[OBJECT_STREAM].live = 1000;
	assert_int_equal(object_costs__sample(m.costs, &m.model), 0);
	assert_false(cost_of(&m, OBJECT_STREAM).known);
	assert_false(object_costs__split(m.costs, &m.process).known);
	object_costs__free(m.costs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_cost_of_streams),
		cmocka_unit_test(needs_fifty_objects),
		cmocka_unit_test(needs_eight_handles),
		cmocka_unit_test(a_handle_has_what_is_made_with_it),
		cmocka_unit_test(a_figure_that_is_not_renewed),
		cmocka_unit_test(events_cost_nothing),
		cmocka_unit_test(tells_kinds_apart),
		cmocka_unit_test(kinds_made_together_are_one),
		cmocka_unit_test(counts_the_peak),
		cmocka_unit_test(a_day_of_readings),
		cmocka_unit_test(splits_the_untracked),
		cmocka_unit_test(attached_later_the_context_is_unknown),
		cmocka_unit_test(a_new_context_starts_again),
		cmocka_unit_test(without_nvml_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
