// SPDX-License-Identifier: BSD-2-Clause
// Judges running processes; see processes.h.
#include "check/processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/attach_failure.h"
#include "target/cuda_library.h"
#include "target/proc.h"

#define CONTAINER_SHOWN 12 /* digits of a container's id, as many as Docker shows */

/* --- one process --- */

/* Identifies a process: "process 12 (python3), container 0123456789ab". */
struct who {
	char text[192];
};

static struct who who_is(const struct process_facts *facts)
{
	struct who who;

	snprintf(who.text, sizeof(who.text), "process %d (%s)%s%.*s", (int)facts->pid, facts->comm,
		 *facts->container ? ", container " : "", CONTAINER_SHOWN, facts->container);
	return who;
}

/* What to do about missing permission to read the process or its files. */
static const char *advice_on_rights(const struct process_facts *facts, bool files)
{
	if (facts->user_namespace)
		return "run gpuprobe outside of containers as root: the process is in another user "
		       "namespace";
	return attach_failure__advice(facts->effective, files);
}

static const struct process_library *find_unopened(const struct process_facts *facts, bool driver)
{
	for (size_t i = 0; i < facts->library_count; i++)
		if (facts->libraries[i].opened && facts->libraries[i].driver == driver)
			return &facts->libraries[i];
	return NULL;
}

static void say_unopened(const struct process_facts *facts, const struct process_library *library,
			 enum check_state state, struct check_list *list)
{
	const struct file_attach_failure file =
		file_attach_failure__of(library->opened, library->deleted);

	check_list__lacks(list, "process", state,
			  file.advice ? file.advice : advice_on_rights(facts, true), "%s: %s%s",
			  who_is(facts).text, library->path, file.what);
}

/*
 * Adds a line about what keeps gpuprobe from watching the process. Returns whether there is such a
 * thing.
 */
static bool judge_attach_failure(const struct process_facts *facts, bool filters_kill,
				 struct check_list *list)
{
	const struct process_library *driver = find_unopened(facts, true);

	if (facts->mappings)
		check_list__lacks(list, "process", CHECK_MISSING, advice_on_rights(facts, false),
				  "%s: cannot read its mappings: %s", who_is(facts).text,
				  strerror(-facts->mappings));
	else if (facts->kernel_thread)
		check_list__lacks(
			list, "process", CHECK_MISSING, "give the pid of a program that uses CUDA",
			"%s: a kernel thread, which never calls CUDA", who_is(facts).text);
	else if (facts->bits == 32)
		check_list__lacks(list, "process", CHECK_MISSING, "build it for x86-64",
				  "%s: a 32-bit program, which gpuprobe does not support",
				  who_is(facts).text);
	else if (facts->filtered && filters_kill)
		check_list__lacks(list, "process", CHECK_MISSING,
				  "do not watch it on this kernel: see the line on seccomp",
				  "%s: it has a seccomp filter, and a return probe would kill it",
				  who_is(facts).text);
	else if (driver)
		say_unopened(facts, driver, CHECK_MISSING, list);
	else
		return false;
	return true;
}

/* Lists what it maps: "libcuda.so.1, libcudart.so.13 (deleted)". */
static void list_libraries(const struct process_facts *facts, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < facts->library_count && length < size; i++) {
		const struct process_library *library = &facts->libraries[i];

		if (library->layers)
			length += (size_t)snprintf(text + length, size - length, "%s%s%s",
						   length ? ", " : "",
						   strrchr(library->path, '/') + 1,
						   library->deleted ? " (deleted)" : "");
	}
	if (facts->inside && length < size)
		snprintf(text + length, size - length, "%s",
			 length ? ", the runtime inside the program" :
				  "the runtime inside the program");
	if (!*text)
		snprintf(text, size, "no CUDA library so far; it gets probes when it loads one");
}

/* Lists the driver libraries of a process that has several; returns 0 if it has fewer than two. */
static size_t list_drivers(const struct process_facts *facts, char *text, size_t size)
{
	size_t count = 0, length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < facts->library_count; i++) {
		const struct process_library *library = &facts->libraries[i];

		if (!(library->layers & LAYER_BIT(LAYER_DRIVER)))
			continue;
		if (length < size)
			length += (size_t)snprintf(text + length, size - length, "%s%s",
						   length ? ", " : "", library->path);
		count++;
	}
	return count > 1 ? count : 0;
}

/*
 * Several driver libraries are no obstacle: a call that passes through several is counted once.
 * Only calls show which library is in front.
 */
static void judge_shim(const struct process_facts *facts, struct check_list *list)
{
	char drivers[1024];
	size_t count = list_drivers(facts, drivers, sizeof(drivers));

	if (count)
		check_list__ok(list, "shim",
			       "process %d has %zu driver libraries: %s; a call through several is "
			       "counted once, as "
			       "a function of the first",
			       (int)facts->pid, count, drivers);
}

static void judge_python(const struct process_facts *facts, const char *what,
			 struct check_list *list)
{
	char python[32] = "";

	if (facts->python && facts->python != -ENOENT && facts->python != -EAGAIN) {
		check_list__lacks(list, "process", CHECK_DEGRADED,
				  "for Python frames use CPython 3.8 to 3.14 with its symbols, "
				  "without free threading",
				  "%s can be watched, but without Python frames: %s; %s",
				  who_is(facts).text, facts->python_error.text, what);
		return;
	}
	if (facts->python_minor)
		snprintf(python, sizeof(python), ", CPython 3.%u", facts->python_minor);
	check_list__ok(list, "process", "%s can be watched: %s%s", who_is(facts).text, what,
		       python);
}

