// SPDX-License-Identifier: BSD-2-Clause
// What `gpuprobe nccl --join` reads: JSON of two nodes, the first one up to a NUL. They are joined
// and printed.
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "output/nccl/join.h"

struct fuzzed_node {
	char *text; /* its byte at the end is the reader's to write */
	struct json_document *document;
	struct node_file file;
	bool is_read;
};

static void begin_node(struct fuzzed_node *node, char *text)
{
	size_t length = strlen(text);
	struct error err = {""};
	char *at;

	*node = (struct fuzzed_node){.text = harness__exactly(text, length + 1)};
	free(text);
	at = node->text;
	if (json_document__parse(&at, node->text + length, &node->document, &err)) {
		MUST(err.text[0]);
		return;
	}
	node->is_read =
		!node_file__read(&node->file, json_document__value(node->document), "node", &err);
	MUST(node->is_read || err.text[0]);
}

static void end_node(struct fuzzed_node *node)
{
	node_file__clear(&node->file);
	json_document__free(node->document);
	free(node->text);
}

static void join(const struct fuzzed_node nodes[2])
{
	const struct node_file files[] = {nodes[0].file, nodes[1].file};
	const struct nccl_node both[] = {files[0].node, files[1].node};
	struct nccl_offset offsets[2];
	struct nccl_joined *joined;
	struct nccl_join_report report = {.files = files, .offsets = offsets, .file_count = 2};

	MUST(!nccl_join__offsets(both, 2, offsets));
	MUST(!nccl_join__comms(both, 2, offsets, 0, &joined, &report.comm_count));
	report.comms = joined;
	for (size_t i = 0; i < report.comm_count; i++) {
		MUST(joined[i].nodes >= 1 && joined[i].nodes <= 2);
		MUST(joined[i].late_node < 2 && joined[i].behind_count <= joined[i].behind_total);
		MUST(joined[i].behind_total <= joined[i].seen);
	}
	nccl_join_text__print(harness__sink(), &report);
	nccl_join_json__print(harness__sink(), &report);
	free(joined);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct fuzzed_node nodes[2];

	begin_node(&nodes[0], input__string(&input));
	begin_node(&nodes[1], input__rest(&input));
	if (nodes[0].is_read && nodes[1].is_read)
		join(nodes);
	end_node(&nodes[0]);
	end_node(&nodes[1]);
	return 0;
}
