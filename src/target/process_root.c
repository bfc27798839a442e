// SPDX-License-Identifier: BSD-2-Clause
// Finds files in a process's file system; see process_root.h.
#include "target/process_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/mounts.h"
#include "target/proc.h"

#define LINKS_MAX 40 /* the kernel's limit */
#define DEPTH_MAX 128

struct process_root {
	int fd;
	struct mounts mounts;
};

/*
 * A walk through the file system, one name at a time: each directory is known to answer before a
 * name is looked up in it. ".." returns to the descriptor that the walk came from, so a directory
 * that is moved meanwhile cannot lead out of the root.
 */
struct walk {
	struct process_root *root;
	int fds[DEPTH_MAX]; /* of the directories below the root */
	size_t depth;
	unsigned int links;  /* followed so far */
	char rest[PATH_MAX]; /* the rest of the path */
	struct statx status; /* of the last component */
};

int process_root__open(pid_t pid, struct process_root **out)
{
	struct process_root *root = calloc(1, sizeof(*root));
	char name[64] = "/";
	int ret;

	if (!root)
		return -ENOMEM;
	if (pid)
		proc__path(pid, "root", name, sizeof(name));
	mounts__init(&root->mounts, pid);
	root->fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd >= 0) {
		*out = root;
		return 0;
	}
	ret = errno == ENOENT ? -ESRCH : -errno;
	process_root__free(root);
	return ret;
}

void process_root__free(struct process_root *root)
{
	if (!root)
		return;
	mounts__clear(&root->mounts);
	if (root->fd >= 0)
		close(root->fd);
	free(root);
}

static int here(const struct walk *walk)
{
	return walk->depth ? walk->fds[walk->depth - 1] : walk->root->fd;
}

static void go_up(struct walk *walk)
{
	if (walk->depth)
		close(walk->fds[--walk->depth]);
}

/* Replaces the link that the walk has reached with its target. */
static int follow(struct walk *walk)
{
	char target[PATH_MAX], whole[PATH_MAX];
	ssize_t n = readlinkat(here(walk), "", target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	target[n] = '\0';
	go_up(walk);
	while (*target == '/' && walk->depth)
		go_up(walk);
	if (snprintf(whole, sizeof(whole), "%s/%s", target, walk->rest) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	memcpy(walk->rest, whole, sizeof(whole));
	return 0;
}

static int go_down(struct walk *walk, const char *name)
{
	int fd, ret;

	if (walk->depth == DEPTH_MAX)
		return -ENAMETOOLONG;
	fd = openat(here(walk), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	walk->fds[walk->depth++] = fd;
	ret = mounts__check(&walk->root->mounts, fd, &walk->status);
	return ret ? ret : (S_ISLNK(walk->status.stx_mode) ? follow(walk) : 0);
}

/* Takes the next name off the rest; returns false at the end. */
static bool next_name(struct walk *walk, char name[NAME_MAX + 1], int *error)
{
	size_t slashes = strspn(walk->rest, "/"), length = strcspn(walk->rest + slashes, "/");

	*error = length > NAME_MAX ? -ENAMETOOLONG : 0;
	if (!length || *error)
		return false;
	memcpy(name, walk->rest + slashes, length);
	name[length] = '\0';
	memmove(walk->rest, walk->rest + slashes + length,
		strlen(walk->rest + slashes + length) + 1);
	return true;
}

static int go(struct walk *walk)
{
	char name[NAME_MAX + 1];
	int ret = mounts__check(&walk->root->mounts, walk->root->fd, &walk->status), error = 0;

	while (!ret && next_name(walk, name, &error)) {
		if (!strcmp(name, ".."))
			go_up(walk);
		else if (strcmp(name, ".") != 0)
			ret = go_down(walk, name);
	}
	return ret ? ret : error;
}

int process_root__find(struct process_root *root, const char *path, struct statx *status)
{
	struct walk walk = {.root = root};
	int ret, fd;

	if (snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= (int)sizeof(walk.rest))
		return -ENAMETOOLONG;
	ret = go(&walk);
	/* Check again: the path may have ended with "..". */
	if (!ret)
		ret = mounts__check(&root->mounts, here(&walk), status);
	if (!ret) {
		fd = fcntl(here(&walk), F_DUPFD_CLOEXEC, 3);
		ret = fd < 0 ? -errno : fd;
	}
	while (walk.depth)
		go_up(&walk);
	return ret;
}
