// SPDX-License-Identifier: BSD-2-Clause
// Whether live memory grows: series with known answers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/growth_history.h"
#include "rounds.h"

#define BEGIN (1000 * NS_PER_S)
#define MIB (1024.0 * 1024.0)

/* Live bytes after `seconds`. */
typedef double (*series)(double seconds);

struct verdicts {
	struct growth_history history;
	struct growth_evidence evidence; /* at the end */
	int first_growing;		 /* second; -1: never */
	int growing;			 /* seconds spent growing */
};

/* The same numbers in each run, whatever the C library provides. */
static double noise(unsigned int i)
{
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

/* Samples come up to this much earlier or later than once a second. */
static double jitter = 0.25;

/* Judges after each sample. */
static void run(struct verdicts *v, series bytes, int seconds)
{
	*v = (struct verdicts){.history.window_ns = GROWTH_WINDOW_NS, .first_growing = -1};
	for (int i = 0; i <= seconds; i++) {
		double t = i + (2 * noise(1000000 + (unsigned int)i) - 1) * jitter;

		growth_history__add(&v->history, BEGIN + (uint64_t)(t * NS_PER_S),
				    (uint64_t)bytes(t < 0 ? 0 : t));
		growth_history__judge(&v->history, &v->evidence);
		if (v->evidence.verdict != GROWTH_GROWING)
			continue;
		v->growing++;
		if (v->first_growing < 0)
			v->first_growing = i;
	}
}

static void never_grows(series bytes, int seconds)
{
	struct verdicts v;

	run(&v, bytes, seconds);
	if (v.growing)
		fail_msg("growing for %d s, first at %d s", v.growing, v.first_growing);
	assert_int_equal(v.evidence.verdict, GROWTH_STABLE);
}

static void grows_by(series bytes, int latest, double slope, double tolerance)
{
	struct verdicts v;

	run(&v, bytes, latest);
	if (v.evidence.verdict != GROWTH_GROWING)
		fail_msg("not growing after %d s", latest);
	if (fabs(v.evidence.slope - slope) > tolerance * slope)
		fail_msg("%f bytes/s rather than %f", v.evidence.slope, slope);
}

/* --- series that do not grow --- */

static double flat(double t)
{
	(void)t;
	return 100 * MIB;
}

static double ramp_then_flat(double t)
{
	return fmin(t, 35) * 10 * MIB;
}

static double step(double t)
{
	return t < 100 ? 10 * MIB : 50 * MIB;
}

static double sawtooth_of(double t, double period)
{
	return 10 * MIB + fmod(t, period) / period * 40 * MIB;
}

static double sawtooth_3(double t)
{
	return sawtooth_of(t, 3);
}

static double sawtooth_10(double t)
{
	return sawtooth_of(t, 10.3);
}

static double sawtooth_35(double t)
{
	return sawtooth_of(t, 35);
}

static double any_period;

static double sawtooth_any(double t)
{
	return sawtooth_of(t, any_period);
}

static double sawtooth_90(double t)
{
	return sawtooth_of(t, 90);
}

static unsigned int noise_seed;

static double noisy(double t)
{
	return 10 * MIB + noise(noise_seed + (unsigned int)t) * 40 * MIB;
}

static double shrinking(double t)
{
	return 1000 * MIB - t * MIB;
}

static double spike_each_minute(double t)
{
	return fmod(t, 60) < 5 ? 500 * MIB : 10 * MIB;
}

static void test_stable(void **state)
{
	(void)state;
	never_grows(flat, 600);
	never_grows(ramp_then_flat, 600);
	never_grows(step, 600);
	never_grows(shrinking, 600);
	never_grows(spike_each_minute, 600);
}

static void test_batches(void **state)
{
	struct verdicts v;
	int wrong = 0;

	(void)state;
	never_grows(sawtooth_3, 3600);
	never_grows(sawtooth_10, 3600);
	never_grows(sawtooth_35, 3600);
	for (int i = 20; i <= 400; i += 381 / ROUNDS(381)) {
		any_period = i / 10.0;
		run(&v, sawtooth_any, 1800);
		wrong += v.growing > 0;
	}
	/* Among 381 lengths; with evenly spaced samples there were 15. */
	if (wrong > 2)
		fail_msg("batches of %d lengths grow at some moment", wrong);
	/* Its first batch is longer than the window: only then does it look like a leak. */
	run(&v, sawtooth_90, 3600);
	assert_true(v.first_growing < 90);
	assert_true(v.growing < 60);
	assert_int_equal(v.evidence.verdict, GROWTH_STABLE);
}

static void test_noise(void **state)
{
	unsigned int wrong = 0;
	struct verdicts v;

	(void)state;
	for (noise_seed = 0; noise_seed < ROUNDS(300) * 100000; noise_seed += 100000) {
		run(&v, noisy, 600);
		wrong += v.growing > 0;
	}
	/* At most three sites of pure noise in a hundred, ten minutes each. */
	if (wrong > ROUNDS(300) * 3 / 100)
		fail_msg("%u of %d grow at some moment", wrong, ROUNDS(300));
}

/* --- series that grow --- */

static double leak(double t)
{
	return 12 * MIB * t;
}

static double slow_leak(double t)
{
	return 100 * MIB + floor(t / 4) * 512;
}

static double leak_on_sawtooth(double t)
{
	return sawtooth_of(t, 5) + t * 0.05 * MIB;
}

static double faster_leak_on_sawtooth(double t)
{
	return sawtooth_of(t, 5) + t * 2 * MIB;
}

static double leak_on_long_sawtooth(double t)
{
	return sawtooth_of(t, 12) + t * 0.2 * MIB;
}

static double leak_on_noise(double t)
{
	return noisy(t) + t * 2 * MIB;
}

/* The leak begins after ten minutes. */
static double late_leak(double t)
{
	return sawtooth_3(t) + (t > 600 ? (t - 600) * 2 * MIB : 0);
}

static double hourly(double t)
{
	return 10 * MIB + floor(t / 100) * 4096;
}

static void test_leaks(void **state)
{
	struct verdicts v;

	(void)state;
	grows_by(leak, 52, 12 * MIB, 0.001);
	grows_by(slow_leak, 60, 128, 0.1);
	grows_by(faster_leak_on_sawtooth, 60, 2 * MIB, 0.3);
	/* A leak far below the change of a batch within a moment, with samples at its lows. */
	jitter = 0;
	grows_by(leak_on_sawtooth, 60, 0.05 * MIB, 0.05);
	grows_by(leak_on_long_sawtooth, 60, 0.2 * MIB, 0.2);
	jitter = 0.25;
	noise_seed = 7;
	grows_by(leak_on_noise, 70, 2 * MIB, 0.3);
	grows_by(hourly, 3600, 40.96, 0.1);
	run(&v, late_leak, 660);
	assert_true(v.first_growing > 600);
	assert_int_equal(v.evidence.verdict, GROWTH_GROWING);
}

static double leak_that_ends(double t)
{
	return fmin(t, 300) * MIB;
}

static void test_end_of_growth(void **state)
{
	struct verdicts v;

	(void)state;
	run(&v, leak_that_ends, 300);
	assert_int_equal(v.evidence.verdict, GROWTH_GROWING);
	run(&v, leak_that_ends, 600);
	assert_int_equal(v.evidence.verdict, GROWTH_STABLE);
}

static double odd_and_flat(double t)
{
	(void)t;
	return 512;
}

static void test_evidence(void **state)
{
	struct verdicts v;

	(void)state;
	jitter = 0;
	run(&v, leak, 5);
	assert_int_equal(v.evidence.verdict, GROWTH_UNKNOWN);
	assert_int_equal(v.evidence.samples, 0);
	run(&v, leak, 49);
	assert_int_equal(v.evidence.verdict, GROWTH_UNKNOWN);
	assert_int_equal(v.evidence.samples, 40);
	assert_int_equal(v.evidence.span_ns, 39 * NS_PER_S);
	run(&v, leak, 50);
	assert_int_equal(v.evidence.verdict, GROWTH_GROWING);
	assert_int_equal(v.evidence.samples, 41);
	assert_int_equal(v.evidence.span_ns, 40 * NS_PER_S);
	run(&v, leak, 5000);
	assert_int_equal(v.evidence.samples, 61);
	assert_int_equal(v.evidence.span_ns, 60 * NS_PER_S);
	run(&v, odd_and_flat, 100);
	assert_true(v.evidence.slope == 0);
}

/* --- many sites --- */

static void set_site(struct process *p, struct live_site *site, const struct stack *stack,
		     uint64_t bytes)
{
	*site = (struct live_site){.stack = stack, .bytes = bytes, .count = 1};
	p->live_sites = site;
	p->live_site_count = bytes ? 1 : 0;
}

static void test_sites(void **state)
{
	struct growth *growth = growth__new(GROWTH_WINDOW_NS, 1);
	const struct stack stack = {.serial = 3};
	struct process processes[2] = {{.pid = 5, .start_ns = 50}, {.pid = 6, .start_ns = 60}};
	struct model model = {.processes = processes, .process_count = 2};
	struct growth_evidence evidence;
	struct live_site sites[2];

	(void)state;
	for (uint64_t i = 0; i < 70; i++) {
		model.now_ns = BEGIN + i * NS_PER_S;
		set_site(&processes[0], &sites[0], &stack, 100 + i);
		set_site(&processes[1], &sites[1], NULL, 100 + i);
		assert_int_equal(growth__sample(growth, &model), 0);
		/* A further sample right after it is ignored. */
		model.now_ns += NS_PER_MS;
		assert_int_equal(growth__sample(growth, &model), 0);
	}
	growth__judge(growth, &processes[0], &stack, &evidence);
	assert_int_equal(evidence.verdict, GROWTH_GROWING);
	assert_int_equal(evidence.samples, 60);
	/* There was room for one. */
	assert_int_equal(growth__unfollowed(growth), 1);
	growth__judge(growth, &processes[1], NULL, &evidence);
	assert_int_equal(evidence.verdict, GROWTH_UNKNOWN);
	assert_int_equal(evidence.samples, 0);
	/* The process ended: unchanged. */
	processes[0].ended = true;
	model.now_ns += NS_PER_S;
	assert_int_equal(growth__sample(growth, &model), 0);
	growth__judge(growth, &processes[0], &stack, &evidence);
	assert_int_equal(evidence.verdict, GROWTH_GROWING);
	/* The process is gone: the other one gets its entry, from the next time on. */
	model.processes = &processes[1];
	model.process_count = 1;
	for (int i = 0; i < 2; i++) {
		model.now_ns += NS_PER_S;
		assert_int_equal(growth__sample(growth, &model), 0);
	}
	assert_int_equal(growth__unfollowed(growth), 0);
	growth__free(growth);
}

/*
 * A cache that was full before the attach, and whose entries are replaced: known memory grows, but
 * real memory does not.
 */
static void test_since_attach(void **state)
{
	struct growth *growth = growth__new(GROWTH_WINDOW_NS, 10);
	struct process process = {.pid = 5, .start_ns = 50, .since_attach = true};
	struct model model = {.processes = &process, .process_count = 1};
	struct growth_evidence evidence;
	struct live_site site;

	(void)state;
	for (uint64_t i = 0; i < 160; i++) {
		model.now_ns = BEGIN + i * NS_PER_S;
		set_site(&process, &site, NULL, 1000 * (i + 1));
		site.count = i + 1;
		if (i < 70)
			process.memory[MEMORY_UNKNOWN].unknown_frees++;
		assert_int_equal(growth__sample(growth, &model), 0);
		growth__judge(growth, &process, NULL, &evidence);
		/* With twice as many as could have been replaced it does grow. */
		assert_int_equal(evidence.verdict == GROWTH_GROWING, i >= 120);
		assert_int_equal(evidence.replaces, i >= 50 && i < 120);
	}
	growth__free(growth);
}

/* Memory that is freed completely is at 0 meanwhile, not absent. */
static void test_all_freed(void **state)
{
	struct growth *growth = growth__new(GROWTH_WINDOW_NS, 10);
	struct process process = {.pid = 5, .start_ns = 50};
	struct model model = {.processes = &process, .process_count = 1};
	struct growth_evidence evidence;
	struct live_site site;

	(void)state;
	for (uint64_t i = 0; i < 70; i++) {
		model.now_ns = BEGIN + i * NS_PER_S;
		set_site(&process, &site, NULL, i % 3 ? 1000 * i : 0);
		assert_int_equal(growth__sample(growth, &model), 0);
	}
	growth__judge(growth, &process, NULL, &evidence);
	assert_int_equal(evidence.verdict, GROWTH_STABLE);
	growth__free(growth);
}

/* A reading broke off: nothing was read, but the growth continues. */
static void test_reading_broken_off(void **state)
{
	struct growth *growth = growth__new(GROWTH_WINDOW_NS, 10);
	struct process process = {.pid = 5, .start_ns = 50};
	struct model model = {.processes = &process, .process_count = 1};
	struct growth_evidence evidence;
	struct live_site site;

	(void)state;
	for (uint64_t i = 0; i < 70; i++) {
		model.now_ns = BEGIN + i * NS_PER_S;
		model.broken_off = i == 40 || i == 55;
		set_site(&process, &site, NULL, model.broken_off ? 0 : 1000 * (i + 1));
		assert_int_equal(growth__sample(growth, &model), 0);
	}
	growth__judge(growth, &process, NULL, &evidence);
	assert_int_equal(evidence.verdict, GROWTH_GROWING);
	growth__free(growth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stable),	      cmocka_unit_test(test_batches),
		cmocka_unit_test(test_noise),	      cmocka_unit_test(test_leaks),
		cmocka_unit_test(test_end_of_growth), cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_sites),	      cmocka_unit_test(test_all_freed),
		cmocka_unit_test(test_since_attach),  cmocka_unit_test(test_reading_broken_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
