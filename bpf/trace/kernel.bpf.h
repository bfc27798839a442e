// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Kernels of traced launches: a name is sent once per handle and generation, before the launch's
 * event.
 */
#ifndef BPF_TRACE_KERNEL_BPF_H
#define BPF_TRACE_KERNEL_BPF_H

#include "launch/name.bpf.h"
#include "trace/event.bpf.h"

/* Kernels seen: 0 once the name was sent, otherwise the number of attempts. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct kernel_key);
	__type(value, u32);
} kernels_seen SEC(".maps");

static __always_inline u32 generation_of(u32 process)
{
	return generations[process & (GENERATIONS - 1)];
}

/* The process's kernel handles may refer to other kernels from now on. */
static __always_inline void raise_generation(u32 process)
{
	__sync_fetch_and_add(&generations[process & (GENERATIONS - 1)], 1);
}

static __noinline int kernel_first_seen(const struct traced_thread *thread, u64 handle, u32 tries)
{
	struct kernel_key key = {.handle = handle};
	u32 value;

	if (!thread)
		return 0;
	key.slot = thread->process;
	key.generation = generation_of(thread->process);
	/*
	 * A page may become resident later, but a handle without a name never gets one: try less
	 * and less often.
	 */
	value = !(tries & (tries - 1)) && !send_name_of_handle(&key) ? 0 : tries + 1;
	bpf_map_update_elem(&kernels_seen, &key, &value, BPF_ANY);
	return 0;
}

/* Ensures that userspace has the name of the kernel with `handle`, if it can be read. */
static __always_inline void name_launched(struct traced_thread *thread, u64 handle)
{
	/*
	 * Handles are addresses of objects that may be adjacent: the upper bits of a product spread
	 * them.
	 */
	struct known_kernel *known =
		&thread->known[handle * 0x9e3779b97f4a7c15 >> 32 & (KERNELS_KNOWN - 1)];
	u32 generation = generation_of(thread->process), *tries;
	struct kernel_key key;

	if (known->handle == handle && known->generation == generation)
		return;
	key.handle = handle;
	key.slot = thread->process;
	key.generation = generation;
	tries = bpf_map_lookup_elem(&kernels_seen, &key);
	if (!tries || *tries) {
		kernel_first_seen(thread, handle, tries ? *tries : 0);
		return;
	}
	known->handle = handle;
	known->generation = key.generation;
}

/*
 * The driver performs the launch that the runtime call in progress requested. The driver's handle
 * is the one by which the kernel's name is found.
 */
static __always_inline void keep_driver_handle(struct traced_thread *thread,
					       struct traced_call *outer, u64 handle)
{
	/* within the words: a bound that all verifiers recognize */
	u32 at = outer->kernel_at & 0xff;

	if (!at)
		return;
	*(u64 *)(outer->payload + at) = handle;
	name_launched(thread, handle);
}

#endif
