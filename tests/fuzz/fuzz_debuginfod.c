// SPDX-License-Identifier: BSD-2-Clause
/*
 * What debuginfod's client returns for a debug file, and what is kept of earlier answers: a file of
 * any contents for an object of any contents, at once, never, or under a path that cannot be
 * opened. The test plays the client's library. The input: how the client answers, where else the
 * file is found, the object's length, the object, the file.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "symbol/build_id.h"
#include "symbol/debuginfod.h"
#include "symbol/debuginfod_library.h"
#include "symbol/symbol_cache.h"

#define OFFSETS 24
#define OBJECTS 3

enum answer {
	A_FILE = 0,
	NO_FILE,
	A_FILE_WITHOUT_PATH,
	A_PATH_OF_NOTHING,
	ASKED_TO_STOP,
	ANSWERS
};

static enum answer answer;
static debuginfod_progress_fn go_on;

static struct debuginfod_client *begin(void)
{
	return calloc(1, 1);
}

static void end(struct debuginfod_client *client)
{
	free(client);
}

static void set_progress(struct debuginfod_client *client, debuginfod_progress_fn fn)
{
	(void)client;
	__atomic_store_n(&go_on, fn, __ATOMIC_RELAXED);
}

static int find_debuginfo(struct debuginfod_client *client, const unsigned char *id, int size,
			  char **path)
{
	debuginfod_progress_fn fn = __atomic_load_n(&go_on, __ATOMIC_RELAXED);

	MUST(client && id && size > 0 && size <= BUILD_ID_SIZE_MAX);
	if (answer == NO_FILE)
		return -ENOENT;
	if (answer == ASKED_TO_STOP)
		return fn(client, 1, 2) ? -EINTR : -ETIME;
	if (answer != A_FILE_WITHOUT_PATH)
		*path = strdup(answer == A_FILE ? "/fetched/debuginfo" : "/nothing/debuginfo");
	return harness__file("", 0);
}

int __wrap_debuginfod_library__open(struct debuginfod_library *library, struct error *err);
void __wrap_debuginfod_library__close(struct debuginfod_library *library);

int __wrap_debuginfod_library__open(struct debuginfod_library *library, struct error *err)
{
	(void)err;
	*library = (struct debuginfod_library){.begin = begin,
					       .end = end,
					       .find_debuginfo = find_debuginfo,
					       .set_progress = set_progress};
	return 0;
}

void __wrap_debuginfod_library__close(struct debuginfod_library *library)
{
	library->handle = NULL;
}

static void look_up(struct symbol_file *file)
{
	for (uint64_t i = 0; i < OFFSETS; i++) {
		uint64_t place = 0x580 + i * 8, offset;
		char *text = NULL;
		uint32_t line;

		if (!symbol_file__line(file, place, &text, &line))
			MUST(text && line > 0);
		free(text);
		text = NULL;
		if (!symbol_file__name(file, place, &text, &offset))
			MUST(text && *text);
		free(text);
	}
}

/* The second time it is another file with the same build id, which must not be requested twice. */
static void read_objects(struct debuginfod *debuginfod, const void *object, size_t length)
{
	struct symbol_cache *cache = symbol_cache__new(2 * OBJECTS);
	struct symbol_file *file;

	MUST(cache);
	symbol_cache__ask(cache, debuginfod);
	for (int i = 0; i < OBJECTS; i++) {
		MUST(!symbol_cache__open(cache, harness__file(object, length), 1, "/lib/object.so",
					 &file));
		look_up(file);
	}
	symbol_cache__trim(cache);
	symbol_cache__free(cache);
}

/* Build ids that no object has. */
static void ask(struct debuginfod *debuginfod, const uint8_t *id, size_t size)
{
	const char *path;
	char cached[PATH_MAX];
	int ret = debuginfod__find(debuginfod, id, size, &path);

	MUST(!ret == !!path);
	MUST(ret != -EAGAIN);
	if (debuginfod__cache_path(id, size, cached))
		MUST(strlen(cached) < PATH_MAX && !strncmp(cached, "/cache/", 7));
	else
		MUST(ret == -ENOENT);
}

static void stand_in(uint64_t where, const void *data, size_t size)
{
	harness__set_file("/fetched/", data, size);
	harness__add_file("/cache/", where & 1 ? data : NULL, size);
	harness__add_file("/usr/lib/debug/", where & 2 ? data : NULL, size);
	harness__add_file("/lib/", where & 4 ? data : NULL, size);
	harness__add_file("/", NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint64_t how = input__number(&input, 1), where = input__number(&input, 1);
	size_t length = input__number(&input, 2);
	struct debuginfod *debuginfod;
	const uint8_t *object;
	struct error err;

	answer = how % ANSWERS;
	length = input__bytes(&input, length, &object);
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1);
	setenv("DEBUGINFOD_CACHE_PATH", "/cache", 1);
	MUST(!debuginfod__new(&debuginfod, &err) && debuginfod);
	stand_in(where, input.at, input.left);
	read_objects(debuginfod, object, length);
	for (size_t i = 0; i < length && i <= BUILD_ID_SIZE_MAX + 1; i += 13)
		ask(debuginfod, object, i);
	debuginfod__free(debuginfod);
	harness__set_file(NULL, NULL, 0);
	return 0;
}
