// SPDX-License-Identifier: BSD-2-Clause
// Kernels by name, see kernels_by_name.h.
#include "model/kernels_by_name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "symbol/kernel_name.h"

/*
 * For programs that invent names without end: kernels beyond this limit stay nameless. Ten times
 * what PyTorch needs.
 */
#define NAME_BYTES_MAX (64u << 20)
/* The same for all processes together; a process below its own share still gets names. */
#define ALL_NAME_BYTES_MAX (256u << 20)
#define NAME_BYTES_SHARE (256u << 10)
/*
 * For programs that invent handles without end: nameless kernels beyond this limit are shown as
 * one.
 */
#define UNNAMED_MAX 1024

static void free_strings(struct shown_kernel *shown)
{
	free(shown->mangled);
	free(shown->full);
	free(shown->brief);
	free(shown->label);
	shown->mangled = shown->full = shown->brief = shown->label = NULL;
}

static void free_shown(struct shown_kernel *shown)
{
	free_strings(shown);
	free(shown);
}

void kernels_by_name__clear(struct kernels_by_name *kernels)
{
	struct shown_kernel *shown, *next;

	TABLE_CLEAR(kernels->named, free_shown);
	label_set__clear(&kernels->labels);
	if (kernels->all_name_bytes)
		*kernels->all_name_bytes -= kernels->name_bytes;
	for (shown = kernels->unnamed; shown; shown = next) {
		next = shown->next_unnamed;
		free_shown(shown);
	}
	*kernels = (struct kernels_by_name){.all_name_bytes = kernels->all_name_bytes};
}

size_t kernels_by_name__bytes(const struct kernels_by_name *kernels)
{
	/* Named kernels are included in `name_bytes`. */
	return kernels->name_bytes + kernels->unnamed_count * sizeof(*kernels->unnamed);
}

static void widen(__u64 *min, __u64 *max, __u64 other_min, __u64 other_max)
{
	if (other_min < *min)
		*min = other_min;
	if (other_max > *max)
		*max = other_max;
}

void shape_record__merge(struct shape_record *sum, const struct shape_record *shape)
{
	if (!shape->samples)
		return;
	if (!sum->samples) {
		*sum = *shape;
		return;
	}
	sum->samples += shape->samples;
	widen(&sum->blocks_min, &sum->blocks_max, shape->blocks_min, shape->blocks_max);
	widen(&sum->threads_min, &sum->threads_max, shape->threads_min, shape->threads_max);
	widen(&sum->shared_min, &sum->shared_max, shape->shared_min, shape->shared_max);
	sum->gaps += shape->gaps;
	sum->gap_ns += shape->gap_ns;
	widen(&sum->gap_min, &sum->gap_max, shape->gap_min, shape->gap_max);
	if (shape->latest_ns < sum->latest_ns)
		return;
	sum->latest_ns = shape->latest_ns;
	sum->latest = shape->latest;
	sum->stream = shape->stream;
}

static struct shown_kernel *add_unnamed(struct kernels_by_name *kernels, uint64_t handle)
{
	struct shown_kernel *shown = calloc(1, sizeof(*shown));

	if (!shown)
		return NULL;
	shown->handle = handle;
	shown->serial = kernels->next_serial++;
	DL_PREPEND2(kernels->unnamed, shown, prev_unnamed, next_unnamed);
	kernels->unnamed_count++;
	return shown;
}

struct shown_kernel *kernels_by_name__add(struct kernels_by_name *kernels, uint64_t handle)
{
	if (kernels->unnamed_count < UNNAMED_MAX && handle != KERNEL_OTHER)
		return add_unnamed(kernels, handle);
	/* It does not stand for a single handle. */
	if (!kernels->rest)
		kernels->rest = add_unnamed(kernels, 0);
	return kernels->rest;
}

static void unlink_unnamed(struct kernels_by_name *kernels, struct shown_kernel *shown)
{
	DL_DELETE2(kernels->unnamed, shown, prev_unnamed, next_unnamed);
	kernels->unnamed_count--;
}

void kernels_by_name__drop(struct kernels_by_name *kernels, struct shown_kernel *shown)
{
	if (shown == kernels->rest)
		return;
	unlink_unnamed(kernels, shown);
	free_shown(shown);
}

static char *make_label(struct kernels_by_name *kernels, const char *readable, const char *mangled)
{
	char label[KERNEL_LABEL_SIZE], unique[KERNEL_LABEL_SIZE];

	kernel_label__write(readable, label);
	return label_set__take(&kernels->labels, label, mangled, unique) ? NULL : strdup(unique);
}

static int set_strings(struct kernels_by_name *kernels, struct shown_kernel *shown,
		       const char *mangled)
{
	char *readable = kernel_name__demangle_whole(&kernels->names_ns, mangled);
	uint64_t begin = clock__thread_ns();
	char *brief = readable ? kernel_name__short(readable) : NULL;

	shown->label = readable ? make_label(kernels, readable, mangled) : NULL;
	kernels->names_ns += clock__thread_ns() - begin;
	shown->mangled = strdup(mangled);
	shown->full = kernel_name__keep(readable);
	shown->brief = kernel_name__keep(brief);
	if (shown->mangled && shown->full && shown->brief && shown->label)
		return 0;
	free_strings(shown);
	return -ENOMEM;
}

