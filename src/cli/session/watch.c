// SPDX-License-Identifier: BSD-2-Clause
// Finds and attaches what is watched from the start, see watch.h.
#include "cli/session/watch.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/session/target_pids.h"
#include "privilege/capabilities.h"
#include "target/loader_cache.h"
#include "target/proc.h"
#include "target/proc_maps.h"

int watch__check_pids(const pid_t *pids, size_t count, struct error *err)
{
	struct process_info info;
	int wrong = count ? proc__check_proc(err) : 0;

	for (size_t i = 0; i < count && !wrong; i++) {
		int ret = proc__info(pids[i], &info);
		pid_t process;

		if (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM)
			return error__set(err, ret, "cannot look at process %d: %s", pids[i],
					  strerror(-ret));
		if (!proc__exists(pids[i]))
			return error__set(err, -ESRCH,
					  "no process has pid %d: gpuprobe ps lists "
					  "those that use CUDA",
					  pids[i]);
		process = proc__of_thread(pids[i]);
		if (process > 0 && process != pids[i])
			return error__set(err, -EINVAL,
					  "-p %d: a thread of process %d: give its pid", pids[i],
					  process);
	}
	return wrong;
}

int watch__refuse_kernel(const pid_t *pids, size_t count, struct error *err)
{
	struct process_info info;

	for (size_t i = 0; i < count; i++)
		if (!proc__info(pids[i], &info) && info.of_kernel)
			return error__set(err, -EINVAL,
					  "-p %d: a kernel thread, which never calls CUDA: give "
					  "the pid of a program "
					  "that does",
					  pids[i]);
	return 0;
}

static int note_watched(const struct bpf_map *watched, pid_t pid, struct error *err)
{
	int32_t key = pid;
	uint8_t state = WATCHED;

	if (bpf_map__update_elem(watched, &key, sizeof(key), &state, sizeof(state), BPF_ANY))
		return error__set(err, -errno, "cannot watch process %d: %s", pid, strerror(errno));
	return 0;
}

static int watch_pid(const struct probe_programs *programs, pid_t pid, struct error *err)
{
	int ret = note_watched(programs->watched, pid, err);

	return ret || !programs->watched_beside ? ret :
						  note_watched(programs->watched_beside, pid, err);
}

/*
 * Adds the process and its descendants to the map. The fork tracepoint adds later children if their
 * parents are in the map by then, so the search is repeated until it finds no new process.
 */
static int watch_tree(const struct probe_programs *programs, pid_t pid, struct error *err)
{
	struct pid_list children = {0};
	size_t known;
	int ret = watch_pid(programs, pid, err);

	do {
		known = children.count;
		pid_list__clear(&children);
		if (!ret)
			ret = proc__descendants(pid, &children);
		for (size_t i = 0; i < children.count && !ret; i++)
			ret = watch_pid(programs, children.pids[i], err);
	} while (!ret && children.count > known);
	pid_list__clear(&children);
	return ret;
}

/*
 * Drivers come first, so that of a libcudart only the functions that the driver leaves out are
 * probed.
 */
static bool is_driver_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, "libcuda.so", 10);
}

static int attach_named(const struct targets *targets, struct attacher *attacher, struct error *err)
{
	int ret = 0;

	for (int driver = 1; driver >= 0; driver--)
		for (size_t i = 0; i < targets->library_count && ret >= 0; i++)
			if (is_driver_path(targets->libraries[i]) == driver)
				ret = attacher__add_library(attacher, targets->libraries[i], err);
	return ret < 0 ? targets__library_error(ret, err) : 0;
}

/* Attaches the library, or only registers it. */
typedef int (*library_act)(struct attacher *attacher, const char *path, struct error *err);

/* Libraries in the loader's cache may be missing or broken: that is reported, but not fatal. */
static void act_on_cached(library_act act, struct attacher *attacher, const struct log *log)
{
	struct path_list list = {0};
	struct error why = {""};

	if (loader_cache__find_cuda("", &list, &why))
		log__warn(log, "%s", why.text);
	for (int driver = 1; driver >= 0; driver--)
		for (size_t i = 0; i < list.count; i++)
			if (is_driver_path(list.paths[i]) == driver &&
			    act(attacher, list.paths[i], &why) < 0)
				log__info(log, "%s", why.text);
	path_list__clear(&list);
}

/*
 * COMMAND's loader searches LD_LIBRARY_PATH first, so a driver there is known before it is loaded.
 */
