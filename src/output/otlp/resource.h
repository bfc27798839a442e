/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resources of OTLP: gpuprobe itself, and each watched process, named by the semantic conventions.
 *
 * A process's resource has the service of gpuprobe, and an instance of its own: receivers such as
 * Prometheus tell series apart by service.name and service.instance.id.
 */
#ifndef OUTPUT_OTLP_RESOURCE_H
#define OUTPUT_OTLP_RESOURCE_H

#include "base/protobuf_buffer.h"
#include "model/model.h"

struct otlp_pair {
	const char *key, *value;
};

/* Who sends. All of it must outlive its users. */
struct otlp_sender {
	const char *version;	       /* of gpuprobe */
	const char *instance;	       /* service.instance.id */
	const struct otlp_pair *pairs; /* service.name, host.name and the user's own */
	size_t pair_count;
	uint64_t began_ns;	/* when counting began, CLOCK_BOOTTIME */
	int64_t wall_offset_ns; /* from CLOCK_BOOTTIME to the wall clock */
};

/* CLOCK_BOOTTIME as nanoseconds since 1970. */
uint64_t otlp_sender__wall_ns(const struct otlp_sender *sender, uint64_t boot_ns);

/*
 * Writes the first two fields of ResourceMetrics or ResourceLogs that both have: the resource, and
 * the begin of their scope with its name. NULL: gpuprobe itself. Returns what
 * otlp_resource__end takes.
 */
struct otlp_scope {
	size_t resource, scope;
};
struct otlp_scope otlp_resource__begin(struct protobuf_buffer *out,
				       const struct otlp_sender *sender,
				       const struct process *process);
void otlp_resource__end(struct protobuf_buffer *out, struct otlp_scope scope);

/*
 * A copy of a process with no more than a resource and its times need; NULL without memory. Free it
 * with otlp_resource__free_process.
 */
struct process *otlp_resource__copy_process(const struct process *process);
void otlp_resource__free_process(struct process *process); /* NULL ok */

#endif
