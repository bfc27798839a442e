// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Probes confined to one process, and the handover to probes for all processes. Links for all are
 * attached next to the confined ones, which are detached once the calls they follow have had time
 * to return. While a site has both, its calls belong to the newer link. Linux runs the newer link
 * first (consumer_add of kernel/events/uprobes.c, since there are session links), and only session
 * links are ever confined.
 */
#ifndef BPF_PROCESS_CONFINED_BPF_H
#define BPF_PROCESS_CONFINED_BPF_H

#include "core/task.bpf.h"

/* System call numbers of x86-64. */
#define SYSCALL_CLONE 56
#define SYSCALL_FORK 57
#define SYSCALL_VFORK 58
#define SYSCALL_CLONE3 435
#define CLONE_VFORK 0x4000

/* Written by userspace (src/probe/confined.c). */
volatile __s32 confined_to;  /* the process that has all probes; 0: all have them, or none do yet */
volatile __u32 handing_over; /* sites may have both links */
/*
 * when the confined links were detached; calls that began earlier belonged to them. 0: there were
 * none
 */
volatile __u64 handed_over_ns;

/* Whether the call that enters at `sp` is left to the other link of its site. */
static __always_inline bool is_taken(struct taken_call *taken, u32 site, u64 sp)
{
	u32 row = site & SITE_ROW;
	bool is_counted = taken->sp == sp && taken->row == row;

	if (site & SITE_CONFINED) {
		taken->sp = 0;
		return is_counted;
	}
	taken->sp = sp;
	taken->row = row;
	return false;
}

/* Whether the calling process waits until its new child has executed a program or ended (vfork). */
static __always_inline bool waits_for_child(struct task_struct *task)
{
	const struct pt_regs *regs = (const void *)bpf_task_pt_regs(task);
	u64 call = BPF_CORE_READ(regs, orig_ax), flags = BPF_CORE_READ(regs, di);

	/* clone3 takes a pointer to a structure whose first member is the flags. */
	if (call == SYSCALL_CLONE3 && bpf_probe_read_user(&flags, sizeof(flags), (void *)flags))
		flags = 0;
	return call == SYSCALL_VFORK || flags & CLONE_VFORK;
}

/*
 * Whether the forked process has copies of its parent's breakpoints, which have no effect in it. A
 * vfork child is excluded: it soon executes another program.
 */
static __always_inline bool inherits_breakpoints(s32 parent, bool shares)
{
	return parent == confined_to && !(shares && waits_for_child(bpf_get_current_task_btf()));
}

#endif
