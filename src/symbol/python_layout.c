// SPDX-License-Identifier: BSD-2-Clause
// What an interpreter tells of its structures, see python_layout.h.
#include "symbol/python_layout.h"

#include <errno.h>
#include <string.h>

#include "target/process_memory.h"

#define MEMBERS_MAX 32
#define NAME_ROOM 32

/* CPython's PyMemberDef. */
struct member {
	uint64_t name;
	uint64_t type; /* an int, and four bytes that are nothing */
	int64_t offset;
	uint64_t flags;
	uint64_t doc;
};

struct known_member {
	const char *name;
	uint16_t offset;
};

/* Compares one member of code objects. */
static int check_member(pid_t pid, const struct member *member, const struct known_member *known, size_t count,
			struct error *err)
{
	char name[NAME_ROOM];

	if (process_memory__read_string(pid, member->name, name, sizeof(name)))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(known[i].name, name) && member->offset != known[i].offset)
			return error__set(err, -EPROTO, "%s of its code objects is at %lld, not at %u", name,
					  (long long)member->offset, known[i].offset);
	}
	return 0;
}

static int check_members(pid_t pid, uint64_t address, const struct python_offsets *offsets, struct error *err)
{
	const struct known_member known[] = {
		{"co_argcount", offsets->code_argcount}, {"co_firstlineno", offsets->code_first_line},
		{"co_filename", offsets->code_file},	 {"co_name", offsets->code_name},
		{"co_qualname", offsets->code_qualname}, {"co_linetable", offsets->code_table},
		{"co_lnotab", offsets->code_table},
	};
	struct member member;
	int ret = 0;

	for (int i = 0; i < MEMBERS_MAX && !ret; i++) {
		if (process_memory__read(pid, address + (uint64_t)i * sizeof(member), &member, sizeof(member)))
			return error__set(err, -EPROTO, "the members of its code objects cannot be read");
		if (!member.name)
			break;
		ret = check_member(pid, &member, known, sizeof(known) / sizeof(*known), err);
	}
	return ret;
}

static int check_code_type(pid_t pid, struct python_offsets *offsets, struct error *err)
{
	uint64_t type = offsets->target.code_type, name_at, members, size;
	char name[NAME_ROOM];

	if (process_memory__read(pid, type + PYTHON_TYPE_NAME, &name_at, sizeof(name_at)) ||
	    process_memory__read(pid, type + PYTHON_TYPE_BASICSIZE, &size, sizeof(size)) ||
	    process_memory__read(pid, type + PYTHON_TYPE_MEMBERS, &members, sizeof(members)))
		return error__set(err, -EPROTO, "the type of its code objects cannot be read");
	/* Before relocation a pointer is 0, or an address as in the file. */
	if (!members || process_memory__read_string(pid, name_at, name, sizeof(name)))
		return error__set(err, -EAGAIN, "it is being loaded");
	if (strcmp(name, "code") != 0)
		return error__set(err, -EPROTO, "the type of its code objects has another name");
	/* The bytecode is behind the object's fixed part. */
	if (offsets->target.code_bytes && offsets->target.code_bytes != size)
		return error__set(err, -EPROTO, "its code objects have %llu bytes, not %u", (unsigned long long)size,
				  offsets->target.code_bytes);
	return check_members(pid, members, offsets, err);
}

int python_layout__check(pid_t pid, uint64_t runtime, struct python_offsets *offsets, struct error *err)
{
	uint64_t table[PYTHON_DEBUG_OFFSETS_SIZE / sizeof(uint64_t)];
	int ret;

	if (offsets->minor >= 13) {
		if (process_memory__read(pid, runtime, table, sizeof(table)))
			return error__set(err, -EPROTO, "its table of offsets cannot be read");
		ret = python_offsets__check(offsets, table, err);
		if (ret)
			return ret;
	}
	return check_code_type(pid, offsets, err);
}
