/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts addresses of native code in watched processes to functions, objects and source lines.
 *
 * Names come from .symtab, separate debug files, .dynsym and /tmp/perf-PID.map; lines come from
 * DWARF. Inlined functions are not shown: the frame has the name of the enclosing function, and the
 * line that the instruction came from. Unknown values are left out, never guessed.
 *
 * Memory is bounded: 400 open files, their indexes and debug information as in symbol_cache.h, 32
 * MiB of frames, and for each process its mappings.
 */
#ifndef SYMBOL_NATIVE_FRAMES_H
#define SYMBOL_NATIVE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "symbol/process_map.h"

struct native_frames;  /* shared by all processes */
struct native_process; /* the mappings of one process */

/* Texts come from the process and its files: escape them before printing. */
struct native_frame {
	const char *function; /* readable and complete; NULL if unknown */
	uint64_t offset;      /* of the address: in the function, or in the object */
	const char *object;   /* file's base name; "[vdso]", "[jit]", "[uprobes]"; or NULL */
	const char *file;     /* path of the source file as the compiler recorded it, or NULL */
	uint32_t line;	      /* in it */
};

enum native_address {
	ADDRESS_OF_RETURN = 0, /* a return address: the call before it is looked up */
	ADDRESS_OF_CODE,       /* an instruction that was about to be executed */
};

/*
 * Returns NULL if out of memory. Files are opened only if `wants_names`; otherwise no function is
 * ever known. `log` receives a warning if debuginfod is wanted but cannot be used.
 */
struct native_frames *native_frames__new(bool wants_names, const struct log *log);
void native_frames__free(struct native_frames *frames);

/* A process whose mappings are not read yet. NULL if out of memory. */
struct native_process *native_process__new(pid_t pid);
void native_process__free(struct native_process *process);

/*
 * Reads the process's mappings and its perf-PID.map, and opens its files, while the process exists:
 * when it is first seen, and when its mappings have changed. Do not call it for a process that is
 * gone, so that the known data stays. Invalidates all frames found before.
 */
void native_frames__read(struct native_frames *frames, struct native_process *process);

/* Frees memory above the limits. Invalidates all frames found before. */
void native_frames__trim(struct native_frames *frames);

/* The memory of its mappings and JIT names, as of the last reading. */
size_t native_process__bytes(const struct native_process *process);

/* Its mappings as of the last reading, and the cache of their files; for unwinding. */
const struct process_map *native_process__map(const struct native_process *process);
struct symbol_cache *native_frames__cache(struct native_frames *frames);

/*
 * Finds only the object that is mapped at the address, and the offset from its start. Returns 0 or
 * -ENOENT.
 */
int native_process__locate(const struct native_process *process, uint64_t address,
			   struct native_frame *out);

/*
 * Finds what is at an address. Returns 0, -ENOENT if nothing is mapped there (as of the last
 * reading) or was before, or -ENOMEM. The texts live until the next call of native_frames__read,
 * __trim or native_process__free. If the user wants debuginfod, a file's first frame may take as
 * long as debuginfod__find.
 */
int native_frames__find(struct native_frames *frames, const struct native_process *process,
			uint64_t address, enum native_address kind, struct native_frame *out);

#endif
