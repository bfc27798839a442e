// SPDX-License-Identifier: BSD-2-Clause
// The mounts that a process sees; see mounts.h.
#include "target/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "target/proc.h"

/*
 * The kernel allows 100,000 mounts in a namespace, and any user may make them, at paths of any
 * length. This limit is enough for the usual mounts of a process and of gpuprobe.
 */
#define TEXT_MAX (16u << 20)
#define BLOCK_SIZE 16384
#define TYPE_SIZE 8 /* a longer one is cut */

void mounts__init(struct mounts *mounts, pid_t pid)
{
	*mounts = (struct mounts){.pid = pid};
}

void mounts__clear(struct mounts *mounts)
{
	free(mounts->list);
	*mounts = (struct mounts){0};
}

/* The parser's state within a line, which may have any length. */
struct line {
	enum {
		LINE_ID,
		LINE_FIELDS,
		LINE_TYPE,
		LINE_REST,
		LINE_WRONG
	} part;
	uint64_t id;
	size_t digits;
	size_t matched; /* characters matched of the separator before the type */
	char type[TYPE_SIZE];
	size_t length; /* of `type` */
};

static void take_id(struct line *line, char c)
{
	if (c >= '0' && c <= '9') {
		line->id = 10 * line->id + (uint64_t)(c - '0');
		line->digits++;
		return;
	}
	line->part = c == ' ' && line->digits ? LINE_FIELDS : LINE_WRONG;
	line->matched = 1;
}

static void take_field(struct line *line, char c)
{
	static const char before_type[] = " - ";

	if (c != before_type[line->matched])
		line->matched = c == ' ';
	else if (++line->matched == sizeof(before_type) - 1)
		line->part = LINE_TYPE;
}

static void take_type(struct line *line, char c)
{
	if (c == ' ')
		line->part = LINE_REST;
	else if (line->length < sizeof(line->type) - 1)
		line->type[line->length++] = c;
}

/*
 * "fuse", "fuse.sshfs". Not "fusectl", which is the kernel's, nor "fuseblk": it is on a block
 * device, and mounts__check accepts those.
 */
static bool is_fuse(const char *type)
{
	return !strcmp(type, "fuse") || !strncmp(type, "fuse.", 5);
}

static int end_line(struct mounts *mounts, struct line *line)
{
	const struct mount mount = {.id = line->id, .fuse = is_fuse(line->type)};
	bool good = line->part == LINE_TYPE || line->part == LINE_REST;

	*line = (struct line){.part = LINE_ID};
	return good ? ARRAY_APPEND(mounts->list, mounts->count, mount) : 0;
}

/*
 * A line is "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw"; spaces in names are
 * escaped.
 */
static int take(struct mounts *mounts, struct line *line, char c)
{
	if (c == '\n')
		return end_line(mounts, line);
	if (line->part == LINE_ID)
		take_id(line, c);
	else if (line->part == LINE_FIELDS)
		take_field(line, c);
	else if (line->part == LINE_TYPE)
		take_type(line, c);
	return 0;
}

/* An incomplete last line is dropped, because its type may be incomplete, too. */
int mounts__read(struct mounts *mounts, FILE *in, size_t *bytes)
{
	struct line line = {.part = LINE_ID};
	char block[BLOCK_SIZE];
	int ret = 0;

	while (!ret && *bytes < TEXT_MAX) {
		size_t n = fread(block, 1, sizeof(block), in);

		if (!n)
			return ferror(in) ? -errno : end_line(mounts, &line);
		*bytes += n;
		for (size_t i = 0; i < n && !ret; i++)
			ret = take(mounts, &line, block[i]);
	}
	return ret ? ret : -EOVERFLOW;
}

/* The latest list read of a process, and the file that reports its changes. */
struct kept_list {
	FILE *file; /* NULL if there is none */
	struct mounts mounts;
	size_t bytes; /* read so far; bounds the work for a process that keeps mounting */
};

/*
 * Per thread: files are opened below a dozen layers that do not know of mounts__keep, and each such
 * period belongs to one thread.
 */
