// SPDX-License-Identifier: BSD-2-Clause
// Where a file's NCCL keeps the members of a communicator, see comm_layout.h.
#include "nccl/comm_layout.h"

#include <errno.h>

#include "nccl/getter_code.h"

#define CODE_MAX 4096
#define CALLED_MAX 512 /* bytes of a called function, whose end is unknown */

struct code {
	uint8_t bytes[CODE_MAX];
	size_t size;
	uint64_t offset; /* in the file */
};

static int read_function(struct elf_file *file, const char *name, struct code *code)
{
	struct elf_symbol symbol;
	int ret = elf_file__find_function(file, name, &symbol);
	long got;

	if (ret)
		return ret;
	code->size = symbol.size < CODE_MAX ? symbol.size : CODE_MAX;
	code->offset = symbol.file_offset;
	got = elf_file__read(file, code->offset, code->bytes, code->size);
	if (got < 0)
		return (int)got;
	return (size_t)got == code->size ? 0 : -EBADMSG;
}

static int read_member(struct elf_file *file, const char *getter, struct code *code,
		       uint32_t *offset)
{
	int ret = read_function(file, getter, code);

	if (ret)
		return ret;
	return getter_code__member(code->bytes, code->size, offset) ? 0 : -ENOEXEC;
}

/*
 * NCCL checks both magics in a function that each getter calls, unless the compiler has put it
 * into the getter.
 */
static void find_end_magic(struct elf_file *file, const struct code *getter,
			   struct comm_layout *layout)
{
	struct getter_calls calls;
	uint8_t called[CALLED_MAX];

	layout->has_end_magic =
		getter_code__end_magic(getter->bytes, getter->size, &layout->end_magic);
	getter_code__calls(getter->bytes, getter->size, &calls);
	for (size_t i = 0; i < calls.count && !layout->has_end_magic; i++) {
		long got = elf_file__read(file, getter->offset + (uint64_t)calls.targets[i], called,
					  sizeof(called));

		if (got > 0)
			layout->has_end_magic =
				getter_code__end_magic(called, (size_t)got, &layout->end_magic);
	}
	/* It is the last member. */
	if (layout->end_magic <= layout->device)
		layout->has_end_magic = false;
}

/* commHash lies before the rank in all versions. Newer ones load it for their NVTX ranges. */
static void find_hash(struct elf_file *file, struct code *code, struct comm_layout *layout)
{
	static const char *const users[] = {"ncclAllReduce", "ncclBroadcast", "ncclAllGather"};

	layout->hash = layout->rank - (uint32_t)sizeof(uint64_t);
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]) && !layout->has_hash; i++)
		layout->has_hash = !read_function(file, users[i], code) &&
				   getter_code__loads(code->bytes, code->size, layout->hash);
}

int comm_layout__read(struct elf_file *file, struct comm_layout *layout)
{
	struct code code;
	int ret;

	*layout = (struct comm_layout){0};
	ret = read_member(file, "ncclCommCount", &code, &layout->size);
	if (!ret)
		ret = read_member(file, "ncclCommCuDevice", &code, &layout->device);
	if (!ret)
		ret = read_member(file, "ncclCommUserRank", &code, &layout->rank);
	if (ret)
		return ret;
	/* They follow one another in all versions from 2.18 to 2.30. */
	if (layout->size != layout->rank + 4 || layout->device != layout->rank + 8)
		return -ENOEXEC;
	find_end_magic(file, &code, layout);
	find_hash(file, &code, layout);
	return 0;
}

int comm_layout__version(struct elf_file *file)
{
	struct code code;
	int version;

	if (read_function(file, "ncclGetVersion", &code) ||
	    !getter_code__version(code.bytes, code.size, &version))
		return 0;
	return version;
}
