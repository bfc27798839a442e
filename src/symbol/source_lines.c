// SPDX-License-Identifier: BSD-2-Clause
// Lines by libdw; see source_lines.h.
#include "symbol/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "symbol/bounded_elf.h"
#include "symbol/debug_sections.h"
#include "symbol/line_table.h"

/* Each byte of a line table makes at most one row, which takes this size in libdw. */
#define TABLE_BYTES_MAX (4u << 20)
#define ROW_SIZE 64
#define RANGES_MAX (1u << 22)
/* For one file: above it no more tables are read. */
#define SIZE_BYTES_MAX (1ull << 30)
#define PATH_LENGTH_MAX 4096
/* Many units may share one long list of ranges; reading stops after this time. */
#define UNITS_NS NS_PER_S

/* A compilation unit, and the state of its line table. */
struct unit {
	Dwarf_Off at;
	enum {
		TABLE_NEW,
		TABLE_COUNTED,
		TABLE_LEFT_OUT
	} table;
};

/* Code of a unit, given by the unit's number. */
struct range {
	uint64_t start, end;
	size_t unit;
};

struct source_lines {
	Elf *elf;
	Dwarf *dwarf;
	struct debug_section table, line_strings, strings;
	struct range *ranges; /* by start */
	size_t count, capacity;
	struct unit *units;
	size_t unit_count, unit_capacity;
	size_t size;
};

static int add_range(struct source_lines *lines, uint64_t start, uint64_t end, size_t unit)
{
	if (start >= end || !start)
		return 0;
	if (lines->count == lines->capacity) {
		size_t capacity = lines->capacity ? lines->capacity * 2 : 256;
		struct range *grown;

		if (capacity > RANGES_MAX)
			return -E2BIG;
		grown = realloc(lines->ranges, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		lines->size += (capacity - lines->capacity) * sizeof(*grown);
		lines->ranges = grown;
		lines->capacity = capacity;
	}
	lines->ranges[lines->count++] = (struct range){.start = start, .end = end, .unit = unit};
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

static int add_unit(struct source_lines *lines, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int ret = 0;

	if (lines->unit_count == lines->unit_capacity) {
		size_t capacity = lines->unit_capacity ? lines->unit_capacity * 2 : 64;
		struct unit *grown = realloc(lines->units, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		lines->size += (capacity - lines->unit_capacity) * sizeof(*grown);
		lines->units = grown;
		lines->unit_capacity = capacity;
	}
	lines->units[lines->unit_count] = (struct unit){.at = dwarf_dieoffset(die)};
	while (!ret && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		ret = add_range(lines, start, end, lines->unit_count);
	lines->unit_count++;
	return ret;
}

/* Does not use .debug_aranges, which some compilers do not produce. */
static int find_units(struct source_lines *lines)
{
	uint64_t begin = clock__thread_ns();
	Dwarf_CU *unit = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	int ret = 0;

	/*
	 * Does not request the split unit's DIE: libdw would open a file whose name the process
	 * chose.
	 */
	while (!ret && clock__thread_ns() - begin < UNITS_NS &&
	       !dwarf_get_units(lines->dwarf, unit, &unit, &version, &type, &die, NULL)) {
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			ret = add_unit(lines, &die);
	}
	if (lines->count)
		qsort(lines->ranges, lines->count, sizeof(*lines->ranges), compare_ranges);
	return ret == -E2BIG ? 0 : ret;
}

struct source_lines *source_lines__new(int fd)
{
	struct source_lines *lines;
	uint64_t size;

	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return NULL;
	lines->elf = bounded_elf__open(fd);
	if (!lines->elf || debug_sections__check(lines->elf, &size))
		goto fail;
	lines->size = size;
	lines->dwarf = dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL);
	if (!lines->dwarf)
		goto fail;
	/*
	 * Makes the file its own supplementary file: otherwise libdw would open one by a name that
	 * the process chose.
	 */
	dwarf_setalt(lines->dwarf, lines->dwarf);
	if (debug_sections__find(lines->elf, ".debug_line", &lines->table) ||
	    debug_sections__find(lines->elf, ".debug_line_str", &lines->line_strings) ||
	    debug_sections__find(lines->elf, ".debug_str", &lines->strings) || find_units(lines))
		goto fail;
	return lines;
fail:
	source_lines__free(lines);
	return NULL;
}

void source_lines__free(struct source_lines *lines)
{
	if (!lines)
		return;
	dwarf_end(lines->dwarf);
	elf_end(lines->elf);
	free(lines->ranges);
	free(lines->units);
	free(lines);
}

size_t source_lines__size(const struct source_lines *lines)
{
	return lines ? lines->size : 0;
}

/* Among the ranges that contain the address, the one that begins last. */
static const struct range *find_range(const struct source_lines *lines, uint64_t vaddr)
{
	size_t low = 0, high = lines->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines->ranges[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr < lines->ranges[low - 1].end ? &lines->ranges[low - 1] : NULL;
}

/* Finds the unit's line table. 64-bit DWARF begins with 0xffffffff; such a unit is skipped. */
static int find_table(const struct source_lines *lines, Dwarf_Die *unit, struct line_table *table)
{
	const struct debug_section *all = &lines->table;
	Dwarf_Attribute attribute;
	const char *folder;
	Dwarf_Word offset;
	uint32_t length;

	if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &offset))
		return -ENOENT;
	if (all->size < sizeof(length) || offset > all->size - sizeof(length))
		return -EBADMSG;
	memcpy(&length, all->at + offset, sizeof(length));
	if (length > TABLE_BYTES_MAX || length > all->size - sizeof(length) - offset)
		return -EFBIG;
	folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	*table = (struct line_table){
		.at = all->at + offset,
		.size = sizeof(length) + length,
		.line_strings = lines->line_strings.at,
		.line_strings_size = lines->line_strings.size,
		.strings = lines->strings.at,
		.strings_size = lines->strings.size,
		.folder_length = folder ? strlen(folder) : 0,
	};
	return 0;
}

/* Counts what libdw makes of the unit's table, once; returns false if it is too much. */
static bool count_table(struct source_lines *lines, struct unit *unit, Dwarf_Die *die)
{
	struct line_table table;
	uint64_t bytes;

	if (unit->table != TABLE_NEW)
		return unit->table == TABLE_COUNTED;
	unit->table = TABLE_LEFT_OUT;
	if (lines->size > SIZE_BYTES_MAX || find_table(lines, die, &table) ||
	    line_table__files_bytes(&table, &bytes))
		return false;
	unit->table = TABLE_COUNTED;
	lines->size += bytes + table.size * ROW_SIZE;
	return true;
}

int source_lines__find(struct source_lines *lines, uint64_t vaddr, char **path, uint32_t *line)
{
	const struct range *range = find_range(lines, vaddr);
	struct unit *unit = range ? &lines->units[range->unit] : NULL;
	size_t count;
	const char *name;
	Dwarf_Line *row;
	Dwarf_Lines *rows;
	Dwarf_Die die;
	int number;

	if (!unit || !dwarf_offdie(lines->dwarf, unit->at, &die))
		return -ENOENT;
	if (!count_table(lines, unit, &die) || dwarf_getsrclines(&die, &rows, &count))
		return -ENOENT;
	row = dwarf_getsrc_die(&die, vaddr);
	name = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	if (!name || strnlen(name, PATH_LENGTH_MAX + 1) > PATH_LENGTH_MAX ||
	    dwarf_lineno(row, &number) || number <= 0)
		return -ENOENT;
	*path = strdup(name);
	*line = (uint32_t)number;
	return *path ? 0 : -ENOMEM;
}
