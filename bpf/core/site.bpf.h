// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A probe site: which function begins there, and whether a call that passed it is still in
 * progress.
 */
#ifndef BPF_CORE_SITE_BPF_H
#define BPF_CORE_SITE_BPF_H

#include "core/base.bpf.h"

#define ROW_UNKNOWN 0xffffffff

/* The cookie of the current entry probe: a row, and SITE_UNFOLLOWED. */
static __always_inline u32 entry_site(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	struct site_key key;
	u32 *row;

	if (config.links != LINKS_TRACEFS)
		return cookie;
	key.event_and_ip = (u32)cookie << 12 | (ctx->ip & 0xfff);
	row = bpf_map_lookup_elem(&sites, &key);
	return row ? *row : ROW_UNKNOWN;
}

/*
 * Whether a probed call that entered with the stack pointer `sp` has not returned yet: until then
 * its return address is the kernel's trampoline. If the thread jumped out of the call, the frame is
 * soon overwritten, at the latest by the next call from the same code.
 */
static __always_inline bool is_in_progress(u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr), address;

	return !bpf_probe_read_user(&address, sizeof(address), (void *)sp) && address == trampoline;
}

#endif
