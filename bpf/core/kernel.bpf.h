// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The few kernel types that gpuprobe reads, relocated at load time (CO-RE): only the members that
 * are used; the running kernel's types may have others.
 */
#ifndef BPF_CORE_KERNEL_BPF_H
#define BPF_CORE_KERNEL_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

/* Makes bpf_tracing.h use the kernel's own register names below. */
#define __VMLINUX_H__
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

/* The context of a uprobe program: fixed by the kernel's user-space ABI. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

#define CO_RE __attribute__((preserve_access_index))

struct ns_common {
	unsigned int inum;
} CO_RE;

struct pid_namespace {
	struct ns_common ns;
} CO_RE;

struct upid {
	int nr;
	struct pid_namespace *ns;
} CO_RE;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} CO_RE;

typedef struct {
	int counter;
} atomic_t;

struct sigpending {
	struct {
		unsigned long sig[1];
	} CO_RE signal; /* sigset_t */
} CO_RE;

struct signal_struct {
	atomic_t live;
	struct sigpending shared_pending;
	int group_stop_count;
	unsigned int flags;
} CO_RE;

struct xol_area {
	unsigned long vaddr; /* the trampoline that probed calls return to */
} CO_RE;

struct uprobes_state {
	struct xol_area *xol_area;
} CO_RE;

/* A call in progress whose return address the kernel has replaced. */
struct return_instance {
	unsigned long stack; /* stack address of the return address */
	unsigned long orig_ret_vaddr;
	struct return_instance *next; /* the next outer call */
} CO_RE;

struct uprobe_task {
	struct return_instance *return_instances;
} CO_RE;

typedef struct {
	unsigned int sequence;
} seqcount_t;

struct task_struct;

struct mm_struct {
	struct uprobes_state uprobes_state;
	struct task_struct *owner; /* with CONFIG_MEMCG: one of the tasks that use it */
	/* since Linux 6.13: incremented when a change of the mappings begins and when it ends */
	seqcount_t mm_lock_seq;
	unsigned long exec_vm; /* pages of executable mappings */
	unsigned long end_code, start_stack;
} CO_RE;

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid;
	kuid_t suid;
} CO_RE;

struct thread_struct {
	unsigned long fsbase; /* pthread_self() */
} CO_RE;

#define PF_EXITING 0x4 /* of task_struct.flags: exiting; set before sched_process_exit */

struct cfs_rq {
	int throttle_count; /* with CONFIG_CFS_BANDWIDTH */
} CO_RE;

struct sched_entity {
	struct cfs_rq *cfs_rq; /* with CONFIG_FAIR_GROUP_SCHED */
} CO_RE;

struct files_struct;

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int pid;
	int tgid;
	unsigned long sas_ss_sp; /* the alternate signal stack */
	unsigned long sas_ss_size;
	struct sched_entity se;
	void *bpf_storage; /* the task's local storage of all BPF programs */
	bool throttled;	   /* since Linux 6.18: throttled by its cgroup's CPU limit */
	struct mm_struct *mm;
	struct files_struct *files;
	unsigned int ptrace;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	const struct cred *real_cred;
	struct signal_struct *signal;
	struct uprobe_task *utask;
	u64 start_boottime;
	int exit_code;
	unsigned in_iowait : 1;
	unsigned frozen : 1; /* by its cgroup (version 2) */
	char comm[16];
	struct thread_struct thread;
} CO_RE;

struct super_block {
	u32 s_dev;
	unsigned long s_magic;
} CO_RE;

struct rb_node;

struct rb_root {
	struct rb_node *rb_node;
} CO_RE;

struct rb_root_cached {
	struct rb_root rb_root;
} CO_RE;

struct address_space {
	struct rb_root_cached i_mmap; /* all mappings of the file */
} CO_RE;

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
	struct address_space *i_mapping;
} CO_RE;

struct qstr {
	const unsigned char *name;
} CO_RE;

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
} CO_RE;

struct path {
	struct dentry *dentry;
} CO_RE;

struct file {
	struct inode *f_inode;
	struct path f_path;
} CO_RE;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} CO_RE;

struct files_struct {
	struct fdtable *fdt;
} CO_RE;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_flags;
	struct file *vm_file;
} CO_RE;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} CO_RE;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} CO_RE;

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
} CO_RE;

#endif
