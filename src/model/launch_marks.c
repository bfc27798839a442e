// SPDX-License-Identifier: BSD-2-Clause
// Launches of kernels at the latest reading, see launch_marks.h.
#include "model/launch_marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

#define COUNTS_MOST (256 * 1024) /* of all processes */
#define NAMED 4
#define LATEST_SIZE 288
#define UNNAMED "(unnamed)"

struct mark {
	uint64_t serial;  /* of the process */
	uint64_t *counts; /* by the kernel's serial; NULL: unknown */
	size_t count;
	char *latest; /* its kernels of the latest readings between which it launched; NULL: none */
	bool is_new;  /* it has no counts yet, since it had no launches */
	bool seen;    /* by the reading in progress */
	UT_hash_handle hh;
};

struct launch_marks {
	struct mark *marks;
	size_t counts; /* in all marks */
};

struct launch_marks *launch_marks__new(void)
{
	return calloc(1, sizeof(struct launch_marks));
}

static void mark__free(struct mark *mark)
{
	free(mark->counts);
	free(mark->latest);
	free(mark);
}

void launch_marks__free(struct launch_marks *marks)
{
	if (!marks)
		return;
	TABLE_CLEAR(marks->marks, mark__free);
	free(marks);
}

static struct mark *find(const struct launch_marks *marks, const struct process *process)
{
	struct mark *mark;

	HASH_FIND(hh, marks->marks, &process->serial, sizeof(process->serial), mark);
	return mark;
}

static struct mark *find_or_add(struct launch_marks *marks, const struct process *process)
{
	struct mark *mark = find(marks, process);

	if (mark)
		return mark;
	mark = calloc(1, sizeof(*mark));
	if (!mark)
		return NULL;
	mark->serial = process->serial;
	mark->is_new = true;
	HASH_ADD(hh, marks->marks, serial, sizeof(mark->serial), mark);
	if (mark->hh.tbl)
		return mark;
	free(mark);
	return NULL;
}

static size_t serials(const struct process *process)
{
	uint64_t most = 0;

	for (size_t i = 0; i < process->kernel_count; i++)
		if (process->kernels[i].serial >= most)
			most = process->kernels[i].serial + 1;
	return (size_t)most;
}

/* Makes room for so many counts. */
static bool resize(struct launch_marks *marks, struct mark *mark, size_t count)
{
	uint64_t *counts;

	if (count <= mark->count && mark->counts)
		return true;
	marks->counts -= mark->count;
	free(mark->counts);
	counts = count <= COUNTS_MOST - marks->counts ? calloc(count + 1, sizeof(*counts)) : NULL;
	mark->counts = counts;
	mark->count = counts ? count : 0;
	marks->counts += mark->count;
	return counts;
}

static bool has_run(const struct mark *mark, const struct kernel *kernel)
{
	uint64_t before = mark && kernel->serial < mark->count ? mark->counts[kernel->serial] : 0;

	return kernel->launches > before;
}

static void write_since(const struct mark *mark, const struct process *process, char *text,
			size_t size)
{
	bool is_known = !mark || mark->is_new || mark->counts;
	size_t named = 0, more = 0, length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < process->kernel_count && is_known; i++) {
		const struct kernel *kernel = &process->kernels[i];
		const char *label = kernel->label ? kernel->label : UNNAMED;
		size_t needed =
			strlen(label) + strlen(", ") + sizeof(" and 18446744073709551615 more");

		if (!has_run(mark, kernel))
			continue;
		if (named == NAMED || length + needed > size) {
			more++;
			continue;
		}
		length += (size_t)snprintf(text + length, size - length, "%s%s", named ? ", " : "",
					   label);
		named++;
	}
	if (named && more)
		snprintf(text + length, size - length, " and %zu more", more);
}

static void keep_latest(struct mark *mark, const struct process *process)
{
	char text[LATEST_SIZE], *copy;

	write_since(mark, process, text, sizeof(text));
	copy = *text ? strdup(text) : NULL;
	if (!copy)
		return;
	free(mark->latest);
	mark->latest = copy;
}

static void take(struct launch_marks *marks, const struct process *process)
{
	struct mark *mark = find_or_add(marks, process);

	if (!mark)
		return;
	mark->seen = true;
	keep_latest(mark, process);
	mark->is_new = false;
	if (!resize(marks, mark, serials(process)))
		return;
	for (size_t i = 0; i < process->kernel_count; i++)
		mark->counts[process->kernels[i].serial] = process->kernels[i].launches;
}

void launch_marks__take(struct launch_marks *marks, const struct model *model)
{
	struct mark *mark, *next;

	for (size_t i = 0; i < model->process_count; i++)
		if (!model->processes[i].ended)
			take(marks, &model->processes[i]);
	HASH_ITER (hh, marks->marks, mark, next) {
		if (mark->seen) {
			mark->seen = false;
			continue;
		}
		marks->counts -= mark->count;
		HASH_DEL(marks->marks, mark);
		mark__free(mark);
	}
}

void launch_marks__latest(const struct launch_marks *marks, const struct process *process,
			  char *text, size_t size)
{
	const struct mark *mark = find(marks, process);

	write_since(mark, process, text, size);
	if (!*text && mark && mark->latest)
		snprintf(text, size, "%s", mark->latest);
}
