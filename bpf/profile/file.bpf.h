// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Copies to devices directly from mapped files: which file, how much, how long. The driver then
 * reads the file page by page, from the disk unless it is cached.
 */
#ifndef BPF_PROFILE_FILE_BPF_H
#define BPF_PROFILE_FILE_BPF_H

#include "profile/profile.bpf.h"
#include "copy/copy.bpf.h"

#define TMPFS_MAGIC 0x01021994 /* shared memory, not a file on a disk */
#define HUGETLBFS_MAGIC 0x958458f6

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct mapped_copy_key);
	__type(value, struct mapped_copy_record);
} mapped_copies SEC(".maps");

struct copied_file {
	struct mapped_copy_key key;
	char name[MAPPED_NAME];
};

static long look_at_copied(struct task_struct *task __attribute__((unused)),
			   struct vm_area_struct *vma, struct copied_file *copied)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	unsigned long magic = inode ? BPF_CORE_READ(inode, i_sb, s_magic) : 0;

	if (!inode || (BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFREG || magic == TMPFS_MAGIC ||
	    magic == HUGETLBFS_MAGIC)
		return 0;
	bpf_probe_read_kernel_str(copied->name, sizeof(copied->name),
				  BPF_CORE_READ(file, f_path.dentry, d_name.name));
	copied->key.device = BPF_CORE_READ(inode, i_sb, s_dev);
	copied->key.inode = BPF_CORE_READ(inode, i_ino);
	return 0;
}

static __noinline struct mapped_copy_record *mapped_copy_of(const struct copied_file *copied)
{
	struct mapped_copy_record *record, fresh = {};
	int error;

	if (!copied)
		return NULL;
	record = bpf_map_lookup_elem(&mapped_copies, &copied->key);
	if (record)
		return record;
	__builtin_memcpy(fresh.name, copied->name, sizeof(fresh.name));
	error = bpf_map_update_elem(&mapped_copies, &copied->key, &fresh, BPF_NOEXIST);
	record = bpf_map_lookup_elem(&mapped_copies, &copied->key);
	if (!record)
		lose_update(error, LOSS_MAPPED_COPY_MAP_FULL);
	return record;
}

/* A copy to a device has returned. Global: the verifier goes through it once. */
__noinline int note_mapped_copy(u32 slot, const struct call *call)
{
	struct copied_file copied = {.key = {.slot = slot}};
	struct mapped_copy_record *record;

	if (!config.profile || !call)
		return 0;
	if (call->kind != COPY_H2D || !call->from || call->arg[COPY_BYTES] < MAPPED_LEAST_BYTES ||
	    call->arg[COPY_FLAGS] & (TALLY_PINNED | TALLY_CAPTURED))
		return 0;
	bpf_find_vma(bpf_get_current_task_btf(), call->from, look_at_copied, &copied, 0);
	record = copied.key.inode ? mapped_copy_of(&copied) : NULL;
	if (!record)
		return 0;
	__sync_fetch_and_add(&record->calls, 1);
	__sync_fetch_and_add(&record->ns, call->end_ns - call->start_ns);
	add_to_sum(&record->bytes, call->arg[COPY_BYTES]);
	if (call->stack)
		record->stack = call->stack;
	return 0;
}

#endif
