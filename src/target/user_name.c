// SPDX-License-Identifier: BSD-2-Clause
// Names of users; see user_name.h.
#include "target/user_name.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/root_file.h"

#define KEPT 256	   /* users remembered; then the oldest entry is reused */
#define MAX_ENTRIES 100000 /* of the host's passwd that are read */
#define BUFFER_SIZE 16384  /* for one entry */

struct user {
	uid_t uid;
	char name[USER_NAME_SIZE];
};

struct user_names {
	bool foreign; /* gpuprobe's root directory is not the host's */
	size_t count; /* found so far */
	struct user users[KEPT];
	char buffer[BUFFER_SIZE];
};

/* Whether the first visible process has another root directory. */
static bool is_foreign(void)
{
	struct stat own, first;

	if (stat("/", &own) || stat("/proc/1/root", &first))
		return false;
	return own.st_dev != first.st_dev || own.st_ino != first.st_ino;
}

struct user_names *user_names__new(void)
{
	struct user_names *names = calloc(1, sizeof(*names));

	if (names)
		names->foreign = is_foreign();
	return names;
}

void user_names__free(struct user_names *names)
{
	free(names);
}

/* Finds the host's entry with this name, or with this number if `name` is NULL. */
static const struct passwd *find_entry(FILE *in, const char *name, uid_t uid, char *buffer,
				       struct passwd *entry)
{
	struct passwd *found;

	for (int i = 0; i < MAX_ENTRIES && !fgetpwent_r(in, entry, buffer, BUFFER_SIZE, &found);
	     i++)
		if (name ? !strcmp(found->pw_name, name) : found->pw_uid == uid)
			return found;
	return NULL;
}

static FILE *open_users(bool foreign)
{
	int fd = foreign ? root_file__open(1, "/etc/passwd") :
			   open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !in)
		close(fd);
	return in;
}

/*
 * If the file has the user, skip the C library's databases: they may be on a network, and the
 * library ends the program if memory runs out.
 */
static bool wants_databases(bool foreign, FILE *in, const struct passwd *found)
{
	return !foreign && !found && (in ? !ferror(in) : errno == ENOENT);
}

static void look_up(struct user_names *names, struct user *user)
{
	FILE *in = open_users(names->foreign);
	struct passwd entry, *result;
	const struct passwd *found =
		in ? find_entry(in, NULL, user->uid, names->buffer, &entry) : NULL;

	if (wants_databases(names->foreign, in, found) &&
	    !getpwuid_r(user->uid, &entry, names->buffer, BUFFER_SIZE, &result))
		found = result;
	if (found && found->pw_name[0] && strlen(found->pw_name) < USER_NAME_SIZE)
		snprintf(user->name, sizeof(user->name), "%s", found->pw_name);
	else
		snprintf(user->name, sizeof(user->name), "%u", user->uid);
	if (in)
		fclose(in);
}

void user_names__find(struct user_names *names, uid_t uid, char name[USER_NAME_SIZE])
{
	size_t kept = names->count < KEPT ? names->count : KEPT;
	struct user *user = NULL;

	for (size_t i = 0; i < kept && !user; i++)
		if (names->users[i].uid == uid)
			user = &names->users[i];
	if (!user) {
		user = &names->users[names->count++ % KEPT];
		user->uid = uid;
		look_up(names, user);
	}
	memcpy(name, user->name, USER_NAME_SIZE);
}

int user_name__to_uid(const char *name, uid_t *uid)
{
	struct passwd entry, *result;
	bool foreign = is_foreign();
	char buffer[BUFFER_SIZE];
	FILE *in = open_users(foreign);
	const struct passwd *found = in ? find_entry(in, name, 0, buffer, &entry) : NULL;

	if (wants_databases(foreign, in, found) &&
	    !getpwnam_r(name, &entry, buffer, sizeof(buffer), &result))
		found = result;
	if (found)
		*uid = found->pw_uid;
	if (in)
		fclose(in);
	return found ? 0 : -ENOENT;
}
