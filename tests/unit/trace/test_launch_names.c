// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of launched kernels beyond the reported ones: what is kept of many, and what is read from a
 * process, which is this one; the location of its addresses.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "target/cgroup.h"
#include "target/proc.h"
#include "trace/launch_labels.h"
#include "trace/launch_names.h"
#include "trace/address_text.h"
#include "trace/threads.h"

#define SECOND NS_PER_S

void a_host_function(void);
void a_host_function(void)
{
}

static struct trace_process self(void)
{
	struct trace_process process = {.number = 1, .pid = getpid()};
	struct process_info info;

	assert_int_equal(proc__info(getpid(), &info), 0);
	process.start_ns = info.start_ns;
	process.image = info.image;
	return process;
}

static int report(struct launch_names *names, uint32_t process, uint64_t handle, const char *text,
		  int length_off)
{
	size_t length = strlen(text), size = sizeof(struct record_name) + length + 1;
	struct record_name *record = calloc(1, size);
	int ret;

	record->header.slot = process;
	record->handle = handle;
	record->length = (uint16_t)((int)length + length_off);
	memcpy(record->name, text, length);
	ret = launch_names__add(names, record, size);
	free(record);
	return ret;
}

/* The name that a launch has now, or NULL. */
static const char *name_of(struct launch_names *names, const struct trace_process *process,
			   uint64_t handle, uint64_t address, uint64_t now)
{
	const struct launched_kernel kernel = {
		.process = process, .handle = handle, .address = address};
	struct launch_name *name = launch_names__take(names, &kernel, now);
	const char *shown;

	assert_non_null(name);
	launch_names__look_up(names, now);
	shown = launch_name__shown(name);
	launch_names__put(names, name);
	return shown;
}

/* The label of a launch of that handle; the table keeps it. */
static const char *label_of(struct launch_names *names, uint32_t process, uint64_t handle)
{
	const struct trace_process known = {.number = process};
	const struct launched_kernel kernel = {.process = &known, .handle = handle};
	struct launch_name *name = launch_names__take(names, &kernel, 0);
	const char *label = launch_name__label(name);

	launch_names__put(names, name);
	return label;
}

/* A kernel has one label, by whichever handle it is launched; another one's has a mark. */
static void kernels_of_a_process_have_different_labels(void **state)
{
	struct launch_names *names = launch_names__new(false, NULL);

	(void)state;
	assert_int_equal(report(names, 1, 10, "_Z1kIiEvPT_", 0), 0);
	assert_int_equal(report(names, 1, 20, "_Z1kIiEvPKT_", 0), 0);
	assert_int_equal(report(names, 1, 11, "_Z1kIiEvPT_", 0), 0);
	assert_int_equal(report(names, 1, 21, "_Z1kIiEvPKT_", 0), 0);
	assert_int_equal(report(names, 2, 20, "_Z1kIiEvPKT_", 0), 0);
	assert_string_equal(label_of(names, 1, 10), "k<int>");
	assert_string_equal(label_of(names, 1, 20), "k<int> #0440");
	assert_string_equal(label_of(names, 1, 11), "k<int>");
	assert_string_equal(label_of(names, 1, 21), "k<int> #0440");
	assert_string_equal(label_of(names, 2, 20), "k<int>");
	launch_names__free(names);
	names = launch_names__new(true, NULL);
	assert_int_equal(report(names, 1, 10, "_Z1kIiEvPT_", 0), 0);
	assert_null(label_of(names, 1, 10));
	launch_names__free(names);
}

static void labels_of_a_process_take_bounded_memory(void **state)
{
	struct launch_labels labels = {0};
	size_t all = 0;
	char name[64], label[KERNEL_LABEL_SIZE];

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "_Z1kILi%uEEvv", i);
		assert_int_equal(launch_labels__write(&labels, &all, name, "k", label), 0);
		assert_true(all <= LAUNCH_LABELS_BYTES_MAX + 4096);
	}
	assert_true(all > LAUNCH_LABELS_BYTES_MAX);
	assert_string_equal(label, "k");
	launch_labels__clear(&labels, &all);
	assert_int_equal(all, 0);
}

