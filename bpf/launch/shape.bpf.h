// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Shapes of launches: grid, block, shared memory and stream, from the arguments of each launch
 * function, kept per kernel at sampled launches only.
 */
#ifndef BPF_LAUNCH_SHAPE_BPF_H
#define BPF_LAUNCH_SHAPE_BPF_H

#include "profile/profile.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct kernel_key);
	__type(value, struct shape_record);
} shapes SEC(".maps");

#define NO_GAP (~0ull)

/*
 * CUlaunchConfig and cudaLaunchConfig_t begin alike: grid, block, shared bytes (four bytes in the
 * driver's).
 */
struct launch_config {
	struct launch_shape shape;
	u64 stream;
};
_Static_assert(offsetof(struct launch_config, shape.shared_bytes) == 24 &&
		       offsetof(struct launch_config, stream) == 32,
	       "as in the API");

static __always_inline void read_config(u64 address, u8 layer, struct launch_config *config)
{
	if (bpf_probe_read_user(config, sizeof(*config), (void *)address)) {
		lose(LOSS_UNREADABLE);
		__builtin_memset(config, 0, sizeof(*config));
		return;
	}
	if (layer == LAYER_DRIVER)
		config->shape.shared_bytes = (u32)config->shape.shared_bytes;
}

/* A dim3 passed by value has x and y in its first eight bytes, and no separate argument for y. */
static __always_inline void read_dimensions(struct pt_regs *ctx,
					    const volatile struct function_desc *function,
					    enum role x, enum role y, enum role z,
					    u32 dimensions[DIMENSIONS])
{
	u64 first = argument(ctx, function, x);

	dimensions[0] = first;
	dimensions[1] = has_role(function, y) ? argument(ctx, function, y) : first >> 32;
	dimensions[2] = argument(ctx, function, z);
	/* The oldest functions have a two-dimensional grid. */
	if (has_role(function, x) && !has_role(function, z))
		dimensions[2] = 1;
}

/* Values that a function does not have are 0. */
static __noinline int read_launch(struct pt_regs *ctx,
				  const volatile struct function_desc *function,
				  struct launch_config *config)
{
	if (has_role(function, ROLE_CONFIG)) {
		read_config(argument(ctx, function, ROLE_CONFIG), function->layer, config);
		return 0;
	}
	read_dimensions(ctx, function, ROLE_GRIDX, ROLE_GRIDY, ROLE_GRIDZ, config->shape.grid);
	read_dimensions(ctx, function, ROLE_BLOCKX, ROLE_BLOCKY, ROLE_BLOCKZ, config->shape.block);
	config->shape.shared_bytes = argument(ctx, function, ROLE_SHMEM);
	config->stream = argument(ctx, function, ROLE_STREAM);
	return 0;
}

/* Reads only the stream. */
static __always_inline u64 stream_of_launch(struct pt_regs *ctx,
					    const volatile struct function_desc *function)
{
	u64 stream = 0, config;

	if (!has_role(function, ROLE_CONFIG))
		return argument(ctx, function, ROLE_STREAM);
	config = argument(ctx, function, ROLE_CONFIG) + offsetof(struct launch_config, stream);
	if (bpf_probe_read_user(&stream, sizeof(stream), (void *)config))
		lose(LOSS_UNREADABLE);
	return stream;
}

/* Saturates, since the program chooses the values. */
static __always_inline u64 product(const u32 dimensions[DIMENSIONS])
{
	u64 plane = (u64)dimensions[0] * dimensions[1];
	u64 low = (u32)plane * (u64)dimensions[2],
	    high = (plane >> 32) * dimensions[2] + (low >> 32);

	return high >> 32 ? ~0ull : high << 32 | (u32)low;
}

static __always_inline void widen(u64 *min, u64 *max, u64 value)
{
	if (value < *min)
		*min = value;
	if (value > *max)
		*max = value;
}

static __always_inline void keep_shape(struct shape_record *record,
				       const struct launch_config *config, u64 gap)
{
	if (__sync_val_compare_and_swap(&record->lock, 0, 1))
		return;
	record->samples++;
	record->stream = config->stream;
	record->latest_ns = now();
	record->latest = config->shape;
	widen(&record->blocks_min, &record->blocks_max, product(config->shape.grid));
	widen(&record->threads_min, &record->threads_max, product(config->shape.block));
	widen(&record->shared_min, &record->shared_max, config->shape.shared_bytes);
	if (gap != NO_GAP) {
		record->gaps++;
		record->gap_ns += gap;
		widen(&record->gap_min, &record->gap_max, gap);
	}
	__sync_val_compare_and_swap(&record->lock, 1, 0);
}

/*
 * Keeps the shape of a launch of that kernel. Returns 1 if it is the kernel's first, otherwise 0.
 */
__noinline int add_shape(const struct kernel_key *kernel, const struct launch_config *config,
			 u64 gap)
{
	struct shape_record *record;
	struct shape_record fresh = {
		.blocks_min = ~0ull,
		.threads_min = ~0ull,
		.shared_min = ~0ull,
		.gap_min = ~0ull,
	};
	struct kernel_key key;
	int error = 0;

	if (!kernel || !config)
		return 0;
	key = *kernel;
	record = bpf_map_lookup_elem(&shapes, &key);
	if (record) {
		keep_shape(record, config, gap);
		return 0;
	}
	error = bpf_map_update_elem(&shapes, &key, &fresh, BPF_NOEXIST);
	record = bpf_map_lookup_elem(&shapes, &key);
	if (!record) {
		lose_update(error, LOSS_SHAPE_MAP_FULL);
		return 0;
	}
	keep_shape(record, config, gap);
	return !error;
}

/* Time since the thread's previous launch, if known. */
static __always_inline u64 gap_before_launch(const struct thread *thread)
{
	const struct thread_profile *profile;
	u64 before_ns;

	if (!config.profile)
		return NO_GAP;
	profile = profile_of(thread);
	before_ns = profile ? launched_before(profile) : 0;
	return before_ns ? now() - before_ns : NO_GAP;
}

static __noinline int sample_shape(struct pt_regs *ctx,
				   const volatile struct function_desc *function,
				   const struct thread *thread, const struct kernel_key *kernel)
{
	struct launch_config config = {};

	if (!kernel || !thread)
		return 0;
	read_launch(ctx, function, &config);
	return add_shape(kernel, &config, gap_before_launch(thread));
}

#endif
