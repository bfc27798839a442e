// SPDX-License-Identifier: BSD-2-Clause
/*
 * Error names: looks them up, and makes texts from OUT_OF_MEMORY or MemoryAllocation. Each text is
 * made once and kept until the process ends.
 */
#include "record/errors.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

struct text {
	const char *name;
	UT_hash_handle hh;
	char words[];
};

static struct {
	pthread_mutex_t lock;
	struct text *texts;
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

const char *error_name__find(const struct error_name *names, size_t count, int value)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].value == value)
			return names[i].name;
	return NULL;
}

static struct text *make_text(const char *name, size_t prefix)
{
	size_t length = strlen(name);
	struct text *text = malloc(sizeof(*text) + 2 * length + 1);
	char *out;

	if (!text)
		return NULL;
	text->name = name;
	out = text->words;
	for (size_t i = prefix < length ? prefix : 0; i < length; i++) {
		bool starts = isupper((unsigned char)name[i]) && i > prefix &&
			      islower((unsigned char)name[i - 1]);

		if (starts)
			*out++ = ' ';
		*out++ = name[i] == '_' ? ' ' : (char)tolower((unsigned char)name[i]);
	}
	*out = '\0';
	return text;
}

const char *error_name__text(const char *name, size_t prefix)
{
	struct text *text;

	pthread_mutex_lock(&kept.lock);
	HASH_FIND_STR(kept.texts, name, text);
	if (!text) {
		text = make_text(name, prefix);
		if (text)
			HASH_ADD_KEYPTR(hh, kept.texts, text->name, strlen(text->name), text);
	}
	pthread_mutex_unlock(&kept.lock);
	return text ? text->words : name;
}
