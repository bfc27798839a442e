// SPDX-License-Identifier: BSD-2-Clause
// Which members of a process are recorded, see fields.h.
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "record/types.h"

#include "model/kernels.h"
#include "model/object_sites.h"
#include "model/steps.h"
#include "target/workload.h"

#define T struct workload
static const struct recorded_field workload_fields[] = {
	HIDDEN_TEXT(namespace, "namespace"), HIDDEN_TEXT(pod, "pod"),
	HIDDEN_TEXT(container, "ctr"),	     HIDDEN_TEXT(unit, "unit"),
	HIDDEN_TEXT(slurm_job, "job"),	     HIDDEN_TEXT(slurm_step, "step"),
	HIDDEN_TEXT(slurm_sluid, "job-id"),  HIDDEN_TEXT(pbs_job, "job"),
	HIDDEN_TEXT(image, "image"),
};
RECORDED_TYPE(workload, 0);
#undef T

#define T struct memory_totals
static const struct recorded_field memory_totals_fields[] = {
	TOTAL(allocations),   TOTAL(allocation_failures), TOTAL(allocation_ns), TOTAL(frees),
	TOTAL(free_failures), TOTAL(unknown_frees),	  TOTAL(never_live),	TOTAL(replaced),
	TOTAL(with_context),  TOTAL(with_context_bytes),  VALUE(live_bytes),	VALUE(live_count),
	VALUE(balance),
};
RECORDED_TYPE(memory_totals, 0);
#undef T

#define T struct allocation
static const struct recorded_field allocation_fields[] = {
	VALUE(address), VALUE(size),	 VALUE(start_ns), BELOW(kind, MEMORY_KINDS),
	VALUE(device),	VALUE(stack_id), STACK(stack),	  VALUE(stream),
};
RECORDED_TYPE(allocation, 1);
#undef T

#define T struct pool_totals
static const struct recorded_field pool_totals_fields[] = {
	VALUE(handle),	  VALUE(device),    VALUE(used),      VALUE(reserved),
	VALUE(threshold), VALUE(estimated), VALUE(destroyed),
};
RECORDED_TYPE(pool_totals, 2);
#undef T

#define T struct launch_shape
static const struct recorded_field launch_shape_fields[] = {
	VALUES(grid),
	VALUES(block),
	VALUE(shared_bytes),
};
RECORDED_TYPE(launch_shape, 0);
#undef T

#define T struct shape_record
static const struct recorded_field shape_record_fields[] = {
	SKIPPED(lock, "BPF's"),
	TOTAL(samples),
	VALUE(stream),
	VALUE(latest_ns),
	STRUCTS(latest, launch_shape),
	VALUE(blocks_min),
	VALUE(blocks_max),
	VALUE(threads_min),
	VALUE(threads_max),
	VALUE(shared_min),
	VALUE(shared_max),
	TOTAL(gaps),
	TOTAL(gap_ns),
	VALUE(gap_min),
	VALUE(gap_max),
};
RECORDED_TYPE(shape_record, 0);
#undef T

#define T struct kernel
static const struct recorded_field kernel_fields[] = {
	VALUE(serial),
	VALUE(handle),
	HIDDEN_STRING(name, "kernel-name"),
	HIDDEN_STRING(short_name, "kernel-function"),
	HIDDEN_STRING(label, "kernel"),
	TOTAL(launches),
	TOTAL(captured),
	TOTAL(missed),
	STRUCTS(shape, shape_record),
	VALUE(is_rest),
};
RECORDED_TYPE(kernel, 1);
#undef T

#define T struct graph_run
static const struct recorded_field graph_run_fields[] = {
	VALUE(kernels),
	VALUE(unknown),
	TOTAL(launches),
};
RECORDED_TYPE(graph_run, 2);
#undef T

#define T struct wait_totals
static const struct recorded_field wait_totals_fields[] = {
	TOTAL(calls), TOTAL(ns), TOTAL(beside_ns), VALUE(open), TOTAL(unfollowed),
};
RECORDED_TYPE(wait_totals, 0);
#undef T