static void records_that_hold_no_name_are_refused(void **state)
{
	struct launch_names *names = launch_names__new(false, NULL);
	struct record_name record = {.length = 0};

	(void)state;
	assert_int_equal(report(names, 1, 2, "kernel", 1), -EINVAL);
	assert_int_equal(report(names, 1, 2, "kernel", -1), -EINVAL);
	assert_int_equal(report(names, 1, 2, "", 0), -EINVAL);
	assert_int_equal(launch_names__add(names, &record, sizeof(record) - 1), -EINVAL);
	assert_int_equal(report(names, 1, 2, "kernel", 0), 0);
	launch_names__free(names);
}

static void the_oldest_process_loses_its_names_first(void **state)
{
	struct launch_names *names = launch_names__new(false, NULL);
	const struct trace_process gone = {.number = 7}, old = {.number = 5}, new = {.number = 6};
	const struct launched_kernel kernel = {.process = &old, .handle = 0};
	struct launch_name *waiting;

	(void)state;
	assert_int_equal(report(names, 5, 0, "old", 0), 0);
	assert_int_equal(report(names, 6, 0, "new", 0), 0);
	for (uint64_t i = 1; i < 1000; i++)
		assert_int_equal(report(names, 5, i, "old", 0), 0);
	waiting = launch_names__take(names, &kernel, 0);
	for (uint64_t i = 1; i < LAUNCH_NAMES_MAX - 500; i++)
		assert_int_equal(report(names, 6, i, "new", 0), 0);
	assert_null(name_of(names, &old, 1, 0, 0));
	assert_string_equal(name_of(names, &old, 999, 0, 0), "old");
	assert_string_equal(name_of(names, &new, 0, 0, 0), "new");
	assert_null(name_of(names, &gone, 0, 0, 0));
	/* As long as a line waits for it. */
	assert_string_equal(launch_name__shown(waiting), "old");
	launch_names__put(names, waiting);
	launch_names__free(names);
}

static void a_name_is_read_from_the_process_once_it_is_there(void **state)
{
	static uint64_t structure[2];
	struct launch_names *names = launch_names__new(true, NULL);
	const struct trace_process process = self();
	uint64_t handle = (uintptr_t)structure;

	(void)state;
	structure[1] = 0;
	assert_null(name_of(names, &process, handle, 0, SECOND));
	structure[1] = (uintptr_t) "_Z4vaddPfS_i";
	assert_null(name_of(names, &process, handle, 0, SECOND + 1)); /* not tried again at once */
	assert_string_equal(name_of(names, &process, handle, 0, 3 * SECOND),
			    "vadd(float*, float*, int)");
	assert_int_equal(report(names, 1, handle, "told", 0), 0);
	assert_string_equal(name_of(names, &process, handle, 0, 3 * SECOND), "told");
	launch_names__free(names);
}

static void a_host_function_has_its_symbol_s_name(void **state)
{
	struct launch_names *names = launch_names__new(false, NULL);
	struct trace_process process = self();
	uint64_t address = (uintptr_t)a_host_function;

	(void)state;
	assert_string_equal(name_of(names, &process, address, address, SECOND), "a_host_function");
	process.number = 2;
	process.start_ns -= SECOND; /* the pid belonged to another process */
	assert_null(name_of(names, &process, address, address, SECOND));
	launch_names__free(names);
}

/* "PROGRAM+0x…" */
static int is_in_program(const char *text)
{
	size_t length = strlen(program_invocation_short_name);

	return text && !strncmp(text, program_invocation_short_name, length) &&
	       !strncmp(text + length, "+0x", 3);
}

