// SPDX-License-Identifier: BSD-2-Clause
// A run that `gpuprobe diff` reads, see diff_input.h.
#include "cli/commands/diff_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_stream.h"
#include "finding/finding.h"
#include "model/growth.h"
#include "output/stat/stat.h"
#include "privilege/file_rights.h"
#include "record/file.h"

#define JSON_BYTES_MAX ((size_t)256 << 20)

/* --- files --- */

int diff_input__open_file(const char *path, struct error *err)
{
	int fd = file_rights__open_to_read(path);
	struct stat status;

	if (fd < 0)
		return error__set(err, fd, "cannot read %s: %s", path, strerror(-fd));
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return error__set(err, -EINVAL, "cannot read %s: it is not a regular file", path);
}

static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t length = 0;

	while (length < size) {
		ssize_t got = read(fd, text + length, size - length);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got)
			break;
		length += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)length;
}

int diff_input__read_file(int fd, const char *path, size_t limit, char **text, size_t *length,
			  struct error *err)
{
	struct stat status;
	ssize_t got = -ENOMEM;
	int ret = 0;

	*text = NULL;
	if (fstat(fd, &status))
		ret = error__set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	else if ((size_t)status.st_size > limit)
		ret = error__set(err, -EFBIG, "cannot read %s: it is longer than %zu MiB", path,
				 limit >> 20);
	if (!ret) {
		*text = malloc((size_t)status.st_size + 1);
		if (*text)
			got = read_all(fd, *text, (size_t)status.st_size);
		if (got < 0)
			ret = error__set(err, (int)got, "cannot read %s: %s", path,
					 strerror((int)-got));
	}
	close(fd);
	if (ret) {
		free(*text);
		*text = NULL;
		return ret;
	}
	*length = (size_t)got;
	return 0;
}

/* --- opening --- */

static bool is_recording(int fd)
{
	char magic[sizeof(RECORDING_MAGIC) - 1];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, RECORDING_MAGIC, sizeof(magic));
}

int diff_input__open(struct diff_input *input, const char *path, const struct log *log,
		     struct error *err)
{
	*input = (struct diff_input){.choice = {.path = path}, .log = log, .fd = -1};
	input->fd = diff_input__open_file(path, err);
	if (input->fd < 0)
		return input->fd;
	if (!is_recording(input->fd))
		return 0;
	close(input->fd);
	input->fd = -1;
	return replay__new(&input->choice, log, &input->replay, err);
}

/* --- a recording: as `stat --json -i` prints it --- */

static int follow(struct diff_input *input, struct findings *findings, struct finding_list *list,
		  struct error *err)
{
	int ret = 0;

	findings__begin(findings, replay__reading(input->replay)->began_ns);
	for (;;) {
		if (findings__sample(findings, replay__reading(input->replay)->model))
			return error__set(err, -ENOMEM, "out of memory");
		if (replay__is_last(input->replay))
			break;
		ret = replay__next(input->replay, err);
		if (ret)
			return ret;
	}
	if (findings__detect(findings, replay__reading(input->replay)->model, list))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

static int print(struct diff_input *input, const struct findings *findings,
		 const struct finding_list *list, struct error *err)
{
	const struct report_options options = {0};
	const struct stat_report report = {
		.model = replay__reading(input->replay)->model,
		.began_ns = findings__began_ns(findings),
		.state = findings,
		.findings = list,
		.options = &options,
		.getters = replay__reading(input->replay)->needs & NEEDS_GETTERS,
	};
	FILE *out = text_stream__open(&input->text, &input->length);

	if (out)
		stat_json__print(out, &report);
	return out && !fclose(out) ? 0 : error__set(err, -ENOMEM, "out of memory");
}

static int read_recording(struct diff_input *input, struct error *err)
{
	const struct findings_options options = {
		.needs = replay__reading(input->replay)->needs,
		.window_ns = growth__window(0),
	};
	struct finding_list list = {0};
	struct findings *findings;
	int ret;

	if (!(options.needs & NEEDS_PROFILE))
		return error__set(err, -ENODATA, "%s has no profile of the run",
				  input->choice.path);
	findings = findings__new(&options);
	ret = findings ? follow(input, findings, &list, err) :
			 error__set(err, -ENOMEM, "out of memory");
	if (!ret)
		ret = print(input, findings, &list, err);
	replay__warn(input->replay);
	finding_list__clear(&list);
	findings__free(findings);
	return ret;
}

/* --- both --- */

/* Several reports follow one another if stat printed one every few seconds. */
static int parse(struct diff_input *input, struct error *err)
{
	char *at = input->text, *end = input->text + input->length;

	do {
		struct json_document *document;
		int ret = json_document__parse(&at, end, &document, err);

		if (ret)
			return error__prefix(err, ret,
					     "%s is neither a recording nor a report of gpuprobe "
					     "stat --json",
					     input->choice.path);
		json_document__free(input->document);
		input->document = document;
	} while (at < end);
	return 0;
}

int diff_input__read(struct diff_input *input, struct error *err)
{
	int ret;

	if (input->replay) {
		ret = read_recording(input, err);
	} else {
		ret = diff_input__read_file(input->fd, input->choice.path, JSON_BYTES_MAX,
					    &input->text, &input->length, err);
		input->fd = -1;
	}
	if (!ret)
		ret = parse(input, err);
	return ret ? ret :
		     compared_run__read(&input->run, json_document__value(input->document),
					input->choice.path, err);
}

void diff_input__clear(struct diff_input *input)
{
	compared_run__clear(&input->run);
	json_document__free(input->document);
	free(input->text);
	replay__free(input->replay);
	if (input->fd > 0)
		close(input->fd);
	*input = (struct diff_input){.fd = -1};
}