static _Thread_local struct {
	unsigned int depth;
	struct kept_list process, own;
} kept;

static FILE *open_list(pid_t pid)
{
	char path[64];

	if (pid)
		proc__path(pid, "mountinfo", path, sizeof(path));
	else
		snprintf(path, sizeof(path), "/proc/self/mountinfo");
	return fopen(path, "re");
}

static void drop(struct kept_list *list)
{
	if (list->file)
		fclose(list->file);
	mounts__clear(&list->mounts);
	*list = (struct kept_list){.file = NULL};
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

/*
 * Whether nothing has been mounted or unmounted there since the file was opened; see proc(5),
 * /proc/PID/mounts.
 */
static bool is_good(const struct kept_list *list, pid_t pid)
{
	struct pollfd fd = {.events = POLLPRI};

	if (!list->file || list->mounts.pid != pid)
		return false;
	fd.fd = fileno(list->file);
	return poll(&fd, 1, 0) == 0;
}

static void read_kept(struct kept_list *list, pid_t pid)
{
	size_t bytes = list->mounts.pid == pid ? list->bytes : 0;

	drop(list);
	list->bytes = bytes;
	list->mounts.pid = pid;
	list->file = open_list(pid);
	list->mounts.error =
		list->file ? mounts__read(&list->mounts, list->file, &list->bytes) : -errno;
}

static int add_kept(struct mounts *mounts, pid_t pid)
{
	struct kept_list *list = pid ? &kept.process : &kept.own;
	int ret = 0;

	if (!is_good(list, pid))
		read_kept(list, pid);
	for (size_t i = 0; i < list->mounts.count && !ret; i++)
		ret = ARRAY_APPEND(mounts->list, mounts->count, list->mounts.list[i]);
	return ret ? ret : list->mounts.error;
}

static int add_read(struct mounts *mounts, pid_t pid)
{
	FILE *in = open_list(pid);
	size_t bytes = 0;
	int ret;

	if (!in)
		return -errno;
	ret = mounts__read(mounts, in, &bytes);
	fclose(in);
	return ret;
}

/*
 * Reads gpuprobe's own mounts as well: a process may run a program from outside its root, as
 * container runtimes do.
 */
static void load(struct mounts *mounts)
{
	const pid_t pids[] = {mounts->pid, 0};

	mounts->loaded = true;
	for (size_t i = mounts->pid ? 0 : 1; i < 2; i++) {
		int ret = kept.depth ? add_kept(mounts, pids[i]) : add_read(mounts, pids[i]);

		if (ret && !mounts->error)
			mounts->error = ret;
	}
}

/*
 * Whether it is the kernel's own mount for files of memfd_create(2), which is in no process's list.
 */
static bool is_memory(const struct statx *status)
{
	int fd = memfd_create("", MFD_CLOEXEC);
	struct stat own;
	bool same;

	if (fd < 0)
		return false;
	same = !fstat(fd, &own) &&
	       own.st_dev == makedev(status->stx_dev_major, status->stx_dev_minor);
	close(fd);
	return same;
}

/* A file system that is in no completely read list is not mounted any more, and might be FUSE. */
static int judge_unknown(const struct mounts *mounts)
{
	switch (mounts->error) {
	case -EOVERFLOW:
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE: return mounts->error;
	default: return -EREMOTE;
	}
}

static int judge(struct mounts *mounts, const struct statx *status)
{
	if (!mounts->loaded)
		load(mounts);
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->list[i].id == status->stx_mnt_id)
			return mounts->list[i].fuse ? -EREMOTE : 0;
	return is_memory(status) ? 0 : judge_unknown(mounts);
}

int mounts__check(struct mounts *mounts, int fd, struct statx *status)
{
	int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;

	if (statx(fd, "", flags, STATX_TYPE | STATX_MODE | STATX_SIZE | STATX_INO | STATX_MNT_ID,
		  status))
		return -errno;
	return status->stx_dev_major ? 0 : judge(mounts, status);
}
