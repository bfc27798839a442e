// SPDX-License-Identifier: BSD-2-Clause
// Compares an interpreter's structures with what it says about them; see python_layout.h.
#include "symbol/python_layout.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define MEMBERS_MAX 32
#define NAME_ROOM 32

/* CPython's PyMemberDef. */
struct member {
	uint64_t name;
	uint64_t type; /* an int and four bytes of padding */
	int64_t offset;
	uint64_t flags;
	uint64_t doc;
};

struct known_member {
	const char *name;
	uint16_t offset;
};

/* Checks one member of a type. A NULL name in `known` matches no member. */
static int check_member(struct memory_reader *memory, pid_t pid, const struct member *member,
			const struct known_member *known, size_t count, struct error *err)
{
	char name[NAME_ROOM];

	if (memory_reader__read_string(memory, pid, member->name, name, sizeof(name)))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (known[i].name && !strcmp(known[i].name, name) &&
		    member->offset != known[i].offset)
			return error__set(err, -EPROTO, "its %s is at %lld, not at %u", name,
					  (long long)member->offset, known[i].offset);
	}
	return 0;
}

static int check_members(struct memory_reader *memory, pid_t pid, uint64_t address,
			 const struct known_member *known, size_t count, struct error *err)
{
	struct member member;
	int ret = 0;

	for (int i = 0; i < MEMBERS_MAX && !ret; i++) {
		if (memory_reader__read(memory, pid, address + (uint64_t)i * sizeof(member),
					&member, sizeof(member)))
			return error__set(err, -EPROTO, "cannot read the members of its types");
		if (!member.name)
			break;
		ret = check_member(memory, pid, &member, known, count, err);
	}
	return ret;
}

/* What a type object says about itself. */
struct type {
	uint64_t size, members;
	char name[NAME_ROOM];
};

static int read_type(struct memory_reader *memory, pid_t pid, uint64_t address, const char *name,
		     struct type *type, struct error *err)
{
	uint64_t name_at;

	if (memory_reader__read(memory, pid, address + PYTHON_TYPE_NAME, &name_at,
				sizeof(name_at)) ||
	    memory_reader__read(memory, pid, address + PYTHON_TYPE_BASICSIZE, &type->size,
				sizeof(type->size)) ||
	    memory_reader__read(memory, pid, address + PYTHON_TYPE_MEMBERS, &type->members,
				sizeof(type->members)))
		return error__set(err, -EPROTO, "cannot read its type \"%s\"", name);
	/* Before relocation a pointer is 0, or an address as in the file. */
	if (memory_reader__read_string(memory, pid, name_at, type->name, sizeof(type->name)))
		return error__set(err, -EAGAIN, "it is being loaded");
	if (strcmp(type->name, name) != 0)
		return error__set(err, -EPROTO, "its type \"%s\" has another name", name);
	return 0;
}

static int check_code_type(struct memory_reader *memory, pid_t pid,
			   const struct python_offsets *offsets, struct error *err)
{
	struct type type = {0};
	const struct known_member known[] = {
		{"co_argcount", offsets->code_argcount},
		{"co_firstlineno", offsets->code_first_line},
		{"co_filename", offsets->code_file},
		{"co_name", offsets->code_name},
		{"co_qualname", offsets->code_qualname},
		{"co_linetable", offsets->code_table},
		{"co_lnotab", offsets->code_table},
	};
	int ret = read_type(memory, pid, offsets->target.code_type, "code", &type, err);

	if (ret)
		return ret;
	if (!type.members)
		return error__set(err, -EAGAIN, "it is being loaded");
	/* The bytecode follows the object's fixed part. */
	if (offsets->target.code_bytes && offsets->target.code_bytes != type.size)
		return error__set(err, -EPROTO, "its code objects have %llu bytes, not %u",
				  (unsigned long long)type.size, offsets->target.code_bytes);
	return check_members(memory, pid, type.members, known, sizeof(known) / sizeof(*known), err);
}

/*
 * A str that is not compact has one more pointer after the fields of a compact one; an ASCII one
 * lacks the last words of those.
 */
static int check_text_type(struct memory_reader *memory, pid_t pid,
			   const struct python_offsets *offsets, struct error *err)
{
	unsigned int only_other = offsets->minor < 12 ? 3 : 2;
	struct type type = {0};
	int ret = read_type(memory, pid, offsets->text_type, "str", &type, err);

	if (ret)
		return ret;
	if (type.size != offsets->text_other + 8u ||
	    offsets->text_other != offsets->text_ascii + 8 * only_other)
		return error__set(err, -EPROTO, "its strings have %llu bytes, not %u",
				  (unsigned long long)type.size, offsets->text_other + 8);
	return 0;
}

/* Up to 3.10. 3.10 itself does not list f_lasti, which is 11 bytes before f_trace_opcodes. */
static int check_frame_type(struct memory_reader *memory, pid_t pid,
			    const struct python_offsets *offsets, struct error *err)
{
	const struct python_target *target = &offsets->target;
	const struct known_member known[] = {
		{"f_back", target->frame_back},
		{"f_code", target->frame_code},
		{"f_lasti", target->frame_instruction},
		{offsets->minor == 10 ? "f_trace_opcodes" : NULL,
		 (uint16_t)(target->frame_instruction - 11)},
	};
	struct type type = {0};
	int ret = read_type(memory, pid, offsets->frame_type, "frame", &type, err);

	return ret ? ret :
		     check_members(memory, pid, type.members, known, sizeof(known) / sizeof(*known),
				   err);
}

/* Whether every field that is read of a frame is within the bytes that are read. */
static bool is_whole(const struct python_target *target)
{
	unsigned int size = target->frame_size, instruction_size = target->lasti_unit ? 4 : 8;

	return size <= PYTHON_FRAME_READ && target->frame_back + 8u <= size &&
	       target->frame_code + 8u <= size &&
	       target->frame_instruction + instruction_size <= size && target->frame_owner < size;
}

int python_layout__check(struct memory_reader *memory, pid_t pid, uint64_t runtime,
			 struct python_offsets *offsets, struct error *err)
{
	uint64_t table[PYTHON_DEBUG_OFFSETS_SIZE / sizeof(uint64_t)];
	int ret;

	if (offsets->minor >= 13) {
		if (memory_reader__read(memory, pid, runtime, table, sizeof(table)))
			return error__set(err, -EPROTO, "cannot read its table of offsets");
		ret = python_offsets__check(offsets, table, err);
		if (ret)
			return ret;
	}
	if (!is_whole(&offsets->target))
		return error__set(err, -EPROTO, "its frames are larger");
	ret = check_code_type(memory, pid, offsets, err);
	if (!ret)
		ret = check_text_type(memory, pid, offsets, err);
	return ret || offsets->minor > 10 ? ret : check_frame_type(memory, pid, offsets, err);
}
