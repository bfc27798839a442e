// SPDX-License-Identifier: BSD-2-Clause
// Joins GPU work with calls, see gpu_join.h.
#include "model/gpu_join.h"

#include <stdlib.h>
#include <string.h>

#define CLOCKS 16 /* latest ones, of which the earliest counts: clocks may be set */
/* So much of each sort stays at most after a run: what has no partner stays for a while. */
#define KEPT (GPU_JOIN_ROOM / 2)
/* A run is due: there is still room for the batch that is being added. */
#define DUE (GPU_JOIN_ROOM - 2 * GPU_TIMES_BATCH)
#define MARK_TRIES 3	   /* a call may be told after later ones of other threads */
#define MOST_LATE_NS 50000 /* a mark after the end of its call: the clocks differ that much */

/* A call that probes have seen. */
struct seen {
	uint64_t start_ns, end_ns; /* CLOCK_BOOTTIME */
	uint64_t stack, path;
	uint32_t thread, tid;
	bool used;
};

/* CUPTI's record of a call. */
struct mark {
	uint64_t start_ns;
	uint32_t thread, correlation;
	unsigned int tries;
};

/* A call by the number of its work. */
struct known {
	uint64_t start_ns, stack, path;
	uint32_t correlation, tid;
	bool used; /* in this run: others may have several pieces of work, but hardly later */
};

/* A piece of work with what it was joined with. */
struct pair {
	uint32_t work, known; /* indices */
};

struct gpu_join {
	int64_t offsets[CLOCKS];
	unsigned int offset_count; /* so far */
	struct seen seen[GPU_JOIN_ROOM];
	struct mark marks[GPU_JOIN_ROOM];
	struct known known[KEPT + GPU_JOIN_ROOM]; /* those that are kept, and one for each mark */
	struct gpu_work work[GPU_JOIN_ROOM];
	struct pair pairs[GPU_JOIN_ROOM];
	size_t seen_count, mark_count, known_count, work_count, pair_count;
	size_t old_count;	  /* of `work`: those first ones that gpu_join__give_up has met */
	uint64_t latest_ns;	  /* start of the latest call that was seen */
	gpu_unjoined_fn unjoined; /* NULL: work is forgotten silently */
	void *unjoined_arg;
};

/* Most of it is never touched, so that it takes memory only as it fills. */
struct gpu_join *gpu_join__new(void)
{
	return calloc(1, sizeof(struct gpu_join));
}

void gpu_join__free(struct gpu_join *join)
{
	free(join);
}

/* --- clocks --- */

void gpu_join__set_clock(struct gpu_join *join, uint64_t cupti_ns, uint64_t boot_ns)
{
	join->offsets[join->offset_count++ % CLOCKS] = (int64_t)(boot_ns - cupti_ns);
}

bool gpu_join__clock(const struct gpu_join *join, int64_t *offset_ns)
{
	unsigned int count = join->offset_count < CLOCKS ? join->offset_count : CLOCKS;

	for (unsigned int i = 0; i < count; i++)
		if (!i || join->offsets[i] < *offset_ns)
			*offset_ns = join->offsets[i];
	return count > 0;
}

/* --- what comes in --- */

/* Forgets the earlier items but for KEPT, if there are `most` or more, which is at least KEPT. */
#define FORGET(array, count, most) \
	do { \
		if ((count) >= (most)) { \
			memmove(array, (array) + ((count)-KEPT), KEPT * sizeof(*(array))); \
			(count) = KEPT; \
		} \
	} while (0)

bool gpu_join__add_call(struct gpu_join *join, const struct gpu_call *call)
{
	FORGET(join->seen, join->seen_count, GPU_JOIN_ROOM);
	if (call->start_ns > join->latest_ns)
		join->latest_ns = call->start_ns;
	join->seen[join->seen_count++] = (struct seen){.start_ns = call->start_ns,
						       .end_ns = call->end_ns,
						       .stack = call->stack,
						       .path = call->path,
						       .thread = call->thread,
						       .tid = call->tid};
	return join->seen_count >= DUE;
}

/* Forgets the first pieces of work, so many. */
static void drop_work(struct gpu_join *join, size_t count)
{
	for (size_t i = 0; join->unjoined && i < count; i++)
		join->unjoined(&join->work[i], join->unjoined_arg);
	join->work_count -= count;
	memmove(join->work, join->work + count, join->work_count * sizeof(*join->work));
	join->old_count -= count < join->old_count ? count : join->old_count;
}

static void limit_work(struct gpu_join *join, size_t most)
{
	if (join->work_count >= most)
		drop_work(join, join->work_count - KEPT);
}

bool gpu_join__add_work(struct gpu_join *join, const struct gpu_work *work)
{
	if (!work->correlation || !work->start_ns)
		return false;
	if (work->kind == GPU_WORK_CALL) {
		FORGET(join->marks, join->mark_count, GPU_JOIN_ROOM);
		join->marks[join->mark_count++] = (struct mark){.start_ns = work->start_ns,
								.thread = work->thread,
								.correlation = work->correlation};
		return join->mark_count >= DUE;
	}
	limit_work(join, GPU_JOIN_ROOM);
	join->work[join->work_count++] = *work;
	return join->work_count >= DUE;
}

