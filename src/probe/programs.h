/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What attaching needs of a loaded BPF object, the monitor's or the tracer's: the programs for
 * probes, and the maps that go with them.
 */
#ifndef PROBE_PROGRAMS_H
#define PROBE_PROGRAMS_H

#include <stdint.h>

#include "target/identity.h"

#define HOLDS_PROCESSES 1024 /* processes whose holds are kept, if processes are held */

/* The object owns all of these; it must outlive their users. */
struct probe_programs {
	const struct bpf_program *session; /* with session links, otherwise the next two */
	const struct bpf_program *entry, *on_return;
	const struct bpf_program *tensor; /* for probe points of allocators; NULL: not loaded */
	struct bpf_map *tensor_points;	  /* their operands, by number */
	struct bpf_map *sites;		  /* for tracefs links */
	struct bpf_map *watched, *held;	  /* processes by pid */
	struct bpf_map *watched_beside;	  /* the former of an object beside it; NULL: none */
	struct bpf_map *holds;		  /* for these two see gpuprobe/holds.h */
	volatile uint64_t *let_go_ns;
	volatile uint32_t *both_layers;	    /* launches are probed at both layers; may be NULL */
	volatile uint32_t *driver_counts;   /* a driver has probes, call/state.bpf.h; or NULL */
	volatile uint32_t *several_drivers; /* a second driver is to get probes; or NULL */
	volatile int32_t *confined_to;	    /* for these three see bpf/process/confined.bpf.h */
	volatile uint32_t *handing_over;
	volatile uint64_t *handed_over_ns;
	struct identity_programs identity;
	volatile uint64_t *unseen_until;      /* by enum rate_family; for selection.by_family */
	volatile uint64_t *asks_unseen_until; /* with selection.asks */
};

/* The members that the skeletons of the monitor and the tracer have under the same names. */
#define SHARED_PROGRAMS(skeleton) \
	.sites = (skeleton)->maps.sites, .watched = (skeleton)->maps.watched, \
	.held = (skeleton)->maps.held, .identity = IDENTITY_PROGRAMS(skeleton), \
	.holds = (skeleton)->maps.holds, \
	.let_go_ns = (volatile uint64_t *)&(skeleton)->bss->let_go_ns, \
	.confined_to = &(skeleton)->bss->confined_to, \
	.handing_over = &(skeleton)->bss->handing_over, \
	.handed_over_ns = (volatile uint64_t *)&(skeleton)->bss->handed_over_ns

#endif
