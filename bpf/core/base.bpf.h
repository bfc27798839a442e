// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Shared by the monitor's programs and the tracer's: the configuration, the watched processes, the
 * ring, and the losses.
 *
 * Where userspace sets a size (src/probe/), the one here is a placeholder.
 */
#ifndef BPF_CORE_BASE_BPF_H
#define BPF_CORE_BASE_BPF_H

#include "core/kernel.bpf.h"
#include "gpuprobe/state.h"

/* Set by userspace before load: constants to the verifier. */
const volatile struct config config;

/* pid in gpuprobe's namespace -> enum watched_state; used if only some processes are watched. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, s32);
	__type(value, u8);
} watched SEC(".maps");

#define RING_BYTES (4 << 20)

/*
 * Room for some 16,000 notices: a program may load thousands of modules while userspace waits for a
 * CPU.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOSS_COUNT);
	__type(key, u32);
	__type(value, u64);
} losses SEC(".maps");

/* (event << 12 | ip & 0xfff) -> the site's cookie, for LINKS_TRACEFS. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct site_key);
	__type(value, u32);
} sites SEC(".maps");

/*
 * Not inlined: it has 200 callers, and inlined each map lookup would make the verifier process the
 * rest once more.
 */
__noinline int lose(u32 reason)
{
	u32 key = reason;
	u64 *count = bpf_map_lookup_elem(&losses, &key);

	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}

/*
 * Counts a failed map update: a full map under its own loss, lack of memory separately. Keep such
 * errors in an int everywhere: before Linux 6.4 the upper half of a map function's return value is
 * 0, so it is not negative as a long.
 */
static __always_inline void lose_update(int error, enum loss full)
{
	lose(error == -12 /* ENOMEM */ ? LOSS_NO_MEMORY : full);
}

static __always_inline u64 now(void)
{
	return bpf_ktime_get_boot_ns();
}

#endif
