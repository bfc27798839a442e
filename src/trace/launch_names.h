/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of launched kernels by process, generation and handle: as the BPF
 * programs tell them, and where they do not, from the host function's symbol
 * or read from the process.
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

/* `full`: names are shown demangled whole, else by the bare function. `memory` must outlive it. NULL without memory. */
struct launch_names *launch_names__new(bool full, struct memory_reader *memory);
void launch_names__free(struct launch_names *names); /* all that waits must have put its name before */

/*
 * A RECORD_KERNEL_NAME of `size` bytes; its slot is the process's number. 0, -EINVAL for one that holds no name,
 * or -ENOMEM. Beyond what is kept, the names of the oldest process leave.
 */
int launch_names__add(struct launch_names *names, const struct record_name *record, size_t size);

/* What a launch tells of its kernel. */
struct launched_kernel {
	const struct trace_process *process;
	uint64_t handle;  /* by which it is named */
	uint64_t address; /* of its host function, or 0 */
	uint32_t generation;
};

/*
 * The name of a launch's kernel, known now or later, with one more reference;
 * NULL without memory. What was not told is looked for by launch_names__look_up.
 */
struct launch_name *launch_names__take(struct launch_names *names, const struct launched_kernel *kernel, uint64_t now);
void launch_names__put(struct launch_names *names, struct launch_name *name); /* NULL ok */

/* Looks for the names that were taken and are not known: the sooner, the more processes are still there. */
void launch_names__look_up(struct launch_names *names, uint64_t now);

/* As it is shown, and mangled; NULL while it is not known. Valid until names are added or put. */
const char *launch_name__shown(const struct launch_name *name);
const char *launch_name__mangled(const struct launch_name *name);

#endif
