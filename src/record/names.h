/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts and stacks of a recording, each written once and then called by its number, from 1; 0 is
 * none. The numbers begin again at each keyframe.
 */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "record/bytes.h"
#include "record/pseudonyms.h"
#include "record/varint.h"
#include "stack/stack.h"

/* --- writing --- */

struct names_writer;

struct names_writer *names_writer__new(void); /* NULL without memory */
void names_writer__free(struct names_writer *names);

/* All names are pseudonyms from here on; without it, or with NULL, they are themselves. */
void names_writer__hide(struct names_writer *names, struct pseudonyms *pseudonyms);

/* A keyframe: nothing has a number. */
void names_writer__restart(struct names_writer *names);

/* The numbers, 0 for NULL. Without memory names_writer__write fails. */
uint64_t names_writer__text(struct names_writer *names, const char *text, size_t most);
/* The same of a name, of that kind, that may have to be hidden (struct recorded_field.hides). */
uint64_t names_writer__name(struct names_writer *names, const char *kind, const char *name,
			    size_t most);
uint64_t names_writer__stack(struct names_writer *names, const struct stack *stack);

/*
 * Writes what got a number since the last call. Stacks may move from here on. Returns 0 or -ENOMEM.
 */
int names_writer__write(struct names_writer *names, struct bytes *out);

/* --- reading --- */

struct names_reader;

/* NULL without memory. */
struct names_reader *names_reader__new(void);

/* Releases all texts and stacks. */
void names_reader__free(struct names_reader *names);

void names_reader__restart(struct names_reader *names);

/*
 * Reads what names_writer__write wrote. Returns 0, -EINVAL for malformed input, or -ENOMEM, also if
 * a recording has more than NAMES_MAX_BYTES of texts and stacks.
 */
#define NAMES_MAX_BYTES (512u << 20)
int names_reader__read(struct names_reader *names, struct varint_reader *in);

/*
 * Equal texts and equal stacks are the same in all of a recording, and stay until
 * names_reader__free. NULL: none has that number.
 */
const char *names_reader__text(const struct names_reader *names, uint64_t number);
const struct stack *names_reader__stack(const struct names_reader *names, uint64_t number);

#endif
