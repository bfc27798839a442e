// SPDX-License-Identifier: BSD-2-Clause
// The account: GPU time, its part with work, groups, several recordings.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include "account_scene.h"

static const struct account_options by_user = {
	.by = ACCOUNT_BY_USER, .max_groups = 8, .idle_ns = 600 * NS_PER_S};

static struct scene *begin(void)
{
	struct scene *scene = scene__new(&by_user);

	assert_int_equal(account__add_source(scene->account, "a", "1"), 0);
	return scene;
}

static const struct account_group *group_of(struct scene *scene, const char *user)
{
	const struct account_list *list = scene__list(scene);

	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->groups[i]->user, user))
			return list->groups[i];
	return NULL;
}

static void assert_seconds(uint64_t ns, double seconds)
{
	assert_int_equal((ns + NS_PER_S / 2000) / (NS_PER_S / 1000), (uint64_t)(seconds * 1000));
}

/* --- GPU time --- */

static void test_held_from_first_call_to_end(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0.25));

	(void)state;
	scene__read(scene, 0, SECOND(1));
	scene__read(scene, 0, SECOND(2));
	process->ended = true;
	process->ended_ns = SECOND(2.5);
	scene__read(scene, 0, SECOND(3));
	scene__read(scene, 0, SECOND(4));
	assert_seconds(group_of(scene, "ann")->held_ns, 2.25);
	assert_int_equal(group_of(scene, "ann")->gpus, 0);
	assert_int_equal(group_of(scene, "ann")->processes, 1);
	assert_int_equal(group_of(scene, "ann")->alive, 0);
	scene__free(scene);
}

static void test_a_gpu_counts_once(void **state)
{
	struct scene *scene = begin();

	(void)state;
	scene__add(scene, "ann", 0, SECOND(0));
	scene__add(scene, "ann", 0, SECOND(0.5));
	scene__add(scene, "bob", 0, SECOND(0));
	scene__add(scene, "bob", 1, SECOND(0));
	for (int i = 1; i <= 10; i++)
		scene__read(scene, 0, SECOND(i));
	assert_seconds(group_of(scene, "ann")->held_ns, 10);
	assert_seconds(group_of(scene, "bob")->held_ns, 20);
	assert_seconds(scene__list(scene)->total->held_ns, 20);
	assert_int_equal(scene__list(scene)->total->gpus, 2);
	assert_int_equal(group_of(scene, "ann")->gpus, 1);
	assert_int_equal(group_of(scene, "ann")->processes, 2);
	assert_int_equal(scene__list(scene)->total->alive, 4);
	scene__free(scene);
}

static void test_before_the_attach_is_not_counted(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(-100));

	(void)state;
	process->since_attach = true;
	scene__read(scene, 0, SECOND(1));
	scene__read(scene, 0, SECOND(5));
	assert_seconds(group_of(scene, "ann")->held_ns, 5);
	assert_int_equal(group_of(scene, "ann")->partial, 1);
	scene__free(scene);
}

/* It began while gpuprobe watched, and had no probes at first: calls tell when it held a GPU. */
static void test_a_late_attach_counts_from_the_first_call(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(3));

	(void)state;
	process->since_attach = true;
	process->start_ns = SECOND(1);
	scene__read(scene, 0, SECOND(4));
	scene__read(scene, 0, SECOND(5));
	assert_seconds(group_of(scene, "ann")->held_ns, 2);
	scene__free(scene);
}

static void test_a_process_waits_for_its_name(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "", 0, SECOND(0));

	(void)state;
	process->identified = false;
	scene__read(scene, 0, SECOND(1));
	strcpy(process->user, "ann");
	process->identified = true;
	scene__read(scene, 0, SECOND(2));
	assert_int_equal(scene__list(scene)->count, 1);
	assert_seconds(group_of(scene, "ann")->held_ns, 2);
	scene__free(scene);
}

/* Its device is known by CUDA's number alone, and NVML lists it on one GPU: it is that one. */
static void test_a_gpu_without_a_number_counts_once(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 1, SECOND(0));
	struct process_gpu *gpu = &scene__of(scene, process)->gpu;

	(void)state;
	gpu->ordinal = GPU_NONE;
	gpu->used_bytes = 1000;
	scene__read(scene, 0, SECOND(1));
	scene__read(scene, 0, SECOND(2));
	assert_seconds(group_of(scene, "ann")->held_ns, 2);
	assert_int_equal(group_of(scene, "ann")->gpus, 1);
	scene__free(scene);
}

