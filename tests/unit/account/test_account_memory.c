// SPDX-License-Identifier: BSD-2-Clause
// Byte-seconds of an account against the truth: allocations that the test chose.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <math.h>

#include "account_scene.h"
#include "rounds.h"

#define MIB (1ull << 20)

static const struct account_options by_user = {
	.by = ACCOUNT_BY_USER, .max_groups = 8, .idle_ns = 600 * NS_PER_S};

static struct scene *begin(void)
{
	struct scene *scene = scene__new(&by_user);

	account__add_source(scene->account, "a", "1");
	return scene;
}

static struct byte_seconds memory(struct scene *scene)
{
	return scene__list(scene)->total->memory;
}

/* The same on each run. */
static double random_share(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(*seed >> 33) / (double)(1u << 31);
}

/* Allocations of a few sizes that begin in the first `spread` seconds, and readings. */
static void run(struct scene *scene, struct process *process, uint64_t seed, double spread,
		double shortest, double longest, int count, double seconds)
{
	for (int i = 0; i < count; i++) {
		double from = random_share(&seed) * spread,
		       life = shortest + random_share(&seed) * (longest - shortest);

		scene__make(scene, process, (1 + (uint64_t)(random_share(&seed) * 5)) * 20 * MIB,
			    SECOND(from), SECOND(from + life));
	}
	for (double at = 0.3; at < seconds; at += 0.75 + 0.5 * random_share(&seed))
		scene__read(scene, 0, SECOND(at));
	scene__read(scene, 0, SECOND(seconds));
}

static void assert_within(const struct byte_seconds *bytes, double truth)
{
	assert_true(bytes->least <= truth * (1 + 1e-12));
	assert_true(bytes->most >= truth * (1 - 1e-12));
}

/* What lives for ten minutes and more is within 0.1 %, at one reading a second. */
static void test_long_lives_are_exact(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS(20); seed++) {
		struct scene *scene = begin();
		struct process *process = scene__add(scene, "ann", 0, SECOND(0));
		struct byte_seconds bytes;
		double truth;

		run(scene, process, seed, 2000, 600, 2000, 60, 4000);
		bytes = memory(scene);
		truth = scene__truth(scene, process, SECOND(4000));
		assert_within(&bytes, truth);
		assert_true(fabs(bytes.best / truth - 1) < 0.001);
		assert_true(byte_seconds__uncertainty(&bytes) < 0.001);
		scene__free(scene);
	}
}

/* What comes and goes between readings has bounds that hold, and an estimate without a bias. */
static void test_short_lives_are_bounded(void **state)
{
	double sum = 0, truths = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS(20); seed++) {
		struct scene *scene = begin();
		struct process *process = scene__add(scene, "ann", 0, SECOND(0));
		struct byte_seconds bytes;
		double truth;

		run(scene, process, seed, 100, 0.01, 3, 300, 105);
		bytes = memory(scene);
		truth = scene__truth(scene, process, SECOND(105));
		assert_within(&bytes, truth);
		sum += bytes.best;
		truths += truth;
		scene__free(scene);
	}
	assert_true(fabs(sum / truths - 1) < 0.03);
}

/* Beside much memory that stays, little that comes and goes costs little. */
static void test_churn_beside_a_base(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));
	struct byte_seconds bytes;

	(void)state;
	scene__make(scene, process, 10240 * MIB, SECOND(0), SECOND(1000));
	run(scene, process, 7, 100, 0.001, 0.01, 300, 105);
	bytes = memory(scene);
	assert_within(&bytes, scene__truth(scene, process, SECOND(105)));
	assert_true(byte_seconds__uncertainty(&bytes) < 0.05);
	scene__free(scene);
}

/* What a process has at its end counts up to that moment, whenever the reading is. */
static void test_until_the_end(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0.25));
	struct byte_seconds bytes;

	(void)state;
	scene__make(scene, process, 1000, SECOND(0.5), SECOND(99));
	scene__read(scene, 0, SECOND(1));
	process->ended = true;
	process->ended_ns = SECOND(1.7);
	scene__read(scene, 0, SECOND(5));
	scene__read(scene, 0, SECOND(9));
	bytes = memory(scene);
	assert_float_equal(bytes.best, 1200, 0.001);
	assert_float_equal(bytes.least, 1200, 0.001);
	assert_float_equal(bytes.most, 1200, 0.001);
	scene__free(scene);
}