/*
 * The kernel that already has the name takes over the other's counts. From the shared rest it only
 * takes those of this handle, see `current`.
 */
static void join(struct kernels_by_name *kernels, struct shown_kernel *known,
		 struct shown_kernel *shown)
{
	if (shown == kernels->rest)
		return;
	known->folded[0] += shown->folded[0];
	known->folded[1] += shown->folded[1];
	known->folded_missed += shown->folded_missed;
	shape_record__merge(&known->folded_shape, &shown->folded_shape);
	known->handle = shown->handle;
	kernels_by_name__drop(kernels, shown);
}

static bool has_room(const struct kernels_by_name *kernels)
{
	if (kernels->name_bytes > NAME_BYTES_MAX)
		return false;
	return kernels->name_bytes <= NAME_BYTES_SHARE || !kernels->all_name_bytes ||
	       *kernels->all_name_bytes <= ALL_NAME_BYTES_MAX;
}

int kernels_by_name__name(struct kernels_by_name *kernels, struct shown_kernel **entry,
			  uint64_t handle, const char *mangled)
{
	struct shown_kernel *shown = *entry, *known;
	size_t bytes = kernels->labels.bytes;
	int ret;

	HASH_FIND_STR(kernels->named, mangled, known);
	if (known) {
		join(kernels, known, shown);
		*entry = known;
		return 0;
	}
	if (!has_room(kernels))
		return 0;
	/* A kernel that was shown in the shared entry is listed by itself from now on. */
	if (shown == kernels->rest)
		shown = add_unnamed(kernels, handle);
	if (!shown)
		return -ENOMEM;
	ret = set_strings(kernels, shown, mangled);
	if (ret)
		goto fail;
	HASH_ADD_KEYPTR(hh, kernels->named, shown->mangled, strlen(shown->mangled), shown);
	ret = shown->hh.tbl ? 0 : -ENOMEM;
	if (ret)
		goto fail;
	bytes = kernels->labels.bytes - bytes + sizeof(*shown) + strlen(shown->mangled) +
		strlen(shown->full) + strlen(shown->brief) + strlen(shown->label) + 4;
	kernels->name_bytes += bytes;
	if (kernels->all_name_bytes)
		*kernels->all_name_bytes += bytes;
	unlink_unnamed(kernels, shown);
	*entry = shown;
	return 0;
fail:
	free_strings(shown);
	if (shown != *entry)
		kernels_by_name__drop(kernels, shown);
	return ret;
}

static void begin_sum(struct shown_kernel *shown)
{
	memcpy(shown->current, shown->folded, sizeof(shown->current));
	shown->current_missed = shown->folded_missed;
	shown->current_shape = shown->folded_shape;
}

void kernels_by_name__begin_sum(const struct kernels_by_name *kernels)
{
	struct shown_kernel *shown;

	for (shown = kernels->unnamed; shown; shown = shown->next_unnamed)
		begin_sum(shown);
	for (shown = kernels->named; shown; shown = shown->hh.next)
		begin_sum(shown);
}

static int by_launches(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	if (x->launches != y->launches)
		return x->launches < y->launches ? 1 : -1;
	/*
	 * Hash order is arbitrary; a fixed order lets reports of two runs be compared. People
	 * expect round_2 before round_10.
	 */
	if (x->name && y->name && strverscmp(x->name, y->name))
		return strverscmp(x->name, y->name);
	if (!x->name != !y->name)
		return x->name ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static void append(struct process *process, const struct shown_kernel *shown, bool is_rest)
{
	/* The shape may arrive before the launches. */
	if (!shown->mangled && !shown->current[0] && !shown->current[1])
		return;
	process->kernels[process->kernel_count++] = (struct kernel){
		.handle = shown->handle,
		.name = shown->full,
		.short_name = shown->brief,
		.label = shown->label,
		.launches = shown->current[0],
		.captured = shown->current[1],
		.missed = shown->current_missed,
		.shape = shown->current_shape,
		.serial = shown->serial,
		.is_rest = is_rest,
	};
	process->launches += shown->current[0];
	process->captured_launches += shown->current[1];
}

int kernels_by_name__list(const struct kernels_by_name *kernels, struct process *process)
{
	size_t count = HASH_COUNT(kernels->named);
	const struct shown_kernel *shown;
	struct kernel *list;

	count += kernels->unnamed_count;
	list = realloc(process->kernels, (count ? count : 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	process->kernels = list;
	process->kernel_count = 0;
	process->launches = 0;
	process->captured_launches = 0;
	for (shown = kernels->named; shown; shown = shown->hh.next)
		append(process, shown, false);
	for (shown = kernels->unnamed; shown; shown = shown->next_unnamed)
		append(process, shown, shown == kernels->rest);
	qsort(list, process->kernel_count, sizeof(*list), by_launches);
	return 0;
}
