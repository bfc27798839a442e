// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A probe site: which function begins there, and whether a call that passed it goes on. */
#ifndef BPF_CORE_SITE_BPF_H
#define BPF_CORE_SITE_BPF_H

#include "core/base.bpf.h"

#define ROW_UNKNOWN 0xffffffff

/* The cookie of the site whose probe runs, at its entry: a row, and SITE_UNFOLLOWED. */
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
 * Whether a probed call that entered with the stack pointer `sp` has yet to return: until then the kernel's trampoline
 * is its return address. The frame of one that was left by a jump is soon
 * overwritten, by the next call from the same place at the latest.
 */
static __always_inline bool is_in_progress(u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr), address;

	return !bpf_probe_read_user(&address, sizeof(address), (void *)sp) && address == trampoline;
}

#endif
