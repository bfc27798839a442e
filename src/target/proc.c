// SPDX-License-Identifier: BSD-2-Clause
// Processes, from /proc; see proc.h.
#include "target/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "gpuprobe/image.h"

#define OF_KERNEL 0x00200000 /* PF_KTHREAD in the flags in /proc/PID/stat */

/* Reads a short file of /proc; a longer one is cut. Returns the length or a negative errno. */
static long read_short_file(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	do {
		n = read(fd, buffer, size - 1);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	buffer[n] = '\0';
	return n;
}

static uint64_t ticks_to_ns(unsigned long long ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	return ticks / hz * 1000000000 + ticks % hz * 1000000000 / hz;
}

/*
 * Parses "PID (COMM) STATE PPID … STARTTIME …". The name is raw and may contain anything, so it
 * ends at the last parenthesis.
 */
static int parse_stat(char *text, struct process_info *info)
{
	char *name = strchr(text, '('), *end = strrchr(text, ')');
	unsigned long long ticks, end_code = 0, start_stack = 0, arguments = 0, arguments_end = 0;
	unsigned int flags;
	int parent;

	if (!name || !end || end < name)
		return -EBADMSG;
	*end = '\0';
	if (sscanf(end + 1,
		   " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
		   " %*d %*d %llu %*u %*d %*u %*u %llu %llu %*u %*u %*u %*u %*u %*u %*u %*u %*u "
		   "%*d %*d %*u %*u"
		   " %*u %*u %*d %*u %*u %*u %llu %llu",
		   &info->state, &parent, &flags, &ticks, &end_code, &start_stack, &arguments,
		   &arguments_end) < 4)
		return -EBADMSG;
	info->image = image_of(end_code, start_stack);
	info->arguments = arguments;
	info->arguments_end = arguments_end;
	info->parent = parent;
	info->of_kernel = flags & OF_KERNEL;
	info->start_ns = clock__of_kernel(ticks_to_ns(ticks));
	snprintf(info->comm, sizeof(info->comm), "%s", name + 1);
	return 0;
}

static pid_t parse_pid(const char *name)
{
	char *end;
	long pid;

	if (!isdigit((unsigned char)name[0]))
		return 0;
	pid = strtol(name, &end, 10);
	return *end == '\0' && pid <= INT_MAX ? (pid_t)pid : 0;
}

static int read_stat(pid_t tid, struct process_info *info)
{
	char path[64], text[1024];
	long n;

	*info = (struct process_info){.pid = tid};
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	n = read_short_file(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	return n ? parse_stat(text, info) : -ESRCH;
}

static bool has_ended(const struct process_info *info)
{
	return info->state == 'Z' || info->state == 'X';
}

/* Finds a living thread of a process whose leader has ended; 0 if the process has ended. */
static pid_t find_living(pid_t pid, struct process_info *info)
{
	char path[64];
	struct dirent *entry;
	pid_t found = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return 0;
	while (!found && (entry = readdir(tasks))) {
		pid_t tid = parse_pid(entry->d_name);

		if (tid && tid != pid && !read_stat(tid, info) && !has_ended(info))
			found = tid;
	}
	closedir(tasks);
	return found;
}

pid_t proc__living_thread(pid_t pid)
{
	struct process_info info;
	char path[64], first;
	pid_t living;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (readlink(path, &first, sizeof(first)) >= 0 || errno != ENOENT)
		return pid;
	living = find_living(pid, &info);
	return living ? living : pid;
}

void proc__path(pid_t pid, const char *name, char *path, size_t size)
{
	snprintf(path, size, "/proc/%d/%s", (int)proc__living_thread(pid), name);
}

int proc__info(pid_t pid, struct process_info *info)
{
	struct process_info living;
	int ret = pid > 0 ? read_stat(pid, info) : -ESRCH;

	if (pid <= 0)
		*info = (struct process_info){.pid = pid};
	if (!ret && has_ended(info) && find_living(pid, &living)) {
		info->state = living.state;
		info->image = living.image;
	}
	return ret;
}

bool proc__exists(pid_t pid)
{
	struct process_info info;

	return proc__info(pid, &info) == 0 && !has_ended(&info);
}

int proc__run_time(pid_t tid, struct run_time *time)
{
	char path[64], text[128];
	unsigned long long ran, waited;
	long n;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)tid);
	n = read_short_file(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	if (sscanf(text, "%llu %llu", &ran, &waited) != 2)
		return -EBADMSG;
	*time = (struct run_time){.ran_ns = ran, .waited_ns = waited};
	return 0;
}

void proc__exe_path(pid_t pid, char *path, size_t size)
{
	proc__path(pid, "exe", path, size);
}

int pid__compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

void pid_list__clear(struct pid_list *list)
{
	free(list->pids);
	*list = (struct pid_list){0};
}

int proc__list(struct pid_list *list)
{
	struct dirent *entry;
	int ret = 0;
	DIR *proc;

	*list = (struct pid_list){0};
	proc = opendir("/proc");
	if (!proc)
		return -errno;
	while (!ret && (errno = 0, entry = readdir(proc))) {
		pid_t pid = parse_pid(entry->d_name);

		if (pid)
			ret = ARRAY_APPEND(list->pids, list->count, pid);
	}
	if (!ret && errno)
		ret = -errno;
	closedir(proc);
	if (ret)
		pid_list__clear(list);
	else if (list->count)
		qsort(list->pids, list->count, sizeof(*list->pids), pid__compare);
	return ret;
}

struct family {
	pid_t pid, parent;
};

static int compare_parents(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	return pid__compare(&x->parent, &y->parent);
}

/* Lists every process with its parent, sorted by parent. */
static int list_families(struct family **families, size_t *count)
{
	struct process_info info;
	struct pid_list all;
	int ret = proc__list(&all);

	*count = 0;
	if (ret)
		return ret;
	*families = malloc((all.count ? all.count : 1) * sizeof(**families));
	if (!*families)
		ret = -ENOMEM;
	for (size_t i = 0; !ret && i < all.count; i++) {
		if (!proc__info(all.pids[i], &info))
			(*families)[(*count)++] = (struct family){info.pid, info.parent};
	}
	pid_list__clear(&all);
	if (*count)
		qsort(*families, *count, sizeof(**families), compare_parents);
	return ret;
}

static int add_children(const struct family *families, size_t count, pid_t parent,
			struct pid_list *list)
{
	size_t low = 0, high = count;
	int ret = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (families[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	for (; !ret && low < count && families[low].parent == parent; low++)
		ret = ARRAY_APPEND(list->pids, list->count, families[low].pid);
	return ret;
}

/*
 * The parents were read one after another while processes came and went, so a reused pid could
 * close a cycle: no more pids are added than there were processes.
 */
static int add_descendants(const struct family *families, size_t count, pid_t pid,
			   struct pid_list *list)
{
	size_t first = list->count;
	int ret = add_children(families, count, pid, list);

	for (size_t i = first; !ret && i < list->count && list->count - first <= count; i++)
		ret = add_children(families, count, list->pids[i], list);
	return ret;
}

/* Those of a process and of one below it are twice in the list. */
static void sort_once(struct pid_list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->pids, list->count, sizeof(*list->pids), pid__compare);
	for (size_t i = 0; i < list->count; i++)
		if (!kept || list->pids[kept - 1] != list->pids[i])
			list->pids[kept++] = list->pids[i];
	list->count = kept;
}

int proc__descendants_of(const pid_t *pids, size_t pid_count, struct pid_list *list)
{
	struct family *families = NULL;
	size_t count;
	int ret;

	*list = (struct pid_list){0};
	ret = list_families(&families, &count);
	for (size_t i = 0; !ret && i < pid_count; i++)
		ret = add_descendants(families, count, pids[i], list);
	free(families);
	if (ret)
		pid_list__clear(list);
	else
		sort_once(list);
	return ret;
}

int proc__descendants(pid_t pid, struct pid_list *list)
{
	return proc__descendants_of(&pid, 1, list);
}

/*
 * NSpid lists the pid in each namespace from the one that /proc shows to the process's own. Returns
 * 0 if it is missing.
 */
static unsigned int count_levels(const char *status)
{
	const char *line = strstr(status, "\nNSpid:");
	unsigned int count = 0;

	if (!line)
		return 0;
	for (line += strlen("\nNSpid:"); *line && *line != '\n'; line++) {
		if (isdigit((unsigned char)line[0]) && !isdigit((unsigned char)line[-1]))
			count++;
	}
	return count;
}

int proc__depth(pid_t pid)
{
	char path[64], status[4096];
	unsigned int levels;
	long n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	n = read_short_file(path, status, sizeof(status));
	if (n < 0)
		return (int)n;
	levels = count_levels(status);
	return levels ? (int)levels - 1 : -ENODATA;
}

/* The pid in NSpid at `level`; 0 if the process is not that deep. */
static pid_t pid_at_level(const char *status, unsigned int level)
{
	const char *line = strstr(status, "\nNSpid:");
	char *end;

	if (!line)
		return 0;
	line += strlen("\nNSpid:");
	for (; *line == '\t'; line = end, level--) {
		long number = strtol(line, &end, 10);

		if (level == 0)
			return number > 0 && number <= INT_MAX ? (pid_t)number : 0;
	}
	return 0;
}

pid_t proc__pid_below(pid_t pid, unsigned int depth)
{
	char path[64], status[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return read_short_file(path, status, sizeof(status)) < 0 ? 0 : pid_at_level(status, depth);
}

int proc__own_namespace(struct pid_namespace *namespace)
{
	struct stat stat_buffer;
	char status[4096];
	unsigned int levels;
	long n;

	*namespace = (struct pid_namespace){0};
	if (stat("/proc/self/ns/pid", &stat_buffer))
		return -errno;
	n = read_short_file("/proc/self/status", status, sizeof(status));
	if (n < 0)
		return (int)n;
	levels = count_levels(status);
	namespace->device = stat_buffer.st_dev;
	namespace->inode = stat_buffer.st_ino;
	namespace->depth = levels ? levels - 1 : 0;
	return 0;
}

int proc__check_proc(struct error *err)
{
	struct pid_namespace own;
	char link[16] = "";
	int ret = proc__own_namespace(&own);

	if (ret == -EMFILE || ret == -ENFILE)
		return error__set(
			err, ret,
			"cannot read /proc: %s: raise the limit of open files: ulimit -n 1024",
			strerror(-ret));
	if (!ret && !own.depth && readlink("/proc/self", link, sizeof(link) - 1) > 0 &&
	    parse_pid(link) == getpid())
		return 0;
	return error__set(err, -ENOENT,
			  "/proc belongs to another pid namespace, or is not mounted: mount this "
			  "namespace's: mount -t proc proc /proc");
}

long process_status__number(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text, *end; line; line = end ? end + 1 : NULL) {
		if (!strncmp(line, name, length) && line[length] == ':')
			return strtol(line + length + 1, NULL, 10);
		end = strchr(line, '\n');
	}
	return -1;
}

/* Reads a number of /proc/PID/status; returns a negative errno on failure. */
static long status_number(pid_t pid, const char *name)
{
	char path[64], status[4096] = "";
	long n, number;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	n = read_short_file(path, status, sizeof(status));
	if (n < 0)
		return n;
	number = process_status__number(status, name);
	return number < 0 ? -EBADMSG : number;
}

pid_t proc__of_thread(pid_t tid)
{
	long leader = status_number(tid, "Tgid");

	return leader ? (pid_t)leader : -EBADMSG;
}

int proc__user(pid_t pid, uid_t *uid)
{
	long number = status_number(pid, "Uid");

	if (number < 0)
		return (int)number;
	*uid = (uid_t)number;
	return 0;
}
