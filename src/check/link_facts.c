// SPDX-License-Identifier: BSD-2-Clause
// Tries BPF and links; see links.h.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check/links.h"
#include "gpuprobe/trace.h" /* which the skeleton refers to */
#include "gen/gpuprobe.skel.h"
#include "gen/trace.skel.h"
#include "probe/host_object.h"
#include "probe/object.h"
#include "probe/trace_object.h"
#include "target/elf_file.h"
#include "target/identity.h"
#include "target/proc.h"

#define STACK_BYTES 16384
#define STACKS 64

static void set_attempt(struct attempt *attempt, int ret)
{
	attempt->made = true;
	attempt->ret = ret;
}

static void try_iterator(struct attempt *attempt)
{
	struct identity_reader *reader = NULL;
	struct file_identity identity;
	struct elf_file *self = NULL;
	int ret = elf_file__open("/proc/self/exe", &self, &attempt->error);

	if (!ret)
		ret = identity_reader__new(NULL, &reader, &attempt->error);
	if (!ret) {
		ret = identity_reader__of_fd(reader, elf_file__fd(self), &identity);
		if (ret)
			error__set(&attempt->error, ret, "cannot find gpuprobe's own file: %s",
				   strerror(-ret));
	}
	identity_reader__free(reader);
	elf_file__free(self);
	set_attempt(attempt, ret);
}

/*
 * Loads all monitor programs with small maps, and without stat's profile, which takes long to load.
 * It watches no process.
 */
static int load_monitor(const struct link_facts *facts, enum stack_mode stacks, struct error *err)
{
	const struct object_options options = {
		.links = facts->kind,
		.check_launches = true,
		.only_watched = true,
		.track_inflight = true,
		.sees_memory = true,
		.hold = true,
		.max_processes = 64,
		.max_allocations = 1024,
		.max_kernels = 1024,
		.max_inflight = 1024,
		.stack_mode = stacks,
		.stack_bytes = STACK_BYTES,
		.max_stacks = STACKS,
	};
	struct gpuprobe_bpf *skeleton = NULL;
	int ret = object__load(&options, &facts->features, &skeleton, err);

	if (!ret)
		gpuprobe_bpf__destroy(skeleton);
	return ret;
}

/* Loads with stacks; if that fails, without them. */
static void try_monitor(struct link_facts *facts)
{
	int ret = load_monitor(facts, STACK_AUTO, &facts->monitor.error);

	facts->stacks = STACK_AUTO;
	if (ret) {
		ret = load_monitor(facts, STACK_OFF, &facts->monitor.error);
		facts->stacks = STACK_OFF;
	}
	set_attempt(&facts->monitor, ret);
}

static void try_tracer(struct link_facts *facts)
{
	const struct trace_object_options options = {
		.links = facts->kind,
		.only_watched = true,
		.ring_bytes = 1u << 20,
		.stacks = {.mode = facts->stacks, .bytes = STACK_BYTES, .max = STACKS},
	};
	struct trace_bpf *skeleton = NULL;
	int ret = trace_object__load(&options, &facts->features, &skeleton, &facts->tracer.error);

	if (!ret)
		trace_bpf__destroy(skeleton);
	set_attempt(&facts->tracer, ret);
}

void link_facts__try(const char *forced, bool tracefs, const struct kernel_types *types,
		     struct link_facts *facts)
{
	struct error ignored;

	*facts = (struct link_facts){.program = features__try_program(),
				     .forced = forced && *forced};
	if (facts->program)
		return;
	facts->reading = features__try_reading();
	facts->foreign_proc = proc__check_proc(NULL);
	/* If this fails, the lines about the kernel and its types say why. */
	if (features__probe(&facts->features, &ignored))
		features__try_links(&facts->features);
	facts->chosen = features__choose_links(&facts->features, forced, &facts->kind,
					       &facts->choice_error);
	if (facts->chosen)
		return;
	if (facts->kind != LINKS_TRACEFS || tracefs)
		set_attempt(&facts->probing,
			    probe_selftest__run(facts->kind, &facts->trial, &facts->probing.error));
	if (!types->loops || facts->reading)
		return;
	try_iterator(&facts->iterator);
	try_monitor(facts);
	try_tracer(facts);
	set_attempt(&facts->threads, host_object__try(&facts->threads.error));
}

enum tracefs_use link_facts__tracefs_use(const struct link_facts *facts)
{
	if (facts->program || facts->chosen)
		return TRACEFS_USE_UNKNOWN;
	return facts->kind == LINKS_TRACEFS ? TRACEFS_USED : TRACEFS_UNUSED;
}
