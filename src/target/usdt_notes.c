// SPDX-License-Identifier: BSD-2-Clause
// Reads notes of static probe points, see usdt_notes.h. Their format: owner "stapsdt", type 3; the
// point's address, that of .stapsdt.base when the file was linked, that of the semaphore; then
// provider, name and operands, each with its zero. If the file was prelinked, .stapsdt.base shows
// by how much.
#include "target/usdt_notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf_internal.h"

#define OWNER "stapsdt"
#define TYPE_POINT 3
#define BASE_SECTION ".stapsdt.base"
#define NOTES_SECTION ".note.stapsdt"

struct point_addresses {
	uint64_t pc, base, semaphore;
};

/* The text at *at, which is moved behind its zero; NULL if there is none before `end`. */
static const char *take_text(const char **at, const char *end)
{
	const char *text = *at, *zero = memchr(text, '\0', (size_t)(end - text));

	if (!zero)
		return NULL;
	*at = zero + 1;
	return text;
}

/*
 * The semaphore is in a writable segment, so its place in the file is what the kernel needs. False:
 * it is nowhere in the file, and the point cannot be switched on.
 */
static bool place_semaphore(const struct elf_file *file, uint64_t address, uint64_t *offset)
{
	*offset = 0;
	return !address || (elf_file__vaddr_to_offset(file, address, offset) && *offset);
}

/* `description` is aligned to 4 bytes only. Returns what `fn` returned, or 0. */
static int take_point(const struct elf_file *file, uint64_t base, const char *description,
		      size_t size, usdt_point_fn fn, void *arg)
{
	const char *at = description + sizeof(struct point_addresses), *end = description + size;
	struct point_addresses addresses;
	struct usdt_point point;
	uint64_t moved;

	if (size < sizeof(addresses))
		return 0;
	memcpy(&addresses, description, sizeof(addresses));
	moved = base && addresses.base ? base - addresses.base : 0;
	point.address = addresses.pc + moved;
	if (addresses.semaphore)
		addresses.semaphore += moved;
	point.provider = take_text(&at, end);
	point.name = point.provider ? take_text(&at, end) : NULL;
	point.operands = point.name ? take_text(&at, end) : NULL;
	if (!point.operands || !elf_internal__map(file, point.address, true, &point.file_offset) ||
	    !place_semaphore(file, addresses.semaphore, &point.semaphore))
		return 0;
	return fn(&point, arg);
}

static uint64_t aligned(uint64_t size)
{
	return (size + 3) & ~(uint64_t)3;
}

static int walk(const struct elf_file *file, uint64_t base, const char *notes, size_t size,
		usdt_point_fn fn, void *arg)
{
	int ret = 0;

	for (size_t at = 0; !ret && size - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr header;
		uint64_t owner, description, end;

		memcpy(&header, notes + at, sizeof(header));
		owner = at + sizeof(header);
		description = owner + aligned(header.n_namesz);
		end = description + aligned(header.n_descsz);
		if (description + header.n_descsz > size)
			break;
		if (header.n_type == TYPE_POINT && header.n_namesz == sizeof(OWNER) &&
		    !memcmp(notes + owner, OWNER, sizeof(OWNER)))
			ret = take_point(file, base, notes + description, header.n_descsz, fn, arg);
		at = end < size ? end : size;
	}
	return ret;
}

int usdt_notes__each(const struct elf_file *file, usdt_point_fn fn, void *arg)
{
	struct elf_section section;
	uint64_t base = 0;
	char *notes;
	int ret;

	if (!elf_file__find_contents(file, NOTES_SECTION, &section) || !section.size)
		return 0;
	if (section.size > USDT_NOTES_BYTES_MAX)
		return -EFBIG;
	elf_file__find_section(file, BASE_SECTION, &base);
	notes = malloc(section.size);
	if (!notes)
		return -ENOMEM;
	ret = elf_internal__read_all(file, section.offset, notes, section.size);
	if (!ret)
		ret = walk(file, base, notes, section.size, fn, arg);
	free(notes);
	return ret == -EBADMSG ? 0 : ret;
}

/* --- operands --- */

struct symbol_lookup {
	struct elf_file *file;
	uint64_t address; /* of the probe point */
};

static bool find_symbol(const char *name, int64_t *distance, void *arg)
{
	const struct symbol_lookup *lookup = arg;
	uint64_t value;

	if (elf_file__find_object(lookup->file, name, &value))
		return false;
	*distance = (int64_t)(value - lookup->address);
	return true;
}

int usdt_notes__operands(struct elf_file *file, const struct usdt_point *point,
			 struct probe_operand *operands, size_t count)
{
	struct symbol_lookup lookup = {file, point->address};
	const struct operand_reader reader = {OPERAND_X86_64, find_symbol, &lookup};
	const char *text = point->operands;
	size_t found = 0;
	int ret = 1;

	memset(operands, 0, count * sizeof(*operands));
	while (found < count && ret > 0) {
		ret = operand__next(&reader, &text, &operands[found]);
		found += ret > 0;
	}
	return ret < 0 ? ret : (int)found;
}
