// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a container reports about itself: its mounts, its users, and links in its root directory
 * that lead anywhere. The first byte chooses. The links are real ones, in a folder that plays the
 * root of process 1: whatever they say, every file found must be inside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "target/mounts.h"
#include "target/process_root.h"
#include "target/root_file.h"
#include "target/user_name.h"

#define LINKS 6

/* Created once and removed at the end. */
static char top[PATH_MAX];
static int folders[3]; /* the root, a and a/b inside it */

static void make_file(const char *name)
{
	int fd = openat(folders[0], name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	MUST(fd >= 0);
	close(fd);
}

static int make_folder(int in, const char *name)
{
	int fd;

	MUST(!mkdirat(in, name, 0700));
	fd = openat(in, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	MUST(fd >= 0);
	return fd;
}

static void remove_all(void)
{
	unlinkat(folders[0], "../secret", 0);
	unlinkat(folders[0], "file", 0);
	unlinkat(folders[0], "fifo", 0);
	unlinkat(folders[1], "b", AT_REMOVEDIR);
	unlinkat(folders[0], "a", AT_REMOVEDIR);
	unlinkat(folders[0], "../root", AT_REMOVEDIR);
	rmdir(top);
}

static void make_all(void)
{
	const char *temporary = getenv("TMPDIR");
	int fd;

	snprintf(top, sizeof(top), "%s/gpuprobe-fuzz-XXXXXX", temporary ? temporary : "/tmp");
	MUST(mkdtemp(top));
	fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	MUST(fd >= 0);
	folders[0] = make_folder(fd, "root");
	close(fd);
	folders[1] = make_folder(folders[0], "a");
	folders[2] = make_folder(folders[1], "b");
	make_file("file");
	make_file("../secret");
	MUST(!mkfifoat(folders[0], "fifo", 0600));
	atexit(remove_all);
}

static void must_be_inside(int fd)
{
	char link[32], path[PATH_MAX], root[PATH_MAX + 8];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	MUST(n > 0);
	path[n] = '\0';
	n = snprintf(root, sizeof(root), "%s/root", top);
	MUST(!strncmp(path, root, (size_t)n) && (!path[n] || path[n] == '/'));
}

static void find(const char *path)
{
	struct process_root *root;
	struct statx status;
	struct stat opened;
	int fd;

	harness__set_file(NULL, NULL, 0);
	harness__add_folder("/proc/1/root", folders[0]);
	MUST(!process_root__open(1, &root));
	fd = process_root__find(root, path, &status);
	if (fd >= 0) {
		must_be_inside(fd);
		MUST(!S_ISLNK(status.stx_mode));
		fd = regular_file__reopen(fd, &status);
	}
	if (fd >= 0) {
		MUST(!fstat(fd, &opened) && S_ISREG(opened.st_mode));
		close(fd);
	}
	process_root__free(root);
}

/* A byte says which folder the link is in; the link's text follows, up to a NUL. */
static void walk(struct input *input)
{
	int in[LINKS] = {0};
	char name[8], *path;

	for (int i = 0; i < LINKS; i++) {
		in[i] = folders[input__number(input, 1) % 3];
		path = input__string(input);
		snprintf(name, sizeof(name), "l%d", i);
		if (symlinkat(path, in[i], name))
			in[i] = -1;
		free(path);
	}
	path = input__rest(input);
	find(path);
	free(path);
	for (int i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		if (in[i] >= 0)
			unlinkat(in[i], name, 0);
	}
}

static void read_mounts(const struct input *input)
{
	struct mounts mounts;
	struct statx status;
	int fd = harness__file("", 0), ret;

	harness__set_file("/proc/", input->at, input->left);
	mounts__init(&mounts, 1);
	ret = mounts__check(&mounts, fd, &status);
	/* Memory from memfd_create is on no mount, unless the text claims its device number. */
	MUST(!ret || ret == -EREMOTE);
	MUST(mounts.loaded && mounts.count <= 2 * input->left);
	mounts__clear(&mounts);
	close(fd);
}

static void read_users(const struct input *input)
{
	struct user_names *names = user_names__new();
	char name[USER_NAME_SIZE];
	uid_t uid;

	MUST(names);
	harness__set_file("/etc/passwd", input->at, input->left);
	for (uid = 0; uid < 3; uid++) {
		user_names__find(names, uid, name);
		MUST(*name && strnlen(name, sizeof(name)) < sizeof(name));
	}
	user_name__to_uid("train", &uid);
	user_names__free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	if (!*top)
		make_all();
	switch (input__number(&input, 1) % 3) {
	case 0: walk(&input); break;
	case 1: read_mounts(&input); break;
	default: read_users(&input);
	}
	harness__set_file(NULL, NULL, 0);
	return 0;
}