#define T struct copy_totals
static const struct recorded_field copy_totals_fields[] = {
	TOTAL(calls),
	TOTAL(bytes),
	TOTAL(ns),
	TOTAL(pinned_calls),
	TOTAL(pinned_bytes),
	TOTAL(pageable_calls),
	TOTAL(pageable_bytes),
	TOTAL(captured_calls),
	TOTAL(captured_bytes),
	TOTAL(unfollowed_calls),
	TOTAL(unfollowed_bytes),
};
RECORDED_TYPE(copy_totals, 0);
#undef T

#define T struct copy_inflight
static const struct recorded_field copy_inflight_fields[] = {
	VALUE(calls),
	VALUE(bytes),
	VALUE(oldest_ns),
};
RECORDED_TYPE(copy_inflight, 0);
#undef T

#define T struct covered_totals
static const struct recorded_field covered_totals_fields[] = {
	TOTAL(calls),
	TOTAL(bytes),
	TOTAL(ns),
};
RECORDED_TYPE(covered_totals, 0);
#undef T

#define T struct object_totals
static const struct recorded_field object_totals_fields[] = {
	TOTAL(created), TOTAL(destroyed), TOTAL(unknown_destroyed), TOTAL(with_context),
	VALUE(live),	TOTAL(ns),	  TOTAL(in_launch),	    TOTAL(in_launch_ns),
};
RECORDED_TYPE(object_totals, 0);
#undef T

#define T struct query_totals
static const struct recorded_field query_totals_fields[] = {
	TOTAL(calls),
	TOTAL(not_ready),
};
RECORDED_TYPE(query_totals, 0);
#undef T

#define T struct unfollowed_totals
static const struct recorded_field unfollowed_totals_fields[] = {
	TOTAL(calls),
	TOTAL(allocations),
	TOTAL(allocated_bytes),
	TOTAL(frees),
};
RECORDED_TYPE(unfollowed_totals, 0);
#undef T

#define T struct device_totals
static const struct recorded_field device_totals_fields[] = {
	VALUE(device),
	TOTAL(launches),
	TOTAL(allocations),
	TOTAL(allocated_bytes),
	VALUE(live_bytes),
	VALUE(live_count),
	VALUE(balance),
	TOTAL(copies),
	TOTAL(copy_bytes),
	TOTAL(wait_ns),
	STRUCTS(waits, wait_totals),
	STRUCTS(copy_waits, wait_totals),
	STRUCTS(free_waits, wait_totals),
	VALUES(objects),
	VALUES(had_objects),
};
RECORDED_TYPE(device_totals, 1);
#undef T

#define T struct function_totals
static const struct recorded_field function_totals_fields[] = {
	ROW(row),     VALUE(flags), VALUE(kind),     VALUE(device), TOTAL(calls),   TOTAL(failures),
	TOTAL(bytes), TOTAL(ns),    TOTAL(other_ns), VALUE(open),   VALUE(open_ns),
};
RECORDED_TYPE(function_totals, 4);
#undef T

#define T struct failure
static const struct recorded_field failure_fields[] = {
	NEEDED_STRING(function),
	VALUE(code),
	STRING(error),
	BELOW(layer, LAYER_COUNT),
	TOTAL(count),
	VALUE(first_ns),
	VALUE(last_ns),
	VALUE(sampled),
	VALUE(is_rest),
};
RECORDED_TYPE(failure, 2);
#undef T

#define T struct sticky_error
static const struct recorded_field sticky_error_fields[] = {
	VALUE(code),
	VALUE(ns),
	TOTAL(same),
	TOTAL(others),
};
RECORDED_TYPE(sticky_error, 0);
#undef T

#define T struct call_site
static const struct recorded_field call_site_fields[] = {
	STACK(stack),
	BELOW(kind, SITE_KINDS),
	ROW(row),
	VALUE(code),
	HIDDEN_STRING(kernel, "kernel-name"),
	HIDDEN_STRING(kernel_short, "kernel-function"),
	HIDDEN_STRING(kernel_label, "kernel"),
	TOTAL(calls),
	TOTAL(amount),
	VALUE(early_calls),
	VALUE(early_amount),
};
RECORDED_TYPE(call_site, 5);
#undef T

#define T struct live_site
static const struct recorded_field live_site_fields[] = {
	STACK(stack), VALUE(bytes), VALUE(count), VALUE(oldest_ns), VALUE(newest_ns),
};
RECORDED_TYPE(live_site, 1);
#undef T

