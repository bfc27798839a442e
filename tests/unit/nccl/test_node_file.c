// SPDX-License-Identifier: BSD-2-Clause
// Files of `gpuprobe nccl --json`: what was written is read again, and damaged ones do no harm.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text_stream.h"
#include "nccl/nccl_scene.h"
#include "nccl/node_file.h"
#include "output/nccl/nccl.h"

/* The text and the document that the file's texts are in. */
struct read_file {
	char *text;
	struct json_document *document;
	struct node_file file;
	struct error err;
	int ret;
};

/* Takes `text`, which has a byte behind its end. */
static struct read_file read_text(char *text, size_t length)
{
	struct read_file read = {.text = text};
	char *at = text;

	assert_int_equal(json_document__parse(&at, text + length, &read.document, &read.err), 0);
	read.ret = node_file__read(&read.file, json_document__value(read.document), "a.json",
				   &read.err);
	return read;
}

static struct read_file read_copy(const char *text)
{
	return read_text(strdup(text), strlen(text));
}

static void end(struct read_file *read)
{
	node_file__clear(&read->file);
	json_document__free(read->document);
	free(read->text);
}

static void what_was_written_is_read(void **state)
{
	struct scene scene = scene__of(4, 8);
	const struct nccl_node_comm *comm;
	struct read_file read;
	struct json json;
	size_t length;
	char *text;
	FILE *out = text_stream__open(&text, &length);

	(void)state;
	scene__steps(&scene, 40);
	scene__call(&scene, 2, all_reduce(8), 0);
	scene__judge(&scene, 5 * SECOND);
	json__init(&json, out);
	json__object_begin(&json);
	json__key_string(&json, "host", "node-a");
	nccl_output__json(&json, scene.jobs, &scene.findings, scene.now);
	json__object_end(&json);
	assert_int_equal(fclose(out), 0);
	read = read_text(text, length);
	assert_int_equal(read.ret, 0);
	assert_string_equal(read.file.node.name, "node-a");
	assert_true(read.file.node.end_ns == scene.now);
	assert_int_equal(read.file.node.comm_count, 1);
	assert_int_equal(read.file.unknown + read.file.left_out, 0);
	comm = read.file.node.comms;
	assert_true(comm->hash == SCENE_HASH && comm->size == 8 && comm->aligned);
	assert_string_equal(comm->name, "dp");
	assert_int_equal(comm->rank_count, 4);
	assert_int_equal(comm->ranks[2].rank, 2);
	assert_int_equal(comm->ranks[2].pid, 5002);
	assert_int_equal(comm->ranks[2].device, 2);
	assert_int_equal(comm->ranks[2].sequence, 41);
	assert_string_equal(comm->ranks[2].state, "live");
	assert_int_equal(comm->arrival_count, 16);
	assert_int_equal(comm->arrivals[0].sequence, 41 - 15);
	assert_int_equal(comm->arrivals[14].ranks, 4);
	assert_int_equal(comm->arrivals[15].ranks, 1);
	end(&read);
	scene__free(&scene);
}

static void other_files_are_refused(void **state)
{
	static const char *const texts[] = {
		"null",
		"[]",
		"{}",
		"7",
		"{\"communicators\":[]}",
		"{\"communicators\":{},\"period_end_ns\":1}",
		"{\"communicators\":[],\"period_end_ns\":\"1\"}",
		"{\"communicators\":[],\"period_end_ns\":-1}",
		"{\"communicators\":[],\"period_end_ns\":1.5}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct read_file read = read_copy(texts[i]);

		assert_int_equal(read.ret, -EINVAL);
		assert_string_equal(read.err.text, "a.json is no report of gpuprobe nccl --json");
		end(&read);
	}
}

#define COMMS(text) "{\"period_end_ns\":1,\"communicators\":[" text "]}"

static void entries_without_sense_are_left_out(void **state)
{
	static const struct {
		const char *text;
		size_t comms, ranks, arrivals, unknown, left_out;
	} cases[] = {
		{COMMS(""), 0, 0, 0, 0, 0},
		{COMMS("null,1,[]"), 0, 0, 0, 3, 0},
		{COMMS("{\"hash\":null}"), 0, 0, 0, 1, 0},
		{COMMS("{\"hash\":\"0x\"},{\"hash\":\"0x10000000000000000\"},{\"hash\":\"0x-1\"}"),
		 0, 0, 0, 3, 0},
		{COMMS("{\"hash\":\"0xffffffffffffffff\",\"ranks\":7,\"arrivals\":{}}"), 1, 0, 0, 0,
		 0},
		/* two of one hash and size: splits of a colour in older versions */
		{COMMS("{\"hash\":\"0x1\"},{\"hash\":\"0x1\"},{\"hash\":\"0x1\",\"size\":2}"), 2, 0,
		 0, 0, 1},
		{COMMS("{\"hash\":\"0x1\",\"size\":2,\"ranks\":[{\"rank\":1,\"sequence\":5},"
		       "{\"rank\":1,\"sequence\":5},{\"rank\":2,\"sequence\":5},{\"rank\":null},"
		       "{\"rank\":0},{\"rank\":0,\"sequence\":1e19}]}"),
		 1, 1, 0, 1, 4},
		{COMMS("{\"hash\":\"0x1\",\"arrivals\":[{\"sequence\":2,\"first_ns\":1,"
		       "\"last_ns\":2},{\"sequence\":2,\"first_ns\":1,\"last_ns\":2},"
		       "{\"sequence\":1},{\"sequence\":-1,\"first_ns\":1,\"last_ns\":2}]}"),
		 1, 0, 1, 0, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct read_file read = read_copy(cases[i].text);
		const struct node_file *file = &read.file;

		assert_int_equal(read.ret, 0);
		assert_string_equal(file->node.name, "a.json");
		assert_int_equal(file->node.comm_count, cases[i].comms);
		assert_int_equal(file->rank_count, cases[i].ranks);
		assert_int_equal(file->arrival_count, cases[i].arrivals);
		assert_int_equal(file->unknown, cases[i].unknown);
		assert_int_equal(file->left_out, cases[i].left_out);
		end(&read);
	}
}

static void sorted_for_the_join(void **state)
{
	struct read_file read =
		read_copy(COMMS("{\"hash\":\"0x9\",\"ranks\":[{\"rank\":3,\"sequence\":30},"
				"{\"rank\":1,\"sequence\":10}]},"
				"{\"hash\":\"0x2\",\"ranks\":[{\"rank\":7,\"sequence\":70}]}"));
	const struct nccl_node_comm *comms = read.file.node.comms;

	(void)state;
	assert_int_equal(read.file.node.comm_count, 2);
	assert_true(comms[0].hash == 2 && comms[1].hash == 9);
	/* Each keeps its own ranks. */
	assert_int_equal(comms[0].ranks[0].rank, 7);
	assert_int_equal(comms[1].ranks[0].rank, 1);
	assert_int_equal(comms[1].ranks[1].sequence, 30);
	end(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(entries_without_sense_are_left_out),
		cmocka_unit_test(sorted_for_the_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
