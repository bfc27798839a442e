/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces libbpf's header of this name: the kernel's structures are exactly those of
 * bpf/core/kernel.bpf.h, and nothing is relocated.
 */
#ifndef NATIVE_BPF_CORE_READ_H
#define NATIVE_BPF_CORE_READ_H

#include <stddef.h>
#include <string.h>

/* An attribute in bpf/core/kernel.bpf.h that exists only for BPF. */
#define preserve_access_index

#define ARROWS_1(from, a) ((from)->a)
#define ARROWS_2(from, a, b) ((from)->a->b)
#define ARROWS_3(from, a, b, c) ((from)->a->b->c)
#define ARROWS_4(from, a, b, c, d) ((from)->a->b->c->d)
#define ARROWS_OF(a, b, c, d, chosen, ...) chosen

#define BPF_CORE_READ(from, ...) \
	ARROWS_OF(__VA_ARGS__, ARROWS_4, ARROWS_3, ARROWS_2, ARROWS_1, )(from, __VA_ARGS__)
#define BPF_CORE_READ_INTO(to, from, ...) \
	((void)memcpy(to, &BPF_CORE_READ(from, __VA_ARGS__), sizeof(*(to))))
#define bpf_core_read(to, size, from) ((void)memcpy(to, from, size), 0)
#define bpf_core_field_exists(...) 1
#define bpf_core_enum_value_exists(type, value) 1
#define bpf_core_field_offset(type, field) offsetof(type, field)
#define bpf_core_type_size(type) sizeof(type)

#endif
