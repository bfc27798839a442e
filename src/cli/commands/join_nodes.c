// SPDX-License-Identifier: BSD-2-Clause
// Joins what several nodes have seen, see join_nodes.h.
#include "cli/commands/join_nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/diff_input.h"
#include "cli/files/output_file.h"
#include "cli/session/privileges.h"
#include "output/nccl/join.h"

#define JSON_BYTES_MAX ((size_t)64 << 20)

/* A file's text and document, which its node's names are in. */
struct source {
	const char *path;
	int fd; /* -1: it cannot be read */
	char *text;
	struct json_document *document;
};

struct join_nodes {
	const struct join_nodes_options *options;
	const struct log *log;
	struct source sources[JOIN_NODES_MAX];
	struct node_file files[JOIN_NODES_MAX]; /* those that could be read */
	const char *paths[JOIN_NODES_MAX];	/* of these */
	size_t file_count;
	FILE *out;
};

static void open_files(struct join_nodes *join)
{
	struct error err;

	for (size_t i = 0; i < join->options->path_count; i++) {
		struct source *source = &join->sources[i];

		source->path = join->options->paths[i];
		source->fd = diff_input__open_file(source->path, &err);
		if (source->fd < 0)
			log__warn(join->log, "%s", err.text);
	}
}

/* The last report counts, since a file may have one every few seconds. */
static int parse(struct source *source, size_t length, struct error *err)
{
	char *at = source->text, *end = source->text + length;

	do {
		struct json_document *document;
		int ret = json_document__parse(&at, end, &document, err);

		if (ret)
			return error__prefix(err, ret, "%s is no report of gpuprobe nccl --json",
					     source->path);
		json_document__free(source->document);
		source->document = document;
	} while (at < end);
	return 0;
}

static int read_source(struct join_nodes *join, struct source *source, struct error *err)
{
	struct node_file *file = &join->files[join->file_count];
	size_t length;
	int ret = diff_input__read_file(source->fd, source->path, JSON_BYTES_MAX, &source->text,
					&length, err);

	source->fd = -1;
	if (!ret)
		ret = parse(source, length, err);
	if (ret)
		return ret;
	ret = node_file__read(file, json_document__value(source->document), source->path, err);
	if (ret)
		node_file__clear(file);
	else
		join->paths[join->file_count++] = source->path;
	return ret;
}

static void read_files(struct join_nodes *join)
{
	struct error err;

	for (size_t i = 0; i < join->options->path_count; i++)
		if (join->sources[i].fd >= 0 && read_source(join, &join->sources[i], &err))
			log__warn(join->log, "%s", err.text);
}

/* Files of one host are told apart by their paths. */
static void name_nodes(struct join_nodes *join, struct nccl_node *nodes)
{
	for (size_t i = 0; i < join->file_count; i++)
		for (size_t j = 0; j < join->file_count; j++)
			if (i != j && !strcmp(nodes[i].name, nodes[j].name))
				join->files[i].node.name = join->paths[i];
	for (size_t i = 0; i < join->file_count; i++)
		nodes[i] = join->files[i].node;
}

static int join_and_print(struct join_nodes *join, struct error *err)
{
	struct nccl_offset offsets[JOIN_NODES_MAX];
	struct nccl_node nodes[JOIN_NODES_MAX];
	struct nccl_joined *joined = NULL;
	struct nccl_join_report report = {
		.files = join->files, .offsets = offsets, .file_count = join->file_count};
	int ret;

	for (size_t i = 0; i < join->file_count; i++)
		nodes[i] = join->files[i].node;
	name_nodes(join, nodes);
	ret = nccl_join__offsets(nodes, join->file_count, offsets);
	if (!ret)
		ret = nccl_join__comms(nodes, join->file_count, offsets, join->options->hang_ns,
				       &joined, &report.comm_count);
	if (ret)
		return error__set(err, ret, "out of memory");
	report.comms = joined;
	if (join->options->json)
		nccl_join_json__print(join->out, &report);
	else
		nccl_join_text__print(join->out, &report);
	free(joined);
	return 0;
}

static int open_output(struct join_nodes *join, struct error *err)
{
	const char *path = join->options->output;
	int fd;

	join->out = stdout;
	if (!path)
		return 0;
	fd = output_file__open(path, err);
	join->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (join->out)
		return 0;
	if (fd < 0)
		return fd;
	close(fd);
	return error__set(err, -ENOMEM, "out of memory");
}

/* Standard output is flushed at gpuprobe's end. */
static int close_output(struct join_nodes *join, struct error *err)
{
	FILE *out = join->out;

	join->out = NULL;
	if (!out || out == stdout || !fclose(out))
		return 0;
	return error__set(err, -errno, "cannot write %s: %s", join->options->output,
			  strerror(errno));
}

static void clear(struct join_nodes *join)
{
	for (size_t i = 0; i < join->file_count; i++)
		node_file__clear(&join->files[i]);
	for (size_t i = 0; i < join->options->path_count; i++) {
		if (join->sources[i].fd >= 0)
			close(join->sources[i].fd);
		json_document__free(join->sources[i].document);
		free(join->sources[i].text);
	}
	free(join);
}

int join_nodes__run(const struct join_nodes_options *options, const struct log *log,
		    struct error *err)
{
	struct join_nodes *join;
	struct error failure;
	int ret;

	if (options->path_count > JOIN_NODES_MAX)
		return error__set(err, -EINVAL, "--join takes at most %d files", JOIN_NODES_MAX);
	join = calloc(1, sizeof(*join));
	if (!join)
		return error__set(err, -ENOMEM, "out of memory");
	join->options = options;
	join->log = log;
	open_files(join);
	ret = open_output(join, err);
	if (!ret)
		ret = privileges__give_up_all(err);
	if (!ret)
		read_files(join);
	if (!ret && !join->file_count)
		ret = error__set(err, -EINVAL, "--join: no file could be read");
	if (!ret)
		ret = join_and_print(join, err);
	if (close_output(join, ret ? &failure : err) && !ret)
		ret = -EIO;
	if (!ret && join->file_count < options->path_count)
		ret = error__set(err, -EINVAL, "--join: %zu of %zu files left out",
				 options->path_count - join->file_count, options->path_count);
	clear(join);
	return ret;
}
