/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the BPF objects of the monitor and the tracer have in common if stacks are captured
 * (bpf/stack/stack.bpf.h): maps and their sizes, constants, and what userspace writes for the
 * programs about processes and stacks.
 */
#ifndef PROBE_STACK_MAPS_H
#define PROBE_STACK_MAPS_H

#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/state.h"
#include "stack/stacks.h"

struct bpf_map;

/* The skeleton's maps, valid as long as the skeleton. */
struct stack_maps {
	struct bpf_map *scratches, *copy_scratches, *ring, *reported, *whole_chains, *code,
		*changes, *python;
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

/* Call before loading: chooses which maps are created (none with STACK_OFF) and their sizes. */
void stack_maps__size(const struct stack_maps *maps, const struct stack_maps_options *options);

/* The same for the constants. Returns 0 or a negative errno. */
int stack_maps__configure(struct config *config, const struct stack_maps_options *options,
			  struct error *err);

/* Hooks by which userspace writes these maps once they exist. `maps` must outlive them. */
struct stack_hooks stack_maps__hooks(struct stack_maps *maps);

#endif
