// SPDX-License-Identifier: BSD-2-Clause
// Lines by libdw, see source_lines.h.
#include "symbol/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/debug_sections.h"

/* A byte of a line table makes one row at the most, of this size in libdw. */
#define TABLE_BYTES_MAX (4u << 20)
#define ROW_SIZE 64
#define RANGES_MAX (1u << 22)
/* Of all that one file takes: no more tables are read then. */
#define SIZE_BYTES_MAX (1ull << 30)
#define PATH_LENGTH_MAX 4096
/* Ranges of many units may be one long list: what is read in this time is what there is. */
#define UNITS_NS NS_PER_S

/* Code of one compilation unit. */
struct range {
	uint64_t start, end;
	Dwarf_Off unit;
	bool counted; /* its table of lines is in the size */
};

struct source_lines {
	Elf *elf;
	Dwarf *dwarf;
	struct range *ranges; /* by start */
	size_t count, capacity;
	size_t size;
};

static int add_range(struct source_lines *lines, uint64_t start, uint64_t end, Dwarf_Off unit)
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

static int add_ranges_of(struct source_lines *lines, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int ret = 0;

	while (!ret && (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0)
		ret = add_range(lines, start, end, dwarf_dieoffset(unit));
	return ret;
}

/* Not by .debug_aranges, which some compilers do not make. */
static int find_units(struct source_lines *lines)
{
	uint64_t begin = clock__thread_ns();
	Dwarf_CU *unit = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	int ret = 0;

	/* Nobody asks for the split unit's DIE: libdw would open a file whose name the process chose. */
	while (!ret && clock__thread_ns() - begin < UNITS_NS &&
	       !dwarf_get_units(lines->dwarf, unit, &unit, &version, &type, &die, NULL)) {
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			ret = add_ranges_of(lines, &die);
	}
	if (lines->count)
		qsort(lines->ranges, lines->count, sizeof(*lines->ranges), compare_ranges);
	return ret == -E2BIG ? 0 : ret;
}

/*
 * Not counted in the header are more than 65,279 sections, which no program has: libelf would make a structure
 * for each of as many as the file says.
 */
static bool has_few_sections(int fd)
{
	Elf64_Ehdr header;

	return pread(fd, &header, sizeof(header), 0) == sizeof(header) && header.e_shnum;
}

struct source_lines *source_lines__new(int fd)
{
	struct source_lines *lines;
	uint64_t size;

	if (!has_few_sections(fd))
		return NULL;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return NULL;
	elf_version(EV_CURRENT);
	lines->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!lines->elf || debug_sections__check(lines->elf, &size))
		goto fail;
	lines->size = size;
	lines->dwarf = dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL);
	if (!lines->dwarf)
		goto fail;
	/* Its own supplementary file: else libdw would open one by a name that the process chose. */
	dwarf_setalt(lines->dwarf, lines->dwarf);
	if (find_units(lines))
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
	free(lines);
}

size_t source_lines__size(const struct source_lines *lines)
{
	return lines ? lines->size : 0;
}

/* The unit of the range that begins last of those that hold the address. */
static struct range *find_range(const struct source_lines *lines, uint64_t vaddr)
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

/* Bytes of the unit's table of lines; more than the limit where it cannot be told. */
static uint64_t table_size(struct source_lines *lines, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Dwarf_Word offset;
	Elf_Data *data;
	uint32_t length;
	size_t names;

	if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &offset) ||
	    elf_getshdrstrndx(lines->elf, &names))
		return UINT64_MAX;
	while ((section = elf_nextscn(lines->elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(lines->elf, names, header.sh_name) : NULL;

		if (name && strcmp(name, ".debug_line") == 0)
			break;
	}
	data = section ? elf_getdata(section, NULL) : NULL;
	if (!data || !data->d_buf || data->d_size < sizeof(length) || offset > data->d_size - sizeof(length))
		return UINT64_MAX;
	memcpy(&length, (const char *)data->d_buf + offset, sizeof(length));
	return length; /* 64-bit DWARF begins with 0xffffffff: such a unit is left out */
}

int source_lines__find(struct source_lines *lines, uint64_t vaddr, char **path, uint32_t *line)
{
	struct range *range = find_range(lines, vaddr);
	size_t count;
	uint64_t size;
	const char *name;
	Dwarf_Line *row;
	Dwarf_Lines *rows;
	Dwarf_Die unit;
	int number;

	if (!range || !dwarf_offdie(lines->dwarf, range->unit, &unit))
		return -ENOENT;
	size = range->counted ? 0 : table_size(lines, &unit);
	if (size > TABLE_BYTES_MAX || (size && lines->size > SIZE_BYTES_MAX) ||
	    dwarf_getsrclines(&unit, &rows, &count))
		return -ENOENT;
	range->counted = true;
	lines->size += size * ROW_SIZE;
	row = dwarf_getsrc_die(&unit, vaddr);
	name = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	if (!name || strnlen(name, PATH_LENGTH_MAX + 1) > PATH_LENGTH_MAX || dwarf_lineno(row, &number) || number <= 0)
		return -ENOENT;
	*path = strdup(name);
	*line = (uint32_t)number;
	return *path ? 0 : -ENOMEM;
}
