// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The dynamic loader's _dl_debug_state, which it calls around every change
 * to the list of loaded objects: tells userspace of processes that have just
 * mapped a CUDA library, before any of its code has run. A process that is
 * held (COMMAND and its descendants) is stopped there until its probes are
 * in; strangers are never stopped.
 */
#ifndef BPF_LOADER_H
#define BPF_LOADER_H

#include "hold.h"

#define MAX_OBJECTS 1024 /* new objects looked at in one go */
#define RT_CONSISTENT 0
#define RT_DELETE 2

/* From <link.h>, whose layout is fixed by the debugger interface of System V. */
struct r_debug {
	int r_version;
	u64 r_map;
	u64 r_brk;
	int r_state;
};

struct link_map {
	u64 l_addr;
	u64 l_name;
	u64 l_ld;
	u64 l_next;
};

/* How far a process's list of objects has been looked at; new ones come at its end. */
struct loader_cursor {
	u64 last;    /* address of the last object seen; 0: begin anew */
	u64 changes; /* how often the list has been changed */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, s32);
	__type(value, struct loader_cursor);
} loader_cursors SEC(".maps");

/*
 * Whether the path has "libcuda" in it. Not static, so that the verifier looks
 * at it once and not at each turn of the loop that calls it.
 */
__noinline int names_cuda(u64 name)
{
	char path[256] = {};
	u64 last = 0; /* seven characters */

	if (bpf_probe_read_user_str(path, sizeof(path), (void *)name) < 0)
		return 0;
	for (int i = 0; i < (int)sizeof(path); i++) {
		last = (last << 8 | (u8)path[i]) & 0xffffffffffffff;
		if (last == 0x6c696263756461 /* libcuda */)
			return 1;
	}
	return 0;
}

/* A walk along the list of loaded objects. */
struct object_walk {
	struct loader_cursor cursor;
	u64 at;
	u32 found;
};

/* A step of bpf_loop. */
static long look_at_object(u64 index __attribute__((unused)), struct object_walk *walk)
{
	struct link_map object;

	if (!walk->at || bpf_probe_read_user(&object, sizeof(object), (void *)walk->at))
		return 1;
	walk->found |= names_cuda(object.l_name);
	walk->cursor.last = walk->at;
	walk->at = object.l_next;
	return 0;
}

/* Moves the cursor over what is new. Returns nonzero if a CUDA library was among it. */
static __always_inline u32 look_at_new_objects(struct loader_cursor *cursor, u64 head)
{
	struct object_walk walk = {.cursor = *cursor, .at = head};
	struct link_map object;

	/* A cursor that leads nowhere is another process's that had the pid before: begin anew. */
	if (cursor->last && !bpf_probe_read_user(&object, sizeof(object), (void *)cursor->last))
		walk.at = object.l_next;
	bpf_loop(MAX_OBJECTS, look_at_object, &walk, 0);
	*cursor = walk.cursor;
	return walk.found;
}

/* How often the process has changed its list of objects; 0: not known. */
static __always_inline u64 loader_changes(s32 pid)
{
	const struct loader_cursor *cursor = bpf_map_lookup_elem(&loader_cursors, &pid);

	return cursor ? cursor->changes : 0;
}

/* Whether the process has mapped CUDA libraries since it was last looked at. */
static __always_inline bool has_new_library(s32 pid, u64 where)
{
	struct loader_cursor cursor = {}, *known;
	struct r_debug debug;
	u32 found;

	if (bpf_probe_read_user(&debug, sizeof(debug), (void *)where))
		return false;
	known = bpf_map_lookup_elem(&loader_cursors, &pid);
	if (debug.r_state == RT_DELETE && known)
		known->last = 0; /* it may go */
	if (debug.r_state != RT_CONSISTENT)
		return false;
	if (known)
		cursor = *known;
	cursor.changes++;
	found = look_at_new_objects(&cursor, debug.r_map);
	bpf_map_update_elem(&loader_cursors, &pid, &cursor, BPF_ANY);
	return found;
}

/* The cookie is where _r_debug is, relative to the probed function; 0 where the loader has none. */
SEC("uprobe")
int loader_entry(struct pt_regs *ctx)
{
	s64 to_r_debug = bpf_get_attach_cookie(ctx);
	struct task_struct *task = bpf_get_current_task_btf();
	struct record_library *record;
	s32 pid;

	pid = pid_of(BPF_CORE_READ(task, group_leader));
	if (!pid || !pid_is_watched(pid))
		return 0;
	if (to_r_debug && !has_new_library(pid, ctx->ip + to_r_debug))
		return 0;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		lose(LOSS_RING_FULL);
		return 0;
	}
	record->header.type = RECORD_LIBRARY;
	record->header.slot = 0;
	record->pid = pid;
	record->time_ns = now();
	hold_process(pid, record);
	/* The process may be waiting, whatever else is in the ring. */
	bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
	return 0;
}

#endif