/* --- work --- */

static void test_work_is_between_waits_and_proved_idle(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));
	struct scene_process *of = scene__of(scene, process);

	(void)state;
	scene__read(scene, 0, SECOND(1));
	of->profile.totals.queues[0].idle_ns = 4 * NS_PER_S;
	of->thread.time[TIME_WAIT].calls = 1;
	of->device.waits[WAIT_STREAM].calls = 1;
	of->device.wait_ns = 3 * NS_PER_S;
	scene__read(scene, 0, SECOND(10));
	assert_seconds(group_of(scene, "ann")->work_most_ns, 6);
	/* less what a wait takes by itself */
	assert_seconds(group_of(scene, "ann")->work_least_ns + 20000, 3);
	scene__free(scene);
}

static void test_a_wait_for_a_shared_gpu_proves_nothing(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));

	(void)state;
	scene__add(scene, "bob", 0, SECOND(0));
	scene__read(scene, 0, SECOND(1));
	scene__of(scene, process)->device.wait_ns = 3 * NS_PER_S;
	scene__read(scene, 0, SECOND(10));
	assert_int_equal(group_of(scene, "ann")->work_least_ns, 0);
	assert_seconds(group_of(scene, "ann")->work_most_ns, 10);
	scene__free(scene);
}

static void test_several_waiting_threads_prove_a_part(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));
	struct scene_process *of = scene__of(scene, process);

	(void)state;
	of->profile.unlisted_threads = 3;
	of->thread.time[TIME_WAIT].calls = 1;
	scene__read(scene, 0, SECOND(1));
	of->device.wait_ns = 8 * NS_PER_S;
	scene__read(scene, 0, SECOND(10));
	assert_seconds(group_of(scene, "ann")->work_least_ns, 2);
	scene__free(scene);
}

static void test_nothing_submitted_is_no_work(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));
	struct scene_process *of = scene__of(scene, process);

	(void)state;
	of->profile.totals.queues[0].launched_epoch = 0;
	of->device.launches = 0;
	of->device.allocations = 1;
	scene__read(scene, 0, SECOND(10));
	assert_seconds(group_of(scene, "ann")->held_ns, 10);
	assert_int_equal(group_of(scene, "ann")->work_most_ns, 0);
	scene__free(scene);
}

/* --- idle --- */

static void test_a_gpu_without_calls_is_idle(void **state)
{
	struct scene *scene = begin();
	struct process *ann = scene__add(scene, "ann", 0, SECOND(0));
	struct process *bob = scene__add(scene, "bob", 1, SECOND(0));

	(void)state;
	scene__of(scene, ann)->thread.latest_ns = SECOND(50);
	scene__of(scene, bob)->thread.latest_ns = SECOND(51);
	scene__read(scene, 0, SECOND(60));
	assert_int_equal(group_of(scene, "ann")->idle_gpus, 0);
	scene__read(scene, 0, SECOND(650));
	assert_int_equal(group_of(scene, "ann")->gpus, 1);
	assert_int_equal(group_of(scene, "ann")->idle_gpus, 1);
	assert_int_equal(group_of(scene, "bob")->idle_gpus, 0);
	assert_int_equal(scene__list(scene)->total->idle_gpus, 1);
	assert_int_equal(group_of(scene, "ann")->last_call_ns / (int64_t)NS_PER_S, SCENE_WALL + 50);
	scene__free(scene);
}

static void test_a_call_in_progress_is_not_idle(void **state)
{
	struct scene *scene = begin();
	struct process *ann = scene__add(scene, "ann", 0, SECOND(0));

	(void)state;
	ann->open_count = 1;
	scene__read(scene, 0, SECOND(1));
	scene__read(scene, 0, SECOND(700));
	assert_int_equal(group_of(scene, "ann")->idle_gpus, 0);
	scene__free(scene);
}

/* --- parts and several sources --- */