static void act_on_environment(library_act act, struct attacher *attacher, const struct log *log)
{
	const char *at = getenv("LD_LIBRARY_PATH");
	struct error why = {""};
	char path[PATH_MAX];

	while (at && *at) {
		size_t length = strcspn(at, ":;");

		snprintf(path, sizeof(path), "%.*s/libcuda.so.1", (int)length, at);
		if (length && !access(path, R_OK) && act(attacher, path, &why) < 0)
			log__info(log, "%s", why.text);
		at += length + (at[length] != '\0');
	}
}

static void act_on_known(library_act act, const struct child_command *command,
			 struct attacher *attacher, const struct log *log)
{
	if (command)
		act_on_environment(act, attacher, log);
	act_on_cached(act, attacher, log);
}

void watch__attach_known(const struct child_command *command, struct attacher *attacher,
			 const struct log *log)
{
	act_on_known(attacher__add_library, command, attacher, log);
}

/* The outcome of looking at running processes. */
struct looking {
	struct attacher *attacher;
	struct unwatchable *unwatchable;
	struct rescans *rescans;
	const struct log *log;
	/*
	 * first failure that prevents watching a process at all; reported once its meaning is known
	 */
	struct attach_failure first;
	pid_t first_pid;
	size_t watched, hindered;
};

/* Attaches to a process. Returns whether it is watched, at least in part. */
static bool attach_process(struct looking *looking, pid_t pid, enum process_scan scan)
{
	struct attach_failure attach_failure;
	uint64_t ready_ns;
	bool is_counted;

	attacher__add_process(looking->attacher, pid, scan, 0, &attach_failure);
	if (attacher__is_unfinished(looking->attacher, &ready_ns))
		rescans__go_on(
			looking->rescans,
			&(struct rescan){.pid = pid, .scan = scan, .since_ns = clock__boot_ns()},
			ready_ns);
	looking->watched += !attach_failure.whole;
	/*
	 * A process that cannot be looked into may have nothing to do with CUDA, unless it has a
	 * CUDA library.
	 */
	is_counted = attach_failure.whole && (scan == SCAN_PROGRAM || !attach_failure.of_file);
	if (is_counted && !looking->hindered++) {
		looking->first = attach_failure;
		looking->first_pid = pid;
	} else if (!is_counted || scan == SCAN_PROGRAM) {
		unwatchable__report(looking->unwatchable, pid, &attach_failure, looking->log);
	}
	return !attach_failure.whole;
}

/*
 * Attaches to a target process. Returns whether it has ended without being watched; its mappings
 * are then unknown.
 */
static bool ends_before(struct looking *looking, pid_t pid, struct target_processes *processes)
{
	if (proc__exists(pid) && attach_process(looking, pid, SCAN_PROGRAM)) {
		target_pids__add(processes, pid);
		return false;
	}
	return !proc__exists(pid);
}

static int report_ended(const struct looking *looking, const pid_t *ended, size_t count, bool all,
			struct error *err)
{
	if (all && count == 1)
		return error__set(err, -ESRCH,
				  "process %d ended before it was watched: nothing of it was seen; "
				  "start it under gpuprobe, "
				  "with -- COMMAND, to see it from its first call",
				  ended[0]);
	if (all)
		return error__set(err, -ESRCH,
				  "all %zu processes ended before they were watched: nothing of "
				  "them was seen; "
				  "start them under gpuprobe, with -- COMMAND, to see them from "
				  "their first calls",
				  count);
	for (size_t i = 0; i < count; i++)
		log__warn(looking->log,
			  "process %d ended before it was watched: nothing of it was seen",
			  ended[i]);
	return 0;
}

/*
 * If no library has probes in all processes, nothing is seen of processes that cannot be looked
 * into.
 */
static int attach_given(const struct targets *targets, struct looking *looking,
			struct target_processes *processes, bool blind, struct error *err)
{
	pid_t *ended = calloc(targets->pid_count, sizeof(*ended));
	struct pid_list list = {0};
	size_t ended_count = 0;
	int ret;

	if (!ended)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < targets->pid_count; i++) {
		if (ends_before(looking, targets->pids[i], processes))
			ended[ended_count++] = targets->pids[i];
	}
	if (!proc__descendants_of(targets->pids, targets->pid_count, &list))
		for (size_t i = 0; i < list.count; i++)
			attach_process(looking, list.pids[i], SCAN_PROGRAM);
	pid_list__clear(&list);
	ret = report_ended(looking, ended, ended_count, ended_count == targets->pid_count, err);
	free(ended);
	if (ret)
		return ret;
	if (blind && looking->hindered && !looking->watched)
		return error__set(err, -EACCES, "%s", looking->first.text.text);
	unwatchable__report(looking->unwatchable, looking->first_pid, &looking->first,
			    looking->log);
	return 0;
}

