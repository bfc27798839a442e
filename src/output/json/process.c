// SPDX-License-Identifier: BSD-2-Clause
// The identity of a process and the machine's GPUs in the JSON report, see parts.h.
#include "output/json/parts.h"

#include "model/gpu_label.h"
#include "model/slow_calls.h"
#include "target/workload.h"

/* null if there is none. */
static void key_group(struct json *j, const char *key, const struct process *p, const char *name)
{
	json__key_string(j, key, !p->cgroup_known ? "unknown" : (name[0] ? name : NULL));
}

static void key_name(struct json *j, const char *key, const char *name)
{
	if (name[0])
		json__key_string(j, key, name);
}

/* Only what is known. */
static void write_workload(struct json *j, const struct workload *workload)
{
	if (!workload)
		return;
	key_name(j, "namespace", workload->namespace);
	key_name(j, "pod_name", workload->pod);
	key_name(j, "container_name", workload->container);
	key_name(j, "unit", workload->unit);
	key_name(j, "slurm_job_id", workload->slurm_job);
	key_name(j, "slurm_step", workload->slurm_step);
	key_name(j, "slurm_sluid", workload->slurm_sluid);
	key_name(j, "pbs_job_id", workload->pbs_job);
	key_name(j, "image", workload->image);
}

void json_process__write(struct json *j, const struct process *p)
{
	if (!p->identified)
		return;
	json__key_known_i64(j, "ppid", p->parent, p->parent != 0);
	json__key_u64(j, "uid", p->uid);
	json__key_string(j, "user", p->user);
	key_group(j, "container", p, p->container);
	key_group(j, "pod", p, p->pod);
	write_workload(j, p->workload);
	json__key_known_i64(j, "namespace_pid", p->namespace_pid, p->namespace_pid != 0);
}

void json_process__write_unfollowed(struct json *j, const struct process *p)
{
	const struct unfollowed_totals *u = &p->unfollowed;

	if (!u->calls)
		return;
	json__key(j, "unfollowed");
	json__object_begin(j);
	json__key_u64(j, "calls", u->calls);
	json__key_u64(j, "allocations", u->allocations);
	json__key_u64(j, "allocated_bytes", u->allocated_bytes);
	json__key_u64(j, "frees", u->frees);
	json__object_end(j);
}

void json_process__write_shim(struct json *j, const struct process *p)
{
	if (!p->shim_number)
		return;
	json__key(j, "shim");
	json__object_begin(j);
	json__key_string(j, "library", p->shim);
	json__key_string(j, "in_front_of", p->driver);
	json__object_end(j);
}

void json_process__write_lost(struct json *j, const struct process *p)
{
	if (p->other_calls || p->other_call_failures) {
		json__key(j, "other_calls");
		json__object_begin(j);
		json__key_u64(j, "calls", p->other_calls);
		json__key_u64(j, "failures", p->other_call_failures);
		json__key_u64(j, "ns", p->other_call_ns);
		json__object_end(j);
	}
	if (p->lost_notices)
		json__key_u64(j, "lost_notices", p->lost_notices);
}

void json_process__write_slow(struct json *j, const struct model *model, const struct process *p)
{
	struct slow_calls slow;

	slow_calls__sum(model, p, &slow);
	if (!slow.calls)
		return;
	json__key(j, "slow_probes");
	json__object_begin(j);
	json__key_u64(j, "calls", slow.calls);
	json__key_u64(j, "functions", slow.functions);
	json__key_string(j, "most", slow.function);
	json__key_u64(j, "about_ns", slow.calls * SLOW_PROBE_NS);
	json__object_end(j);
}

static void write_process_gpu(struct json *j, const struct model *model,
			      const struct process_gpu *g)
{
	const struct gpu *gpu = gpu_label__find(model, g);
	char label[GPU_LABEL_SIZE];

	if (gpu)
		gpu_label(gpu, label);
	json__object_begin(j);
	json__key_known_i64(j, "ordinal", g->ordinal, g->ordinal != GPU_NONE);
	json__key_string(j, "gpu", gpu ? label : NULL);
	json__key_string(j, "uuid", gpu && gpu->uuid[0] ? gpu->uuid : NULL);
	json_parts__key_bytes(j, "used_bytes", g->used_bytes);
	json_parts__key_bytes(j, "untracked_bytes", g->untracked_bytes);
	json__object_end(j);
}

void json_process__write_gpus(struct json *j, const struct model *model, const struct process *p)
{
	if (!p->identified)
		return;
	json__key(j, "gpus");
	json__array_begin(j);
	for (size_t i = 0; i < p->gpu_count; i++)
		write_process_gpu(j, model, &p->gpus[i]);
	json__array_end(j);
}

static void write_gpu(struct json *j, const struct gpu *gpu)
{
	char label[GPU_LABEL_SIZE];

	gpu_label(gpu, label);
	json__object_begin(j);
	json__key_string(j, "gpu", label);
	json__key_u64(j, "index", gpu->index);
	json__key_known_i64(j, "mig", gpu->mig, gpu->mig != GPU_NONE);
	json__key_known_text(j, "uuid", gpu->uuid);
	json__key_known_text(j, "name", gpu->name);
	json__key_known_text(j, "pci_bus_id", gpu->bus_id);
	json_parts__key_bytes(j, "total_bytes", gpu->total_bytes);
	json_parts__key_bytes(j, "used_bytes", gpu->used_bytes);
	json__key_known_i64(j, "busy_percent", gpu->busy_percent,
			    gpu->busy_percent != GPU_UNKNOWN_PERCENT);
	json__object_end(j);
}

void json_process__write_machine(struct json *j, const struct model *model)
{
	json__key(j, "gpus");
	json__array_begin(j);
	for (size_t i = 0; i < model->gpu_count; i++)
		write_gpu(j, &model->gpus[i]);
	json__array_end(j);
}

void json_process__write_before_attach(struct json *j, const struct process *p)
{
	if (!p->since_attach)
		return;
	json__key(j, "before_attach");
	json__object_begin(j);
	json__key(j, "allocated_bytes");
	json__null(j);
	json__key(j, "objects");
	json__null(j);
	json_parts__key_bytes(j, "nvml_used_bytes", process__nvml_bytes(p));
	json__object_end(j);
}

void json_process__write_life(struct json *j, const struct process *p)
{
	json__key_i64(j, "pid", p->pid);
	json__key_string(j, "comm", p->comm);
	json_process__write(j, p);
	json__key_u64(j, "start_ns", p->start_ns);
	json__key_bool(j, "since_attach", p->since_attach);
	json_process__write_before_attach(j, p);
	json__key_bool(j, "ended", p->ended);
	if (p->ended)
		json__key_u64(j, "ended_ns", p->ended_ns);
	json_sampling__write_process(j, p);
}
