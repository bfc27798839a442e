// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Probes that are in one process only, and how all processes get them: links for all are put in beside the confined
 * ones, which are taken out when the calls that they follow have had time to return. While a site has both, its calls
 * are the newer link's. Linux asks the newer link first (consumer_add of kernel/events/uprobes.c, since
 * there are session links), and only these are ever confined.
 */
#ifndef BPF_PROCESS_CONFINED_BPF_H
#define BPF_PROCESS_CONFINED_BPF_H

#include "core/task.bpf.h"

/* Of x86-64. */
#define SYSCALL_CLONE 56
#define SYSCALL_FORK 57
#define SYSCALL_VFORK 58
#define SYSCALL_CLONE3 435
#define CLONE_VFORK 0x4000

/* Written by userspace (src/probe/confined.c). */
volatile __s32 confined_to;    /* the process in which all probes are; 0: they are in all processes, or there are none yet */
volatile __u32 handing_over;   /* sites may have both links */
volatile __u64 handed_over_ns; /* the confined links are out; they had the calls that began before that. 0: none were */

/* Whether the call that enters at `sp` is to be left to the other link of its site. */
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

/* Whether the calling process waits until the child that it makes has executed a program, or has ended (vfork). */
static __always_inline bool waits_for_child(struct task_struct *task)
{
	const struct pt_regs *regs = (const void *)bpf_task_pt_regs(task);
	u64 call = BPF_CORE_READ(regs, orig_ax), flags = BPF_CORE_READ(regs, di);

	/* Behind the pointer, the first member. */
	if (call == SYSCALL_CLONE3 && bpf_probe_read_user(&flags, sizeof(flags), (void *)flags))
		flags = 0;
	return call == SYSCALL_VFORK || flags & CLONE_VFORK;
}

/*
 * Whether the process that is forked has breakpoints that do nothing for it, those of its parent's memory. A child by vfork
 * soon executes another program.
 */
static __always_inline bool inherits_breakpoints(s32 parent, bool shares)
{
	return parent == confined_to && !(shares && waits_for_child(bpf_get_current_task_btf()));
}

#endif
