// SPDX-License-Identifier: BSD-2-Clause
// Takes the threads of a process; see taken.h.
#include "dump/taken.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "dump/running.h"

#define SAMPLE_MS 50

/* The tid in the name of a directory entry of /proc/PID/task; 0 for other entries. */
static pid_t number_of(const struct dirent *entry)
{
	char *end;
	long number = strtol(entry->d_name, &end, 10);

	return *end || number <= 0 ? 0 : (pid_t)number;
}

static int add(struct taken_threads *threads, pid_t tid)
{
	return ARRAY_APPEND(threads->list, threads->count, (struct taken_thread){.tid = tid});
}

static int compare(const void *a, const void *b)
{
	pid_t left = ((const struct taken_thread *)a)->tid,
	      right = ((const struct taken_thread *)b)->tid;

	return (left > right) - (left < right);
}

static void put_main_first(struct taken_threads *threads, pid_t pid)
{
	for (size_t i = 0; i < threads->count; i++) {
		struct taken_thread main = threads->list[i];

		if (main.tid != pid)
			continue;
		for (; i; i--)
			threads->list[i] = threads->list[i - 1];
		threads->list[0] = main;
	}
}

static int list(struct taken_threads *threads, pid_t pid, size_t max)
{
	const struct dirent *entry;
	char path[32];
	DIR *tasks;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!ret && (entry = readdir(tasks))) {
		pid_t tid = number_of(entry);

		if (tid && threads->count < max)
			ret = add(threads, tid);
		else
			threads->unseen += tid != 0;
	}
	closedir(tasks);
	if (threads->count)
		qsort(threads->list, threads->count, sizeof(*threads->list), compare);
	put_main_first(threads, pid);
	return ret;
}

int taken_threads__take(struct taken_threads *threads, struct thread_reader *reader, pid_t pid,
			size_t max)
{
	int ret;

	*threads = (struct taken_threads){0};
	ret = list(threads, pid, max);
	for (size_t i = 0; i < threads->count; i++)
		threads->list[i].look = thread_reader__take(reader, pid, threads->list[i].tid);
	return ret;
}

void taken_threads__sample(struct taken_threads *threads)
{
	struct running_thread *running =
		threads->count ? calloc(threads->count, sizeof(*running)) : NULL;
	size_t count = 0;

	for (size_t i = 0; i < threads->count; i++) {
		struct taken_thread *thread = &threads->list[i];

		thread->approximate = thread->look && thread->look->on_cpu;
		if (running && thread->approximate)
			running[count++] =
				(struct running_thread){.tid = thread->tid, .look = thread->look};
	}
	running_threads__sample(running, count, SAMPLE_MS);
	for (size_t i = 0, next = 0; next < count && i < threads->count; i++)
		if (threads->list[i].approximate)
			threads->list[i].approximate = !running[next++].seen;
	free(running);
}

void taken_threads__clear(struct taken_threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		free(threads->list[i].look);
	free(threads->list);
	*threads = (struct taken_threads){0};
}