#define T struct object_site
static const struct recorded_field object_site_fields[] = {
	STACK(stack), BELOW(kind, OBJECT_KINDS), VALUE(live),
	TOTAL(made),  VALUE(oldest_ns),		 VALUE(newest_ns),
};
RECORDED_TYPE(object_site, 2);
#undef T

#define T struct family_calls
static const struct recorded_field family_calls_fields[] = {
	TOTAL(counted),
	TOTAL(missed),
	VALUE(sampled),
};
RECORDED_TYPE(family_calls, 0);
#undef T

#define T struct open_call
static const struct recorded_field open_call_fields[] = {
	VALUE(tid),
	ROW(row),
	VALUE(device),
	VALUE(seen),
	VALUE(based),
	VALUE(earlier),
	HIDDEN_TEXT(comm, "task"),
	VALUE(thread_start_ns),
	VALUE(start_ns),
	VALUE(ended_ns),
	STACK(stack),
	VALUE(others_before),
	VALUE(others),
};
RECORDED_TYPE(open_call, 2);
#undef T

/* The calls that created objects are behind the others. */
static int make_sites(const void *object, struct made_list *list)
{
	const struct process *process = object;

	list->items = process->sites;
	list->count = process->site_count + process->object_call_count;
	return 0;
}

static int by_handle(const void *a, const void *b)
{
	const struct known_kernel *x = a, *y = b;

	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

static int add_round(const struct process *process, const struct step_thread *thread,
		     struct known_kernel **kernels, size_t *count)
{
	struct known_kernel kernel = {0};

	for (size_t i = 0; i < thread->round_length; i++) {
		kernel.handle = thread->round[i];
		if (process__knows_kernel(process, kernel.handle, &kernel.label) &&
		    ARRAY_APPEND(*kernels, *count, kernel))
			return -ENOMEM;
	}
	return 0;
}

/* A round often launches the same kernel again. */
static int make_known(const void *object, struct made_list *list)
{
	const struct process *process = object;
	struct known_kernel *kernels = NULL;
	size_t count = 0, kept = 0;
	int ret = 0;

	for (size_t i = 0; process->steps && i < process->steps->count && !ret; i++)
		ret = add_round(process, process->steps->threads[i], &kernels, &count);
	if (count)
		qsort(kernels, count, sizeof(*kernels), by_handle);
	for (size_t i = 0; i < count; i++)
		if (!kept || kernels[kept - 1].handle != kernels[i].handle)
			kernels[kept++] = kernels[i];
	*list = (struct made_list){.items = kernels, .count = kept, .memory = kernels};
	return ret;
}

#define T struct process
static const struct recorded_field process_fields[] = {
	VALUE(serial),
	VALUE(slot),
	VALUE(pid),
	HIDDEN_TEXT(comm, "task"),
	HIDDEN_TEXT(command, "command"),
	VALUE(start_ns),
	VALUE(since_attach),
	VALUE(ended),
	VALUE(ended_ns),
	VALUE(reported_end),
	VALUE(paged_end),
	SKIPPED(crowded_out, "collect/ alone uses it"),
	SKIPPED(left_out, "collect/ alone uses it"),
	SKIPPED(kept_bytes, "collect/ alone uses it"),
	VALUE(called),
	VALUE(attributed),
	VALUE(shim_number),
	VALUE(driver_number),
	HIDDEN_STRING(shim, "path"),
	HIDDEN_STRING(driver, "path"),
	VALUE(identified),
	VALUE(parent),
	VALUE(uid),
	VALUE(namespace_pid),
	HIDDEN_TEXT(user, "user"),
	VALUE(cgroup_known),
	HIDDEN_TEXT(container, "ctr"),
	HIDDEN_TEXT(pod, "pod"),
	POINTER(workload, workload),
	SKIPPED(host, "found again in the model's host side"),
	LIST(gpus, gpu_count, process_gpu),
	COUNTED(gpu_count),
	STRUCTS(memory, memory_totals),
	TOTAL(captured_allocations),
	TOTAL(captured_frees),
	TOTAL(recorded_as_nothing),
	TOTAL(double_frees),
	VALUE(live_at_exit_bytes),
	VALUE(live_at_exit_count),
	LIST(live, live_listed, allocation),
	COUNTED(live_listed),
	SKIPPED(live_capacity, "collect/ alone uses it"),
	VALUE(left_out_bytes),
	VALUE(left_out_count),
	LIST(freed, freed_listed, allocation),
	COUNTED(freed_listed),
	TOTAL(freed_unlisted),
	LIST(pools, pool_count, pool_totals),
	COUNTED(pool_count),
	LIST(kernels, kernel_count, kernel),
	COUNTED(kernel_count),
	TOTAL(launches),
	TOTAL(captured_launches),
	TOTAL(graph_launches),
	TOTAL(captured_graph_launches),
	LIST(graph_runs, graph_run_count, graph_run),
	COUNTED(graph_run_count),
	SKIPPED(graph_run_capacity, "collect/ alone uses it"),
	TOTAL(graph_kernels),
	TOTAL(graph_launches_of_unknown_size),
	TOTAL(host_functions),
	TOTAL(captured_host_functions),
	STRUCTS(first_launches, wait_totals),
	STRUCTS(copies, copy_totals),
	STRUCTS(inflight, copy_inflight),
	STRUCTS(covered, covered_totals),
	STRUCTS(objects, object_totals),
	STRUCTS(waits, wait_totals),
	STRUCTS(queries, query_totals),
	STRUCTS(copy_waits, wait_totals),
	STRUCTS(free_waits, wait_totals),
	STRUCTS(unfollowed, unfollowed_totals),
	LIST(devices, device_count, device_totals),
	COUNTED(device_count),
	LIST(functions, function_count, function_totals),
	COUNTED(function_count),
	SKIPPED(function_capacity, "collect/ alone uses it"),
	LIST(failures, failure_count, failure),
	COUNTED(failure_count),
	STRUCTS(sticky, sticky_error),
	TOTAL(out_of_memory),
	MADE(sites, make_sites, site_count, call_site),
	COUNTED(site_count),
	VALUE(object_call_count),
	LIST(live_sites, live_site_count, live_site),
	COUNTED(live_site_count),
	LIST(pinned_sites, pinned_site_count, live_site),
	COUNTED(pinned_site_count),
	LIST(object_sites, object_site_count, object_site),
	COUNTED(object_site_count),
	STRUCTS(family_calls, family_calls),
	LIST(open, open_listed, open_call),
	COUNTED(open_listed),
	VALUE(open_count),
	POINTER(profile, profile),
	POINTER(steps, process_steps),
	POINTER(tensors, tensors),
	SKIPPED(at_failure, "a report of an allocation that failed has taken it over"),
	MADE(known_kernels, make_known, known_kernel_count, known_kernel),
	COUNTED(known_kernel_count),
	SKIPPED(environment, "collect/ alone uses it"),
	SKIPPED(uuids, "collect/ alone uses it"),
	SKIPPED(uuid_count, "collect/ alone uses it"),
	SKIPPED(objects_cleared, "collect/ alone uses it"),
	SKIPPED(other_failures, "collect/ alone uses it"),
	TOTAL(other_calls),
	TOTAL(other_call_failures),
	TOTAL(other_call_ns),
	TOTAL(lost_notices),
	SKIPPED(failure_keys, "collect/ alone uses it"),
	SKIPPED(failure_key_count, "collect/ alone uses it"),
	SKIPPED(kernel_table, "its part is known_kernels"),
	SKIPPED(site_table, "collect/ alone uses it"),
	SKIPPED(pinned_table, "collect/ alone uses it"),
	SKIPPED(object_table, "collect/ alone uses it"),
	SKIPPED(context_ends, "collect/ alone uses it"),
	SKIPPED(context_end_count, "collect/ alone uses it"),
	SKIPPED(deaths_seen, "collect/ alone uses it"),
	SKIPPED(deaths_swept, "collect/ alone uses it"),
	SKIPPED(fills_ranges, "collect/ alone uses it"),
	SKIPPED(filled_ranges, "collect/ alone uses it"),
	SKIPPED(freed_seen, "collect/ alone uses it"),
	SKIPPED(freed_reported, "collect/ alone uses it"),
};
RECORDED_TYPE(process, 1);
#undef T

#define T struct known_kernel
static const struct recorded_field known_kernel_fields[] = {
	VALUE(handle),
	HIDDEN_STRING(label, "kernel"),
};
RECORDED_TYPE(known_kernel, 1);
#undef T