static void test_since(void **state)
{
	struct account_options options = by_user;
	struct scene *scene;
	struct process *process;

	(void)state;
	options.since_ns = (int64_t)((SCENE_WALL + 4) * NS_PER_S);
	scene = scene__new(&options);
	account__add_source(scene->account, "a", "1");
	process = scene__add(scene, "ann", 0, SECOND(0));
	scene__make(scene, process, 1000, SECOND(0), SECOND(99));
	for (int i = 1; i <= 5; i++)
		scene__read(scene, 0, SECOND(2 * i - 1));
	assert_seconds(group_of(scene, "ann")->held_ns, 5);
	assert_float_equal(group_of(scene, "ann")->memory.best, 5000, 0.01);
	assert_int_equal(scene__list(scene)->from_ns / (int64_t)NS_PER_S, SCENE_WALL + 4);
	scene__free(scene);
}

/* Two files of a flight recorder have some readings in common. */
static void test_files_that_overlap(void **state)
{
	struct scene *scene = begin();
	struct process *process = scene__add(scene, "ann", 0, SECOND(0));

	(void)state;
	scene__make(scene, process, 1000, SECOND(0), SECOND(99));
	assert_int_equal(account__add_source(scene->account, "a", "1"), 1);
	for (int i = 1; i <= 6; i++) {
		scene__read(scene, 0, SECOND(i));
		if (i >= 4)
			scene__read(scene, 1, SECOND(i));
	}
	scene__read(scene, 1, SECOND(8));
	assert_seconds(group_of(scene, "ann")->held_ns, 8);
	assert_float_equal(group_of(scene, "ann")->memory.best, 8000, 0.01);
	scene__free(scene);
}

/* Each rank of a node has a recording of its own, and two of them use one GPU. */
static void test_recordings_of_one_machine(void **state)
{
	struct scene *scene = begin();

	(void)state;
	assert_int_equal(account__add_source(scene->account, "a", "1"), 1);
	scene__add(scene, "ann", 0, SECOND(0));
	scene__add(scene, "ann", 0, SECOND(0.5));
	scene->model.process_count = 1;
	for (int i = 1; i <= 6; i++) {
		scene->model.processes = &scene->processes[0];
		scene__read(scene, 0, SECOND(i));
		scene->model.processes = &scene->processes[1];
		scene__read(scene, 1, SECOND(i + 0.5));
	}
	assert_seconds(group_of(scene, "ann")->held_ns, 6.5);
	assert_int_equal(group_of(scene, "ann")->processes, 2);
	assert_int_equal(group_of(scene, "ann")->gpus, 1);
	scene__free(scene);
}

static void test_machines_add_up(void **state)
{
	struct scene *scene = begin();

	(void)state;
	assert_int_equal(account__add_source(scene->account, "b", "2"), 1);
	scene__add(scene, "ann", 0, SECOND(0));
	for (int i = 1; i <= 6; i++) {
		scene__read(scene, 0, SECOND(i));
		scene__read(scene, 1, SECOND(i));
	}
	assert_seconds(group_of(scene, "ann")->held_ns, 12);
	assert_int_equal(group_of(scene, "ann")->gpus, 2);
	scene__free(scene);
}

/* --- groups --- */

static void test_jobs(void **state)
{
	struct account_options options = by_user;
	struct workload slurm = {.slurm_job = "418822"},
			pod = {.namespace = "ml", .pod = "train-0"},
			unit = {.unit = "jupyter.service"};
	const struct account_list *list;
	struct scene *scene;

	(void)state;
	options.by = ACCOUNT_BY_JOB;
	scene = scene__new(&options);
	account__add_source(scene->account, "a", "1");
	scene__add(scene, "ann", 0, SECOND(0))->workload = &slurm;
	scene__add(scene, "ann", 0, SECOND(1))->workload = &pod;
	scene__add(scene, "ann", 0, SECOND(2))->workload = &unit;
	scene__add(scene, "ann", 0, SECOND(3));
	scene__read(scene, 0, SECOND(10));
	list = scene__list(scene);
	assert_int_equal(list->count, 4);
	assert_string_equal(list->groups[0]->name, "418822");
	assert_int_equal(list->groups[0]->job, ACCOUNT_SLURM);
	assert_string_equal(list->groups[1]->name, "ml/train-0");
	assert_string_equal(list->groups[2]->name, "jupyter.service");
	assert_string_equal(list->groups[3]->name, "");
	scene__free(scene);
}

