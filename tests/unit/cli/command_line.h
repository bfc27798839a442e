/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command line as one text: it is split into words, and the result of parsing them is compared.
 * Include after cmocka.h.
 */
#ifndef TESTS_COMMAND_LINE_H
#define TESTS_COMMAND_LINE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define MAX_WORDS 24

/* Parsed options may point into it. */
struct command_line {
	char text[512];
	int argc;
	char *argv[MAX_WORDS + 1];
};

/* Splits the text at blanks, after the word `command`; a lone ~ is an empty word. */
static inline void split(struct command_line *line, const char *command, const char *text)
{
	snprintf(line->text, sizeof(line->text), "%s %s", command, text);
	line->argc = 0;
	for (char *word = strtok(line->text, " "); word; word = strtok(NULL, " ")) {
		assert_true(line->argc < MAX_WORDS);
		for (char *at = strchr(word, '~'); at; at = strchr(at, '~'))
			memmove(at, at + 1, strlen(at));
		line->argv[line->argc++] = word;
	}
	line->argv[line->argc] = NULL;
}

static inline void expect_accepted(const char *text, int ret, const struct error *err)
{
	if (ret)
		fail_msg("'%s': %d, %s", text, ret, err->text);
}

static inline void expect_refused(const char *text, int ret, const struct error *err,
				  const char *reason)
{
	assert_int_equal(ret, -EINVAL);
	if (!strstr(err->text, reason))
		fail_msg("'%s': '%s' rather than '%s'", text, err->text, reason);
}

#endif
