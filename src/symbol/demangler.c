// SPDX-License-Identifier: BSD-2-Clause
// libiberty's demanglers; see demangler.h.
#include "symbol/demangler.h"

#include <ctype.h>
#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* libiberty's C++ demangler has the same limit. */
#define CPP_MAX 1024
#define RUST_MAX 8192
/*
 * Conversion operators make the demangler backtrack, which doubles its time for each one inside
 * another.
 */
#define CONVERSIONS_MAX 12
/*
 * A binder gives a number of lifetimes, and the demangler loops over them even if nothing is
 * printed.
 */
#define BINDER_DIGITS_MAX 3
/* Real names take microseconds. */
#define TIME_MAX_NS (100 * NS_PER_MS)

struct demangling {
	int (*demangle)(const char *symbol, int options, demangle_callbackref append, void *arg);
	bool allocates;
	const char *symbol;
	char *masked; /* read by the demangler instead of the symbol; NULL: the symbol itself */
	char *text;
	size_t size;
	uint64_t end;
	jmp_buf too_much;
};

static bool is_ascii(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] & 0x80)
			return false;
	}
	return true;
}

/*
 * Returns a masked piece of text as it is in the symbol. Impossible for identifiers that are not
 * ASCII.
 */
static const char *unmask(const struct demangling *demangling, const char *text)
{
	uintptr_t begin = (uintptr_t)demangling->masked, at = (uintptr_t)text;

	if (!begin || at < begin || at >= begin + strlen(demangling->masked))
		return text;
	return demangling->symbol + (at - begin);
}

/*
 * Receives the text piece by piece. The demangler's other form, which returns a string, would write
 * endlessly for a name whose parts refer back to each other and double each time. This form is left
 * by a jump, which leaks nothing: C++'s allocates nothing, and Rust's holds memory only while it
 * passes an identifier that is not ASCII. Such a piece is dropped without a jump, and the next one
 * jumps: two of them never follow each other directly.
 */
static void append(const char *text, size_t size, void *arg)
{
	struct demangling *demangling = arg;

	bool ascii = !demangling->allocates || is_ascii(text, size);

	if (!size)
		return;
	if (size <= DEMANGLED_MAX - demangling->size && clock__thread_ns() <= demangling->end &&
	    (ascii || !demangling->masked)) {
		memcpy(demangling->text + demangling->size, unmask(demangling, text), size);
		demangling->size += size;
		return;
	}
	demangling->end = 0;
	if (ascii)
		longjmp(demangling->too_much, 1);
}

static bool run(struct demangling *demangling)
{
	const char *symbol = demangling->masked ? demangling->masked : demangling->symbol;

	if (setjmp(demangling->too_much))
		return false;
	return demangling->demangle(symbol, DMGL_PARAMS | DMGL_ANSI, append, demangling) &&
	       demangling->end;
}

static int make_readable(struct demangling *demangling, char **readable)
{
	int ret = -EINVAL;

	demangling->end = clock__thread_ns() + TIME_MAX_NS;
	demangling->text = malloc(DEMANGLED_MAX + 1);
	if (!demangling->text)
		return -ENOMEM;
	if (run(demangling) && demangling->size) {
		demangling->text[demangling->size] = '\0';
		*readable = strdup(demangling->text);
		ret = *readable ? 0 : -ENOMEM;
	}
	free(demangling->text);
	return ret;
}

int demangler__cpp(const char *symbol, char **readable)
{
	struct demangling demangling = {.demangle = cplus_demangle_v3_callback, .symbol = symbol};
	size_t conversions = 0;

	*readable = NULL;
	if (strncmp(symbol, "_Z", 2) != 0 || strnlen(symbol, CPP_MAX + 1) > CPP_MAX)
		return -EINVAL;
	for (const char *at = symbol; (at = strstr(at, "cv")); at += 2)
		conversions++;
	return conversions > CONVERSIONS_MAX ? -EINVAL : make_readable(&demangling, readable);
}

static bool is_endless_binder(const char *at)
{
	size_t digits = 0;

	if ((at[0] != 'F' && at[0] != 'D') || at[1] != 'G')
		return false;
	while (isalnum((unsigned char)at[2 + digits]))
		digits++;
	return digits > BINDER_DIGITS_MAX && at[2 + digits] == '_';
}

/*
 * Makes a copy in which each possible binder ("FG…_", "DG…_") with more lifetimes than any function
 * has is made invalid. Sets *masked; NULL if there is none. Inside an identifier it is no binder,
 * and the mask is removed from the output, but a back reference may lead there. Returns 0 or
 * -ENOMEM.
 */
static int mask_binders(const char *symbol, char **masked)
{
	*masked = NULL;
	for (size_t i = 0; symbol[i]; i++) {
		if (!is_endless_binder(symbol + i))
			continue;
		if (!*masked)
			*masked = strdup(symbol);
		if (!*masked)
			return -ENOMEM;
		(*masked)[i + 1] = 'J';
	}
	return 0;
}

int demangler__rust(const char *symbol, char **readable)
{
	struct demangling demangling = {
		.demangle = rust_demangle_callback, .allocates = true, .symbol = symbol};
	int ret;

	*readable = NULL;
	if (strnlen(symbol, RUST_MAX + 1) > RUST_MAX)
		return -EINVAL;
	if (strncmp(symbol, "_ZN", 3) == 0)
		return make_readable(&demangling, readable);
	if (strncmp(symbol, "_R", 2) != 0)
		return -EINVAL;
	if (mask_binders(symbol, &demangling.masked))
		return -ENOMEM;
	ret = make_readable(&demangling, readable);
	free(demangling.masked);
	return ret;
}
