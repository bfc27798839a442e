// SPDX-License-Identifier: BSD-2-Clause
// The Python interpreter in a process; see python_process.h.
#include "symbol/python_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/python_layout.h"
#include "target/elf_file.h"
#include "target/proc_maps.h"

#define PTHREAD_MAX 16384 /* struct pthread is smaller */

enum object_role {
	OBJECT_PYTHON = 0,
	OBJECT_LIBC,
	OBJECT_LIBPTHREAD,
	OBJECT_ROLES
};

/* A mapped file. */
struct object {
	uint64_t start, end;	/* of its mappings */
	struct mapping mapping; /* one of them, for its file; a NULL path: no file has this role */
	unsigned int minor;	/* from the file's name, or 0 */
	char flavour;		/* the letter after the version: 't', 'd', or 0 */
};

struct search {
	struct memory_reader *memory;
	pid_t pid;
	struct object objects[OBJECT_ROLES];
	bool musl;
	unsigned int module_minor; /* from a module's name, or 0 */
	uint64_t last_inode;
	uint64_t file_start;   /* address at which the mapped file begins */
	struct object program; /* the executable, if its name is not python */
};

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Parses "python3.11" or "libpython3.13t.so.1.0": takes what follows the 3. */
static bool take_version(const char *name, struct object *object)
{
	const char *at = name;
	unsigned int minor = 0, digits = 0;

	if (starts(at, "lib"))
		at += 3;
	if (!starts(at, "python3."))
		return false;
	for (at += strlen("python3."); *at >= '0' && *at <= '9' && digits < 3; at++, digits++)
		minor = minor * 10 + (unsigned int)(*at - '0');
	object->minor = minor;
	object->flavour = *at == 't' || *at == 'd' ? *at : 0;
	return digits > 0;
}

static enum object_role role_of(const char *name, struct object *found)
{
	if (take_version(name, found))
		return OBJECT_PYTHON;
	if (starts(name, "libc.so.") || starts(name, "libc-2."))
		return OBJECT_LIBC;
	if (starts(name, "libpthread.so.") || starts(name, "libpthread-2."))
		return OBJECT_LIBPTHREAD;
	return OBJECT_ROLES;
}

/* Takes the version from "_struct.cpython-312-x86_64-linux-gnu.so". */
static void note_module(struct search *search, const char *name)
{
	const char *tag = strstr(name, ".cpython-3");

	if (tag)
		search->module_minor = (unsigned int)strtoul(tag + strlen(".cpython-3"), NULL, 10);
}

static void keep(struct object *object, const struct mapping *mapping, uint64_t start)
{
	if (object->mapping.path) {
		if (mapping->end > object->end && object->start == start)
			object->end = mapping->end;
		return;
	}
	object->start = start;
	object->end = mapping->end;
	object->mapping = *mapping;
	object->mapping.path = strdup(mapping->path);
}

static int look_at(const struct mapping *mapping, void *arg)
{
	struct search *search = arg;
	const char *slash = strrchr(mapping->path, '/');
	struct object found = {0};
	enum object_role role;

	if (!mapping__is_file(mapping))
		return 0;
	if (mapping->inode != search->last_inode || mapping->file_offset == 0)
		search->file_start = mapping->start - mapping->file_offset;
	search->last_inode = mapping->inode;
	role = role_of(slash + 1, &found);
	if (starts(slash + 1, "ld-musl-") || starts(slash + 1, "libc.musl-"))
		search->musl = true;
	note_module(search, slash + 1);
	if (role == OBJECT_ROLES) {
		/*
		 * In most processes the lowest file is the program; its symbols show whether it is
		 * the interpreter.
		 */
		if (!search->program.mapping.path || search->program.start == search->file_start)
			keep(&search->program, mapping, search->file_start);
		return 0;
	}
	/*
	 * If there is a libpython, it has the interpreter, and a program of that name only uses it.
	 */
	if (role == OBJECT_PYTHON && starts(slash + 1, "lib") &&
	    search->objects[role].mapping.path &&
	    search->objects[role].start != search->file_start) {
		free((char *)search->objects[role].mapping.path);
		search->objects[role] = (struct object){0};
	}
	if (role == OBJECT_PYTHON && !search->objects[role].mapping.path) {
		search->objects[role].minor = found.minor;
		search->objects[role].flavour = found.flavour;
	}
	keep(&search->objects[role], mapping, search->file_start);
	return 0;
}