static void attach_machine(struct looking *looking)
{
	struct pid_list list = {0};
	char more[64] = "";

	if (proc__list(&list))
		return;
	for (size_t i = 0; i < list.count; i++)
		if (list.pids[i] != getpid())
			attach_process(looking, list.pids[i], SCAN_NAMED);
	pid_list__clear(&list);
	if (!looking->hindered)
		return;
	if (looking->hindered > 1)
		snprintf(more, sizeof(more), " (and the same for %zu more)", looking->hindered - 1);
	/* If no privilege is missing, a sandbox causes this, and the user cannot change it. */
	if (capabilities__suffice(capabilities__effective(), CAP_SYS_PTRACE))
		log__info(looking->log, "%s%s", looking->first.text.text, more);
	else
		log__warn(looking->log, "%s%s", looking->first.text.text, more);
}

static int note_cuda(const struct mapping *mapping, void *found)
{
	*(bool *)found |= mapping__is_file(mapping) && mapping__is_named_like_cuda(mapping->path);
	return 0;
}

/* A process that gpuprobe may not look into may use CUDA. */
static void look_for_cuda(pid_t pid, void *found)
{
	if (proc_maps__each(pid, note_cuda, found))
		*(bool *)found = true;
}

/* The pid may be a wrong one: the launcher's rather than the program's. */
static int warn_without_cuda(const struct targets *targets, const struct log *log,
			     struct error *err)
{
	bool found = false;
	int ret = watch__each_process(targets, look_for_cuda, &found, err);

	if (!ret && !found)
		log__warn(log,
			  "process %d%s no CUDA library so far: gpuprobe ps lists those that do",
			  targets->pids[0],
			  targets->pid_count > 1 ? " and the other processes of -p have" :
						   " and its children have");
	return ret;
}

static void expect_process(pid_t pid, void *arg)
{
	if (pid != getpid())
		attacher__expect_process(arg, pid);
}

int watch__begin(const struct targets *targets, const struct child_command *command,
		 const struct probe_programs *programs, struct attacher *attacher,
		 struct unwatchable *unwatchable, struct target_processes *processes,
		 struct rescans *rescans, const struct log *log, struct error *err)
{
	struct looking looking = {
		.attacher = attacher, .unwatchable = unwatchable, .rescans = rescans, .log = log};
	struct attacher_counts counts;
	int ret = 0;

	if (command)
		ret = watch_pid(programs, child_command__pid(command), err);
	for (size_t i = 0; i < targets->pid_count && !ret; i++)
		ret = watch_tree(programs, targets->pids[i], err);
	if (!ret)
		ret = watch__each_process(targets, expect_process, attacher, err);
	if (!ret)
		ret = attach_named(targets, attacher, err);
	if (ret)
		return ret;
	/* COMMAND is held when it maps them. */
	if (command && attacher__confines(attacher))
		act_on_known(attacher__meet_library, command, attacher, log);
	else
		watch__attach_known(command, attacher, log);
	attacher__count(attacher, &counts);
	if (targets->pid_count)
		ret = attach_given(targets, &looking, processes,
				   !counts.sites[LAYER_DRIVER] && !targets->library_count, err);
	else if (!targets->command)
		attach_machine(&looking);
	attacher__forget_expected(attacher);
	if (ret)
		return ret;
	attacher__count(attacher, &counts);
	if (!counts.libraries && !command)
		log__warn(log, "no CUDA library found yet: waiting for a process that loads one");
	else if (targets->pid_count && !targets->library_count)
		return warn_without_cuda(targets, log, err);
	return 0;
}

static void each_of(const struct pid_list *list, void (*fn)(pid_t pid, void *arg), void *arg)
{
	for (size_t i = 0; i < list->count; i++)
		fn(list->pids[i], arg);
}

int watch__each_process(const struct targets *targets, void (*fn)(pid_t pid, void *arg), void *arg,
			struct error *err)
{
	struct pid_list list = {0};
	int ret = 0;

	if (targets->command)
		return 0;
	for (size_t i = 0; i < targets->pid_count; i++)
		fn(targets->pids[i], arg);
	ret = targets->pid_count ? proc__descendants_of(targets->pids, targets->pid_count, &list) :
				   proc__list(&list);
	each_of(&list, fn, arg);
	pid_list__clear(&list);
	return ret && ret != -ESRCH ?
		       error__set(err, ret, "cannot list processes: %s", strerror(-ret)) :
		       0;
}
