// SPDX-License-Identifier: BSD-2-Clause
// Loads debuginfod's client; see debuginfod_library.h.
#include "symbol/debuginfod_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	{"debuginfod_begin", offsetof(struct debuginfod_library, begin)},
	{"debuginfod_end", offsetof(struct debuginfod_library, end)},
	{"debuginfod_find_debuginfo", offsetof(struct debuginfod_library, find_debuginfo)},
	{"debuginfod_set_progressfn", offsetof(struct debuginfod_library, set_progress)},
};

int debuginfod_library__open(struct debuginfod_library *library, struct error *err)
{
	*library = (struct debuginfod_library){
		.handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL)};
	if (!library->handle)
		library->handle = dlopen("libdebuginfod.so", RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return error__set(err, -ENOENT,
				  "DEBUGINFOD_URLS is set, but gpuprobe cannot ask its servers: %s "
				  "(Debian's package: libdebuginfod1)",
				  dlerror());
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = dlsym(library->handle, functions[i].name);

		if (!found) {
			debuginfod_library__close(library);
			return error__set(err, -ENOENT,
					  "DEBUGINFOD_URLS is set, but gpuprobe cannot ask its "
					  "servers: this libdebuginfod has no %s",
					  functions[i].name);
		}
		memcpy((char *)library + functions[i].offset, &found, sizeof(found));
	}
	return 0;
}

void debuginfod_library__close(struct debuginfod_library *library)
{
	dlclose(library->handle);
	library->handle = NULL;
}
