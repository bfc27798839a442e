// SPDX-License-Identifier: BSD-2-Clause
// Validates, demangles and cuts the names of kernels; see kernel_name.h. short_name.c finds the
// bare function name.
#include "symbol/kernel_name.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "symbol/demangler.h"

#define STUB_PREFIX "__device_stub_"
#define HASH_SIZE 9

static bool is_identifier(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '.' || c == '@';
}

bool kernel_name__valid(const char *s, size_t max)
{
	size_t length = 0;

	while (length < max && s[length] && is_identifier(s[length])) {
		if (++length > KERNEL_NAME_MAX)
			return false;
	}
	return length > 0 && length < max && s[length] == '\0';
}

char *kernel_name__demangle(const char *mangled)
{
	char *readable;
	int ret = demangler__cpp(mangled, &readable);

	if (!ret)
		return readable;
	return ret == -ENOMEM ? NULL : strdup(mangled);
}

char *kernel_name__demangle_whole(uint64_t *spent_ns, const char *mangled)
{
	uint64_t begin = clock__thread_ns();
	char *name = *spent_ns < KERNEL_NAMES_NS ? kernel_name__demangle(mangled) : strdup(mangled);

	*spent_ns += clock__thread_ns() - begin;
	return name;
}

char *kernel_name__demangle_within(uint64_t *spent_ns, const char *mangled)
{
	return kernel_name__keep(kernel_name__demangle_whole(spent_ns, mangled));
}

/* Parses "22__device_stub__Z4stati…": returns where the identifier begins, and sets its length. */
static const char *parse_length(const char *s, size_t *length)
{
	*length = 0;
	while (*s >= '0' && *s <= '9' && *length <= KERNEL_NAME_MAX)
		*length = *length * 10 + (size_t)(*s++ - '0');
	return s;
}

/*
 * Returns the kernel's name inside a stub's name, where its length precedes it if it is mangled
 * itself.
 */
static char *name_inside_stub(const char *symbol)
{
	size_t length = strlen(symbol);
	const char *s = symbol;

	if (strncmp(s, "_Z", 2) == 0) {
		s += s[2] == 'L' ? 3 : 2;
		s = parse_length(s, &length);
	}
	if (strncmp(s, STUB_PREFIX, strlen(STUB_PREFIX)) != 0 || length > strlen(s) ||
	    length <= strlen(STUB_PREFIX))
		return NULL;
	return strndup(s + strlen(STUB_PREFIX), length - strlen(STUB_PREFIX));
}

/*
 * Finds the mark of internal linkage: the L in "_ZL4stati" or "_ZN2at6nativeL3vecI…", as far as
 * plain names lead there. NULL if there is none.
 */
static const char *find_linkage_mark(const char *symbol)
{
	const char *s = symbol + 2;
	size_t length;

	if (strncmp(symbol, "_Z", 2) != 0)
		return NULL;
	if (*s == 'N') {
		s++;
		while (*s >= '1' && *s <= '9') {
			s = parse_length(s, &length);
			if (strnlen(s, length) < length)
				return NULL;
			s += length;
		}
	}
	return s[0] == 'L' && s[1] >= '1' && s[1] <= '9' ? s : NULL;
}

char *kernel_name__from_host_symbol(const char *symbol)
{
	char *name = name_inside_stub(symbol);
	const char *mark;

	if (name)
		return name;
	name = strdup(symbol);
	mark = find_linkage_mark(symbol);
	if (name && mark)
		memmove(name + (mark - symbol), mark + 1, strlen(mark));
	return name;
}

/* FNV-1a, folded into 32 bits. */
uint32_t kernel_name__hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return (uint32_t)(h ^ h >> 32);
}

/* The largest length up to `max` that does not split a UTF-8 character. */
static size_t whole_characters(const char *s, size_t max)
{
	size_t length = max;

	while (length > 0 && max - length < 4 && ((unsigned char)s[length] & 0xc0) == 0x80)
		length--;
	return length;
}

size_t kernel_name__cut(const char *full, char *out, size_t out_size, size_t limit)
{
	size_t length = strlen(full), kept;

	if (!out_size)
		return 0;
	if (limit > out_size - 1)
		limit = out_size - 1;
	if (length <= limit) {
		memcpy(out, full, length + 1);
		return length;
	}
	kept = whole_characters(full, limit < HASH_SIZE ? limit : limit - HASH_SIZE);
	memcpy(out, full, kept);
	out[kept] = '\0';
	if (limit < HASH_SIZE)
		return kept;
	snprintf(out + kept, out_size - kept, "#%08x", kernel_name__hash(full));
	return kept + HASH_SIZE;
}

char *kernel_name__keep(char *name)
{
	char *shorter;

	if (!name || strlen(name) <= KERNEL_NAME_MAX)
		return name;
	shorter = malloc(KERNEL_NAME_MAX + 1);
	if (shorter)
		kernel_name__cut(name, shorter, KERNEL_NAME_MAX + 1, KERNEL_NAME_MAX);
	free(name);
	return shorter;
}
