// SPDX-License-Identifier: BSD-2-Clause
// Text and JSON of joined nodes and of RAS's opinions, compared with files that a person has read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text_stream.h"
#include "golden_file.h"
#include "output/nccl/join.h"
#include "output/nccl/ras.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL

static void print(FILE *out, const char *what, const struct nccl_join_report *report)
{
	fprintf(out, "== %s\n", what);
	nccl_join_text__print(out, report);
	fputc('\n', out);
	nccl_join_json__print(out, report);
	fputc('\n', out);
}

static void clocks_and_ranks(FILE *out)
{
	static const struct node_file files[] = {
		{.node = {.name = "node-a"}},
		{.node = {.name = "node-b"}, .unknown = 2},
		{.node = {.name = "node-c"}, .left_out = 3},
		{.node = {.name = "hostile\x1b[31m\n"}},
	};
	static const struct nccl_offset offsets[] = {
		{.known = true},
		{.known = true, .ns = 12300000, .error_ns = 40000, .collectives = 30},
		{.known = true, .ns = -3100000000, .error_ns = UINT64_MAX, .collectives = 1},
		{.known = false},
	};
	struct nccl_joined comms[] = {
		{.hash = 0x9f3ac1,
		 .size = 16,
		 .name = "dp",
		 .aligned = true,
		 .nodes = 2,
		 .seen = 16,
		 .sequence = 288686,
		 .compared = 32,
		 .late_node = 1,
		 .late = 28,
		 .late_ns = 8200000,
		 .behind_count = 2,
		 .behind_total = 11},
		{.hash = 0x77,
		 .size = 4,
		 .aligned = false,
		 .nodes = 1,
		 .seen = 2,
		 .sequence = 9,
		 .duplicates = 1},
		{.hash = 0x78, .nodes = 3, .seen = 3, .aligned = true, .sequence = 1},
	};
	const struct nccl_join_report report = {files, offsets, 4, comms, 3};

	comms[0].behind[0] = (struct nccl_behind){
		.node = 1,
		.rank = {.rank = 12,
			 .pid = 5120,
			 .device = 4,
			 .sequence = 288685,
			 .state = "live",
			 .where = "sample (data.py:301)"},
		.waited_ns = 41 * SECOND,
	};
	comms[0].behind[1] = (struct nccl_behind){
		.node = 3,
		.rank = {.rank = 13,
			 .pid = 5121,
			 .device = -1,
			 .sequence = 100,
			 .state = "dead",
			 .where = "\x1b]0;x"},
		.waited_ns = 3 * 60 * SECOND,
	};
	print(out, "four nodes", &report);
}

static void one_node(FILE *out)
{
	static const struct node_file file = {.node = {.name = "a.json"}};
	static const struct nccl_offset offset = {.known = true};
	const struct nccl_join_report report = {&file, &offset, 1, NULL, 0};

	print(out, "one node without communicators", &report);
}

static void reports(void **state)
{
	size_t length;
	char *text;
	FILE *out = text_stream__open(&text, &length);

	(void)state;
	assert_non_null(out);
	clocks_and_ranks(out);
	one_node(out);
	assert_int_equal(fclose(out), 0);
	golden_file__expect("nccl/join.txt", text, length);
	free(text);
}

static void print_opinion(FILE *out, const struct ras_opinion *opinion)
{
	struct json json;

	nccl_ras_text__print(out, opinion);
	json__init(&json, out);
	nccl_ras_json__print(&json, opinion);
	fputs("\n\n", out);
}

static void opinions_of_ras(void **state)
{
	const struct ras_opinion sound = {.ranks = 16, .answering = 16, .collectives = 288686};
	const struct ras_opinion hangs = {
		.ranks = 16,
		.answering = 14,
		.collectives = 288686,
		.blamed = {{.rank = 3, .host = "unknown", .device = -1, .state = RAS_UNRESPONSIVE},
			   {.rank = 4, .host = "\x1b[31m", .pid = 7, .state = RAS_DEAD},
			   {.rank = 5, .host = "10.0.0.7", .pid = 8, .state = RAS_ABSENT},
			   {.rank = 12,
			    .host = "10.0.0.7",
			    .pid = 5120,
			    .device = 4,
			    .collectives = 288685},
			   {.rank = 13,
			    .host = "fe80::1",
			    .pid = 5121,
			    .device = 5,
			    .aborted = true,
			    .collectives = 1}},
		.blamed_count = 5,
		.blamed_total = 6,
	};
	size_t length;
	char *text;
	FILE *out = text_stream__open(&text, &length);

	(void)state;
	assert_non_null(out);
	print_opinion(out, &sound);
	print_opinion(out, &hangs);
	assert_int_equal(fclose(out), 0);
	golden_file__expect("nccl/ras.txt", text, length);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports),
		cmocka_unit_test(opinions_of_ras),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
