// SPDX-License-Identifier: BSD-2-Clause
// GPU times in JSON, see gpu_times.h.
#include "output/json/gpu_times.h"

#include <stdlib.h>

#include "model/gpu_estimate.h"
#include "output/gpu_copy_text.h"
#include "symbol/kernel_name.h"

static void write_sum(struct json *j, const struct gpu_time_sum *sum)
{
	json__key_u64(j, "count", sum->count);
	json__key_u64(j, "without_time", sum->untimed);
	json__key_u64(j, "total_ns", sum->ns);
	json__key_u64(j, "min_ns", sum->min_ns);
	json__key_u64(j, "mean_ns", gpu_time_sum__mean(sum));
	json__key_u64(j, "max_ns", sum->max_ns);
}

static void key_sum(struct json *j, const char *key, const struct gpu_time_sum *sum)
{
	json__key(j, key);
	json__object_begin(j);
	write_sum(j, sum);
	json__object_end(j);
}

/* What is estimated of all calls from those in bursts. */
static void write_estimate(struct json *j, const struct gpu_estimate *estimate)
{
	json__key_known_u64(j, "calls", estimate->calls, estimate->known);
	json__key_known_u64(j, "estimated_ns", estimate->ns, estimate->known);
	json__key_known_double(j, "error", estimate->error, estimate->error >= 0);
}

static void write_sampled_kernels(struct json *j, const struct gpu_process_times *times,
				  const struct process *p)
{
	struct gpu_kernel_estimates estimates = {0};

	gpu_kernel_estimates__make(times, p, &estimates);
	json__key(j, "kernels");
	json__array_begin(j);
	for (size_t i = 0; i < estimates.count; i++) {
		json__object_begin(j);
		json__key_string(j, "name", estimates.list[i].name);
		write_sum(j, &estimates.list[i].kernel->sum);
		write_estimate(j, &estimates.list[i].estimate);
		json__object_end(j);
	}
	json__array_end(j);
	json__key_u64(j, "unsampled_launches", estimates.unseen_launches);
	gpu_kernel_estimates__clear(&estimates);
}

static void key_delay(struct json *j, const struct gpu_delay *delay)
{
	json__key(j, "queue_delay");
	json__object_begin(j);
	json__key_u64(j, "count", delay->count);
	json__key_u64(j, "total_ns", delay->ns);
	json__key_u64(j, "mean_ns", gpu_delay__mean(delay));
	json__key_u64(j, "max_ns", delay->max_ns);
	json__object_end(j);
}

static void write_kernels(struct json *j, const struct gpu_process_times *times)
{
	size_t count;
	const struct gpu_kernel_time **sorted = gpu_times__sort(times, &count);
	uint64_t spent_ns = 0;

	json__key(j, "kernels");
	json__array_begin(j);
	for (size_t i = 0; i < count; i++) {
		const struct gpu_kernel_time *kernel = sorted[i];
		char *name =
			kernel->name ? kernel_name__demangle_within(&spent_ns, kernel->name) : NULL;

		json__object_begin(j);
		json__key_string(j, "name", name);
		write_sum(j, &kernel->sum);
		key_delay(j, &kernel->delay);
		json__object_end(j);
		free(name);
	}
	json__array_end(j);
	free(sorted);
}

static void write_copies(struct json *j, const struct gpu_process_times *times,
			 const struct process *p, bool sampled)
{
	json__key(j, "copies");
	json__array_begin(j);
	for (unsigned int i = 0; i < GPU_COPY_KINDS; i++) {
		if (!times->copies[i].count)
			continue;
		json__object_begin(j);
		json__key_string(j, "kind", gpu_copy_text__kind(i));
		write_sum(j, &times->copies[i]);
		json__key_u64(j, "bytes", times->copies[i].bytes);
		if (sampled) {
			const struct gpu_estimate estimate = gpu_estimate__copies(times, p, i);

			write_estimate(j, &estimate);
		}
		json__object_end(j);
	}
	json__array_end(j);
}

/* They are not known without the calls of the work. */
static void write_gaps(struct json *j, const struct gpu_times *all, const struct gpu_gaps *gaps)
{
	if (all->own_profilers) {
		json__key(j, "idle_before_call_ns");
		json__null(j);
		json__key(j, "idle_after_call_ns");
		json__null(j);
		return;
	}
	json__key_u64(j, "idle_before_call_ns", gaps->before_call_ns);
	json__key_u64(j, "idle_after_call_ns", gaps->after_call_ns);
}

