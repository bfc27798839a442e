// SPDX-License-Identifier: BSD-2-Clause
// Which ended processes leave to make room, see ended_share.h.
#include "collect/ended_share.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/table.h"
#include "collect/private.h"

#define UNKNOWN_USER UINT32_MAX

struct user {
	uint32_t uid;
	size_t bytes; /* of the processes that stay so far */
	size_t next;  /* where to look for the user's next process in share.ended */
	UT_hash_handle hh;
};

struct ended {
	size_t index;
	uint64_t ended_ns;
	size_t bytes;
	struct user *user;
	bool shown;
};

struct share {
	struct user *users;
	struct ended *ended; /* in the order in which one user's processes leave */
	size_t count, bytes;
};

static struct user *take_user(struct share *share, uint32_t uid)
{
	struct user *user;

	HASH_FIND(hh, share->users, &uid, sizeof(uid), user);
	if (user)
		return user;
	user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	user->uid = uid;
	HASH_ADD(hh, share->users, uid, sizeof(user->uid), user);
	if (user->hh.tbl)
		return user;
	free(user);
	return NULL;
}

static bool has_left_maps(const struct process *process)
{
	return process->ended && process->slot == NO_PROCESS;
}

static int gather(struct share *share, const struct model *model)
{
	share->ended = calloc(model->process_count, sizeof(*share->ended));
	if (!share->ended)
		return -ENOMEM;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];
		struct ended *ended = &share->ended[share->count];

		if (!has_left_maps(process))
			continue;
		*ended = (struct ended){
			.index = i,
			.ended_ns = process->ended_ns,
			.bytes = process->kept_bytes,
			.user = take_user(share, process->identified ? process->uid : UNKNOWN_USER),
			.shown = process->reported_end && process->paged_end,
		};
		if (!ended->user)
			return -ENOMEM;
		ended->user->bytes += ended->bytes;
		share->count++;
	}
	return 0;
}

static int by_turn(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->shown != y->shown)
		return x->shown ? -1 : 1;
	if (x->ended_ns != y->ended_ns)
		return x->ended_ns < y->ended_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static struct user *largest_user(const struct share *share)
{
	struct user *largest = share->users;

	for (struct user *user = share->users; user; user = user->hh.next)
		if (user->bytes > largest->bytes)
			largest = user;
	return largest;
}

/* The user's next process to leave. There is one while the user has bytes. */
static const struct ended *take_next(const struct share *share, struct user *user)
{
	while (share->ended[user->next].user != user)
		user->next++;
	return &share->ended[user->next++];
}

static void choose(struct share *share, size_t bytes_max, void (*fn)(size_t index, void *arg),
		   void *arg)
{
	qsort(share->ended, share->count, sizeof(*share->ended), by_turn);
	while (share->bytes > bytes_max) {
		struct user *user = largest_user(share);
		const struct ended *ended = take_next(share, user);

		user->bytes -= ended->bytes;
		share->bytes -= ended->bytes;
		fn(ended->index, arg);
	}
}

static void clear(struct share *share)
{
	TABLE_CLEAR(share->users, free);
	free(share->ended);
}

int ended_share__each_beyond(const struct model *model, size_t bytes_max,
			     void (*fn)(size_t index, void *arg), void *arg)
{
	struct share share = {0};
	int ret;

	for (size_t i = 0; i < model->process_count; i++)
		share.bytes +=
			has_left_maps(&model->processes[i]) ? model->processes[i].kept_bytes : 0;
	if (share.bytes <= bytes_max)
		return 0;
	ret = gather(&share, model);
	if (!ret)
		choose(&share, bytes_max, fn, arg);
	clear(&share);
	return ret;
}