static int open_object(const struct object *object, pid_t pid, struct elf_file **elf)
{
	int fd = mapping__open(&object->mapping, pid);

	return fd < 0 ? fd : elf_file__open_fd(fd, "mapped file", elf, NULL);
}

/* Converts a file's address to one in memory; `start` is the address of file offset 0. */
static bool address_of(const struct elf_file *elf, const struct object *object, uint64_t vaddr,
		       uint64_t *address)
{
	uint64_t first;

	if (!elf_file__offset_to_vaddr(elf, 0, &first))
		return false;
	*address = object->start - first + vaddr;
	return true;
}

static int read_u32(const struct elf_file *elf, uint64_t vaddr, unsigned int index, uint32_t *value)
{
	uint64_t offset;

	if (!elf_file__vaddr_to_offset(elf, vaddr + index * sizeof(*value), &offset))
		return -EBADMSG;
	return elf_file__read(elf, offset, value, sizeof(*value)) == sizeof(*value) ? 0 : -EBADMSG;
}

/* Reads word `index` of a variable by which libc describes itself to libthread_db. */
static int read_described(struct elf_file *libc, const char *name, unsigned int index,
			  uint32_t *value)
{
	uint64_t vaddr;
	int ret = elf_file__find_object(libc, name, &vaddr);

	return ret ? ret : read_u32(libc, vaddr, index, value);
}

/* A field is described by its size in bits, its number, and its offset. */
static int read_libc(const struct object *object, pid_t pid, struct python_target *target)
{
	uint32_t specific, size, data;
	struct elf_file *elf = NULL;
	int ret;

	if (!object->mapping.path)
		return -ENOENT;
	ret = open_object(object, pid, &elf);
	if (ret)
		return ret;
	ret = read_described(elf, "_thread_db_pthread_specific", 2, &specific);
	if (!ret)
		ret = read_described(elf, "_thread_db_sizeof_pthread_key_data", 0, &size);
	if (!ret)
		ret = read_described(elf, "_thread_db_pthread_key_data_data", 2, &data);
	elf_file__free(elf);
	if (ret)
		return ret;
	if (specific > PTHREAD_MAX || specific % 8 || size > 64 || data % 8 || data + 8 > size)
		return -EBADMSG;
	target->specific = (uint16_t)specific;
	target->value_size = (uint16_t)size;
	target->value_data = (uint16_t)data;
	return 0;
}

static int find_libc(const struct search *search, struct python_target *target, struct error *err)
{
	if (search->musl)
		return error__set(err, -ENOTSUP,
				  "musl does not export where it keeps a thread's values");
	if (read_libc(&search->objects[OBJECT_LIBC], search->pid, target) &&
	    read_libc(&search->objects[OBJECT_LIBPTHREAD], search->pid, target))
		return error__set(err, -ENOTSUP,
				  "libc has no _thread_db_ symbols that show where it keeps a "
				  "thread's values");
	return 0;
}

static unsigned int version_of(const struct search *search, struct elf_file *elf,
			       const struct object *object)
{
	struct object named = {0};
	uint32_t version;
	uint64_t vaddr;

	/* 0x030b02f0 is 3.11.2. */
	if (!elf_file__find_object(elf, "Py_Version", &vaddr) &&
	    !read_u32(elf, vaddr, 0, &version) && version >> 24 == 3)
		return version >> 16 & 0xff;
	if (elf_file__soname(elf) && take_version(elf_file__soname(elf), &named))
		return named.minor;
	return object->minor ? object->minor : search->module_minor;
}

