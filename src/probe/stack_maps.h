/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the monitor's BPF object and the tracer's have alike where stacks are
 * taken (bpf/stack/stack.bpf.h): maps with their sizes, constants, and what the programs
 * are told of processes and stacks.
 */
#ifndef PROBE_STACK_MAPS_H
#define PROBE_STACK_MAPS_H

#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/state.h"
#include "stack/stacks.h"

struct bpf_map;

/* The skeleton's, valid as long as that is. */
struct stack_maps {
	struct bpf_map *scratches, *copy_scratches, *ring, *reported, *whole_chains, *code, *changes, *python;
};

#define STACK_MAPS(skeleton) \
	((struct stack_maps){ \
		.scratches = (skeleton)->maps.stack_scratches, \
		.copy_scratches = (skeleton)->maps.stack_copy_scratches, \
		.ring = (skeleton)->maps.stack_ring, \
		.reported = (skeleton)->maps.stacks_told, \
		.whole_chains = (skeleton)->maps.whole_chains, \
		.code = (skeleton)->maps.code_maps, \
		.changes = (skeleton)->maps.code_changes, \
		.python = (skeleton)->maps.python_targets, \
	})

struct stack_maps_options {
	enum stack_mode mode;
	uint32_t bytes; /* of a stack that are copied, up to STACK_COPY_MAX */
	uint32_t max;	/* distinct stacks */
};

/* Before the object is loaded: which maps are created, none with STACK_OFF, and how large they are. */
void stack_maps__size(const struct stack_maps *maps, const struct stack_maps_options *options);

/* The same for the constants. 0 or a negative errno. */
int stack_maps__configure(struct config *config, const struct stack_maps_options *options, struct error *err);

/* Hooks by which userspace writes these maps, once they are there. `maps` must outlive them. */
struct stack_hooks stack_maps__hooks(struct stack_maps *maps);

#endif