static void judge_watchable(const struct process_facts *facts, struct check_list *list)
{
	const struct process_library *unopened = find_unopened(facts, false);
	char what[512];

	list_libraries(facts, what, sizeof(what));
	if (unopened)
		say_unopened(facts, unopened, CHECK_DEGRADED, list);
	else if (facts->memory == -EPERM || facts->memory == -EACCES)
		check_list__lacks(list, "process", CHECK_DEGRADED, advice_on_rights(facts, false),
				  "%s can be watched, but its memory cannot be read: no Python "
				  "frames, some kernels without "
				  "names; %s",
				  who_is(facts).text, what);
	else
		judge_python(facts, what, list);
}

static void add_facts(const struct process_facts *facts, struct check_list *list)
{
	char python[16];

	check_list__number(list, "pid", (uint64_t)facts->pid);
	check_list__text(list, "comm", facts->comm);
	check_list__text(list, "container", *facts->container ? facts->container : NULL);
	if (facts->filtered)
		check_list__text(list, "seccomp", "filter");
	for (size_t i = 0; i < facts->library_count; i++)
		check_list__text(list, "libraries", facts->libraries[i].path);
	snprintf(python, sizeof(python), "3.%u", facts->python_minor);
	check_list__text(list, "python", facts->python_minor ? python : NULL);
}

void check_process__judge(const struct process_facts *facts, bool filters_kill,
			  struct check_list *list)
{
	if (!judge_attach_failure(facts, filters_kill, list))
		judge_watchable(facts, list);
	add_facts(facts, list);
	judge_shim(facts, list);
}

/* --- all of them --- */

struct run {
	const struct process_filter *filter;
	bool filters_kill;
	struct memory_reader *memory;
	struct checked_libraries *libraries;
	struct looked_at *looked;
	struct check_list *list;
	size_t refused;
	struct process_facts first_refused; /* without the members that need clearing */
};

static int look_at(struct run *run, pid_t pid, bool requested)
{
	struct process_facts facts;
	int ret;

	if (process_filter__judge_pid(run->filter, pid) != FILTER_TAKES)
		return 0;
	ret = process_facts__read(run->memory, pid, requested, run->libraries, &facts);

	run->looked->refused += !ret && facts.mappings;
	run->looked->unread += !ret && find_unopened(&facts, true);
	if (!ret && (requested || process_facts__uses_cuda(&facts))) {
		check_process__judge(&facts, run->filters_kill, run->list);
	} else if (!ret && facts.mappings && !run->refused++) {
		run->first_refused = facts;
	}
	process_facts__clear(&facts);
	return ret == -ESRCH ? 0 : ret;
}

static int look_at_all(struct run *run, const struct pid_list *all)
{
	int ret = 0;

	for (size_t i = 0; i < all->count && !ret; i++)
		if (all->pids[i] != getpid())
			ret = look_at(run, all->pids[i], false);
	return ret;
}

static int look_at_given(struct run *run, const pid_t *pids, size_t count)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		struct pid_list children = {0};

		ret = look_at(run, pids[i], true);
		if (!ret && !proc__descendants(pids[i], &children))
			ret = look_at_all(run, &children);
		pid_list__clear(&children);
	}
	return ret;
}

static int look_at_machine(struct run *run)
{
	struct pid_list all;
	int ret = proc__list(&all);

	if (ret == -ENOMEM)
		return ret;
	/* If not even gpuprobe itself is listed, there is no usable /proc. */
	if (!ret && !all.count)
		ret = -ENOENT;
	if (ret) {
		check_list__lacks(run->list, "process", CHECK_MISSING, "mount -t proc proc /proc",
				  "cannot list processes: %s", strerror(-ret));
		return 0;
	}
	ret = look_at_all(run, &all);
	pid_list__clear(&all);
	return ret;
}

/*
 * Probes in a library apply to every process that maps it, so a process that gpuprobe may not
 * inspect can still be watched.
 */
static void say_refused(const struct run *run)
{
	char others[48] = "";

	if (run->refused > 1)
		snprintf(others, sizeof(others), " and %zu others", run->refused - 1);
	check_list__lacks(
		run->list, "process", CHECK_DEGRADED, advice_on_rights(&run->first_refused, false),
		"cannot inspect %s%s (%s): unknown whether CUDA is used there",
		who_is(&run->first_refused).text, others, strerror(-run->first_refused.mappings));
	check_list__number(run->list, "pid", (uint64_t)run->first_refused.pid);
	check_list__text(run->list, "comm", run->first_refused.comm);
	check_list__number(run->list, "processes", run->refused);
}

int check_processes__run(const pid_t *pids, size_t count, const struct process_filter *filter,
			 bool filters_kill, struct checked_libraries *libraries,
			 struct looked_at *looked, struct check_list *list)
{
	struct run run = {.filter = filter,
			  .filters_kill = filters_kill,
			  .libraries = libraries,
			  .looked = looked,
			  .list = list};
	size_t before = list->count;
	int ret;

	*looked = (struct looked_at){.given = count > 0};
	run.memory = memory_reader__new(NULL);
	if (!run.memory)
		return -ENOMEM;
	ret = count ? look_at_given(&run, pids, count) : look_at_machine(&run);
	memory_reader__free(run.memory);

	if (run.refused)
		say_refused(&run);
	else if (list->count == before)
		check_list__ok(list, "process", "none%s%s uses CUDA now",
			       process_filter__is_set(filter) ? " that matches " : "",
			       process_filter__text(filter).text);
	return ret;
}
