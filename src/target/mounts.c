// SPDX-License-Identifier: BSD-2-Clause
// The mounts that a process sees, see mounts.h.
#include "target/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define TEXT_MAX (16u << 20) /* the kernel allows 100,000 mounts in a namespace */

void mounts__init(struct mounts *mounts, pid_t pid)
{
	*mounts = (struct mounts){.pid = pid};
}

void mounts__clear(struct mounts *mounts)
{
	free(mounts->list);
	*mounts = (struct mounts){0};
}

static int add(struct mounts *mounts, const struct mount *mount)
{
	/* Grown by doubling: whenever the count is a power of two, it is full. */
	if ((mounts->count & (mounts->count - 1)) == 0) {
		struct mount *grown = realloc(mounts->list, (mounts->count ? 2 * mounts->count : 1) * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		mounts->list = grown;
	}
	mounts->list[mounts->count++] = *mount;
	return 0;
}

/* "fuse", "fuse.sshfs", "fuseblk"; fusectl is the kernel's. */
static bool is_fuse(const char *type)
{
	return !strncmp(type, "fuse", 4) && strncmp(type, "fusectl", 7) != 0;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": spaces in names are escaped. */
int mounts__parse(struct mounts *mounts, char *text)
{
	char *rest = text, *line;
	int ret = 0;

	while (!ret && (line = strsep(&rest, "\n"))) {
		const char *type = strstr(line, " - ");
		struct mount mount;

		if (!type || sscanf(line, "%" SCNu64 " ", &mount.id) != 1)
			continue;
		mount.fuse = is_fuse(type + 3);
		ret = add(mounts, &mount);
	}
	return ret;
}

/* The latest list of a process that was read, and the file that tells when it changes. */
struct kept_list {
	FILE *file; /* NULL: none */
	struct mounts mounts;
};

/* The thread's: files are opened below a dozen layers that know nothing of a turn, and each turn is one thread's. */
static _Thread_local struct {
	unsigned int depth;
	struct kept_list process, own;
} kept;

static FILE *open_list(pid_t pid)
{
	char path[64];

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	else
		snprintf(path, sizeof(path), "/proc/self/mountinfo");
	return fopen(path, "re");
}

static int read_list(struct mounts *mounts, FILE *in)
{
	char *text = NULL;
	size_t size = 0;
	int ret = 0;

	if (getdelim(&text, &size, '\0', in) >= 0 && size <= TEXT_MAX)
		ret = mounts__parse(mounts, text);
	free(text);
	return ret;
}

static void drop(struct kept_list *list)
{
	if (list->file)
		fclose(list->file);
	mounts__clear(&list->mounts);
	list->file = NULL;
}

void mounts__keep(void)
{
	kept.depth++;
}

void mounts__forget(void)
{
	if (--kept.depth)
		return;
	drop(&kept.process);
	drop(&kept.own);
}

/* Since the file was opened nothing has been mounted or unmounted there: see proc(5), /proc/PID/mounts. */
static bool is_good(const struct kept_list *list, pid_t pid)
{
	struct pollfd fd = {.events = POLLPRI};

	if (!list->file || list->mounts.pid != pid)
		return false;
	fd.fd = fileno(list->file);
	return poll(&fd, 1, 0) == 0;
}

static bool read_kept(struct kept_list *list, pid_t pid)
{
	drop(list);
	list->mounts.pid = pid;
	list->file = open_list(pid);
	if (list->file && !read_list(&list->mounts, list->file))
		return true;
	drop(list);
	return false;
}

static void add_kept(struct mounts *mounts, pid_t pid)
{
	struct kept_list *list = pid ? &kept.process : &kept.own;

	if (!is_good(list, pid) && !read_kept(list, pid))
		return;
	for (size_t i = 0; i < list->mounts.count; i++)
		if (add(mounts, &list->mounts.list[i]))
			return;
}

static void add_read(struct mounts *mounts, pid_t pid)
{
	FILE *in = open_list(pid);

	if (!in)
		return;
	read_list(mounts, in);
	fclose(in);
}

/* gpuprobe's own as well: a process may run a program from outside its root, as container runtimes do. */
static void load(struct mounts *mounts)
{
	const pid_t pids[] = {mounts->pid, 0};

	mounts->loaded = true;
	for (size_t i = mounts->pid ? 0 : 1; i < 2; i++) {
		if (kept.depth)
			add_kept(mounts, pids[i]);
		else
			add_read(mounts, pids[i]);
	}
}

/* The kernel's own mount for what memfd_create(2) makes, which is in nobody's list. */
static bool is_memory(const struct statx *status)
{
	int fd = memfd_create("", MFD_CLOEXEC);
	struct stat own;
	bool same;

	if (fd < 0)
		return false;
	same = !fstat(fd, &own) && own.st_dev == makedev(status->stx_dev_major, status->stx_dev_minor);
	close(fd);
	return same;
}

static int judge(struct mounts *mounts, const struct statx *status)
{
	if (!mounts->loaded)
		load(mounts);
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->list[i].id == status->stx_mnt_id)
			return mounts->list[i].fuse ? -EREMOTE : 0;
	return is_memory(status) ? 0 : -EREMOTE;
}

int mounts__check(struct mounts *mounts, int fd, struct statx *status)
{
	int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;

	if (statx(fd, "", flags, STATX_TYPE | STATX_MODE | STATX_SIZE | STATX_INO | STATX_MNT_ID, status))
		return -errno;
	return status->stx_dev_major ? 0 : judge(mounts, status);
}
