/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces libbpf's header of this name, so that BPF programs compile for the build machine and
 * tests call them as functions. Maps are in native/maps.h, the rest of the kernel in
 * native/machine.h. A helper that no test needs fails like the kernel's when it finds nothing.
 */
#ifndef NATIVE_BPF_HELPERS_H
#define NATIVE_BPF_HELPERS_H

#include <errno.h>

#include "../machine.h"
#include "../maps.h"

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define __weak __attribute__((weak))
#define __ksym
#define SEC(name)

#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(variable) __asm__ volatile("" : "+r"(variable))

/* As in libbpf: the types of pointers to nowhere describe a map. */
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name

/* --- maps --- */

#define NUMBER_OF(pointer) ((__u32)(sizeof(*(pointer)) / sizeof(int)))
#define MAP_OF(map, key_bytes, max_entries) \
	map__of(map, NUMBER_OF((map)->type), key_bytes, sizeof(*(map)->value), max_entries)
#define KEYED_MAP(map) MAP_OF(map, sizeof(*(map)->key), NUMBER_OF((map)->max_entries))
#define QUEUE_MAP(map) MAP_OF(map, 0, NUMBER_OF((map)->max_entries))
#define STORAGE_MAP(map) MAP_OF(map, sizeof(void *), ~0u)

#define bpf_map_lookup_elem(map, key) map__find(KEYED_MAP(map), key)
#define bpf_map_update_elem(map, key, value, flags) map__update(KEYED_MAP(map), key, value, flags)
#define bpf_map_delete_elem(map, key) map__delete(KEYED_MAP(map), key)
#define bpf_for_each_map_elem(map, step, context, flags) map__each(KEYED_MAP(map), step, context)
#define bpf_map_push_elem(map, value, flags) map__push(QUEUE_MAP(map), value)
#define bpf_map_pop_elem(map, value) map__pop(QUEUE_MAP(map), value)
#define bpf_task_storage_get(map, task, value, flags) map__storage(STORAGE_MAP(map), task, flags)
#define bpf_task_storage_delete(map, task) map__storage_delete(STORAGE_MAP(map), task)

/* --- the ring --- */

#define bpf_ringbuf_reserve(ring, size, flags) machine__reserve(size)
#define bpf_ringbuf_submit(record, flags) machine__submit(record)
#define bpf_ringbuf_discard(record, flags) machine__discard(record)
#define bpf_ringbuf_output(ring, record, size, flags) machine__output(record, size)
#define bpf_ringbuf_query(ring, what) 0ull /* its reader is never late */

/* Helpers that no test needs. */
static inline long helper_fails(long error)
{
	return error;
}

/* --- the caller, the time, and the caller's memory --- */

#define bpf_ktime_get_boot_ns() machine__time()
#define bpf_get_current_task_btf() (machine.task)
#define bpf_get_current_pid_tgid() machine__pid_tgid()
#define bpf_get_attach_cookie(context) ((void)(context), machine.cookie)
#define bpf_task_pt_regs(task) ((void)(task), 0l)
#define bpf_probe_read_user(to, size, from) machine__read(to, size, from)
#define bpf_probe_read_user_str(to, size, from) ((void)(to), (void)(from), helper_fails(-EFAULT))
#define bpf_probe_read_kernel_str(to, size, from) ((void)(to), (void)(from), helper_fails(-EFAULT))
#define bpf_find_vma(task, address, step, context, flags) \
	((void)(address), (void)(step), (void)(context), helper_fails(-ENOENT))
#define bpf_get_stack(context, to, size, flags) ((void)(context), (void)(to), helper_fails(-EFAULT))
#define bpf_send_signal(signal) helper_fails(-EPERM)
#define bpf_get_prandom_u32() 0u
#define bpf_seq_write(file, from, size) ((void)(file), (void)(from), helper_fails(-EOVERFLOW))

static inline long bpf_loop(__u32 count, void *callback, void *context, __u64 flags)
{
	long (*step)(__u32, void *) = callback;
	__u32 i = 0;

	(void)flags;
	while (i < count)
		if (step(i++, context))
			break;
	return i;
}

#endif
