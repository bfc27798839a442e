// SPDX-License-Identifier: BSD-2-Clause
// Opens, configures and loads the tracer's BPF object; see trace_object.h.
#include "probe/trace_object.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gen/trace.skel.h"
#include "probe/library_names.h"
#include "probe/multi_link.h"
#include "probe/stack_maps.h"
#include "probe/tracepoints.h"
#include "privilege/sigio_kill.h"
#include "target/proc.h"

static int fill_constants(struct trace_bpf *skeleton, const struct trace_object_options *options,
			  struct error *err)
{
	const struct library_names names = {.handles = options->handles};
	struct trace_bpf__rodata *rodata = skeleton->rodata;
	struct pid_namespace namespace;
	int ret = proc__own_namespace(&namespace);

	if (ret)
		return error__set(err, ret, "cannot read /proc/self/ns/pid: %s; is /proc mounted?",
				  strerror(-ret));
	rodata->config.links = options->links;
	rodata->config.pidns_inum = (uint32_t) namespace.inode;
	rodata->config.only_watched = options->only_watched;
	rodata->config.hold = options->hold;
	rodata->config.hold_user = sigio_kill__reaches_all() ? HOLD_ALL : geteuid();
	library_names__fill(&rodata->config, &names);
	memcpy((void *)&rodata->trace, &options->config, sizeof(options->config));
	rodata->trace.wake_bytes = options->ring_bytes / 4;
	return stack_maps__configure(&rodata->config, &options->stacks, err);
}

/* Needed to hold processes, and for stacks, where code changes over time. */
static bool listens_to_calls(const struct trace_object_options *options)
{
	return options->hold || options->stacks.mode != STACK_OFF;
}

static void choose_programs(struct trace_bpf *skeleton, const struct trace_object_options *options)
{
	bool session = options->links == LINKS_SESSION;
	int type = session ? ATTACH_UPROBE_SESSION : ATTACH_UPROBE_MULTI;

	bpf_program__set_autoload(skeleton->progs.trace_session, session);
	bpf_program__set_autoload(skeleton->progs.trace_entry, !session);
	bpf_program__set_autoload(skeleton->progs.trace_return, !session);
	bpf_program__set_autoload(skeleton->progs.process_fork, options->only_watched);
	bpf_program__set_autoload(skeleton->progs.trace_nvtx, options->nvtx);
	bpf_program__set_autoload(skeleton->progs.mapping_exit, listens_to_calls(options));
	if (options->links == LINKS_TRACEFS)
		return;
	bpf_program__set_expected_attach_type(skeleton->progs.trace_session, type);
	bpf_program__set_expected_attach_type(skeleton->progs.trace_entry, type);
	bpf_program__set_expected_attach_type(skeleton->progs.trace_return, type);
	bpf_program__set_expected_attach_type(skeleton->progs.trace_nvtx, ATTACH_UPROBE_MULTI);
}

static void size_maps(struct trace_bpf *skeleton, const struct trace_object_options *options,
		      const struct features *features)
{
	struct bpf_map *growing[] = {skeleton->maps.watched, skeleton->maps.sites,
				     skeleton->maps.held};
	const struct stack_maps stacks = STACK_MAPS(skeleton);

	stack_maps__size(&stacks, &options->stacks);
	if (options->hold)
		bpf_map__set_max_entries(skeleton->maps.holds, HOLDS_PROCESSES);
	if (options->nvtx)
		bpf_map__set_max_entries(skeleton->maps.started_ranges, NVTX_OPEN);
	bpf_map__set_max_entries(skeleton->maps.ring, (uint32_t)options->ring_bytes);
	if (!features->lazy_maps)
		return;
	for (size_t i = 0; i < sizeof(growing) / sizeof(*growing); i++)
		bpf_map__set_map_flags(growing[i],
				       bpf_map__map_flags(growing[i]) | BPF_F_NO_PREALLOC);
}

static int attach_tracepoints(struct trace_bpf *skeleton, struct error *err)
{
	const struct tracepoint points[] = {
		{skeleton->progs.trace_exit, &skeleton->links.trace_exit, "sched_process_exit"},
		{skeleton->progs.trace_exit, &skeleton->links.trace_exec, "sched_process_exec"},
		{skeleton->progs.process_fork, &skeleton->links.process_fork, "sched_process_fork"},
		{skeleton->progs.mapping_exit, &skeleton->links.mapping_exit, "sys_exit"},
	};

	return tracepoints__attach(points, sizeof(points) / sizeof(*points), err);
}

int trace_object__load(const struct trace_object_options *options, const struct features *features,
		       struct trace_bpf **skeleton_out, struct error *err)
{
	struct trace_bpf *skeleton = trace_bpf__open();
	int ret;

	if (!skeleton)
		return error__set(err, -errno, "cannot open the BPF object: %s", strerror(errno));
	choose_programs(skeleton, options);
	size_maps(skeleton, options, features);
	ret = fill_constants(skeleton, options, err);
	if (ret)
		goto fail;
	ret = trace_bpf__load(skeleton);
	if (ret) {
		features__refused(ret, err);
		goto fail;
	}
	ret = attach_tracepoints(skeleton, err);
	if (ret)
		goto fail;
	*skeleton_out = skeleton;
	return 0;
fail:
	trace_bpf__destroy(skeleton);
	return ret;
}

int trace_object__attach_nvtx(struct trace_bpf *skeleton, enum link_kind links, const char *path,
			      struct library_points *points, struct error *err)
{
	static const char *const names[] = {"gpuprobe_nvtx_push", "gpuprobe_nvtx_pop",
					    "gpuprobe_nvtx_start", "gpuprobe_nvtx_end",
					    "gpuprobe_nvtx_mark"};
	static const uint64_t cookies[] = {NVTX_PUSH, NVTX_POP, NVTX_START, NVTX_END, NVTX_MARK};
	static const struct library_functions functions = {names, cookies,
							   sizeof(cookies) / sizeof(*cookies)};

	return library_points__attach(points, skeleton->progs.trace_nvtx, links != LINKS_TRACEFS,
				      path, &functions, err);
}

void trace_object__programs(struct trace_bpf *skeleton, struct probe_programs *programs)
{
	*programs = (struct probe_programs){
		.session = skeleton->progs.trace_session,
		.entry = skeleton->progs.trace_entry,
		.on_return = skeleton->progs.trace_return,
		SHARED_PROGRAMS(skeleton),
	};
}

void trace_object__set_plan(struct trace_bpf *skeleton, uint32_t row, const struct trace_plan *plan)
{
	if (row < MAX_FUNCTIONS)
		memcpy(&skeleton->bss->plans[row], plan, sizeof(*plan));
}
