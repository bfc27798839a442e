// SPDX-License-Identifier: BSD-2-Clause
// Loads libcurl, see curl_library.h.
#include "export/curl_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* Debian's libcurl4 and libcurl3-gnutls; both have the same functions. */
static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	{"curl_global_init", offsetof(struct curl_library, global_init)},
	{"curl_easy_init", offsetof(struct curl_library, easy_init)},
	{"curl_easy_setopt", offsetof(struct curl_library, easy_setopt)},
	{"curl_easy_perform", offsetof(struct curl_library, easy_perform)},
	{"curl_easy_getinfo", offsetof(struct curl_library, easy_getinfo)},
	{"curl_easy_strerror", offsetof(struct curl_library, easy_strerror)},
	{"curl_easy_cleanup", offsetof(struct curl_library, easy_cleanup)},
	{"curl_slist_append", offsetof(struct curl_library, slist_append)},
	{"curl_slist_free_all", offsetof(struct curl_library, slist_free_all)},
};

static int find_functions(struct curl_library *library, struct error *err)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = dlsym(library->handle, functions[i].name);

		if (!found)
			return error__set(err, -ENOENT, "this libcurl has no %s",
					  functions[i].name);
		memcpy((char *)library + functions[i].offset, &found, sizeof(found));
	}
	return 0;
}

int curl_library__open(struct curl_library *library, struct error *err)
{
	int ret;

	*library = (struct curl_library){0};
	/* libcurl would write to the file that it names, with rights that the caller lacks. */
	if (getauxval(AT_SECURE))
		unsetenv("SSLKEYLOGFILE");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !library->handle; i++)
		library->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return error__set(err, -ENOENT,
				  "https needs libcurl, which is not installed (Debian's package: "
				  "libcurl4)");
	ret = find_functions(library, err);
	if (!ret && library->global_init(CURL_GLOBAL_DEFAULT))
		ret = error__set(err, -ENOENT, "libcurl cannot be initialized");
	if (ret)
		curl_library__close(library);
	return ret;
}

void curl_library__close(struct curl_library *library)
{
	/* Libraries below it keep memory of threads, so it stays loaded until the end. */
	library->handle = NULL;
}
