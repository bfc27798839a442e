/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What attaching needs of a loaded BPF object, the monitor's or the tracer's:
 * the programs for probe sites, and the maps that go with them.
 */
#ifndef PROBE_PROGRAMS_H
#define PROBE_PROGRAMS_H

#include <stdint.h>

#include "target/identity.h"

#define HOLDS_PROCESSES 1024 /* whose holds are kept, where processes are held */

/* All belong to the object, which must outlive whoever uses them. */
struct probe_programs {
	const struct bpf_program *session; /* with session links, else the next two */
	const struct bpf_program *entry, *on_return;
	struct bpf_map *sites;		/* for tracefs links */
	struct bpf_map *watched, *held; /* processes by pid */
	struct bpf_map *holds;		/* these two see gpuprobe/holds.h */
	volatile uint64_t *let_go_ns;
	volatile uint32_t *both_layers;	    /* set when launches are probed at both layers; NULL: of no interest */
	volatile uint32_t *driver_counts;   /* set once a driver has probes, see bpf/call/state.bpf.h; NULL: of no interest */
	volatile uint32_t *several_drivers; /* set before a second driver library gets probes; NULL: of no interest */
	volatile int32_t *confined_to;	    /* these three see bpf/process/confined.bpf.h */
	volatile uint32_t *handing_over;
	volatile uint64_t *handed_over_ns;
	struct identity_programs identity;
	volatile uint64_t *unseen_until;      /* by enum rate_family, see bpf/call/state.bpf.h; with selection.by_family */
	volatile uint64_t *asks_unseen_until; /* with selection.asks */
};

#endif
