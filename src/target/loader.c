// SPDX-License-Identifier: BSD-2-Clause
// Finds the loader's debugger interface, see loader.h.
#include "target/loader.h"

#include <string.h>

bool loader__is_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	return !strncmp(base, "ld-linux", 8) || !strncmp(base, "ld-musl", 7) || !strncmp(base, "ld-2.", 5) ||
	       !strcmp(base, "ld.so");
}

int loader__find_site(struct elf_file *file, struct loader_site *site)
{
	struct elf_symbol function;
	uint64_t r_debug;
	int ret = elf_file__find_function(file, "_dl_debug_state", &function);

	if (ret)
		return ret;
	site->file_offset = function.file_offset;
	site->to_r_debug = 0;
	if (!elf_file__find_object(file, "_r_debug", &r_debug))
		site->to_r_debug = (int64_t)(r_debug - function.value);
	return 0;
}
