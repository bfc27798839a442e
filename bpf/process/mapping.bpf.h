// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Watches system calls that make code of a file executable, at their return. A process that may be
 * held (COMMAND and its descendants) is stopped there if the file is named like one of CUDA's,
 * before any code of the file has run, whoever mapped it. A forked child is stopped too if its
 * parent is the process that all probes are confined to. This needs no breakpoint in anybody's
 * code. The number of times that a process has mapped code is counted for stacks.
 *
 * Every system call of the machine passes here, so the program is loaded only if it is needed. For
 * processes that are not held, userspace uses PERF_RECORD_MMAP2 (src/probe/mapping_events.h).
 */
#ifndef BPF_PROCESS_MAPPING_BPF_H
#define BPF_PROCESS_MAPPING_BPF_H

#include "process/code_changes.bpf.h"
#include "process/confined.bpf.h"
#include "process/hold.bpf.h"

/*
 * System call numbers of x86-64. A 32-bit system call with such a number causes one needless check.
 */
#define SYSCALL_MMAP 9
#define SYSCALL_MPROTECT 10
#define SYSCALL_PKEY_MPROTECT 329
#define PROTECTS_EXEC 4 /* PROT_EXEC */
#define ERRORS_FROM (-4095)
#define NOT_NOW (-16)		    /* EBUSY */
#define LIBCUDA 0x6164756362696cull /* seven characters, the first in the lowest byte */
#define SEVEN_CHARACTERS 0x00ffffffffffffffull
#define MEMFD 0x3a64666d656dull /* "memfd:", the kernel's prefix for names of such files */
#define SIX_CHARACTERS 0x0000ffffffffffffull

struct mapped_file {
	bool is_of_cuda;
};

/* Whether a name that begins with these eight characters may be that of a library to probe. */
static __always_inline bool is_of_library(u64 name)
{
	for (u32 i = 0; i < LIBRARY_NAMES; i++)
		if (config.library_names[i] && config.library_names[i] == name)
			return true;
	return false;
}

/* Decides by name: libcuda.so.1, libcudart.so.13; also for files in memory (memfd). */
static long look_at_file(struct task_struct *task __attribute__((unused)),
			 struct vm_area_struct *vma, struct mapped_file *mapped)
{
	const unsigned char *name = BPF_CORE_READ(vma, vm_file, f_path.dentry, d_name.name);
	u64 words[2] = {};

	if (bpf_probe_read_kernel_str(words, sizeof(words), name) < 0)
		return 0;
	if ((words[0] & SIX_CHARACTERS) == MEMFD)
		words[0] = words[0] >> 48 | words[1] << 16;
	mapped->is_of_cuda = (words[0] & SEVEN_CHARACTERS) == LIBCUDA || is_of_library(words[0]);
	return 0;
}

/*
 * Whether a CUDA file is mapped at the address. If another thread is changing the mappings, the
 * answer is unknown and counts as yes.
 */
static __always_inline bool maps_cuda(u64 address)
{
	struct mapped_file mapped = {};
	long ret = bpf_find_vma(bpf_get_current_task_btf(), address, look_at_file, &mapped, 0);

	return mapped.is_of_cuda || (int)ret == NOT_NOW;
}

/* Notifies userspace about the calling process, and stops it if processes are held. */
static __always_inline void report_change(s32 pid, u32 type, s32 shares)
{
	struct record_library *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		lose(LOSS_RING_FULL);
		return;
	}
	record->header.type = type;
	record->header.slot = 0;
	record->pid = pid;
	record->shares = shares;
	record->time_ns = now();
	hold_process(pid, record);
	/* The process may be stopped now, so wake userspace regardless of the ring's fill level. */
	bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
}

static __always_inline void note_code(s32 pid, u64 address)
{
	u8 *state;

	if (config.stack_mode)
		count_change(pid);
	if (!config.hold || !maps_cuda(address))
		return;
	state = bpf_map_lookup_elem(&watched, &pid);
	if (state)
		*state = WATCHED_LOADING;
	report_change(pid, RECORD_LIBRARY, 0);
}

/*
 * The loader has mapped all libraries and makes relocated data read-only; no code of the libraries
 * has run yet.
 */
static __always_inline void note_relocation(s32 pid)
{
	u8 *state = config.hold ? bpf_map_lookup_elem(&watched, &pid) : NULL;

	if (!state || *state != WATCHED_LOADING)
		return;
	*state = WATCHED;
	report_change(pid, RECORD_LOADED, 0);
}

/* A child returns to its own code for the first time, from the fork call of its parent. */
static __always_inline void note_fork(void)
{
	struct task_struct *leader = BPF_CORE_READ(bpf_get_current_task_btf(), group_leader);
	struct task_struct *parent = BPF_CORE_READ(leader, real_parent);
	bool shares = BPF_CORE_READ(parent, mm) == BPF_CORE_READ(leader, mm);
	s32 pid = pid_of(leader);
	u8 *state = pid ? bpf_map_lookup_elem(&watched, &pid) : NULL;

	if (!state || *state != WATCHED_FORKED)
		return;
	*state = WATCHED;
	report_change(pid, RECORD_FORK, shares ? pid_of(BPF_CORE_READ(parent, group_leader)) : 0);
}

SEC("tp_btf/sys_exit")
int mapping_exit(u64 *ctx)
{
	const struct pt_regs *regs = (const void *)ctx[0];
	u64 call = regs->orig_ax;
	s64 result = (s64)ctx[1];
	bool makes_code;
	s32 pid;

	if (config.hold && !result &&
	    (call == SYSCALL_CLONE || call == SYSCALL_FORK || call == SYSCALL_CLONE3)) {
		note_fork();
		return 0;
	}
	if (call != SYSCALL_MMAP && call != SYSCALL_MPROTECT && call != SYSCALL_PKEY_MPROTECT)
		return 0;
	makes_code = regs->dx & PROTECTS_EXEC;
	if ((result < 0 && result >= ERRORS_FROM) || (call == SYSCALL_MMAP && !makes_code))
		return 0;
	pid = pid_of(BPF_CORE_READ(bpf_get_current_task_btf(), group_leader));
	if (!pid || !pid_is_watched(pid))
		return 0;
	if (makes_code)
		note_code(pid, call == SYSCALL_MMAP ? (u64)result : regs->di);
	else
		note_relocation(pid);
	return 0;
}

#endif
