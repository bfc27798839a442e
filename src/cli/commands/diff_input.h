/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run that `gpuprobe diff` reads: a recording with readings, or a file of `stat --json`, of
 * which the last report counts.
 */
#ifndef CLI_DIFF_INPUT_H
#define CLI_DIFF_INPUT_H

#include <stddef.h>

#include "base/error.h"
#include "base/json_reader.h"
#include "base/log.h"
#include "cli/options/recording_options.h"
#include "cli/session/replay.h"
#include "compare/run.h"

struct diff_input {
	struct recording_choice choice;
	const struct log *log;
	int fd;		       /* of JSON, or -1 */
	struct replay *replay; /* of a recording, or NULL */
	char *text;	       /* JSON */
	size_t length;
	struct json_document *document;
	struct compared_run run;
};

/*
 * Opens the file with the permissions of gpuprobe's caller; `path` and `log` must outlive the
 * input. Returns 0 or a negative errno with a message. Release with diff_input__clear in any case.
 */
int diff_input__open(struct diff_input *input, const char *path, const struct log *log,
		     struct error *err);

/*
 * Reads input->run, which belongs to the input. It needs no privileges: the file may be hostile.
 * Returns 0 or a negative errno with a message.
 */
int diff_input__read(struct diff_input *input, struct error *err);
void diff_input__clear(struct diff_input *input);

/*
 * Reads a file of up to `limit` bytes: *text has a writable byte behind its end, and is released
 * with free(3). `fd` is closed. Returns 0 or a negative errno with a message that names `path`.
 */
int diff_input__read_file(int fd, const char *path, size_t limit, char **text, size_t *length,
			  struct error *err);

/* Opens a regular file as diff_input__open. Returns a descriptor or a negative errno as that. */
int diff_input__open_file(const char *path, struct error *err);

#endif
