// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the two sides of a copy are: device memory, pinned host memory or other memory of the
 * program, where known. An address outside all allocations is the program's own memory if all
 * allocations were seen and the kernel has ordinary memory at the address: CUDA's mappings are
 * backed by the driver's device file, and device addresses are reserved, not readable.
 */
#ifndef BPF_COPY_SIDES_BPF_H
#define BPF_COPY_SIDES_BPF_H

#include "object/live.bpf.h"
#include "memory/ranges.bpf.h"

/* Result of side_of: a side, and above it the device's number or DEVICE_UNKNOWN. */
#define SIDE_UNKNOWN 0
#define SIDE_DEVICE 1
#define SIDE_PINNED 2
#define SIDE_PAGEABLE 3
#define SIDE_MASK 0xff
#define SIDE_DEVICE_SHIFT 8

#define VM_READ 0x1
#define VM_PFNMAP 0x400
#define VM_IO 0x4000
#define S_IFMT 0170000
#define S_IFREG 0100000

struct mapping {
	u32 is_ordinary;
};

static long look_at_mapping(struct task_struct *task __attribute__((unused)),
			    struct vm_area_struct *vma, struct mapping *mapping)
{
	unsigned long flags = BPF_CORE_READ(vma, vm_flags);
	struct file *file = BPF_CORE_READ(vma, vm_file);

	if (!(flags & VM_READ) || flags & (VM_IO | VM_PFNMAP))
		return 0;
	if (file && (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFREG)
		return 0;
	mapping->is_ordinary = 1;
	return 0;
}

/* Also false if the process's mappings are being changed at this moment. */
static __always_inline bool is_ordinary_memory(u64 address)
{
	struct mapping mapping = {};

	bpf_find_vma(bpf_get_current_task_btf(), address, look_at_mapping, &mapping, 0);
	return mapping.is_ordinary;
}

static __always_inline int side_of_kind(u8 kind, u8 device)
{
	if (is_host_kind(kind))
		return SIDE_PINNED | DEVICE_UNKNOWN << SIDE_DEVICE_SHIFT;
	/* Managed memory moves between devices and the host. */
	if (kind == MEMORY_MANAGED)
		device = DEVICE_UNKNOWN;
	return SIDE_DEVICE | device << SIDE_DEVICE_SHIFT;
}

/* Not static: verified once on its own, not at each call. */
__noinline int side_of(u32 slot, u64 address)
{
	struct allocation_key key = {.address = address, .slot = slot, .space = SPACE_ADDRESS};
	const struct allocation_record *record;
	const struct process_record *process = process_at(slot);
	struct range_search search = {.address = address, .slot = slot};

	if (!process || !address)
		return SIDE_UNKNOWN;
	/* Most copies begin at the start of an allocation. */
	record = bpf_map_lookup_elem(&allocations, &key);
	if (record && !died_with_context(slot, record))
		return side_of_kind(record->kind, record->device);
	search.levels = process->host_levels | process->device_levels;
	find_range(&search);
	if (search.found)
		return side_of_kind(search.kind, search.device);
	if (config.sees_memory && is_seen_from_start(slot) && is_ordinary_memory(address))
		return SIDE_PAGEABLE | DEVICE_UNKNOWN << SIDE_DEVICE_SHIFT;
	return SIDE_UNKNOWN;
}

/*
 * While this value stays the same, pageable memory remains pageable: neither the process's mappings
 * nor the set of pinned memory have changed. 0: unknown, or earlier pinned memory was missed.
 */
static __always_inline u64 version_of_memory(const struct process_record *process)
{
	u32 changes;

	if (process->late || !bpf_core_field_exists(struct mm_struct, mm_lock_seq.sequence))
		return 0;
	changes = BPF_CORE_READ(bpf_get_current_task_btf(), mm, mm_lock_seq.sequence);
	return changes & 1 ? 0 : (u64)(changes | 1) << 32 | (u32)process->host_ranges;
}

/*
 * As side_of, which takes long to find that memory is pageable: programs copy from the same address
 * repeatedly.
 */
static __always_inline int known_side_of(struct thread *thread, u64 address)
{
	const struct process_record *process = process_at(thread->slot);
	struct pageable_address *known = &thread->pageable[address >> 6 & (PAGEABLE_KNOWN - 1)];
	const int pageable = SIDE_PAGEABLE | DEVICE_UNKNOWN << SIDE_DEVICE_SHIFT;
	u64 version = process ? version_of_memory(process) : 0;
	int side;

	if (version && known->version == version && known->address == address)
		return pageable;
	side = side_of(thread->slot, address);
	if (side != pageable)
		return side;
	known->address = address;
	known->version = version;
	return pageable;
}

static __always_inline bool is_host_side(int side)
{
	return (side & SIDE_MASK) == SIDE_PINNED || (side & SIDE_MASK) == SIDE_PAGEABLE;
}

/* The direction between two sides of unified addresses; COPY_DEFAULT if one is unknown. */
static __always_inline u8 kind_of_sides(int from, int to)
{
	u32 from_device = from >> SIDE_DEVICE_SHIFT, to_device = to >> SIDE_DEVICE_SHIFT;

	if ((from & SIDE_MASK) == SIDE_UNKNOWN || (to & SIDE_MASK) == SIDE_UNKNOWN)
		return COPY_DEFAULT;
	if (is_host_side(from))
		return is_host_side(to) ? COPY_H2H : COPY_H2D;
	if (is_host_side(to))
		return COPY_D2H;
	if (from_device != to_device && from_device != DEVICE_UNKNOWN &&
	    to_device != DEVICE_UNKNOWN)
		return COPY_P2P;
	return COPY_D2D;
}

#endif
