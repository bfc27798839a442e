// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The maps of tensors (include/gpuprobe/tensor.h). They exist if tensors are watched; userspace
 * sets their sizes (src/probe/tensor_maps.c).
 */
#ifndef BPF_TENSOR_STATE_BPF_H
#define BPF_TENSOR_STATE_BPF_H

#include "core/base.bpf.h"
#include "gpuprobe/tensor.h"

/* Where probe points have their operands, by the number in a site's cookie; from userspace. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TENSOR_POINTS);
	__type(key, u32);
	__type(value, struct tensor_point);
} tensor_points SEC(".maps");

/* Live tensors. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1048576);
	__type(key, struct tensor_key);
	__type(value, struct tensor_record);
} tensors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct tensor_device_key);
	__type(value, struct tensor_device_record);
} tensor_devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct tensor_site_key);
	__type(value, struct tensor_site_record);
} tensor_sites SEC(".maps");

/* struct tensor_event, with config.tensor_events; otherwise it has a page. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} tensor_ring SEC(".maps");

/* Live tensors on record, for the process's share of the map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct tensor_count_key);
	__type(value, u64);
} tensor_counts SEC(".maps");

#endif
