// SPDX-License-Identifier: BSD-2-Clause
// Converts addresses to functions and lines; see native_frames.h.
#include "symbol/native_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "symbol/debuginfod.h"
#include "symbol/function_name.h"
#include "symbol/perf_map.h"
#include "target/elf_file.h"

#define FILES_OPEN 400 /* the default limit of a process is 1024 files; probes need some of them */
#define FRAMES_BYTES_MAX (32u << 20)
#define JIT_NAME "[jit]"

/* Identifies a frame: its file, its offset, and whether a call precedes it. */
struct frame_key {
	struct file_key file;
	uint64_t file_offset, kind;
};

struct known_frame {
	struct frame_key key;
	uint64_t offset;
	char *function; /* or NULL */
	char *file;	/* or NULL */
	uint32_t line;
	UT_hash_handle hh;
};

struct native_frames {
	bool wants_names;
	struct symbol_cache *cache;
	struct debuginfod *debuginfod; /* NULL: not to be used */
	struct known_frame *known;
	size_t bytes;
};

struct native_process {
	pid_t pid;
	struct process_map *map;
	struct perf_map *jit;
};

/* Without debuginfod, frames are named as far as possible. */
static void start_debuginfod(struct native_frames *frames, const struct log *log)
{
	struct error err;

	if (debuginfod__new(&frames->debuginfod, &err))
		log__warn(log, "%s", err.text);
	symbol_cache__ask(frames->cache, frames->debuginfod);
}

struct native_frames *native_frames__new(bool wants_names, const struct log *log)
{
	struct native_frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->wants_names = wants_names;
	frames->cache = symbol_cache__new(FILES_OPEN);
	if (!frames->cache) {
		free(frames);
		return NULL;
	}
	if (wants_names)
		start_debuginfod(frames, log);
	return frames;
}

static void free_frame(struct known_frame *frame)
{
	free(frame->function);
	free(frame->file);
	free(frame);
}

static void clear(struct native_frames *frames)
{
	TABLE_CLEAR(frames->known, free_frame);
	frames->bytes = 0;
}

void native_frames__free(struct native_frames *frames)
{
	if (!frames)
		return;
	clear(frames);
	symbol_cache__free(frames->cache);
	debuginfod__free(frames->debuginfod);
	free(frames);
}

struct native_process *native_process__new(pid_t pid)
{
	struct native_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = pid;
	process->map = process_map__new(pid);
	if (process->map)
		return process;
	free(process);
	return NULL;
}

void native_process__free(struct native_process *process)
{
	if (!process)
		return;
	process_map__free(process->map);
	perf_map__free(process->jit);
	free(process);
}

size_t native_process__bytes(const struct native_process *process)
{
	return process_map__bytes(process->map) + perf_map__bytes(process->jit);
}

const struct process_map *native_process__map(const struct native_process *process)
{
	return process->map;
}

struct symbol_cache *native_frames__cache(struct native_frames *frames)
{
	return frames->cache;
}

void native_frames__read(struct native_frames *frames, struct native_process *process)
{
	struct perf_map *jit;

	native_frames__trim(frames);
	process_map__read(process->map, frames->wants_names ? frames->cache : NULL);
	jit = frames->wants_names ? perf_map__read(process->pid) : NULL;
	if (!jit)
		return;
	perf_map__free(process->jit);
	process->jit = jit;
}

void native_frames__trim(struct native_frames *frames)
{
	if (frames->bytes > FRAMES_BYTES_MAX)
		clear(frames);
	symbol_cache__trim(frames->cache);
}

/*
 * Recognises the return of a signal handler: mov $15,%rax; syscall. It is not preceded by a call,
 * but by the end of another function.
 */
