// SPDX-License-Identifier: BSD-2-Clause
// Finds programs that may switch stacks; see stack_switcher.h.
#include "probe/stack_switcher.h"

#include <fcntl.h>
#include <string.h>

#include "target/elf_file.h"
#include "target/proc_maps.h"
#include "target/proc.h"

bool stack_switcher__is_library(const char *path)
{
	static const char *const names[] = {
		"libboost_context", "libboost_coroutine", "libboost_fiber", "libbrpc.",
		"libbthread.",	    "libcolib.",	  "libphoton.",
	};
	const char *base = mapping__base_name(path);

	for (size_t i = 0; base && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

bool stack_switcher__is_program(pid_t pid)
{
	struct elf_file *file;
	struct error error;
	char path[64];
	bool is;

	proc__exe_path(pid, path, sizeof(path));
	if (elf_file__open(path, &file, &error))
		return false;
	is = elf_file__imports(file, "makecontext") || elf_file__imports(file, "swapcontext");
	elf_file__free(file);
	return is;
}
