/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What /proc tells of processes. All pids are in gpuprobe's own pid
 * namespace. A process can vanish between any two calls: that is -ESRCH,
 * never a failure worth a message.
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
	char state;			   /* as in /proc/PID/stat: 'R', 'S', 'T' stopped, 'Z' zombie, …; of a thread that lives, if any */
	bool of_kernel;			   /* a thread of the kernel */
	char comm[64];			   /* name of its leader, raw: escape before printing */
	uint64_t start_ns;		   /* since boot (the kernel's CLOCK_BOOTTIME), earlier by up to a clock tick, 10 ms */
	uint64_t image;			   /* of its program, gpuprobe/image.h; no program's where it has ended or may not be looked into */
	uint64_t arguments, arguments_end; /* where its command line is in its memory; 0 as `image` */
};

struct run_time {
	uint64_t ran_ns;    /* may be told late by a tick of the clock */
	uint64_t waited_ns; /* is told when it runs again */
};

struct pid_list {
	pid_t *pids;
	size_t count;
};

struct pid_namespace {
	uint64_t device, inode; /* of /proc/self/ns/pid */
	unsigned int depth;	/* levels below the namespace that /proc shows; 0 when it is that one */
};

/* Fills *info. Returns 0, -ESRCH, or another negative errno. */
int proc__info(pid_t pid, struct process_info *info);

/* Whether there is such a process; a zombie counts as one that is gone. */
bool proc__exists(pid_t pid);

/* How long the thread has run, and how long it has been ready to and has had no CPU. 0 or a negative errno. */
int proc__run_time(pid_t tid, struct run_time *time);

/*
 * A thread of the process whose files in /proc tell of it: of its leader, once that has ended by itself (pthread_exit),
 * they tell nothing more (maps, exe, root, environ, mountinfo), nor has it memory to be read. `pid` itself in all other cases.
 */
pid_t proc__living_thread(pid_t pid);

/* "/proc/PID/NAME" of that thread. */
void proc__path(pid_t pid, const char *name, char *path, size_t size);

/* "/proc/PID/exe", which leads to the program even where its name is gone. */
void proc__exe_path(pid_t pid, char *path, size_t size);

/* Every process, by rising pid. pid_list__clear releases the list. */
int proc__list(struct pid_list *list);

/*
 * The children of `pid`, their children and so on, without `pid` itself.
 * Children that lost their parent belong to another by then and are not found.
 */
int proc__descendants(pid_t pid, struct pid_list *list);

void pid_list__clear(struct pid_list *list);

/*
 * How many levels a process's pid namespace is below the one that /proc shows; 0: it is that one. It is told to
 * everybody. -ENODATA where the process's groups are so many that they fill what is read; or another negative errno.
 */
int proc__depth(pid_t pid);

/* The pid that a process has in the pid namespace `depth` levels below the one that /proc shows; 0: none, or not known. */
pid_t proc__pid_below(pid_t pid, unsigned int depth);

/* gpuprobe's own pid namespace. Returns 0 or a negative errno. */
int proc__own_namespace(struct pid_namespace *namespace);

/*
 * Whether /proc is that of gpuprobe's own pid namespace: pids mean nothing in another one. Returns 0, or -ENOENT with
 * what to do in `err`.
 */
int proc__check_proc(struct error *err);

/* The process that `tid` is a thread of: itself where it is a process. A negative errno, -ESRCH: there is none. */
pid_t proc__of_thread(pid_t tid);

/* The real user that a process belongs to, whatever it has become. 0 or a negative errno. */
int proc__user(pid_t pid, uid_t *uid);

/* The number behind "NAME:\t" in the text of /proc/PID/status; -1: it is not there. */
long process_status__number(const char *text, const char *name);

#endif
