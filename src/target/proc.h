/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What /proc says about processes. All pids are in gpuprobe's own pid namespace. A process can
 * vanish between any two calls: that gives -ESRCH, which is never worth a message.
 */
#ifndef TARGET_PROC_H
#define TARGET_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct process_info {
	pid_t pid;
	pid_t parent;
	/*
	 * As in /proc/PID/stat: 'R', 'S', 'T' stopped, 'Z' zombie, …; of a living thread, if there
	 * is one.
	 */
	char state;
	bool of_kernel; /* a kernel thread */
	char comm[64];	/* name of its leader, raw: escape before printing */
	/* Since boot by the kernel's CLOCK_BOOTTIME; up to a clock tick (10 ms) too early. */
	uint64_t start_ns;
	/*
	 * Of its program, gpuprobe/image.h; that of no program if the process has ended or may not
	 * be inspected.
	 */
	uint64_t image;
	uint64_t arguments, arguments_end; /* its command line in memory; 0 in the same cases */
};

struct run_time {
	uint64_t ran_ns;    /* may be up to a clock tick late */
	uint64_t waited_ns; /* updated only when it runs again */
};

struct pid_list {
	pid_t *pids;
	size_t count;
};

struct pid_namespace {
	uint64_t device, inode; /* of /proc/self/ns/pid */
	unsigned int depth;	/* levels below the namespace that /proc shows; 0: it is that */
};

/* Fills *info. Returns 0, -ESRCH, or another negative errno. */
int proc__info(pid_t pid, struct process_info *info);

/* Whether the process exists; a zombie does not count. */
bool proc__exists(pid_t pid);

/*
 * How long the thread has run, and how long it has been runnable without a CPU. Returns 0 or a
 * negative errno.
 */
int proc__run_time(pid_t tid, struct run_time *time);

/*
 * Returns a thread of the process whose files in /proc are usable. Once the leader has ended by
 * itself (pthread_exit), its files show nothing more (maps, exe, root, environ, mountinfo), and it
 * has no memory to read. In all other cases returns `pid` itself.
 */
pid_t proc__living_thread(pid_t pid);

/* Writes "/proc/PID/NAME" for that thread. */
void proc__path(pid_t pid, const char *name, char *path, size_t size);

/* Writes "/proc/PID/exe", which leads to the program even if its name is gone. */
void proc__exe_path(pid_t pid, char *path, size_t size);

/* Orders two pid_t, for qsort(3) and bsearch(3). */
int pid__compare(const void *a, const void *b);

/* Lists every process by ascending pid. pid_list__clear releases the list. */
int proc__list(struct pid_list *list);

/*
 * Lists the children of `pid`, their children and so on, without `pid` itself. Children that lost
 * their parent belong to another one by then and are not found.
 */
int proc__descendants(pid_t pid, struct pid_list *list);

/*
 * The same for several processes, with one look at the machine's: a list of each pid once. A given
 * pid is in it if it descends from another one.
 */
int proc__descendants_of(const pid_t *pids, size_t pid_count, struct pid_list *list);

void pid_list__clear(struct pid_list *list);

/*
 * Returns how many levels a process's pid namespace is below the one that /proc shows; 0 if it is
 * that one. Needs no permission. Returns -ENODATA if the process has so many groups that they fill
 * the buffer, or another negative errno.
 */
int proc__depth(pid_t pid);

/*
 * The pid that a process has in the pid namespace `depth` levels below the one that /proc shows; 0
 * if it has none or it is unknown.
 */
pid_t proc__pid_below(pid_t pid, unsigned int depth);

/* Finds gpuprobe's own pid namespace. Returns 0 or a negative errno. */
int proc__own_namespace(struct pid_namespace *namespace);

/*
 * Whether /proc belongs to gpuprobe's own pid namespace: pids mean nothing in another one. Returns
 * 0, or -ENOENT with what to do in `err`.
 */
int proc__check_proc(struct error *err);

/*
 * The process of thread `tid`: itself if it is a process. Returns a negative errno; -ESRCH if there
 * is none.
 */
pid_t proc__of_thread(pid_t tid);

/* The real user of a process. Returns 0 or a negative errno. */
int proc__user(pid_t pid, uid_t *uid);

/* Parses the number after "NAME:\t" in the text of /proc/PID/status; -1 if it is not there. */
long process_status__number(const char *text, const char *name);

#endif