/* A whole life between two readings. */
static void test_between_two_readings(void **state)
{
	struct scene *scene = begin();
	struct process *process;
	struct byte_seconds bytes;

	(void)state;
	scene__read(scene, 0, SECOND(1));
	process = scene__add(scene, "ann", 0, SECOND(1.1));
	scene__make(scene, process, 1000, SECOND(1.2), SECOND(1.5));
	process->ended = true;
	process->ended_ns = SECOND(1.6);
	scene__read(scene, 0, SECOND(2));
	bytes = memory(scene);
	assert_within(&bytes, 300);
	assert_float_equal(bytes.most, 500, 0.001);
	assert_float_equal(bytes.best, 250, 0.001);
	scene__free(scene);
}

/* Live bytes that no size explains: the map of sizes was full, or no profile is kept. */
static void test_without_sizes(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));
	struct byte_seconds bytes;

	(void)state;
	process->profile = NULL;
	process->start_ns = SECOND(0);
	scene__make(scene, process, 1000, SECOND(1.5), SECOND(99));
	for (int i = 1; i <= 4; i++)
		scene__read(scene, 0, SECOND(i));
	bytes = memory(scene);
	assert_float_equal(bytes.best, 2500, 0.001);
	assert_float_equal(bytes.least, 2000, 0.001);
	assert_float_equal(bytes.most, 3000, 0.001);
	scene__free(scene);
}

/* Sizes were read later than totals: one reading has an allocation in the sizes alone. */
static void test_totals_of_an_earlier_moment(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));
	struct byte_seconds bytes;

	(void)state;
	scene__make(scene, process, 1000, SECOND(0.5), SECOND(99));
	scene__set_time(scene, SECOND(1));
	process->memory[MEMORY_DEVICE].live_bytes = 0;
	account__take(scene->account, 0, &scene->model, NULL, SCENE_BEGAN);
	scene__read(scene, 0, SECOND(2));
	scene__read(scene, 0, SECOND(3));
	bytes = memory(scene);
	assert_float_equal(bytes.best, 2500, 0.001);
	assert_float_equal(bytes.least, 2500, 0.001);
	scene__free(scene);
}

/* The map of sizes had no room for some. */
static void test_some_sizes_are_missing(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));

	(void)state;
	scene__make(scene, process, 1000, SECOND(0), SECOND(99));
	for (int i = 1; i <= 4; i++) {
		scene__set_time(scene, SECOND(i));
		process->memory[MEMORY_DEVICE].live_bytes = 1500;
		account__take(scene->account, 0, &scene->model, NULL, SCENE_BEGAN);
	}
	assert_float_equal(memory(scene).best, 4000 + 3 * 500, 0.001);
	scene__free(scene);
}

static void test_nvml_for_what_was_before(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(-50));
	const struct account_group *total;

	(void)state;
	process->since_attach = true;
	scene__make(scene, process, 1000, SECOND(1.5), SECOND(99));
	scene__of(scene, process)->gpu.used_bytes = 5000;
	for (int i = 1; i <= 4; i++)
		scene__read(scene, 0, SECOND(i));
	total = scene__list(scene)->total;
	assert_float_equal(total->memory.best, 20000, 0.001);
	assert_float_equal(total->nvml_byte_seconds, 20000, 0.001);
	assert_int_equal(total->partial, 0);
	scene__free(scene);
}

/* Numbers that a watched process can reach. */
static void test_hostile_numbers(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));
	struct scene_process *of = scene__of(scene, process);
	struct byte_seconds bytes;

	(void)state;
	scene__read(scene, 0, SECOND(1));
	of->profile.size_count = 1;
	of->sizes[0].key.size = UINT64_MAX;
	of->sizes[0].record = (struct size_record){
		.allocations = UINT64_MAX, .live = (uint64_t)-5, .latest_ns = UINT64_MAX};
	process->memory[MEMORY_DEVICE].live_bytes = UINT64_MAX;
	scene->model.now_ns = SECOND(2);
	assert_int_equal(account__take(scene->account, 0, &scene->model, NULL, SCENE_BEGAN), 0);
	bytes = memory(scene);
	assert_true(isfinite(bytes.best) && isfinite(bytes.most) && bytes.least >= 0);
	assert_true(bytes.least <= bytes.best && bytes.best <= bytes.most);
	scene__free(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_lives_are_exact),
		cmocka_unit_test(test_short_lives_are_bounded),
		cmocka_unit_test(test_churn_beside_a_base),
		cmocka_unit_test(test_until_the_end),
		cmocka_unit_test(test_between_two_readings),
		cmocka_unit_test(test_without_sizes),
		cmocka_unit_test(test_totals_of_an_earlier_moment),
		cmocka_unit_test(test_some_sizes_are_missing),
		cmocka_unit_test(test_nvml_for_what_was_before),
		cmocka_unit_test(test_hostile_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
