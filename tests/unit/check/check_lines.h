/* SPDX-License-Identifier: BSD-2-Clause */
/* Inspects the lines that a judge of src/check/ has made. Include after cmocka.h. */
#ifndef TESTS_CHECK_LINES_H
#define TESTS_CHECK_LINES_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check/list.h"

/* The only line of the topic whose text contains `text`. */
static inline const struct check_line *line_of(const struct check_list *list, const char *topic,
					       const char *text)
{
	const struct check_line *found = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct check_line *line = &list->lines[i];

		if (strcmp(line->topic, topic) || !strstr(line->text, text))
			continue;
		if (found)
			fail_msg("two lines of %s have '%s'", topic, text);
		found = line;
	}
	if (found)
		return found;
	for (size_t i = 0; i < list->count; i++)
		print_message("%s: %s\n", list->lines[i].topic, list->lines[i].text);
	fail_msg("no line of %s has '%s'", topic, text);
	return NULL;
}

static inline bool has_topic(const struct check_list *list, const char *topic)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->lines[i].topic, topic))
			return true;
	return false;
}

/*
 * Exactly one line of the topic contains `text`; it has this state and its advice contains `advice`
 * (NULL with CHECK_OK).
 */
static inline void expect_line(const struct check_list *list, const char *topic,
			       enum check_state state, const char *text, const char *advice)
{
	const struct check_line *line = line_of(list, topic, text);

	if (line->state != state)
		fail_msg("%s: '%s' is %s", topic, line->text, check_state__word(line->state));
	if (!advice)
		assert_null(line->advice);
	else if (!line->advice || !strstr(line->advice, advice))
		fail_msg("%s: '%s' advises '%s'", topic, line->text,
			 line->advice ? line->advice : "nothing");
	assert_null(strchr(line->text, '\n'));
}

/* The line's values of a key, separated by commas. */
static inline void expect_fact(const struct check_list *list, const char *topic, const char *text,
			       const char *key, const char *values)
{
	const struct check_line *line = line_of(list, topic, text);
	char all[1024] = "";

	for (size_t i = 0; i < line->fact_count; i++) {
		size_t length = strlen(all);

		if (strcmp(line->facts[i].key, key))
			continue;
		if (line->facts[i].text)
			snprintf(all + length, sizeof(all) - length, "%s%s", length ? "," : "",
				 line->facts[i].text);
		else
			snprintf(all + length, sizeof(all) - length, "%s%llu", length ? "," : "",
				 (unsigned long long)line->facts[i].number);
	}
	assert_string_equal(all, values);
}

/* A folder that plays the root, in *state; for cmocka's setup and teardown. */
static inline int make_root(void **state)
{
	char *root = strdup("/tmp/gpuprobe-test-XXXXXX");

	*state = root;
	return root && mkdtemp(root) ? 0 : -1;
}

static inline int remove_root(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", (char *)*state);
	free(*state);
	return system(command);
}

/* Writes ROOT/PATH and creates its folders. */
static inline void put_file(const char *root, const char *path, const char *text)
{
	char full[256];
	FILE *out;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *end = strchr(full + strlen(root) + 1, '/'); end; end = strchr(end + 1, '/')) {
		*end = '\0';
		assert_true(!mkdir(full, 0777) || errno == EEXIST);
		*end = '/';
	}
	out = fopen(full, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

#endif
