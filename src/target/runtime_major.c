// SPDX-License-Identifier: BSD-2-Clause
// The runtime's major by soname or by functions that only older ones have; see runtime_major.h.
#include "target/runtime_major.h"

#include <stdbool.h>
#include <string.h>

#include "api/api.h"

/*
 * Functions that were removed after a major, by the headers of CUDA 11.8, 12.9 and 13.0. Both must
 * be present: a program may define one of them to keep using a name.
 */
static const struct {
	int major; /* the last one that has them */
	const char *names[2];
} departed[] = {
	{11, {"cudaBindTexture", "cudaUnbindTexture"}},
	{12, {"cudaThreadExit", "cudaThreadSynchronize"}},
};

#define DEPARTED (sizeof(departed) / sizeof(departed[0]))

struct seen {
	bool names[DEPARTED][2];
};

static int note(const struct elf_symbol *symbol, void *arg)
{
	struct seen *seen = arg;

	for (size_t i = 0; i < DEPARTED; i++)
		for (size_t k = 0; k < 2; k++)
			if (strcmp(symbol->name, departed[i].names[k]) == 0)
				seen->names[i][k] = true;
	return 0;
}

/* Functions that a damaged table hides count as missing. */
static int major_by_functions(struct elf_file *file)
{
	struct seen seen = {0};

	elf_file__each_function(file, ELF_TABLE_DYNAMIC, "cuda", note, &seen);
	elf_file__each_function(file, ELF_TABLE_FULL, "cuda", note, &seen);
	for (size_t i = 0; i < DEPARTED; i++)
		if (seen.names[i][0] && seen.names[i][1])
			return departed[i].major;
	return API_NEWEST;
}

int runtime_major__of(struct elf_file *file)
{
	const char *soname = elf_file__soname(file);
	int major;

	if (soname && strncmp(soname, "libcudart", 9) == 0) {
		major = elf_file__soname_major(file);
		if (major >= 0)
			return major;
	}
	return major_by_functions(file);
}
