// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Probes that are in one process only, and how all processes get them: links for all are put in beside the confined
 * ones, which are taken out when the calls that they follow have had time to return. While a site has both, its calls
 * are the newer link's. Linux asks the newer link first (consumer_add of kernel/events/uprobes.c, since
 * there are session links), and only these are ever confined.
 */
#ifndef BPF_CONFINED_H
#define BPF_CONFINED_H

#include "task.h"

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

/*
 * Whether the process that is forked gets breakpoints that do nothing for it. A child that shares its parent's memory
 * (vfork) gets no copies of them, and soon executes another program.
 */
static __always_inline bool inherits_breakpoints(struct task_struct *child, s32 parent)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return parent == confined_to && BPF_CORE_READ(child, mm) != BPF_CORE_READ(task, mm);
}

#endif
