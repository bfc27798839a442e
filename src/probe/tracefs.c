// SPDX-License-Identifier: BSD-2-Clause
// Uprobe events of tracefs; see tracefs.h. Format: Documentation/trace/uprobetracer.rst.
#include "probe/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/tracefs_guard.h"
#include "target/pid_namespaces.h"

#define GROUP_PREFIX "gpuprobe_"

struct tracefs {
	const char *root;
	unsigned long long namespace; /* inode number of our pid namespace */
	unsigned long long born_ms;   /* since boot */
	pid_t owner;
	struct tracefs_guard guard;
	char group[50]; /* the kernel accepts up to 63 characters */
	/* All living pid namespaces; read when an event of another namespace than ours is found. */
	struct pid_namespaces living;
	bool are_read;
	int failure; /* negative errno: they are unknown */
	unsigned int busy_steps;
};

static const char *find_root(void)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char path[64];

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		snprintf(path, sizeof(path), "%s/uprobe_events", roots[i]);
		if (!access(path, W_OK))
			return roots[i];
	}
	return NULL;
}

static int open_definitions(const struct tracefs *tracefs, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/uprobe_events", tracefs->root);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Each definition or removal is a single write(2). */
static int write_definition(const struct tracefs *tracefs, const char *line)
{
	int fd = open_definitions(tracefs, O_WRONLY | O_APPEND), ret = 0;

	if (fd < 0)
		return fd;
	if (write(fd, line, strlen(line)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/*
 * Before Linux 6.4 a link closes its perf event asynchronously; until then the event is in use.
 * This limit is for all events together.
 */
#define BUSY_STEPS 10000
#define BUSY_STEP_US 2000

/* Requires that no perf event has it open. */
static void remove_definition(struct tracefs *tracefs, const char *event)
{
	char line[80];

	snprintf(line, sizeof(line), "-:%s\n", event);
	while (write_definition(tracefs, line) == -EBUSY && tracefs->busy_steps++ < BUSY_STEPS)
		usleep(BUSY_STEP_US);
}

/*
 * Removes an event that no perf event has open. Someone may have enabled it for tracing (echo 1 >
 * events/enable enables all). Disable it first: the kernel does not check whether the sites it
 * frees are in use.
 */
static void remove_event(struct tracefs *tracefs, const char *event)
{
	char path[128];
	bool disabled = true;
	int fd;

	snprintf(path, sizeof(path), "%s/events/%s/enable", tracefs->root, event);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		disabled = write(fd, "0", 1) == 1;
		close(fd);
	}
	if (disabled)
		remove_definition(tracefs, event);
}

static void name_group(struct tracefs *tracefs, pid_t guard)
{
	snprintf(tracefs->group, sizeof(tracefs->group), GROUP_PREFIX "%d_%d_%llu_%llu",
		 tracefs->owner, guard, tracefs->namespace, tracefs->born_ms);
}

/* Whether the process has ended and closed all that it had open. */
static bool is_gone(pid_t pid)
{
	return pid == getpid() || (kill(pid, 0) && errno == ESRCH);
}

/*
 * Whether the pid namespace has no process left; pids of another namespace mean nothing here. The
 * namespaces are read after the definitions: a process that has one of these events open existed
 * before, so the reading finds it.
 */
static bool is_dead(struct tracefs *tracefs, unsigned long long namespace)
{
	if (!tracefs->are_read)
		tracefs->failure = pid_namespaces__read(&tracefs->living);
	tracefs->are_read = true;
	return !tracefs->failure && !pid_namespaces__has(&tracefs->living, namespace);
}

/*
 * Whether a line of uprobe_events ("p:gpuprobe_12_13_4026531836_9000/e3 …") belongs to a gpuprobe
 * that is dead, as is its guard. Sets `event` to the name that it defines
 * ("gpuprobe_12_13_4026531836_9000/e3").
 */
static bool is_stale(struct tracefs *tracefs, const char *definition, char event[64])
{
	unsigned long long namespace;
	int owner, guard;

	if (sscanf(definition, "%*c:%63[^ ]", event) != 1 ||
	    sscanf(event, GROUP_PREFIX "%d_%d_%llu/", &owner, &guard, &namespace) != 3)
		return false;
	if (owner <= 0 || guard <= 0)
		return false;
	if (namespace != tracefs->namespace)
		return is_dead(tracefs, namespace);
	return is_gone(owner) && is_gone(guard);
}

/* Reads the whole file at once: if it changed during a reading in parts, lines would be skipped. */
static char *read_definitions(const struct tracefs *tracefs)
{
	int fd = open_definitions(tracefs, O_RDONLY);
	size_t size = 0;
	char *text = NULL;
	FILE *file;

	if (fd < 0)
		return NULL;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return NULL;
	}
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* Whether a line belongs to the gpuprobe of `tracefs`. */
static bool is_own(struct tracefs *tracefs, const char *definition, char event[64])
{
	size_t length = strlen(tracefs->group);

	return sscanf(definition, "%*c:%63[^ ]", event) == 1 &&
	       !strncmp(event, tracefs->group, length) && event[length] == '/';
}

/* An event has a line for each of its sites; removing it removes them all. */
static void remove_all(struct tracefs *tracefs,
		       bool (*goes)(struct tracefs *tracefs, const char *definition,
				    char event[64]))
{
	char *text = read_definitions(tracefs), *rest = text, *definition;
	char event[64], removed[64] = "";

	while ((definition = strsep(&rest, "\n"))) {
		if (!goes(tracefs, definition, event) || !strcmp(event, removed))
			continue;
		remove_event(tracefs, event);
		memcpy(removed, event, sizeof(removed));
	}
	free(text);
}

/* Runs in the guard when its gpuprobe is gone. */
static void remove_own(void *arg)
{
	name_group(arg, getpid());
	remove_all(arg, is_own);
}

int tracefs__new(struct tracefs **out, struct error *err)
{
	struct tracefs *tracefs = calloc(1, sizeof(*tracefs));
	struct stat namespace;
	int ret;

	if (!tracefs)
		return error__set(err, -ENOMEM, "out of memory");
	tracefs->root = find_root();
	if (!tracefs->root) {
		mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
		tracefs->root = find_root();
	}
	if (!tracefs->root) {
		free(tracefs);
		return error__set(err, -ENOENT,
				  "cannot write /sys/kernel/tracing/uprobe_events: probes by "
				  "tracefs need it mounted "
				  "(mount -t tracefs tracefs /sys/kernel/tracing), CAP_SYS_ADMIN, "
				  "and root, whose file "
				  "it is");
	}
	if (stat("/proc/self/ns/pid", &namespace)) {
		free(tracefs);
		return error__set(err, -errno,
				  "cannot read /proc/self/ns/pid: %s; is /proc mounted?",
				  strerror(errno));
	}
	tracefs->namespace = namespace.st_ino;
	tracefs->born_ms = clock__boot_ns() / NS_PER_MS;
	tracefs->owner = getpid();
	remove_all(tracefs, is_stale);
	pid_namespaces__clear(&tracefs->living);
	ret = tracefs_guard__start(remove_own, tracefs, &tracefs->guard);
	if (ret) {
		error__set(err, ret, "cannot make a process that cleans up in tracefs: %s",
			   strerror(-ret));
		free(tracefs);
		return -EAGAIN;
	}
	name_group(tracefs, tracefs->guard.pid);
	*out = tracefs;
	return 0;
}

void tracefs__free(struct tracefs *tracefs)
{
	if (!tracefs)
		return;
	tracefs_guard__end(&tracefs->guard);
	free(tracefs);
}

static int read_event_id(const struct tracefs *tracefs, unsigned int event)
{
	char path[128];
	FILE *file;
	int id = -1;

	snprintf(path, sizeof(path), "%s/events/%s/e%u/id", tracefs->root, tracefs->group, event);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (fscanf(file, "%d", &id) != 1)
		id = -EIO;
	fclose(file);
	return id;
}

int tracefs__add(struct tracefs *tracefs, unsigned int event, bool on_return, int fd,
		 const struct tracefs_sites *sites, struct error *err)
{
	char line[128], counter[32];
	int ret = 0;

	for (size_t i = 0; i < sites->count && !ret; i++) {
		*counter = '\0';
		if (sites->counters && sites->counters[i])
			snprintf(counter, sizeof(counter), "(0x%" PRIx64 ")", sites->counters[i]);
		/*
		 * The path goes through our descriptor: there is no file name to quote, and it is
		 * exactly the file that was inspected.
		 */
		snprintf(line, sizeof(line), "%c:%s/e%u /proc/self/fd/%d:0x%" PRIx64 "%s\n",
			 on_return ? 'r' : 'p', tracefs->group, event, fd, sites->offsets[i],
			 counter);
		ret = write_definition(tracefs, line);
	}
	if (!ret)
		ret = read_event_id(tracefs, event);
	if (ret >= 0)
		ret = tracefs_guard__open(&tracefs->guard, event, ret);
	if (ret < 0) {
		error__set(err, ret, "cannot define a uprobe event in %s: %s", tracefs->root,
			   strerror(-ret));
		tracefs__close(tracefs, event);
		tracefs__remove(tracefs, event);
	}
	return ret;
}

void tracefs__close(struct tracefs *tracefs, unsigned int first)
{
	tracefs_guard__close(&tracefs->guard, first);
}

void tracefs__remove(struct tracefs *tracefs, unsigned int event)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/e%u", tracefs->group, event);
	remove_event(tracefs, name);
}
