// SPDX-License-Identifier: BSD-2-Clause
// Maps of stacks; see stack_maps.h.
#include "probe/stack_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

/*
 * Room for the burst of new stacks when a program starts, each sent once, while the first ones are
 * being named.
 */
#define RING_BYTES (4u << 20)
#define COPY_RING_BYTES (32u << 20)
#define CHANGING_PROCESSES 8192

/*
 * The programs do not use maps that are not created, because the mode is a constant to them. But
 * before Linux 6.8 the verifier checks global functions that nothing calls, so the maps that those
 * of bpf/stack/stack.bpf.h refer to must exist, with minimum size.
 */
void stack_maps__size(const struct stack_maps *maps, const struct stack_maps_options *options)
{
	bool takes = options->mode != STACK_OFF, copies = options->mode > STACK_FP;
	struct bpf_map *own[] = {maps->scratches, maps->copy_scratches, maps->ring, maps->reported,
				 maps->whole_chains};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		bpf_map__set_autocreate(own[i], takes);
	if (!takes) {
		bpf_map__set_max_entries(maps->code, 1);
		bpf_map__set_max_entries(maps->python, 1);
		return;
	}
	bpf_map__set_max_entries(maps->changes, CHANGING_PROCESSES);
	bpf_map__set_max_entries(maps->ring, copies ? COPY_RING_BYTES : RING_BYTES);
	bpf_map__set_max_entries(maps->reported, 2 * options->max);
	bpf_map__set_max_entries(maps->whole_chains,
				 options->mode == STACK_AUTO ? 2 * options->max : 1);
}

int stack_maps__configure(struct config *config, const struct stack_maps_options *options,
			  struct error *err)
{
	config->stack_mode = (uint8_t)options->mode;
	config->stack_bytes = options->bytes;
	if (getrandom(&config->stack_seed, sizeof(config->stack_seed), 0) !=
	    sizeof(config->stack_seed))
		return error__set(err, -errno, "cannot get a random number: %s", strerror(errno));
	return 0;
}

/* --- what userspace writes for the programs --- */

static int set_entry(struct bpf_map *map, const void *key, size_t key_size, const void *value,
		     size_t value_size)
{
	return bpf_map__update_elem(map, key, key_size, value, value_size, BPF_ANY);
}

static int set_python(void *arg, pid_t pid, const struct python_target *target)
{
	const struct stack_maps *maps = arg;

	if (!target)
		return bpf_map__delete_elem(maps->python, &pid, sizeof(pid), 0);
	return set_entry(maps->python, &pid, sizeof(pid), target, sizeof(*target));
}

static int set_code(void *arg, pid_t pid, const struct code_map *map)
{
	const struct stack_maps *maps = arg;

	if (!map)
		return bpf_map__delete_elem(maps->code, &pid, sizeof(pid), 0);
	return set_entry(maps->code, &pid, sizeof(pid), map, sizeof(*map));
}

static int set_whole(void *arg, uint64_t chain)
{
	const struct stack_maps *maps = arg;
	uint8_t yes = 1;

	return set_entry(maps->whole_chains, &chain, sizeof(chain), &yes, sizeof(yes));
}

static int set_same(void *arg, uint64_t id, uint64_t same)
{
	const struct stack_maps *maps = arg;

	return set_entry(maps->reported, &id, sizeof(id), &same, sizeof(same));
}

static int forget(void *arg, uint64_t id)
{
	const struct stack_maps *maps = arg;

	return bpf_map__delete_elem(maps->reported, &id, sizeof(id), 0);
}

struct stack_hooks stack_maps__hooks(struct stack_maps *maps)
{
	return (struct stack_hooks){set_python, set_code, set_whole, set_same, forget, maps, false};
}