/* Bursts do not tell how busy a GPU was. */
static void write_devices(struct json *j, const struct gpu_times *all,
			  const struct gpu_process_times *times, bool sampled)
{
	json__key(j, "devices");
	if (sampled) {
		json__null(j);
		return;
	}
	json__array_begin(j);
	for (unsigned int i = 0; i < GPU_TIMES_DEVICES; i++) {
		const struct busy_time *busy = &times->busy[i];

		if (!busy->spans)
			continue;
		json__object_begin(j);
		json__key_u64(j, "device", i);
		json__key_u64(j, "busy_ns", busy_time__ns(busy));
		json__key_u64(j, "span_ns", busy->last_ns - busy->first_ns);
		json__key_u64(j, "left_out", busy->late);
		write_gaps(j, all, &times->callers.gaps[i]);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_threads(struct json *j, const struct gpu_callers *callers)
{
	const struct gpu_thread *thread, *next;

	json__key(j, "threads");
	json__array_begin(j);
	HASH_ITER (hh, callers->threads, thread, next) {
		json__object_begin(j);
		json__key_u64(j, "tid", thread->tid);
		write_sum(j, &thread->sum);
		key_delay(j, &thread->delay);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_callers(struct json *j, const struct gpu_times *all,
			  const struct gpu_process_times *times)
{
	uint64_t uncalled;

	if (all->own_profilers) {
		json__key(j, "callers");
		json__null(j);
		return;
	}
	gpu_process_times__work(times, &uncalled);
	json__key(j, "callers");
	json__object_begin(j);
	write_sum(j, &times->callers.all);
	json__key_u64(j, "unknown", uncalled);
	key_delay(j, &times->callers.delay);
	write_threads(j, &times->callers);
	key_sum(j, "unlisted_threads", &times->callers.other_threads);
	json__object_end(j);
}

static void write_failure(struct json *j, const struct gpu_times *all,
			  const struct gpu_process_times *times)
{
	bool missing = all->own_profilers && !times->own.complete;

	json__key(j, "failure");
	if (!times->failed && !missing) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_i64(j, "code", times->code);
	json__key_string(j, "text", missing ? times->own.note : times->reason);
	json__object_end(j);
}

/* The trace that the times come from. */
static void write_own_profile(struct json *j, const struct gpu_times *all,
			      const struct gpu_process_times *times)
{
	const struct gpu_own_profile *own = &times->own;

	json__key(j, "own_profiler");
	if (!all->own_profilers) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_string(j, "name", "kineto");
	json__key_u64(j, "asked_ns", own->asked_ns);
	json__key_bool(j, "complete", own->complete);
	json__key_u64(j, "trace_bytes", own->bytes);
	json__key_u64(j, "overhead_ns", own->overhead_ns);
	json__key_string(j, "note", own->complete && *own->note ? own->note : NULL);
	json__object_end(j);
}

static void write_sets(struct json *j, const struct gpu_process_times *times,
		       const struct process *p, bool sampled)
{
	json__key(j, "sets");
	json__object_begin(j);
	write_sum(j, &times->sets);
	json__key_u64(j, "bytes", times->sets.bytes);
	if (sampled) {
		const struct gpu_estimate estimate = gpu_estimate__sets(times, p);

		write_estimate(j, &estimate);
	}
	json__object_end(j);
}

static void write_graph_kernels(struct json *j, const struct gpu_process_times *times,
				const struct process *p, bool sampled)
{
	json__key(j, "graph_kernels");
	json__object_begin(j);
	write_sum(j, &times->graph_kernels);
	if (sampled) {
		const struct gpu_estimate estimate = gpu_estimate__graphs(times, p);

		write_estimate(j, &estimate);
	}
	json__object_end(j);
}

static void write_sample(struct json *j, const struct gpu_times *all,
			 const struct gpu_process_times *times)
{
	json__key(j, "sampled");
	if (!(all->share > 0)) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_double(j, "share", all->share);
	json__key_u64(j, "bursts", times->bursts);
	json__object_end(j);
}

void json_gpu_times__write(struct json *j, const struct gpu_times *all, const struct process *p)
{
	const struct gpu_process_times *times = gpu_times__find(all, p->pid, p->start_ns);
	bool sampled = all->share > 0;

	json__key(j, "gpu_times");
	if (!times) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	write_failure(j, all, times);
	write_own_profile(j, all, times);
	write_sample(j, all, times);
	key_sum(j, "all_kernels", &times->all_kernels);
	write_graph_kernels(j, times, p, sampled);
	if (sampled)
		write_sampled_kernels(j, times, p);
	else
		write_kernels(j, times);
	key_sum(j, "unlisted_kernels", &times->other_kernels);
	write_copies(j, times, p, sampled);
	write_sets(j, times, p, sampled);
	key_sum(j, "graphs", &times->graphs);
	write_devices(j, all, times, sampled);
	write_callers(j, all, times);
	json__key_u64(j, "dropped", times->dropped);
	json__key_u64(j, "unknown_devices", times->unknown_devices);
	json__key_u64(j, "unknown_records", times->refused);
	json__object_end(j);
}

void json_gpu_times__write_losses(struct json *j, const struct gpu_times *times)
{
	json__key(j, "gpu_times_lost");
	json__object_begin(j);
	json__key_u64(j, "records", times->unread_work + times->lost_work);
	json__key_u64(j, "names", times->unread_names + times->lost_names);
	json__object_end(j);
}