static bool is_signal_return(const struct symbol_file *file, uint64_t file_offset)
{
	static const uint8_t expected[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
	uint8_t code[sizeof(expected)];

	return elf_file__read(file->elf, file_offset, code, sizeof(code)) == sizeof(code) &&
	       memcmp(code, expected, sizeof(code)) == 0;
}

static void look_up(struct symbol_file *file, struct known_frame *frame)
{
	uint64_t at = frame->key.file_offset, before;
	char *symbol;

	if (!file || !file->elf)
		return;
	before = frame->key.kind == ADDRESS_OF_RETURN && at && !is_signal_return(file, at);
	if (!symbol_file__name(file, at - before, &symbol, &frame->offset)) {
		frame->offset += before;
		frame->function = function_name__readable_within(&file->names_ns, symbol);
		free(symbol);
	}
	if (symbol_file__line(file, at - before, &frame->file, &frame->line))
		frame->file = NULL;
}

/*
 * A file that could not be opened may later be opened through another process, so its frames have a
 * separate key made from what maps shows.
 */
static struct frame_key key_of(const struct mapped_object *object, const struct symbol_file *file,
			       uint64_t address, enum native_address kind)
{
	struct frame_key key = {.file_offset = address - object->start + object->file_offset,
				.kind = kind};

	if (file)
		key.file = object->key;
	else
		key.file = (struct file_key){.device = object->device, .inode = object->inode};
	return key;
}

static struct known_frame *find_known(struct native_frames *frames, const struct frame_key *key)
{
	return TABLE_FIND(frames->known, key, key);
}

static struct known_frame *add_known(struct native_frames *frames, const struct frame_key *key,
				     struct symbol_file *file)
{
	struct known_frame *frame = TABLE_ADD_NEW(frames->known, key, key);

	if (!frame)
		return NULL;
	look_up(file, frame);
	frames->bytes += sizeof(*frame) + (frame->function ? strlen(frame->function) : 0) +
			 (frame->file ? strlen(frame->file) : 0);
	return frame;
}

/* A known frame needs no file. */
static struct known_frame *find_frame(struct native_frames *frames,
				      const struct native_process *process,
				      const struct mapped_object *object, uint64_t address,
				      enum native_address kind)
{
	struct frame_key key = {
		.file_offset = address - object->start + object->file_offset,
		.kind = kind,
		.file = object->key,
	};
	struct known_frame *frame = object->key.size ? find_known(frames, &key) : NULL;
	struct symbol_file *file;

	if (frame)
		return frame;
	file = process_map__file(process->map, object, frames->cache);
	key = key_of(object, file, address, kind);
	frame = find_known(frames, &key);
	return frame ? frame : add_known(frames, &key, file);
}

static int find_jit(const struct native_process *process, uint64_t address,
		    enum native_address kind, struct native_frame *out)
{
	uint64_t before = kind == ADDRESS_OF_RETURN;

	if (!process->jit || !address)
		return -ENOENT;
	out->function = perf_map__find(process->jit, address - before, &out->offset);
	if (!out->function)
		return -ENOENT;
	out->offset += before;
	out->object = JIT_NAME;
	return 0;
}

/* A call that does not return may be the last instruction of a mapping. */
static const struct mapped_object *find_object(const struct native_process *process,
					       uint64_t address, enum native_address kind)
{
	const struct mapped_object *object = NULL;

	if (kind == ADDRESS_OF_RETURN && address)
		object = process_map__find(process->map, address - 1);
	return object ? object : process_map__find(process->map, address);
}

int native_process__locate(const struct native_process *process, uint64_t address,
			   struct native_frame *out)
{
	const struct mapped_object *object = process_map__find_mapped(process->map, address);

	*out = (struct native_frame){0};
	if (!object)
		return -ENOENT;
	out->object = object->name;
	out->offset = address - object->begin;
	return 0;
}

int native_frames__find(struct native_frames *frames, const struct native_process *process,
			uint64_t address, enum native_address kind, struct native_frame *out)
{
	const struct mapped_object *object = find_object(process, address, kind);
	const struct known_frame *frame;

	*out = (struct native_frame){0};
	if (!object)
		return find_jit(process, address, kind, out);
	frame = find_frame(frames, process, object, address, kind);
	if (!frame)
		return -ENOMEM;
	out->function = frame->function;
	out->offset = frame->function ? frame->offset : address - object->begin;
	out->object = object->name;
	out->file = frame->file;
	out->line = frame->line;
	return 0;
}
