// SPDX-License-Identifier: BSD-2-Clause
// Resources of OTLP, see resource.h.
#include "output/otlp/resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "output/otlp/attributes.h"
#include "target/workload.h"

/* The same numbers in metrics.proto and logs.proto. */
enum request_field {
	REQUEST_RESOURCE = 1,
	RESOURCE_OF = 1,
	RESOURCE_SCOPE = 2,
	SCOPE_OF = 1,
};

enum resource_field {
	RESOURCE_ATTRIBUTE = 1,
};

enum scope_field {
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
};

uint64_t otlp_sender__wall_ns(const struct otlp_sender *sender, uint64_t boot_ns)
{
	return boot_ns + (uint64_t)sender->wall_offset_ns;
}

static void write_text(struct protobuf_buffer *out, const char *key, const char *value)
{
	otlp_attribute__text(out, RESOURCE_ATTRIBUTE, key, value);
}

/* "2026-11-28T18:42:37.123Z" */
static void write_start(struct protobuf_buffer *out, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	char text[48], date[32];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm))
		return;
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%03uZ", date,
		 (unsigned int)(wall_ns % NS_PER_S / NS_PER_MS));
	write_text(out, "process.creation.time", text);
}

static void write_workload(struct protobuf_buffer *out, const struct workload *workload)
{
	write_text(out, "k8s.namespace.name", workload->namespace);
	write_text(out, "k8s.pod.name", workload->pod);
	write_text(out, workload->pod[0] ? "k8s.container.name" : "container.name",
		   workload->container);
	/* There are no conventions for these; container.image.name is a name without its tag. */
	write_text(out, "gpuprobe.container.image", workload->image);
	write_text(out, "gpuprobe.systemd.unit", workload->unit);
	write_text(out, "gpuprobe.slurm.job.id", workload->slurm_job);
	write_text(out, "gpuprobe.slurm.step", workload->slurm_step);
	write_text(out, "gpuprobe.slurm.sluid", workload->slurm_sluid);
	write_text(out, "gpuprobe.pbs.job.id", workload->pbs_job);
}

/* Without its command line, which may contain secrets. */
static void write_process(struct protobuf_buffer *out, const struct otlp_sender *sender,
			  const struct process *p)
{
	otlp_attribute__int(out, RESOURCE_ATTRIBUTE, "process.pid", p->pid);
	write_text(out, "process.executable.name", p->comm);
	write_start(out, otlp_sender__wall_ns(sender, p->start_ns));
	if (p->identified) {
		write_text(out, "process.owner", p->user);
		if (p->parent)
			otlp_attribute__int(out, RESOURCE_ATTRIBUTE, "process.parent_pid",
					    p->parent);
	}
	write_text(out, "container.id", p->container);
	write_text(out, "k8s.pod.uid", p->pod);
	if (p->workload)
		write_workload(out, p->workload);
}

static void write_instance(struct protobuf_buffer *out, const struct otlp_sender *sender,
			   const struct process *process)
{
	char text[512];

	if (process)
		snprintf(text, sizeof(text), "%.400s/%d", sender->instance, process->pid);
	else
		snprintf(text, sizeof(text), "%.400s", sender->instance);
	write_text(out, "service.instance.id", text);
}

static void write_resource(struct protobuf_buffer *out, const struct otlp_sender *sender,
			   const struct process *process)
{
	size_t resource = protobuf_buffer__begin(out, RESOURCE_OF);

	for (size_t i = 0; i < sender->pair_count; i++)
		write_text(out, sender->pairs[i].key, sender->pairs[i].value);
	write_text(out, "service.version", sender->version);
	write_instance(out, sender, process);
	if (process)
		write_process(out, sender, process);
	protobuf_buffer__end(out, resource);
}

struct otlp_scope otlp_resource__begin(struct protobuf_buffer *out,
				       const struct otlp_sender *sender,
				       const struct process *process)
{
	struct otlp_scope scope = {.resource = protobuf_buffer__begin(out, REQUEST_RESOURCE)};
	size_t name;

	write_resource(out, sender, process);
	scope.scope = protobuf_buffer__begin(out, RESOURCE_SCOPE);
	name = protobuf_buffer__begin(out, SCOPE_OF);
	protobuf_buffer__text(out, SCOPE_NAME, "gpuprobe");
	protobuf_buffer__text(out, SCOPE_VERSION, sender->version);
	protobuf_buffer__end(out, name);
	return scope;
}

void otlp_resource__end(struct protobuf_buffer *out, struct otlp_scope scope)
{
	protobuf_buffer__end(out, scope.scope);
	protobuf_buffer__end(out, scope.resource);
}

struct process *otlp_resource__copy_process(const struct process *process)
{
	struct process *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	copy->serial = process->serial;
	copy->pid = process->pid;
	copy->start_ns = process->start_ns;
	memcpy(copy->comm, process->comm, sizeof(copy->comm));
	copy->identified = process->identified;
	copy->parent = process->parent;
	memcpy(copy->user, process->user, sizeof(copy->user));
	memcpy(copy->container, process->container, sizeof(copy->container));
	memcpy(copy->pod, process->pod, sizeof(copy->pod));
	if (!process->workload)
		return copy;
	copy->workload = malloc(sizeof(*copy->workload));
	if (copy->workload)
		*copy->workload = *process->workload;
	if (copy->workload)
		return copy;
	free(copy);
	return NULL;
}

void otlp_resource__free_process(struct process *process)
{
	if (process)
		process__clear(process);
	free(process);
}
