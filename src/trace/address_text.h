/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where addresses of traced processes lie: "libfoo.so+0x1234", the offset
 * being from where the object begins in memory.
 */
#ifndef TRACE_ADDRESS_TEXT_H
#define TRACE_ADDRESS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "trace/line.h"

struct address_text;

/* NULL without memory. */
struct address_text *address_text__new(void);
void address_text__free(struct address_text *places);

/* Reads a process's mappings if that was not done or they have changed: while it is there. */
void address_text__see(struct address_text *places, const struct trace_process *process, uint64_t now);

/*
 * The process's mappings have changed. They are read at once, while it is there,
 * and again at its next event: a process may be gone before that is read.
 */
void address_text__changed(struct address_text *places, pid_t pid, uint64_t now);

/*
 * The text for an address, NULL where it lies in no file or without memory.
 * Valid until the next address_text__see.
 */
const char *address_text__find(struct address_text *places, const struct trace_process *process, uint64_t address,
			       uint64_t now);

#endif
