// SPDX-License-Identifier: BSD-2-Clause
// The mappings of a process; see process_map.h.
#include "symbol/process_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbol/vdso.h"
#include "target/mounts.h"
#include "target/proc_maps.h"
#include "target/proc.h"
#include "target/process_root.h"
#include "target/root_file.h"

#define OBJECTS_MAX 16384
#define UNMAPPED_MAX 256
#define PATHS_MAX (2 << 20)	 /* bytes of their paths: a single path may have 4,095 */
#define OPENED_MAX 1000		 /* per reading: otherwise opening files could take minutes */
#define UPROBES_NAME "[uprobes]" /* the kernel's own mapping, to which probed functions return */

struct objects {
	struct mapped_object *list; /* by address */
	size_t count, capacity;
};

struct range {
	uint64_t start, end;
};

struct ranges {
	struct range *list; /* by address */
	size_t count, capacity;
};

struct process_map {
	pid_t pid;
	struct objects objects;
	struct objects unmapped; /* unmapped since an earlier reading */
	struct ranges code;
};

struct process_map *process_map__new(pid_t pid)
{
	struct process_map *map = calloc(1, sizeof(*map));

	if (map)
		map->pid = pid;
	return map;
}

static void clear(struct objects *objects)
{
	for (size_t i = 0; i < objects->count; i++)
		free(objects->list[i].path);
	free(objects->list);
	*objects = (struct objects){0};
}

void process_map__free(struct process_map *map)
{
	if (!map)
		return;
	clear(&map->objects);
	clear(&map->unmapped);
	free(map->code.list);
	free(map);
}

static size_t bytes_of(const struct objects *objects)
{
	size_t bytes = objects->capacity * sizeof(*objects->list);

	for (size_t i = 0; i < objects->count; i++)
		bytes += strlen(objects->list[i].path) + 1;
	return bytes;
}

size_t process_map__bytes(const struct process_map *map)
{
	return bytes_of(&map->objects) + bytes_of(&map->unmapped) +
	       map->code.capacity * sizeof(*map->code.list);
}

static const struct mapped_object *find(const struct objects *objects, uint64_t address)
{
	size_t low = 0, high = objects->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (objects->list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < objects->count && objects->list[low].start <= address ? &objects->list[low] :
									     NULL;
}

const struct mapped_object *process_map__find_mapped(const struct process_map *map,
						     uint64_t address)
{
	return find(&map->objects, address);
}

const struct mapped_object *process_map__find(const struct process_map *map, uint64_t address)
{
	const struct mapped_object *object = find(&map->objects, address);

	return object ? object : find(&map->unmapped, address);
}

/* Whether part of the address range is in one of the ranges. */
static bool overlaps(const struct ranges *ranges, uint64_t start, uint64_t end)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->list[middle].end <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->count && ranges->list[low].start < end;
}

bool process_map__may_return(const struct process_map *map, uint64_t address)
{
	return address &&
	       (overlaps(&map->code, address - 1, address) || find(&map->unmapped, address - 1));
}

static bool is_same_object(const struct mapped_object *a, const struct mapped_object *b)
{
	return a->inode == b->inode && a->device == b->device && a->begin == b->begin;
}

/*
 * Compares the pointer rather than the address: with overlapping mappings, look-up by address may
 * find another one.
 */
static bool holds(const struct objects *objects, const struct mapped_object *object)
{
	return objects->count && object >= objects->list && object < objects->list + objects->count;
}

bool process_map__extent(const struct process_map *map, const struct mapped_object *object,
			 uint64_t start, uint64_t *end)
{
	bool is_mapped = holds(&map->objects, object);
	const struct objects *objects = is_mapped ? &map->objects : &map->unmapped;
	const struct mapped_object *last = objects->list + objects->count;

	for (const struct mapped_object *before = object;
	     before > objects->list && before[-1].end > start; before--) {
		if (!is_same_object(before - 1, object))
			return false;
	}
	while (object + 1 < last && is_same_object(object, object + 1))
		object++;
	*end = object->end;
	return is_mapped || !overlaps(&map->code, start, *end);
}

