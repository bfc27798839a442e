/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static probe points (USDT) of an ELF file, from the notes in its section .note.stapsdt. The file
 * may belong to a watched process: sizes and counts are bounded.
 */
#ifndef TARGET_USDT_NOTES_H
#define TARGET_USDT_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "target/elf_file.h"
#include "target/operand.h"

/* A section with more bytes is refused; that of libc has 5 KiB. */
#define USDT_NOTES_BYTES_MAX (4u << 20)

/* A probe point. Texts are valid during the callback only; escape them before printing. */
struct usdt_point {
	const char *provider, *name;
	const char *operands; /* for operand__next */
	uint64_t address;     /* virtual address of the probed instruction */
	uint64_t file_offset; /* of this instruction */
	uint64_t semaphore;   /* file offset of its counter of watchers, 16 bits; 0: it has none */
};

/* Returns 0 to go on; any other value ends the iteration, which returns it. */
typedef int (*usdt_point_fn)(const struct usdt_point *point, void *arg);

/*
 * Calls `fn` for each probe point in an executable segment. Skips notes that are malformed or lead
 * outside of the file. Returns 0, what `fn` returned, -ENOMEM, -EIO or another negative errno of
 * reading, or -EFBIG; 0 for a file without such notes.
 */
int usdt_notes__each(const struct elf_file *file, usdt_point_fn fn, void *arg);

/*
 * Parses the first `count` operands of a point of `file`; `operands` beyond those that it has
 * become OPERAND_NONE. Returns the number that it has, up to `count`, or -EBADMSG if one of them is
 * not understood.
 */
int usdt_notes__operands(struct elf_file *file, const struct usdt_point *point,
			 struct probe_operand *operands, size_t count);

#endif
