/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcurl, loaded where the loader finds it; needed only for https. gpuprobe is built without its
 * headers, so the numbers of its options, which never change, are here.
 */
#ifndef EXPORT_CURL_LIBRARY_H
#define EXPORT_CURL_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

struct curl_list; /* struct curl_slist */

#define CURL_ERROR_SIZE 256
#define CURL_GLOBAL_DEFAULT 3

/* curl/curl.h */
enum curl_option {
	CURL_WRITE_DATA = 10001,
	CURL_URL = 10002,
	CURL_ERROR_BUFFER = 10010,
	CURL_POST_FIELDS = 10015,
	CURL_HEADERS = 10023,
	CURL_HEADER_DATA = 10029,
	CURL_PROGRESS_DATA = 10057,
	CURL_NO_PROGRESS = 43,
	CURL_POST = 47,
	CURL_NO_SIGNAL = 99,
	CURL_TIMEOUT_MS = 155,
	CURL_PROTOCOLS = 181,
	CURL_WRITE_FUNCTION = 20011,
	CURL_HEADER_FUNCTION = 20079,
	CURL_PROGRESS_FUNCTION = 20219,
	CURL_POST_SIZE = 30120,
	CURL_CERTIFICATE_BLOB = 40291,
	CURL_KEY_BLOB = 40292,
	CURL_AUTHORITIES_BLOB = 40309,
};

#define CURL_PROTOCOL_HTTPS 2l
#define CURL_INFO_STATUS 0x200002
#define CURL_INFO_CONTENT_TYPE 0x100012

struct curl_blob_data {
	void *data;
	size_t length;
	unsigned int flags; /* 1: copied */
};

struct curl_library {
	void *handle;
	int (*global_init)(long flags);
	void *(*easy_init)(void);
	int (*easy_setopt)(void *easy, int option, ...);
	int (*easy_perform)(void *easy);
	int (*easy_getinfo)(void *easy, int info, ...);
	const char *(*easy_strerror)(int code);
	void (*easy_cleanup)(void *easy);
	struct curl_list *(*slist_append)(struct curl_list *list, const char *text);
	void (*slist_free_all)(struct curl_list *list);
};

/* Returns 0, or -ENOENT with the reason in `err`. */
int curl_library__open(struct curl_library *library, struct error *err);
void curl_library__close(struct curl_library *library);

#endif
