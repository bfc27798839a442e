// SPDX-License-Identifier: BSD-2-Clause
/*
 * NVML in a thread: a library made for this test, with a divided GPU and mistakes that drivers
 * make. Each test runs in its own process, since a library stays loaded.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "device/nvml.h"
#include "fake_clock.h"

/* Longer than any answer takes: only a hanging test reaches it. */
#define FOR_EVER_MS 3600000
#define HANGS_S 60

static void run_apart(void (*work)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(HANGS_S);
		work();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A failed check ends the child; its output is visible. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1); \
		} \
	} while (0)

/* Once the fake is loaded, the loader uses it as libnvidia-ml.so.1. Returns it. */
static void *load_fake(const char *words)
{
	char exe[4096] = "", path[5000];
	void *fake;

	setenv("FAKE_NVML", words, 1);
	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	snprintf(path, sizeof(path), "%s/fake/libnvidia-ml.so.1", dirname(exe));
	fake = dlopen(path, RTLD_NOW);
	CHECK(fake);
	return fake;
}

static const struct gpu_use *use_of(const struct gpu_snapshot *snapshot, int gpu, pid_t pid)
{
	const struct gpu_use *found = NULL;

	for (size_t i = 0; i < snapshot->use_count; i++) {
		if (snapshot->uses[i].pid != pid || snapshot->uses[i].gpu != gpu)
			continue;
		CHECK(!found);
		found = &snapshot->uses[i];
	}
	return found;
}

static struct gpu_snapshot *read_fake(const char *words)
{
	struct nvml_library *library;

	load_fake(words);
	CHECK(!nvml_library__open(&library));
	return nvml_library__read(library, true);
}

static void list(void)
{
	struct gpu_snapshot *s = read_fake("");

	CHECK(s && s->gpu_count == 4);
	CHECK(s->gpus[0].index == 0 && s->gpus[0].mig == GPU_NONE && !s->gpus[0].divided);
	CHECK(strlen(s->gpus[0].name) == GPU_NAME_SIZE - 1 && !s->gpus[1].name[0]);
	CHECK(s->gpus[0].total_bytes == 1000 && s->gpus[0].used_bytes == 100);
	CHECK(s->gpus[1].index == 1 && s->gpus[1].mig == GPU_NONE && s->gpus[1].divided);
	CHECK(s->gpus[2].index == 1 && s->gpus[2].mig == 0 && s->gpus[2].instance[0] == 13);
	CHECK(s->gpus[3].index == 1 && s->gpus[3].mig == 2 && s->gpus[3].instance[1] == 0);
	CHECK(!strcmp(s->gpus[2].uuid, "MIG-00000003-0000-0000-0000-000000000000"));
	CHECK(s->gpus[2].total_bytes == 3000 && s->gpus[3].total_bytes == GPU_UNKNOWN_BYTES);
	CHECK(s->gpus[0].minor == UINT32_MAX && !s->gpus[0].bus_id[0]);
	CHECK(!s->gpus[0].link_bytes_per_second &&
	      s->gpus[1].link_bytes_per_second == 8ull * 1969230769);
	CHECK(s->gpus[3].link_bytes_per_second == s->gpus[1].link_bytes_per_second);
	CHECK(s->gpus[0].milliwatts == 123456 && s->gpus[0].celsius == 66);
	CHECK(s->gpus[1].milliwatts == GPU_UNKNOWN_NUMBER &&
	      s->gpus[1].celsius == GPU_UNKNOWN_NUMBER);
	CHECK(s->gpus[3].celsius == GPU_UNKNOWN_NUMBER);
	gpu_snapshot__free(s);
}

