/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel around a BPF program that runs as a function: the caller and the time, the caller's
 * readable memory, and the records that the program has put into its ring.
 */
#ifndef NATIVE_MACHINE_H
#define NATIVE_MACHINE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct task_struct; /* of bpf/core/kernel.bpf.h */

struct machine {
	__u64 now_ns;		  /* CLOCK_BOOTTIME */
	struct task_struct *task; /* the calling task */
	__u64 cookie;		  /* of the probe site */

	/*
	 * Called once, when the program has read the time: plays what others do while it is
	 * delayed. NULL: nothing
	 */
	void (*meanwhile)(void *arg);
	void *meanwhile_arg;
};

extern struct machine machine;

/* As bpf_ktime_get_boot_ns. */
__u64 machine__time(void);

/* As bpf_get_current_pid_tgid. */
__u64 machine__pid_tgid(void);

/*
 * The program may read this part of the caller's memory from now on. Unreported memory cannot be
 * read.
 */
void machine__report_memory(const void *from, size_t bytes);

/* As bpf_probe_read_user: 0, or -EFAULT. */
long machine__read(void *to, size_t bytes, const void *from);

/* The ring. A submitted record waits until it is taken. */
void *machine__reserve(size_t bytes);
void machine__submit(void *record);
void machine__discard(void *record);
long machine__output(const void *record, size_t bytes);

/*
 * The oldest record that has not been taken, its bytes at the start; the caller passes it to
 * machine__discard. NULL: there is none.
 */
void *machine__take_record(void);

/* Forgets all reported memory and all records. */
void machine__clear(void);

#endif