static void addresses_lie_in_objects(void **state)
{
	struct address_text *addresses = address_text__new();
	const struct trace_process process = self(), other = {.number = 9};
	uint64_t address = (uintptr_t)a_host_function;
	const char *text;
	int on_stack = 0;

	(void)state;
	assert_null(address_text__find(addresses, &process, address, 0));
	address_text__see(addresses, &process, SECOND);
	text = address_text__find(addresses, &process, address, SECOND);
	assert_true(is_in_program(text));
	assert_ptr_equal(address_text__find(addresses, &process, address, SECOND), text);
	assert_true(is_in_program(address_text__find(addresses, &process, address + 1, SECOND)));
	assert_null(address_text__find(addresses, &process, (uintptr_t)&on_stack, SECOND));
	assert_null(address_text__find(addresses, &process, 0, SECOND));
	address_text__see(addresses, &other, SECOND);
	assert_null(address_text__find(addresses, &other, address, SECOND));
	address_text__changed(addresses, getpid(), 2 * SECOND);
	assert_non_null(address_text__find(addresses, &process, address, 2 * SECOND));
	address_text__see(addresses, &process, 2 * SECOND);
	assert_non_null(address_text__find(addresses, &process, address, 2 * SECOND));
	address_text__free(addresses);
	/* A process may end before its first event is read. */
	addresses = address_text__new();
	address_text__changed(addresses, getpid(), SECOND);
	assert_true(is_in_program(address_text__find(addresses, &process, address, SECOND)));
	address_text__free(addresses);
}

/*
 * With another `image` the process's current program is not the right one: the process ran that one
 * before, or has executed it since.
 */
static void a_program_is_not_taken_for_another(void **state)
{
	struct address_text *addresses = address_text__new();
	struct launch_names *names = launch_names__new(false, NULL);
	const uint64_t address = (uintptr_t)a_host_function;
	struct trace_process now = self(), other;

	(void)state;
	assert_true(now.image != 0);
	other = now;
	other.image++;
	address_text__see(addresses, &other, SECOND);
	assert_null(address_text__find(addresses, &other, address, SECOND));
	address_text__see(addresses, &now, SECOND);
	assert_true(is_in_program(address_text__find(addresses, &now, address, SECOND)));
	address_text__changed(addresses, getpid(), 2 * SECOND);
	address_text__see(addresses, &other, 2 * SECOND);
	assert_null(address_text__find(addresses, &other, address, 2 * SECOND));
	assert_true(is_in_program(address_text__find(addresses, &now, address, 2 * SECOND)));
	address_text__free(addresses);
	assert_null(name_of(names, &other, 5, address, SECOND));
	now.number++;
	assert_non_null(name_of(names, &now, 5, address, SECOND));
	launch_names__free(names);
}

static void processes_are_one_for_all_their_threads(void **state)
{
	struct trace_threads *threads =
		trace_threads__new(&(struct trace_thread_options){.cgroups = true});
	const struct trace_process process = self();
	struct trace_thread_record record = {
		.thread = 3,
		.process = 8,
		.tid = 11,
		.pid = getpid(),
		.start_ns = process.start_ns,
	};
	struct trace_thread *first, *second;
	char *path = cgroup__path(getpid());

	(void)state;
	memset(record.comm, 'x', sizeof(record.comm)); /* not terminated */
	assert_int_equal(trace_threads__announce(threads, &record), 0);
	first = trace_threads__take(threads, 3);
	record.thread = 4;
	record.tid = 12;
	assert_int_equal(trace_threads__announce(threads, &record), 0);
	second = trace_threads__take(threads, 4);
	assert_ptr_equal(first->process, second->process);
	assert_int_equal(strlen(first->process->shown.comm), COMM_SIZE - 1);
	if (path)
		assert_string_equal(first->process->shown.cgroup, path);
	trace_threads__put(threads, first);
	trace_threads__put(threads, second);
	trace_threads__free(threads);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_a_process_have_different_labels),
		cmocka_unit_test(labels_of_a_process_take_bounded_memory),
		cmocka_unit_test(records_that_hold_no_name_are_refused),
		cmocka_unit_test(the_oldest_process_loses_its_names_first),
		cmocka_unit_test(a_name_is_read_from_the_process_once_it_is_there),
		cmocka_unit_test(a_host_function_has_its_symbol_s_name),
		cmocka_unit_test(addresses_lie_in_objects),
		cmocka_unit_test(a_program_is_not_taken_for_another),
		cmocka_unit_test(processes_are_one_for_all_their_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
