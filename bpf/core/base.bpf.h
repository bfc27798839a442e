// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the monitor's programs and the tracer's have in common: the
 * configuration, which processes are watched, the ring, and the losses.
 *
 * Sizes here are placeholders where userspace sets them (src/probe/).
 */
#ifndef BPF_CORE_BASE_BPF_H
#define BPF_CORE_BASE_BPF_H

#include "core/kernel.bpf.h"
#include "gpuprobe/state.h"

/* Set by userspace before load: constants to the verifier. */
const volatile struct config config;

/* pid in gpuprobe's namespace -> enum watched_state, where only some processes are watched. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, s32);
	__type(value, u8);
} watched SEC(".maps");

#define RING_BYTES (4 << 20)

/* Room for some 16,000 notices: a program may load thousands of modules while userspace waits for a CPU. */
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
 * Not inlined: it is needed in 200 places, and for each look-up that it finds
 * the verifier moves all that follows.
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
 * Counts a failed map update: no room under the map's own name, no memory apart.
 * Such an error is an int wherever it is kept: before Linux 6.4 the upper half
 * of what a map's functions return is 0, so that as a long it is not negative.
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
