// SPDX-License-Identifier: BSD-2-Clause
// A file with debug information of any contents, which libdw reads: the source line of an address.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "symbol/symbol_cache.h"

#define OFFSETS 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_cache *cache = symbol_cache__new(4);
	struct symbol_file *file;

	MUST(cache);
	MUST(!symbol_cache__open(cache, harness__file(data, size), 0, NULL, &file));
	for (uint64_t i = 0; i < OFFSETS; i++) {
		/* Where linkers put the code of such a small file. */
		uint64_t place = (i % 2 ? 0x1000 : 0x5b0) + i * 4, offset;
		char *text = NULL;
		uint32_t line;

		if (!symbol_file__line(file, place, &text, &line))
			MUST(text && line > 0);
		free(text);
		text = NULL;
		symbol_file__name(file, place, &text, &offset);
		free(text);
	}
	symbol_cache__trim(cache);
	symbol_cache__free(cache);
	return 0;
}