/* _PyRuntime also has a section of its own. */
static bool find_runtime(struct elf_file *elf, uint64_t *vaddr)
{
	return !elf_file__find_object(elf, "_PyRuntime", vaddr) ||
	       elf_file__find_section(elf, ".PyRuntime", vaddr);
}

static void find_eval(struct elf_file *elf, const struct object *object,
		      struct python_process *python)
{
	struct elf_symbol eval;
	uint64_t address;

	python->object_start = object->start;
	python->object_end = object->end;
	if (elf_file__find_function(elf, "_PyEval_EvalFrameDefault", &eval) ||
	    !address_of(elf, object, eval.value, &address))
		return;
	python->eval_start = address;
	python->eval_end = address + eval.size;
}

static int find_type(struct elf_file *elf, const struct object *object, const char *symbol,
		     uint64_t *address, struct error *err)
{
	uint64_t vaddr;

	if (elf_file__find_object(elf, symbol, &vaddr) || !address_of(elf, object, vaddr, address))
		return error__set(err, -ENOTSUP, "it has no symbol %s", symbol);
	return 0;
}

/* Reads what the interpreter's file says. */
static int read_object(const struct search *search, const struct object *object,
		       struct elf_file *elf, struct python_process *python, uint64_t *runtime,
		       struct error *err)
{
	const struct python_offsets *offsets;
	uint64_t vaddr, code_type = 0;
	unsigned int minor;
	int ret;

	if (!find_runtime(elf, &vaddr) || !address_of(elf, object, vaddr, runtime))
		return -ENOENT;
	if (object->flavour)
		return error__set(err, -ENOTSUP, "a %s build",
				  object->flavour == 't' ? "free-threaded" : "debug");
	minor = version_of(search, elf, object);
	if (!minor)
		return error__set(err, -ENOTSUP, "its version is unknown");
	offsets = python_offsets__of(minor);
	if (!offsets)
		return error__set(err, -ENOTSUP, "CPython 3.%u is not supported", minor);
	python->offsets = *offsets;
	ret = find_type(elf, object, "PyCode_Type", &code_type, err);
	if (!ret)
		ret = find_type(elf, object, "PyUnicode_Type", &python->offsets.text_type, err);
	if (!ret && minor <= 10)
		ret = find_type(elf, object, "PyFrame_Type", &python->offsets.frame_type, err);
	if (ret)
		return ret;
	python->offsets.target.code_type = code_type;
	python->offsets.target.key_address = *runtime + offsets->key;
	python->offsets.target.runtime = *runtime;
	python->offsets.target.runtime_bytes = elf_file__object_size(elf, "_PyRuntime");
	find_eval(elf, object, python);
	return 0;
}

static int find_in(const struct search *search, const struct object *object,
		   struct python_process *python, struct error *err)
{
	struct elf_file *elf = NULL;
	uint64_t runtime = 0;
	int ret;

	if (!object->mapping.path || open_object(object, search->pid, &elf))
		return -ENOENT;
	ret = read_object(search, object, elf, python, &runtime, err);
	elf_file__free(elf);
	if (!ret)
		ret = find_libc(search, &python->offsets.target, err);
	return ret ? ret :
		     python_layout__check(search->memory, search->pid, runtime, &python->offsets,
					  err);
}

static void clear(struct object *object)
{
	free((char *)object->mapping.path);
}

int python_process__find(struct memory_reader *memory, pid_t pid, struct python_process *python,
			 struct error *err)
{
	struct search search = {.memory = memory, .pid = pid};
	int ret = proc_maps__each(pid, look_at, &search);

	memset(python, 0, sizeof(*python));
	/* If there are too many mappings, uses those that were read. */
	if (!ret || ret == -EFBIG)
		ret = find_in(&search, &search.objects[OBJECT_PYTHON], python, err);
	if (ret == -ENOENT)
		ret = find_in(&search, &search.program, python, err);
	for (size_t i = 0; i < OBJECT_ROLES; i++)
		clear(&search.objects[i]);
	clear(&search.program);
	return ret;
}
