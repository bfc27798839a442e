// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reports which inode the kernel places probes on for a mapped file. Overlay mounts of one lower
 * directory show two different files in stat and a third number in maps, yet uprobes go to one
 * inode; only the mapping itself shows it. Also reports whether an inode is mapped at all. All
 * objects that attach probes include this, so that they need no further object.
 */
#ifndef BPF_CORE_IDENTITY_BPF_H
#define BPF_CORE_IDENTITY_BPF_H

#include "core/kernel.bpf.h"
#include "gpuprobe/state.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} identity_tgid SEC(".maps");

SEC("iter/task_vma")
int identity_of_mappings(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct vma_identity identity = {};
	u32 zero = 0, *tgid;
	struct inode *inode;
	struct file *file;

	if (!task || !vma)
		return 0;
	tgid = bpf_map_lookup_elem(&identity_tgid, &zero);
	if (!tgid || (*tgid && (u32)task->tgid != *tgid))
		return 0;
	file = vma->vm_file;
	if (!file)
		return 0;
	inode = file->f_inode;
	identity.start = vma->vm_start;
	identity.inode = (u64)inode;
	identity.ino = inode->i_ino;
	identity.dev = inode->i_sb->s_dev;
	identity.magic = inode->i_sb->s_magic;
	bpf_probe_read_kernel_str(identity.name, sizeof(identity.name),
				  file->f_path.dentry->d_name.name);
	bpf_seq_write(ctx->meta->seq, &identity, sizeof(identity));
	return 0;
}

/* Run by hand for an inode that userspace holds open; returns 1, 0 or a negative errno. */
SEC("syscall")
int inode_is_mapped(struct mapped_question *question)
{
	struct inode *inode = (struct inode *)question->inode;
	struct address_space *pages;
	struct rb_node *first;
	int ret = bpf_core_read(&pages, sizeof(pages), &inode->i_mapping);

	if (!ret)
		ret = bpf_core_read(&first, sizeof(first), &pages->i_mmap.rb_root.rb_node);
	if (ret)
		return ret;
	return first != NULL;
}

#endif