/*
 * For a process that is gone: opens the file of that name in gpuprobe's own root, if it is the same
 * file.
 */
static int open_same(const struct mapped_object *object)
{
	struct process_root *root;
	struct statx status;
	int ret = object->deleted ? -ENOENT : process_root__open(0, &root), fd;

	if (ret)
		return ret;
	fd = process_root__find(root, object->path, &status);
	process_root__free(root);
	if (fd < 0 || (status.stx_ino == object->inode &&
		       makedev(status.stx_dev_major, status.stx_dev_minor) == object->device))
		return regular_file__reopen(fd, &status);
	close(fd);
	return -ENOENT;
}

static struct symbol_file *open_file(const struct mapped_object *object, pid_t pid,
				     struct symbol_cache *cache)
{
	const struct mapping mapping = {
		.start = object->start,
		.end = object->end,
		.deleted = object->deleted,
		.path = object->path,
	};
	struct symbol_file *file;
	int fd;

	if (object->is_vdso)
		return symbol_cache__open_vdso(cache, &file) ? NULL : file;
	if (!object->inode)
		return NULL;
	fd = mapping__open(&mapping, pid);
	if (fd < 0)
		fd = open_same(object);
	return fd < 0 || symbol_cache__open(cache, fd, pid, object->path, &file) ? NULL : file;
}

struct reading {
	struct objects objects;
	size_t paths; /* bytes */
	struct ranges code;
	uint64_t inode, begin; /* of the file of the previous mapping */
	dev_t device;
};

/* An unchanged mapping has been opened before. */
static bool take_known(const struct objects *before, struct mapped_object *object)
{
	const struct mapped_object *known = find(before, object->start);

	if (!known || known->start != object->start || known->file_offset != object->file_offset ||
	    known->inode != object->inode || known->device != object->device ||
	    strcmp(known->path, object->path) != 0)
		return false;
	object->key = known->key;
	return known->key.size != 0;
}

static void open_files(struct objects *objects, const struct objects *before, pid_t pid,
		       struct symbol_cache *cache)
{
	size_t opened = 0;

	mounts__keep();
	for (size_t i = 0; i < objects->count && opened < OPENED_MAX; i++) {
		struct mapped_object *object = &objects->list[i];
		struct symbol_file *file;

		if (take_known(before, object))
			continue;
		opened++;
		file = open_file(object, pid, cache);
		if (file)
			object->key = file->key;
	}
	mounts__forget();
}

static struct mapped_object *add(struct objects *objects)
{
	if (objects->count == objects->capacity) {
		size_t capacity = objects->capacity ? objects->capacity * 2 : 64;
		struct mapped_object *grown;

		if (capacity > OBJECTS_MAX)
			return NULL;
		grown = realloc(objects->list, capacity * sizeof(*grown));
		if (!grown)
			return NULL;
		objects->list = grown;
		objects->capacity = capacity;
	}
	return &objects->list[objects->count];
}

