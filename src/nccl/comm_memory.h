/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rank, size, device and commHash of communicators that were there before gpuprobe: from the memory
 * of their process, at the places that its own NCCL library shows (nccl/comm_layout.h). The process
 * may be hostile: what it says is checked for sense, and concerns its own communicators only.
 */
#ifndef NCCL_COMM_MEMORY_H
#define NCCL_COMM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nccl/comm_layout.h"
#include "nccl/event.h"
#include "target/memory_reader.h"

#define COMM_SIZE_MAX (1 << 22) /* ranks of a communicator; a larger number is no size */

struct comm_facts {
	uint64_t hash; /* 0: unknown */
	int32_t rank, size;
	int32_t device; /* NCCL_DEVICE_UNKNOWN */
};

struct comm_memory;

/* Remembers the layouts of up to 64 files. `reader` must outlive it. NULL without memory. */
struct comm_memory *comm_memory__new(struct memory_reader *reader);
void comm_memory__free(struct comm_memory *memory); /* NULL ok */

/*
 * Reads the communicator at `handle` in a process. Returns 0; -ENOENT if the process maps no file
 * with NCCL's getters; -ENOEXEC if their code has an unknown form; -EINVAL if there is no
 * communicator at that address, or NCCL is older than 2.21 and has no magic; or an errno of
 * memory_reader__read.
 *
 * Ask once for each address that nothing is known of, before its first call is fed: facts replace
 * what was counted before.
 */
int comm_memory__look(struct comm_memory *memory, pid_t pid, uint64_t handle,
		      struct comm_facts *facts);

/* The same with a known layout, which the caller keeps. */
int comm_memory__read(struct memory_reader *reader, pid_t pid, uint64_t handle,
		      const struct comm_layout *layout, struct comm_facts *facts);

/* The version of the process's NCCL, such as 22809; 0: unknown. */
int comm_memory__version(struct comm_memory *memory, pid_t pid);

/* An NCCL_FOUND event for nccl_jobs__feed. */
struct nccl_event comm_facts__event(const struct comm_facts *facts,
				    const struct nccl_process_key *process, uint64_t handle,
				    uint64_t ns);

#endif
