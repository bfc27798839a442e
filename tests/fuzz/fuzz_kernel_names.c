// SPDX-License-Identifier: BSD-2-Clause
// Symbols and kernel names of any contents: demangled, shortened, labelled, cut, recognised as host
// stubs, read through a handle.
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "stack/thread_entry.h"
#include "symbol/demangler.h"
#include "symbol/function_name.h"
#include "symbol/kernel_label.h"
#include "symbol/kernel_name.h"
#include "symbol/label_set.h"
#include "symbol/remote_name.h"

static void demangle(int (*demangler)(const char *symbol, char **readable), const char *symbol)
{
	char *readable;
	int ret = demangler(symbol, &readable);

	MUST(ret ? !readable : readable && strlen(readable) <= DEMANGLED_MAX);
	free(readable);
}

static void shorten(const char *name)
{
	char *brief = kernel_name__short(name), cut[64];

	MUST(brief);
	for (size_t limit = 1; limit < sizeof(cut); limit += 9)
		MUST(kernel_name__cut(brief, cut, sizeof(cut), limit) <= limit);
	free(brief);
}

/* The second kernel of that label gets a mark. */
static void label(const char *name)
{
	char text[KERNEL_LABEL_SIZE], unique[KERNEL_LABEL_SIZE];
	struct label_set set = {0};

	kernel_label__write(name, text);
	MUST(strlen(text) <= KERNEL_LABEL_MAX && !strchr(text, '#') && !*text == !*name);
	MUST(!label_set__take(&set, text, name, unique) && !strcmp(unique, text));
	MUST(!label_set__take(&set, text, name, unique) && strlen(unique) <= KERNEL_LABEL_MAX);
	MUST(strstr(unique, " #"));
	label_set__clear(&set);
}

static void read_remote(const struct input *input)
{
	char name[REMOTE_NAME_SIZE];

	harness__set_memory(0x1000, input->at, input->left);
	if (!remote_name__read(NULL, 1, 0x1000, name))
		MUST(kernel_name__valid(name, sizeof(name)));
	if (!remote_name__read_string(NULL, 1, 0x1000, name))
		MUST(kernel_name__valid(name, sizeof(name)));
	thread_entry__is(NULL, &(struct native_frame){.object = "libc.so.6"}, 0x1000, 1);
	harness__set_memory(0, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	char *symbol, *readable;
	uint64_t taken_ns = 0;

	read_remote(&input);
	symbol = input__rest(&input);
	kernel_name__valid((const char *)data, size);
	demangle(demangler__cpp, symbol);
	demangle(demangler__rust, symbol);
	readable = function_name__readable(symbol);
	MUST(readable && strlen(readable) <= FUNCTION_NAME_MAX);
	free(readable);
	readable = function_name__readable_within(&taken_ns, symbol);
	MUST(readable && strlen(readable) <= FUNCTION_NAME_MAX);
	thread_entry__is(NULL, &(struct native_frame){.function = readable}, 0, 0);
	free(readable);
	readable = kernel_name__demangle(symbol);
	MUST(readable);
	shorten(readable);
	label(readable);
	free(readable);
	readable = kernel_name__from_host_symbol(symbol);
	MUST(readable && strlen(readable) <= strlen(symbol));
	free(readable);
	shorten(symbol);
	label(symbol);
	free(symbol);
	return 0;
}
