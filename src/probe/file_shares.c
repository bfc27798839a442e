// SPDX-License-Identifier: BSD-2-Clause
// Users' shares of room and time for files with probes; see file_shares.h.
#include "probe/file_shares.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/table.h"

#define CREDIT_NS NS_PER_S /* credit that a user may use at once */
#define REFILL 10	   /* recovering it takes this many times as long */
#define USERS_MAX 4096	   /* users tracked separately; all further users share one entry */
#define OTHERS ((uid_t)-1)

struct user {
	uid_t uid;
	size_t files;
	/* When the credit is full again: the missing credit is a tenth of the time until then. */
	uint64_t full_ns;
	UT_hash_handle hh;
};

struct file_shares {
	struct user *users; /* a uthash table */
	size_t room, files;
};

struct file_shares *file_shares__new(size_t room)
{
	struct file_shares *shares = calloc(1, sizeof(*shares));

	if (shares)
		shares->room = room;
	return shares;
}

void file_shares__free(struct file_shares *shares)
{
	if (!shares)
		return;
	TABLE_CLEAR(shares->users, free);
	free(shares);
}

static struct user *look_up(const struct file_shares *shares, uid_t uid)
{
	return TABLE_FIND(shares->users, uid, &uid);
}

static struct user *find(const struct file_shares *shares, uid_t uid)
{
	struct user *user = look_up(shares, uid);

	return user || HASH_COUNT(shares->users) < USERS_MAX ? user : look_up(shares, OTHERS);
}

/* Returns NULL if out of memory. */
static struct user *take(struct file_shares *shares, uid_t uid)
{
	struct user *user = find(shares, uid);

	if (user)
		return user;
	if (HASH_COUNT(shares->users) >= USERS_MAX)
		uid = OTHERS;
	return TABLE_ADD_NEW(shares->users, uid, &uid);
}

bool file_shares__have_room(const struct file_shares *shares, uid_t uid)
{
	const struct user *user = find(shares, uid);

	return shares->files + (user ? user->files : 0) < shares->room;
}

void file_shares__count(struct file_shares *shares, uid_t uid, int sign)
{
	struct user *user = sign > 0 ? take(shares, uid) : find(shares, uid);

	shares->files += (size_t)sign;
	if (user && (sign > 0 || user->files))
		user->files += (size_t)sign;
}

void file_shares__charge(struct file_shares *shares, uid_t uid, uint64_t ns, uint64_t now_ns)
{
	struct user *user = take(shares, uid);

	if (!user)
		return;
	if (user->full_ns < now_ns)
		user->full_ns = now_ns;
	user->full_ns += REFILL * ns;
}

uint64_t file_shares__ready_ns(const struct file_shares *shares, uid_t uid, uint64_t now_ns)
{
	const struct user *user = find(shares, uid);

	if (!user || user->full_ns <= now_ns + REFILL * CREDIT_NS)
		return now_ns;
	return user->full_ns - REFILL * CREDIT_NS;
}
