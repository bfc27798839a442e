/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts addresses of traced processes to "libfoo.so+0x1234"; the offset is from where the object
 * begins in memory.
 */
#ifndef TRACE_ADDRESS_TEXT_H
#define TRACE_ADDRESS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "trace/line.h"

struct address_text;

/* Returns NULL if out of memory. */
struct address_text *address_text__new(void);
void address_text__free(struct address_text *cache);

/*
 * Reads a process's mappings if that has not been done or they have changed. Call it while the
 * process exists.
 */
void address_text__see(struct address_text *cache, const struct trace_process *process,
		       uint64_t now);

/*
 * Call when the process's mappings have changed. They are read at once, while the process exists,
 * and again at its next event, before which the process may have ended.
 */
void address_text__changed(struct address_text *cache, pid_t pid, uint64_t now);

/*
 * The text for an address; NULL if it is in no file, or if out of memory. Valid until the next
 * address_text__see.
 */
const char *address_text__find(struct address_text *cache, const struct trace_process *process,
			       uint64_t address, uint64_t now);

#endif
