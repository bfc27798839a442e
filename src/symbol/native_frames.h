/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of native code in watched processes, told as functions, objects
 * and source lines.
 *
 * Names are those of .symtab, of separate debug files, of .dynsym and of
 * /tmp/perf-PID.map; lines are DWARF's. A function that was inlined is not
 * shown: the frame has the name of the function that it was inlined into and
 * the line that the instruction came from. What cannot be known is left out,
 * never guessed.
 *
 * Memory is bounded: 400 open files, their indexes and debug information as
 * symbol_cache.h says, 32 MiB of frames, and for each process its mappings.
 */
#ifndef SYMBOL_NATIVE_FRAMES_H
#define SYMBOL_NATIVE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "symbol/process_map.h"

struct native_frames;  /* what is common to all processes */
struct native_process; /* what one has mapped */

/* Texts come from the process and its files: to be escaped. */
struct native_frame {
	const char *function; /* readable, whole; NULL: not known */
	uint64_t offset;      /* of the address: in the function, or in the object where that is not known */
	const char *object;   /* base name of the file; "[vdso]", "[jit]", "[uprobes]"; NULL: in none */
	const char *file;     /* path of the source file as the compiler had it, or NULL */
	uint32_t line;	      /* in it */
};

enum native_address {
	ADDRESS_OF_RETURN = 0, /* behind a call: what made the call is looked for */
	ADDRESS_OF_CODE,       /* an instruction that was to be executed */
};

/*
 * NULL without memory. Files are opened only if `wants_names`; without, no
 * function is ever known. `log` is told where debuginfod is to be asked and
 * cannot be.
 */
struct native_frames *native_frames__new(bool wants_names, const struct log *log);
void native_frames__free(struct native_frames *frames);

/* A process whose mappings are not read yet. NULL without memory. */
struct native_process *native_process__new(pid_t pid);
void native_process__free(struct native_process *process);

/*
 * Reads the process's mappings and its perf-PID.map, and opens its files, while
 * it is there: at first sight, and when mappings have changed. For a process
 * that is gone this must not be called: what was known stays. All frames that
 * were found before end.
 */
void native_frames__read(struct native_frames *frames, struct native_process *process);

/* Frees what is too much. All frames that were found before end. */
void native_frames__trim(struct native_frames *frames);

/* What its mappings and the names of its JIT take in memory, as of the last reading. */
size_t native_process__bytes(const struct native_process *process);

/* Its mappings as of the last reading, and the files that they are of: what unwinding needs. */
const struct process_map *native_process__map(const struct native_process *process);
struct symbol_cache *native_frames__cache(struct native_frames *frames);

/* Only the object that is mapped where the address lies, and the offset from where that begins. 0 or -ENOENT. */
int native_process__place(const struct native_process *process, uint64_t address, struct native_frame *out);

/*
 * Finds what is at an address. Returns 0, -ENOENT where nothing is mapped
 * there (as of the last reading) nor was before, or -ENOMEM. The texts live until the next
 * call of native_frames__read, __trim or of native_process__free. Where the user
 * wants debuginfod asked, a file's first frame may take as long as debuginfod__find says.
 */
int native_frames__find(struct native_frames *frames, const struct native_process *process, uint64_t address,
			enum native_address kind, struct native_frame *out);

#endif