static void check_uses(const char *words)
{
	struct gpu_snapshot *s = read_fake(words);

	CHECK(s && s->uses_known && s->use_count == 3 * 200 + 1);
	CHECK(use_of(s, 0, 1005)->bytes == 5 && use_of(s, 2, 1005)->bytes == 15 &&
	      !use_of(s, 1, 1005));
	CHECK(use_of(s, 0, 1007)->bytes == GPU_UNKNOWN_BYTES);
	/* It is in two lists, and counts once. */
	CHECK(use_of(s, 0, 1003)->bytes == 77 && use_of(s, 0, 2000)->bytes == 88);
	gpu_snapshot__free(s);
}

static void uses(void)
{
	check_uses("");
}

static void wide_entries(void)
{
	check_uses("wide");
}

static void strange_entries(void)
{
	check_uses("strange");
}

static void in_a_thread(void)
{
	const struct gpu_snapshot *s, *again;
	struct nvml *nvml = nvml__new();
	uint64_t began = clock__boot_ns();

	load_fake("");
	s = nvml__refresh(nvml, FOR_EVER_MS);
	CHECK(s && s->gpu_count == 4 && s->begun_ns == began);
	CHECK(s->gpus[0].milliwatts == GPU_UNKNOWN_NUMBER &&
	      s->gpus[0].celsius == GPU_UNKNOWN_NUMBER);
	/* No new query so soon. */
	pass_ms(NVML_INTERVAL_MS - 1);
	again = nvml__refresh(nvml, FOR_EVER_MS);
	CHECK(again == s && again->begun_ns == began);
	pass_ms(1);
	again = nvml__refresh(nvml, FOR_EVER_MS);
	CHECK(again && again->gpu_count == 4 &&
	      again->begun_ns == began + NVML_INTERVAL_MS * NS_PER_MS);
	nvml__free(nvml);
}

/* A hurry makes a query before its time, but not two within 100 ms. */
static void hurried(void)
{
	const struct gpu_snapshot *s;
	struct nvml *nvml = nvml__new();
	uint64_t began = clock__boot_ns();

	load_fake("");
	nvml__hurry(nvml);
	CHECK(nvml__refresh(nvml, FOR_EVER_MS));
	pass_ms(99);
	nvml__hurry(nvml);
	CHECK(nvml__requested_ns(nvml) == began);
	pass_ms(1);
	s = nvml__refresh(nvml, FOR_EVER_MS);
	CHECK(s && s->begun_ns == began + 100 * NS_PER_MS);
	pass_ms(100);
	nvml__hurry(nvml);
	CHECK(nvml__requested_ns(nvml) == began + 200 * NS_PER_MS);
	s = nvml__wait(nvml, FOR_EVER_MS);
	CHECK(s && s->begun_ns == began + 200 * NS_PER_MS);
	pass_ms(NVML_INTERVAL_MS - 1);
	CHECK(nvml__refresh(nvml, FOR_EVER_MS) == s);
	nvml__free(nvml);
}

static size_t count_threads(void)
{
	size_t count = 0;
	struct dirent *entry;
	DIR *threads = opendir("/proc/self/task");

	CHECK(threads);
	while ((entry = readdir(threads)))
		count += entry->d_name[0] != '.';
	closedir(threads);
	return count;
}

/* The library answers only when it is released: calls that return before have not waited for it. */
static void hanging(void)
{
	struct nvml *nvml = nvml__new();
	void *fake = load_fake("hang");
	void (*let_go)(void) = (void (*)(void))dlsym(fake, "fakeLetGo");
	int (*times_ended)(void) = (int (*)(void))dlsym(fake, "fakeTimesEnded");
	size_t threads = count_threads();

	CHECK(let_go && times_ended);
	CHECK(!nvml__refresh(nvml, 50));
	/* There is no second wait, and no query either. */
	for (int i = 0; i < 100; i++) {
		pass_ms(NVML_INTERVAL_MS);
		CHECK(!nvml__refresh(nvml, FOR_EVER_MS));
	}
	nvml__free(nvml);
	CHECK(count_threads() == threads + 1 && !times_ended());
	let_go();
	/* The thread returns, finds no owner, and cleans up. */
	while (count_threads() > threads)
		usleep(1000);
	CHECK(times_ended() == 1);
}

