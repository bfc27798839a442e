/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a file's NCCL keeps rank, size, device and commHash of a communicator. The structure is
 * private, so the places come from the machine code of the file's own functions: ncclCommUserRank,
 * ncclCommCount, ncclCommCuDevice, and what they call. No symbols but the exported ones are needed.
 */
#ifndef NCCL_COMM_LAYOUT_H
#define NCCL_COMM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "target/elf_file.h"

/* Offsets from the communicator's address. Its first 8 bytes are NCCL_MAGIC. */
struct comm_layout {
	uint32_t rank, size, device;
	uint32_t hash;	    /* 64 bits; with has_hash */
	uint32_t end_magic; /* NCCL_MAGIC again; with has_end_magic */
	bool has_hash, has_end_magic;
};

/*
 * Reads the layout. Returns 0, -ENOENT if the file does not export the three functions, -ENOEXEC if
 * their code has another form than is known, or another negative errno.
 */
int comm_layout__read(struct elf_file *file, struct comm_layout *layout);

/* The version of the file's NCCL, by the code of ncclGetVersion; 0: unknown. */
int comm_layout__version(struct elf_file *file);

#endif
