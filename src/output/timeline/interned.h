/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that a Perfetto file has once, and then refers to by number. The table is bounded: when it
 * is full it begins anew, which the file says as well (SEQ_INCREMENTAL_STATE_CLEARED).
 */
#ifndef OUTPUT_TIMELINE_INTERNED_H
#define OUTPUT_TIMELINE_INTERNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum interned_kind {
	INTERNED_CATEGORY = 0,
	INTERNED_EVENT_NAME,
	INTERNED_ARGUMENT_NAME,
	INTERNED_VALUE,
	INTERNED_KINDS,
};

struct interned;

struct interned *interned__new(void);		/* NULL if out of memory */
void interned__free(struct interned *interned); /* NULL is fine */

/*
 * Call before each packet: begins anew if there may be no room for what a packet adds. Returns true
 * if it did.
 */
bool interned__make_room(struct interned *interned);

/*
 * The number of the text, from 1 on; *is_new: the packet must define it. 0 if out of memory.
 */
uint32_t interned__take(struct interned *interned, enum interned_kind kind, const char *text,
			size_t length, bool *is_new);

#endif