/* A refresh does not wait for an unanswered query; a wait does, and makes no second one. */
static void waiting(void)
{
	struct nvml *nvml = nvml__new();
	void *fake = load_fake("hang");
	void (*let_go)(void) = (void (*)(void))dlsym(fake, "fakeLetGo");

	CHECK(let_go);
	CHECK(!nvml__refresh(nvml, 0));
	CHECK(!nvml__wait(nvml, 20));
	CHECK(!nvml__refresh(nvml, FOR_EVER_MS));
	let_go();
	CHECK(nvml__wait(nvml, FOR_EVER_MS));
	nvml__free(nvml);
}

/* A query that was begun is answered without a wait; the first refresh makes its own. */
static void begun(void)
{
	struct nvml *nvml = nvml__new();
	void *fake = load_fake("hang");
	void (*let_go)(void) = (void (*)(void))dlsym(fake, "fakeLetGo");
	const struct gpu_snapshot *first;
	uint64_t began;

	CHECK(let_go);
	nvml__ask_power(nvml);
	nvml__begin(nvml);
	nvml__begin(nvml);
	/* It is at work, so this does not wait for it. */
	CHECK(!nvml__refresh(nvml, FOR_EVER_MS) && !nvml__requested_ns(nvml));
	/* Had it answered before the wait, the wait would make a query of its own. */
	before_wait = let_go;
	first = nvml__wait(nvml, FOR_EVER_MS);
	before_wait = NULL;
	CHECK(first && !nvml__requested_ns(nvml) && first->gpus[0].milliwatts == 123456 &&
	      first->gpus[0].celsius == 66);
	began = first->begun_ns;
	pass_ms(1);
	first = nvml__refresh(nvml, FOR_EVER_MS);
	CHECK(first && first->begun_ns > began && nvml__requested_ns(nvml));
	nvml__begin(nvml);
	CHECK(nvml__refresh(nvml, FOR_EVER_MS) == first);
	nvml__free(nvml);
}

static void without_a_driver(void)
{
	struct nvml_library *library;
	struct nvml *nvml = nvml__new();

	load_fake("nodriver");
	CHECK(nvml_library__open(&library) == -ENODEV);
	CHECK(!nvml__refresh(nvml, 1000) && !nvml__refresh(nvml, 1000));
	nvml__free(nvml);
	nvml__free(nvml__new());
	nvml__free(NULL);
}

static void lists_gpus(void **state)
{
	(void)state;
	run_apart(list);
}

static void lists_uses(void **state)
{
	(void)state;
	run_apart(uses);
}

static void survives_other_entries(void **state)
{
	(void)state;
	run_apart(wide_entries);
	run_apart(strange_entries);
}

static void answers_from_a_thread(void **state)
{
	(void)state;
	run_apart(in_a_thread);
}

static void never_hangs(void **state)
{
	(void)state;
	run_apart(hanging);
}

static void waits_for_an_answer(void **state)
{
	(void)state;
	run_apart(waiting);
}

static void hurries(void **state)
{
	(void)state;
	run_apart(hurried);
}

static void begins_early(void **state)
{
	(void)state;
	run_apart(begun);
}

static void works_without(void **state)
{
	(void)state;
	run_apart(without_a_driver);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_gpus),
		cmocka_unit_test(lists_uses),
		cmocka_unit_test(survives_other_entries),
		cmocka_unit_test(answers_from_a_thread),
		cmocka_unit_test(never_hangs),
		cmocka_unit_test(waits_for_an_answer),
		cmocka_unit_test(begins_early),
		cmocka_unit_test(hurries),
		cmocka_unit_test(works_without),
	};

	return cmocka_run_group_tests_name("nvml", tests, NULL, NULL);
}
