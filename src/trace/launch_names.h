/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of launched kernels by process, generation and handle. The BPF programs send them; missing
 * ones come from the host function's symbol, or are read from the process.
 */
#ifndef TRACE_LAUNCH_NAMES_H
#define TRACE_LAUNCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/memory_reader.h"
#include "trace/line.h"

#define LAUNCH_NAMES_MAX 65536
#define LAUNCH_NAMES_BYTES_MAX (64u << 20) /* of their texts */

struct launch_names;
struct launch_name;

/*
 * `full`: show whole demangled names, otherwise labels and, to programs, the bare function name.
 * `memory` must outlive it.
 * Returns NULL if out of memory.
 */
struct launch_names *launch_names__new(bool full, struct memory_reader *memory);
void launch_names__free(struct launch_names *names); /* pending events must have put theirs */

/*
 * Takes a RECORD_KERNEL_NAME of `size` bytes; its slot is the process's number. Returns 0, -EINVAL
 * if it holds no name, or -ENOMEM. At the limit, names of the oldest process are dropped.
 */
int launch_names__add(struct launch_names *names, const struct record_name *record, size_t size);

/* The kernel of a launch, as the launch's event describes it. */
struct launched_kernel {
	const struct trace_process *process;
	uint64_t handle;  /* the key of its name */
	uint64_t address; /* of its host function, or 0 */
	uint32_t generation;
};

/*
 * Returns the name of a launch's kernel, known now or later, with one more reference; NULL if out
 * of memory. launch_names__look_up looks for names that BPF has not sent.
 */
struct launch_name *launch_names__take(struct launch_names *names,
				       const struct launched_kernel *kernel, uint64_t now);
void launch_names__put(struct launch_names *names, struct launch_name *name); /* NULL ok */

/*
 * Looks for the names that were taken and are unknown. Call it early, while the processes still
 * exist.
 */
void launch_names__look_up(struct launch_names *names, uint64_t now);

/*
 * The name as printed for programs, for people (the label; NULL: no other), and mangled; NULL while
 * unknown. Valid until names are added or put.
 */
const char *launch_name__shown(const struct launch_name *name);
const char *launch_name__label(const struct launch_name *name);
const char *launch_name__mangled(const struct launch_name *name);

#endif
