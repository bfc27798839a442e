// SPDX-License-Identifier: BSD-2-Clause
// Finds the static probe points of allocators, see allocator_points.h.
#include "probe/allocator_points.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/array.h"
#include "probe/nop5.h"
#include "target/probe_point.h"
#include "target/usdt_notes.h"

/* One search in a file. */
struct search {
	struct allocator_points *points;
	struct elf_file *file;
	const char *base;
	struct link_point *sites;
	size_t count;
	bool allocates, frees, functions;
	struct error *err;
};

void allocator_points__clear(struct allocator_points *points)
{
	free(points->points);
	points->points = NULL;
	points->count = 0;
}

static const struct api_probe *find_row(const struct search *search, const struct usdt_point *point)
{
	for (size_t i = 0; i < api_probe_count; i++) {
		const struct api_probe *row = &api_probes[i];

		if (!strncmp(search->base, row->library, strlen(row->library)) &&
		    !strcmp(point->provider, row->provider) && !strcmp(point->name, row->name))
			return row;
	}
	return NULL;
}

/* The allocator whose library has that name, for messages. */
static const char *allocator_of(const char *base)
{
	for (size_t i = 0; i < api_probe_count; i++)
		if (!strncmp(base, api_probes[i].library, strlen(api_probes[i].library)))
			return api_probes[i].allocator;
	return "a framework";
}

/* The number of these operands; -ENOSPC or another negative errno if they get none. */
static int number_of(struct allocator_points *points, const struct tensor_point *point)
{
	uint32_t number;

	for (number = 0; number < points->count; number++)
		if (!memcmp(&points->points[number], point, sizeof(*point)))
			return (int)number;
	if (points->count == TENSOR_POINTS)
		return -ENOSPC;
	if (ARRAY_RESERVE(points->points, points->count, 1))
		return -ENOMEM;
	if (bpf_map__update_elem(points->map, &number, sizeof(number), point, sizeof(*point),
				 BPF_ANY))
		return -errno;
	points->points[points->count++] = *point;
	return (int)number;
}

/* Fills `point` from the operands of the probe point. */
static int read_operands(const struct search *search, const struct usdt_point *found,
			 const struct api_probe *row, struct tensor_point *point)
{
	struct probe_operand operands[API_OPERANDS];
	int count = usdt_notes__operands(search->file, found, operands, row->operands.count);

	if (count < row->operands.count)
		return error__set(search->err, -ENOEXEC,
				  "%s: operands of %s:%s are not understood (%.100s): %s's tensors "
				  "are not watched there",
				  elf_file__name(search->file), row->provider, row->name,
				  found->operands, row->allocator);
	*point = (struct tensor_point){.action = row->action};
	for (int i = 0; i < count; i++)
		if (row->operands.roles[i] < TENSOR_ROLES)
			point->operands[row->operands.roles[i]] = operands[i];
	return 0;
}

/* The kernel would end forked children there. */
static bool is_harmful(const struct search *search, const struct usdt_point *found)
{
	uint8_t code[ELF_CODE_SIZE];
	long n = elf_file__read(search->file, found->file_offset, code, sizeof(code));

	return n > 0 && probe_point__is_nop5(code, (size_t)n) && nop5__is_harmful();
}

static bool is_known(const struct search *search, uint64_t file_offset)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->sites[i].file_offset == file_offset)
			return true;
	return false;
}

