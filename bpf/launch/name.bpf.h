// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sends kernel names to userspace, which validates them. Most fit in a small record; only longer
 * ones reserve a large one in the ring.
 */
#ifndef BPF_LAUNCH_NAME_BPF_H
#define BPF_LAUNCH_NAME_BPF_H

#include "process/share.bpf.h"

static __always_inline void fill_name(struct record_name *record, const struct kernel_key *key,
				      u64 module, u16 source, long size)
{
	record->header.type = RECORD_KERNEL_NAME;
	record->header.slot = key->slot;
	record->handle = key->handle;
	record->module = module;
	record->generation = key->generation;
	record->source = source;
	record->length = size - 1;
}

/*
 * Sends the string at `name` in the calling process as the name of `key`. Returns 0, or -1 if the
 * string cannot be read now or the ring is full, which is also counted: the caller may retry.
 * Global: the verifier goes through it once.
 */
__noinline int send_name(const struct kernel_key *key, u64 module, u16 source, u64 name)
{
	struct process_record *process;
	struct record_name *record;
	long size;

	if (!key)
		return -1;
	process = process_at(key->slot);
	if (!process || !may_notify(process))
		return -1;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record) + NAME_SHORT_SIZE, 0);
	if (!record) {
		lose(LOSS_RING_FULL);
		return -1;
	}
	size = bpf_probe_read_user_str(record->name, NAME_SHORT_SIZE, (void *)name);
	if (size > 1 && size < NAME_SHORT_SIZE) {
		fill_name(record, key, module, source, size);
		notified(process, sizeof(*record) + NAME_SHORT_SIZE);
		bpf_ringbuf_submit(record, 0);
		return 0;
	}
	bpf_ringbuf_discard(record, 0);
	if (size <= 1)
		return -1;

	record = bpf_ringbuf_reserve(&ring, sizeof(*record) + NAME_SIZE, 0);
	if (!record) {
		lose(LOSS_RING_FULL);
		return -1;
	}
	size = bpf_probe_read_user_str(record->name, NAME_SIZE, (void *)name);
	if (size <= 1) {
		bpf_ringbuf_discard(record, 0);
		return -1;
	}
	fill_name(record, key, module, source, size);
	notified(process, sizeof(*record) + NAME_SIZE);
	bpf_ringbuf_submit(record, 0);
	return 0;
}

/*
 * Sends the name of a launch handle through the pointer at handle + 8. This works for CUfunction
 * and CUkernel from every API seen, but is undocumented, so userspace checks it against names
 * obtained by documented means.
 */
static __always_inline int send_name_of_handle(const struct kernel_key *key)
{
	u64 name;

	if (bpf_probe_read_user(&name, sizeof(name), (void *)(key->handle + 8)))
		return -1;
	return send_name(key, 0, NAME_FROM_HANDLE, name);
}

#endif