static void test_images(void **state)
{
	struct account_options options = by_user;
	struct workload known = {.image = "a/train:1"}, unknown = {.pod = "train-0"};
	const struct account_list *list;
	struct process *process;
	struct scene *scene;

	(void)state;
	options.by = ACCOUNT_BY_IMAGE;
	scene = scene__new(&options);
	account__add_source(scene->account, "a", "1");
	scene__add(scene, "ann", 0, SECOND(0))->workload = &known;
	scene__add(scene, "bob", 0, SECOND(1))->workload = &known;
	process = scene__add(scene, "ann", 0, SECOND(2));
	process->workload = &unknown;
	strcpy(process->container, "0123");
	scene__add(scene, "ann", 0, SECOND(3));
	scene__read(scene, 0, SECOND(10));
	list = scene__list(scene);
	assert_int_equal(list->count, 3);
	assert_string_equal(list->groups[0]->name, "a/train:1");
	assert_int_equal(list->groups[0]->processes, 2);
	assert_string_equal(list->groups[1]->name, ACCOUNT_UNKNOWN);
	assert_string_equal(list->groups[2]->name, "");
	scene__free(scene);
}

static void test_groups_are_bounded(void **state)
{
	struct account_options options = by_user;
	const struct account_list *list;
	struct scene *scene;

	(void)state;
	options.max_groups = 2;
	scene = scene__new(&options);
	account__add_source(scene->account, "a", "1");
	scene__add(scene, "ann", 0, SECOND(0));
	scene__add(scene, "bob", 0, SECOND(0));
	scene__add(scene, "cy", 0, SECOND(0));
	scene__add(scene, "dan", 1, SECOND(0));
	scene__read(scene, 0, SECOND(10));
	list = scene__list(scene);
	assert_int_equal(list->count, 3);
	assert_true(list->more_groups);
	assert_true(list->groups[2]->is_other);
	assert_seconds(list->groups[2]->held_ns, 20);
	scene__free(scene);
}

static void test_an_ended_group_makes_room(void **state)
{
	struct account_options options = by_user;
	struct scene *scene;

	(void)state;
	options.max_groups = 1;
	options.forgets = true;
	scene = scene__new(&options);
	account__add_source(scene->account, "a", "1");
	scene__add(scene, "ann", 0, SECOND(0));
	scene__read(scene, 0, SECOND(1));
	scene->model.process_count = 0;
	scene__read(scene, 0, SECOND(2));
	memset(scene->processes, 0, sizeof(scene->processes));
	scene__add(scene, "bob", 0, SECOND(2))->pid = 200;
	scene__read(scene, 0, SECOND(3));
	assert_null(group_of(scene, "ann"));
	assert_seconds(group_of(scene, "bob")->held_ns, 1);
	assert_false(scene__list(scene)->more_groups);
	scene__free(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held_from_first_call_to_end),
		cmocka_unit_test(test_a_gpu_counts_once),
		cmocka_unit_test(test_before_the_attach_is_not_counted),
		cmocka_unit_test(test_a_late_attach_counts_from_the_first_call),
		cmocka_unit_test(test_a_process_waits_for_its_name),
		cmocka_unit_test(test_a_gpu_without_a_number_counts_once),
		cmocka_unit_test(test_work_is_between_waits_and_proved_idle),
		cmocka_unit_test(test_a_wait_for_a_shared_gpu_proves_nothing),
		cmocka_unit_test(test_several_waiting_threads_prove_a_part),
		cmocka_unit_test(test_nothing_submitted_is_no_work),
		cmocka_unit_test(test_a_gpu_without_calls_is_idle),
		cmocka_unit_test(test_a_call_in_progress_is_not_idle),
		cmocka_unit_test(test_since),
		cmocka_unit_test(test_files_that_overlap),
		cmocka_unit_test(test_recordings_of_one_machine),
		cmocka_unit_test(test_machines_add_up),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_groups_are_bounded),
		cmocka_unit_test(test_an_ended_group_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