static int take_point(const struct usdt_point *found, void *arg)
{
	struct search *search = arg;
	const struct api_probe *row = find_row(search, found);
	struct tensor_point point;
	struct link_point site = {.tensor = true,
				  .unfollowed = true,
				  .file_offset = found->file_offset,
				  .semaphore = found->semaphore};
	int ret;

	/* Two notes of one place would count each piece twice. */
	if (!row || is_known(search, found->file_offset))
		return 0;
	if (is_harmful(search, found))
		return error__set(
			search->err, -ENOEXEC,
			"%s: %s:%s is a five-byte nop, where probes kill forked children on "
			"this kernel: %s's tensors are not watched there",
			elf_file__name(search->file), row->provider, row->name, row->allocator);
	ret = read_operands(search, found, row, &point);
	if (ret)
		return ret;
	ret = number_of(search->points, &point);
	if (ret >= 0 && search->count == ALLOCATOR_POINTS_MAX)
		ret = -ENOSPC;
	if (ret < 0)
		return error__set(search->err, ret, "%s: cannot watch %s:%s: %s",
				  elf_file__name(search->file), row->provider, row->name,
				  ret == -ENOSPC ? "too many probe points" : strerror(-ret));
	site.row = (uint16_t)(TENSOR_ROW + ret);
	search->allocates |= row->action == TENSOR_ALLOCATES;
	search->frees |= row->action == TENSOR_FREES;
	if (ARRAY_APPEND(search->sites, search->count, site))
		return error__set(search->err, -ENOMEM, "%s: out of memory",
				  elf_file__name(search->file));
	return 0;
}

/* A function's arguments are in registers, by the calling convention. */
static void place_arguments(const struct api_probe *row, struct tensor_point *point)
{
	static const uint8_t registers[] = {OPERAND_DI, OPERAND_SI, OPERAND_DX,
					    OPERAND_CX, OPERAND_R8, OPERAND_R8 + 1};

	*point = (struct tensor_point){.action = row->action};
	for (size_t i = 0; i < row->operands.count && i < sizeof(registers); i++) {
		uint8_t role = row->operands.roles[i];

		if (role >= TENSOR_ROLES)
			continue;
		point->operands[role] = (struct probe_operand){
			.kind = OPERAND_REGISTER, .size = 8, .base = registers[i]};
		/* c10::Device: a byte for the type, then one for the index. */
		if (role == TENSOR_DEVICE) {
			point->operands[role].size = 1;
			point->operands[role].shift = 8;
		}
	}
}

static bool is_function(const struct api_probe *row)
{
	return !strcmp(row->provider, "function");
}

/* Takes the functions of the table that the library exports. */
static int take_functions(struct search *search)
{
	struct tensor_point point;
	struct elf_symbol symbol;
	int ret;

	for (size_t i = 0; i < api_probe_count; i++) {
		const struct api_probe *row = &api_probes[i];
		struct link_point site = {.tensor = true, .unfollowed = true};

		if (!is_function(row) ||
		    strncmp(search->base, row->library, strlen(row->library)) != 0)
			continue;
		ret = elf_file__find_function(search->file, row->name, &symbol);
		if (ret)
			return error__set(search->err, -ENOEXEC,
					  "%s: no function says that %s is out of memory: that is "
					  "judged by CUDA's errors",
					  elf_file__name(search->file), row->allocator);
		place_arguments(row, &point);
		ret = number_of(search->points, &point);
		if (ret < 0)
			return ret;
		site.row = (uint16_t)(TENSOR_ROW + ret);
		site.file_offset = symbol.file_offset;
		if (ARRAY_APPEND(search->sites, search->count, site))
			return -ENOMEM;
		search->functions = true;
	}
	return 0;
}

int allocator_points__find(struct allocator_points *points, struct elf_file *file, const char *base,
			   struct link_point **sites, size_t *count, struct error *err)
{
	struct search search = {.points = points, .file = file, .base = base, .err = err};
	int ret;

	*err->text = '\0';
	ret = take_functions(&search);
	if (!ret && !search.count)
		ret = usdt_notes__each(file, take_point, &search);
	if (ret && !*err->text)
		error__set(err, ret, "%s: cannot read its probe points: %s", elf_file__name(file),
			   strerror(-ret));
	if (!ret && !search.functions && !(search.allocates && search.frees))
		ret = error__set(err, -ENOEXEC,
				 "%s has no probe points for allocations and frees: %s's tensors "
				 "are not watched there",
				 elf_file__name(file), allocator_of(base));
	if (ret) {
		free(search.sites);
		return ret;
	}
	*sites = search.sites;
	*count = search.count;
	return 0;
}