/* --- calls and marks --- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_thread_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int order = compare(x->thread, y->thread);

	return order ? order : compare(x->start_ns, y->start_ns);
}

static int by_thread_mark(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	int order = compare(x->thread, y->thread);

	return order ? order : compare(x->start_ns, y->start_ns);
}

static int by_start(const void *a, const void *b)
{
	return compare(((const struct known *)a)->start_ns, ((const struct known *)b)->start_ns);
}

static int by_start_seen(const void *a, const void *b)
{
	return compare(((const struct seen *)a)->start_ns, ((const struct seen *)b)->start_ns);
}

static int by_correlation(const void *a, const void *b)
{
	return compare(((const struct known *)a)->correlation,
		       ((const struct known *)b)->correlation);
}

static void take_known(struct gpu_join *join, const struct mark *mark, struct seen *seen)
{
	seen->used = true;
	join->known[join->known_count++] = (struct known){.start_ns = seen->start_ns,
							  .stack = seen->stack,
							  .path = seen->path,
							  .correlation = mark->correlation,
							  .tid = seen->tid};
}

/*
 * The call that the mark is in: the latest of its thread that began before it. `*at` is where the
 * search for the next mark goes on. NULL: it is not known.
 */
static struct seen *call_of(struct gpu_join *join, const struct mark *mark, uint64_t boot_ns,
			    size_t *at)
{
	struct seen *found = NULL;

	while (*at < join->seen_count && join->seen[*at].thread < mark->thread)
		++*at;
	for (; *at < join->seen_count && join->seen[*at].thread == mark->thread &&
	       join->seen[*at].start_ns <= boot_ns;
	     ++*at)
		found = &join->seen[*at];
	/* The next mark may be in the same call, which is used then. */
	if (found)
		*at = (size_t)(found - join->seen);
	return found && !found->used && boot_ns <= found->end_ns + MOST_LATE_NS ? found : NULL;
}

static void drop_used(struct gpu_join *join)
{
	size_t kept = 0;

	for (size_t i = 0; i < join->seen_count; i++)
		if (!join->seen[i].used)
			join->seen[kept++] = join->seen[i];
	join->seen_count = kept;
	if (kept > KEPT)
		qsort(join->seen, kept, sizeof(*join->seen), by_start_seen);
	FORGET(join->seen, join->seen_count, KEPT);
}

static void match_marks(struct gpu_join *join, int64_t offset_ns)
{
	size_t at = 0, kept = 0;

	qsort(join->seen, join->seen_count, sizeof(*join->seen), by_thread_seen);
	qsort(join->marks, join->mark_count, sizeof(*join->marks), by_thread_mark);
	for (size_t i = 0; i < join->mark_count; i++) {
		struct mark mark = join->marks[i];
		uint64_t boot_ns = mark.start_ns + (uint64_t)offset_ns;
		struct seen *seen = call_of(join, &mark, boot_ns, &at);

		if (seen)
			take_known(join, &mark, seen);
		else if (boot_ns > join->latest_ns || ++mark.tries < MARK_TRIES)
			join->marks[kept++] = mark;
	}
	join->mark_count = kept;
	FORGET(join->marks, join->mark_count, KEPT);
	drop_used(join);
	qsort(join->known, join->known_count, sizeof(*join->known), by_correlation);
}

/* --- work and calls --- */

static struct known *find_known(struct gpu_join *join, uint32_t correlation)
{
	const struct known key = {.correlation = correlation};

	return bsearch(&key, join->known, join->known_count, sizeof(key), by_correlation);
}

static int by_work_start(const void *a, const void *b, void *arg)
{
	const struct gpu_work *work = arg;

	return compare(work[((const struct pair *)a)->work].start_ns,
		       work[((const struct pair *)b)->work].start_ns);
}

static void pair_work(struct gpu_join *join)
{
	join->pair_count = 0;
	for (uint32_t i = 0; i < join->work_count; i++) {
		struct known *known = find_known(join, join->work[i].correlation);

		if (!known)
			continue;
		known->used = true;
		join->pairs[join->pair_count++] = (struct pair){i, (uint32_t)(known - join->known)};
	}
	qsort_r(join->pairs, join->pair_count, sizeof(*join->pairs), by_work_start, join->work);
}

static void drop_paired(struct gpu_join *join)
{
	size_t kept = 0, old = 0;

	for (size_t i = 0; i < join->pair_count; i++)
		join->work[join->pairs[i].work].kind = 0;
	for (size_t i = 0; i < join->work_count; i++) {
		if (!join->work[i].kind)
			continue;
		old += i < join->old_count;
		join->work[kept++] = join->work[i];
	}
	join->work_count = kept;
	join->old_count = old;
	limit_work(join, KEPT);
}

static void drop_used_known(struct gpu_join *join)
{
	size_t kept = 0;

	for (size_t i = 0; i < join->known_count; i++)
		if (!join->known[i].used)
			join->known[kept++] = join->known[i];
	join->known_count = kept;
	if (kept > KEPT)
		qsort(join->known, kept, sizeof(*join->known), by_start);
	FORGET(join->known, join->known_count, KEPT);
}

size_t gpu_join__run(struct gpu_join *join, gpu_joined_fn fn, void *arg)
{
	size_t known = join->known_count;
	int64_t offset_ns = 0;

	if (!gpu_join__clock(join, &offset_ns))
		return 0;
	match_marks(join, offset_ns);
	known = join->known_count - known;
	pair_work(join);
	for (size_t i = 0; i < join->pair_count; i++) {
		const struct known *call = &join->known[join->pairs[i].known];
		const struct gpu_joined joined = {
			.work = &join->work[join->pairs[i].work],
			.called_ns = call->start_ns - (uint64_t)offset_ns,
			.stack = call->stack,
			.path = call->path,
			.tid = call->tid,
		};

		fn(&joined, arg);
	}
	drop_paired(join);
	drop_used_known(join);
	return known;
}

void gpu_join__keep_all(struct gpu_join *join, gpu_unjoined_fn fn, void *arg)
{
	join->unjoined = fn;
	join->unjoined_arg = arg;
}

void gpu_join__give_up(struct gpu_join *join, bool all)
{
	drop_work(join, all ? join->work_count : join->old_count);
	join->old_count = join->work_count;
}