/* Joins adjacent mappings into one range. */
static bool add_range(struct ranges *ranges, const struct mapping *mapping)
{
	struct range *last = ranges->count ? &ranges->list[ranges->count - 1] : NULL;

	if (last && last->end == mapping->start) {
		last->end = mapping->end;
		return true;
	}
	if (ranges->count == ranges->capacity) {
		size_t capacity = ranges->capacity ? ranges->capacity * 2 : 64;
		struct range *grown = capacity > OBJECTS_MAX ?
					      NULL :
					      realloc(ranges->list, capacity * sizeof(*grown));

		if (!grown)
			return false;
		ranges->list = grown;
		ranges->capacity = capacity;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is room */
	ranges->list[ranges->count++] = (struct range){mapping->start, mapping->end};
	return true;
}

static int keep_mapping(const struct mapping *mapping, void *arg)
{
	struct reading *reading = arg;
	bool is_vdso = strcmp(mapping->path, VDSO_NAME) == 0;
	struct mapped_object *object;

	if (mapping->executable && !add_range(&reading->code, mapping))
		return 1;
	if (!mapping__is_file(mapping) && !is_vdso && strcmp(mapping->path, UPROBES_NAME) != 0)
		return 0;
	if (mapping->file_offset == 0 || mapping->inode != reading->inode ||
	    mapping->device != reading->device)
		reading->begin = mapping->start - mapping->file_offset;
	reading->inode = mapping->inode;
	reading->device = mapping->device;
	if (!mapping->executable)
		return 0;
	reading->paths += strlen(mapping->path) + 1;
	object = reading->paths <= PATHS_MAX ? add(&reading->objects) : NULL;
	if (!object)
		return 1;
	*object = (struct mapped_object){
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.begin = reading->begin,
		.inode = mapping->inode,
		.device = mapping->device,
		.deleted = mapping->deleted,
		.is_vdso = is_vdso,
		.path = strdup(mapping->path),
	};
	if (!object->path)
		return 1;
	object->name = *object->path == '/' ? strrchr(object->path, '/') + 1 : object->path;
	reading->objects.count++;
	return 0;
}

/*
 * An ending process has no program any more: its mappings may have disappeared while they were
 * read.
 */
static bool has_mappings(pid_t pid)
{
	char path[64], target[1];

	proc__exe_path(pid, path, sizeof(path));
	return readlink(path, target, sizeof(target)) >= 0;
}

static void take_unmapped(struct objects *from, const struct ranges *code, struct objects *to)
{
	for (size_t i = 0; i < from->count && to->count < UNMAPPED_MAX; i++) {
		struct mapped_object *object = &from->list[i], *kept;

		kept = overlaps(code, object->start, object->end) ? NULL : add(to);
		if (!kept)
			continue;
		*kept = *object;
		object->path = NULL;
		to->count++;
	}
	clear(from);
}

static int compare_starts(const void *a, const void *b)
{
	const struct mapped_object *first = a, *second = b;

	return first->start < second->start ? -1 : first->start > second->start;
}

/* Keeps unmapped objects, so that addresses captured before a library was closed can be named. */
static void replace(struct process_map *map, struct reading *reading)
{
	struct objects unmapped = {0};

	take_unmapped(&map->objects, &reading->code, &unmapped);
	take_unmapped(&map->unmapped, &reading->code, &unmapped);
	if (unmapped.count)
		qsort(unmapped.list, unmapped.count, sizeof(*unmapped.list), compare_starts);
	free(map->code.list);
	map->objects = reading->objects;
	map->unmapped = unmapped;
	map->code = reading->code;
}

/* Reads all mappings at once, and opens files afterwards: the process may be about to end. */
int process_map__read(struct process_map *map, struct symbol_cache *cache)
{
	struct reading reading = {0};
	int ret = proc_maps__each(map->pid, keep_mapping, &reading);

	if (map->objects.count && !has_mappings(map->pid)) {
		clear(&reading.objects);
		free(reading.code.list);
		return -ESRCH;
	}
	if (cache)
		open_files(&reading.objects, &map->objects, map->pid, cache);
	replace(map, &reading);
	return ret < 0 && ret != -EFBIG ? ret : 0;
}

int process_map__each_code(const struct process_map *map, code_range_fn fn, void *arg)
{
	int ret = 0;

	for (size_t i = 0; i < map->code.count && !ret; i++)
		ret = fn(map->code.list[i].start, map->code.list[i].end, arg);
	return ret;
}

struct symbol_file *process_map__file(const struct process_map *map,
				      const struct mapped_object *object,
				      struct symbol_cache *cache)
{
	struct symbol_file *file;

	if (!object->key.size)
		return NULL;
	file = symbol_cache__find(cache, &object->key);
	if (file)
		return file;
	file = open_file(object, map->pid, cache);
	/* The address range may have another file by now. */
	return file && (object->is_vdso ||
			memcmp(&file->key, &object->key, sizeof(file->key)) == 0) ?
		       file :
		       NULL;
}
