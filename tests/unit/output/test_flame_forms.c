// SPDX-License-Identifier: BSD-2-Clause
// Flame graphs of models built by hand: weights to the byte, folded stacks to the letter, hostile
// names in every format.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "model/tensors.h"
#include "output/flame/forms.h"
#include "output/flame/parts.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
/* clang-format off */
#define NATIVE(name) {.function = (name), .object = "server", .kind = FRAME_NATIVE}
#define AT(name, file_, line_) {.function = (name), .file = (file_), .line = (line_), .kind = FRAME_NATIVE}
/* clang-format on */
#define HOSTILE "</title><script>alert(1)</script>]]>\"'&;\n\x1b[2J\xff\xef\xbf\xbe"

static const struct stack_frame grow_frames[] = {NATIVE("cudaMalloc"),
						 AT("grow", "/src/cache.cc", 88), NATIVE("main")};
static const struct stack_frame other_line_frames[] = {
	NATIVE("cudaMalloc"), AT("grow", "/src/cache.cc", 90), NATIVE("main")};
static const struct stack_frame python_frames[] = {
	NATIVE("cudaMalloc"),
	{.function = "forward", .file = "/m/model.py", .line = 123, .kind = FRAME_PYTHON}};
static const struct stack_frame hidden_frames[] = {{.object = "server", .offset = 0x1234},
						   NATIVE("main")};
static const struct stack_frame hostile_frames[] = {NATIVE("cuLaunchKernel"), NATIVE(HOSTILE)};
static const struct stack_frame cut_frames[] = {NATIVE("cudaMalloc"),
						{.function = "[truncated]", .kind = FRAME_MARK}};

static const struct stack grow = {.count = 3, .frames = grow_frames};
static const struct stack other_line = {.serial = 1, .count = 3, .frames = other_line_frames};
static const struct stack python = {.serial = 2, .count = 2, .frames = python_frames};
static const struct stack hidden = {.serial = 3, .count = 2, .frames = hidden_frames};
static const struct stack hostile = {.serial = 4, .count = 2, .frames = hostile_frames};
static const struct stack cut = {.serial = 5, .count = 2, .truncated = true, .frames = cut_frames};

static uint16_t row_of(const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	assert_true(row >= 0);
	return (uint16_t)row;
}

static struct call_site allocation(const struct stack *stack, const char *symbol, uint64_t calls,
				   uint64_t bytes)
{
	return (struct call_site){.stack = stack,
				  .kind = SITE_ALLOCATION,
				  .row = row_of(symbol),
				  .calls = calls,
				  .amount = bytes};
}

static struct flame_graph *graph_of(const struct model *model, struct flame_graph_options options)
{
	struct flame_graph *graph = NULL;

	assert_int_equal(flame_graph__new(model, &options, &graph), 0);
	return graph;
}

static struct model model_of(struct process *processes, size_t count)
{
	return (struct model){
		.wall = {.tv_sec = 1767357434},
		.processes = processes,
		.process_count = count,
		.stacks = true,
		.stack_sample = 1,
		.launch_sample = 1,
	};
}

typedef int (*printer)(FILE *out, const struct flame_graph *graph, const struct model *model);

static int print_folded(FILE *out, const struct flame_graph *graph, const struct model *model)
{
	(void)model;
	return flame_folded__print(out, graph);
}

static int print_svg(FILE *out, const struct flame_graph *graph, const struct model *model)
{
	const struct flame_caption caption = {.title = "A <title> & more",
					      .begin = {.tv_sec = 1767357400}};

	return flame_svg__print(out, graph, model, &caption);
}

static int print_speedscope(FILE *out, const struct flame_graph *graph, const struct model *model)
{
	const struct flame_caption caption = {.begin = {.tv_sec = 1767357400}};

	(void)model;
	return flame_speedscope__print(out, graph, &caption);
}

static char *print(printer print_form, const struct model *model,
		   struct flame_graph_options options)
{
	struct flame_graph *graph = graph_of(model, options);
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(print_form(out, graph, model), 0);
	assert_int_equal(fclose(out), 0);
	flame_graph__free(graph);
	return text;
}

static void expect(printer print_form, const struct model *model,
		   struct flame_graph_options options, const char *expected)
{
	char *text = print(print_form, model, options);

	assert_string_equal(text, expected);
	free(text);
}

static size_t occurrences(const char *text, const char *what)
{
	size_t count = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

/* --- weights --- */

static void test_bytes(void **state)
{
	struct call_site sites[] = {
		allocation(&grow, "cudaMalloc", 2, 4096),
		allocation(&other_line, "cudaMalloc", 1, 100),
		allocation(&python, "cudaMalloc", 1, 7),
		allocation(&hidden, "cudaMalloc", 1, 5),
		allocation(&cut, "cudaMalloc", 1, 11),
		allocation(NULL, "cudaMalloc", 1, 3),
		allocation(&grow, "cudaMallocHost", 1, 1 << 20), /* not on a device */
		{.stack = &grow,
		 .kind = SITE_WAIT,
		 .row = row_of("cudaMalloc"),
		 .calls = 1,
		 .amount = 9},
	};
	struct process process = {
		.pid = 12, .comm = "train", .sites = sites, .site_count = COUNT(sites)};
	struct model model = model_of(&process, 1);
	struct flame_graph *graph =
		graph_of(&model, (struct flame_graph_options){.by = FLAME_BYTES});

	(void)state;
	assert_int_equal(graph->root->total, 4096 + 100 + 7 + 5 + 11 + 3);
	assert_int_equal(graph->unknown, 3);
	assert_int_equal(graph->sites, 6);
	flame_graph__free(graph);
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_BYTES},
	       "[stack not known];cudaMalloc 3\n"
	       "[truncated];cudaMalloc 11\n"
	       "forward (model.py:123);cudaMalloc 7\n"
	       "main;grow;cudaMalloc 4196\n"
	       "main;server+0x1234;cudaMalloc 5\n");
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_WAIT_TIME},
	       "main;grow;cudaMalloc 9\n");
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_LAUNCHES}, "");
}

static void test_lines_apart(void **state)
{
	struct call_site sites[] = {
		allocation(&grow, "cudaMalloc", 2, 4096),
		allocation(&other_line, "cudaMalloc", 1, 100),
	};
	struct process process = {
		.pid = 12, .comm = "train", .sites = sites, .site_count = COUNT(sites)};
	struct model model = model_of(&process, 1);

	(void)state;
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_BYTES, .lines = true},
	       "main;grow;cudaMalloc 4096\nmain;grow;cudaMalloc 100\n");
}

static void test_processes(void **state)
{
	struct call_site sites[] = {allocation(&grow, "cudaMalloc", 2, 4096)};
	struct process processes[] = {
		{.pid = 12, .comm = "train", .sites = sites, .site_count = 1},
		{.pid = 13, .comm = "a;b", .sites = sites, .site_count = 1},
		{.pid = 14, .comm = "idle"},
	};
	struct model both = model_of(processes, 3), one = model_of(processes, 1);

	(void)state;
	expect(print_folded, &both, (struct flame_graph_options){.by = FLAME_BYTES},
	       "a:b (13);main;grow;cudaMalloc 4096\ntrain (12);main;grow;cudaMalloc 4096\n");
	expect(print_folded, &one, (struct flame_graph_options){.by = FLAME_BYTES},
	       "main;grow;cudaMalloc 4096\n");
	expect(print_folded, &one,
	       (struct flame_graph_options){.by = FLAME_BYTES, .processes = true},
	       "train (12);main;grow;cudaMalloc 4096\n");
}

static void test_live(void **state)
{
	struct live_site sites[] = {{.stack = &grow, .bytes = 10, .count = 1},
				    {.bytes = 4, .count = 2}};
	struct process process = {
		.pid = 1, .comm = "x", .live_sites = sites, .live_site_count = COUNT(sites)};
	struct model model = model_of(&process, 1);

	(void)state;
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_LIVE_BYTES},
	       "[stack not known] 4\nmain;grow;cudaMalloc 10\n");
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_BYTES}, "");
}

/* Tensors are not what CUDA gave: each graph has one of them. */
static void test_tensors(void **state)
{
	struct tensor_site made[] = {{.stack = &grow, .counts = {.made_bytes = 900}},
				     {.stack = NULL, .counts = {.made_bytes = 5}}};
	struct live_site live[] = {{.stack = &grow, .bytes = 300, .count = 3}},
			 segments[] = {{.stack = &grow, .bytes = 4096, .count = 1}};
	struct tensors tensors = {
		.total = {.made_bytes = 905},
		.sites = made,
		.site_count = COUNT(made),
		.live_sites = live,
		.live_site_count = COUNT(live),
	};
	struct process processes[] = {
		{.pid = 1,
		 .comm = "x",
		 .tensors = &tensors,
		 .live_sites = segments,
		 .live_site_count = COUNT(segments)},
		{.pid = 2, .comm = "y", .live_sites = segments, .live_site_count = COUNT(segments)},
	};
	struct model model = model_of(processes, COUNT(processes));

	(void)state;
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_TENSOR_BYTES},
	       "[stack not known] 5\nmain;grow;cudaMalloc 900\n");
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_LIVE_TENSOR_BYTES},
	       "main;grow;cudaMalloc 300\n");
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_LIVE_BYTES},
	       "x (1);main;grow;cudaMalloc 4096\ny (2);main;grow;cudaMalloc 4096\n");
}

static void test_leaves(void **state)
{
	struct call_site sites[] = {
		{.stack = &hostile,
		 .kind = SITE_LAUNCH,
		 .calls = 5,
		 .kernel = "void gemm<4>(int)",
		 .kernel_label = "gemm"},
		{.stack = &hostile, .kind = SITE_LAUNCH, .calls = 2},
		{.stack = &grow,
		 .kind = SITE_FAILURE,
		 .row = row_of("cudaMalloc"),
		 .code = 2,
		 .calls = 3},
		{.stack = NULL,
		 .kind = SITE_FAILURE,
		 .row = row_of("cuMemAlloc_v2"),
		 .code = 99999,
		 .calls = 1},
	};
	struct process process = {
		.pid = 1, .comm = "x", .sites = sites, .site_count = COUNT(sites)};
	struct model model = model_of(&process, 1);

	(void)state;
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_FAILURES},
	       "[stack not known];cuMemAlloc_v2;error 99999 1\n"
	       "main;grow;cudaMalloc;cudaErrorMemoryAllocation 3\n");
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_LAUNCHES},
	       "</title><script>alert(1)</"
	       "script>]]>\"'&:\\n\\x1b[2J\\xff\xef\xbf\xbe;cuLaunchKernel;[kernel not known] 2\n"
	       "</title><script>alert(1)</"
	       "script>]]>\"'&:\\n\\x1b[2J\\xff\xef\xbf\xbe;cuLaunchKernel;gemm 5\n");
	expect(print_folded, &model,
	       (struct flame_graph_options){.by = FLAME_LAUNCHES, .full_names = true},
	       "</title><script>alert(1)</"
	       "script>]]>\"'&:\\n\\x1b[2J\\xff\xef\xbf\xbe;cuLaunchKernel;[kernel not known] 2\n"
	       "</title><script>alert(1)</"
	       "script>]]>\"'&:\\n\\x1b[2J\\xff\xef\xbf\xbe;cuLaunchKernel;void gemm<4>(int) 5\n");
}

static void test_total_stays_in_bounds(void **state)
{
	struct call_site sites[] = {
		allocation(&grow, "cudaMalloc", 1, UINT64_MAX - 1),
		allocation(&python, "cudaMalloc", 1, UINT64_MAX),
	};
	struct process process = {
		.pid = 1, .comm = "x", .sites = sites, .site_count = COUNT(sites)};
	struct model model = model_of(&process, 1);
	char *text = print(print_svg, &model, (struct flame_graph_options){.by = FLAME_BYTES});

	(void)state;
	expect(print_folded, &model, (struct flame_graph_options){.by = FLAME_BYTES},
	       "forward (model.py:123);cudaMalloc 1\nmain;grow;cudaMalloc 18446744073709551614\n");
	assert_non_null(strstr(text, "data-end=\"9007199254740991\""));
	free(text);
}

/* --- SVG --- */

static void test_svg_frames(void **state)
{
	struct call_site sites[] = {
		allocation(&grow, "cudaMalloc", 1, 3 << 20),
		allocation(&python, "cudaMalloc", 1, 1 << 20),
	};
	struct process process = {
		.pid = 1, .comm = "x", .sites = sites, .site_count = COUNT(sites)};
	struct model model = model_of(&process, 1);
	char *text = print(print_svg, &model, (struct flame_graph_options){.by = FLAME_BYTES});

	(void)state;
	assert_int_equal(occurrences(text, "<svg class=\"frame"), 1 + 2 + 3);
	assert_non_null(strstr(
		text, "x=\"25.00000%\" width=\"75.00000%\" y=\"17\" height=\"16\" data-depth=\"2\" "
		      "data-begin=\"1048576\" data-end=\"4194304\"><title>grow\n"
		      "3.0 MiB, 75.0 %</title>"));
	assert_non_null(strstr(text, "A &lt;title&gt; &amp; more</text>"));
	/* Elements drawn later cover earlier ones. */
	assert_true(strstr(text, "<rect id=\"page\"") < strstr(text, "<text"));
	assert_non_null(strstr(text, "all frames are drawn"));
	assert_null(strstr(text, "http://www.w3.org/1999"));
	assert_int_equal(occurrences(text, "http"), 1); /* the name of SVG itself */
	free(text);
}

/* 11,800 tenths of a pixel: a share of one in 11,800 is drawn, a smaller one is not. */
static void test_svg_narrow(void **state)
{
	struct call_site sites[] = {
		allocation(&grow, "cudaMalloc", 1, 11799),
		allocation(&python, "cudaMalloc", 1, 1),
	};
	struct process process = {
		.pid = 1, .comm = "x", .sites = sites, .site_count = COUNT(sites)};
	struct model model = model_of(&process, 1);
	char *text = print(print_svg, &model, (struct flame_graph_options){.by = FLAME_BYTES});

	(void)state;
	assert_int_equal(occurrences(text, "<svg class=\"frame"), 6);
	free(text);
	sites[0].amount++;
	text = print(print_svg, &model, (struct flame_graph_options){.by = FLAME_BYTES});
	assert_int_equal(occurrences(text, "<svg class=\"frame"), 4);
	assert_non_null(strstr(text, ">2 frames narrower than 0.1 px"));
	free(text);
}

static void test_svg_hostile(void **state)
{
	struct call_site sites[] = {
		{.stack = &hostile, .kind = SITE_LAUNCH, .calls = 5, .kernel_label = HOSTILE}};
	struct process processes[] = {
		{.pid = 1, .comm = "<script>]]>", .sites = sites, .site_count = COUNT(sites)},
		{.pid = 2, .comm = "&amp;", .sites = sites, .site_count = COUNT(sites)},
	};
	struct model model = model_of(processes, 2);
	char *text = print(print_svg, &model, (struct flame_graph_options){.by = FLAME_LAUNCHES});

	(void)state;
	assert_int_equal(occurrences(text, "<script"), 1);
	assert_int_equal(occurrences(text, "]]>"), 2); /* one for the style, one for the script */
	assert_null(strstr(text, "innerHTML"));
	assert_null(strstr(text, "eval("));
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\xef\xbf\xbe"));
	assert_non_null(strstr(
		text,
		"&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;]]&gt;&quot;&#39;&amp;;\\n"
		"\\x1b[2J\\xff\xef\xbf\xbd"));
	assert_non_null(strstr(text, "&amp;amp; (2)"));
	free(text);
}

static void test_svg_of_nothing(void **state)
{
	struct model model = model_of(NULL, 0);
	char *text = print(print_svg, &model, (struct flame_graph_options){.by = FLAME_WAIT_TIME});

	(void)state;
	assert_int_equal(occurrences(text, "<svg class=\"frame"), 1);
	assert_non_null(strstr(text, "Time waited, by call stack: 0 ns, from"));
	free(text);
}

/* --- speedscope --- */

static void test_speedscope(void **state)
{
	struct call_site sites[] = {
		allocation(&grow, "cudaMalloc", 2, 4096),
		allocation(&other_line, "cudaMalloc", 1, 100),
	};
	struct process processes[] = {
		{.pid = 12, .comm = "train", .sites = sites, .site_count = 2},
		{.pid = 13, .comm = "\"x\"", .sites = sites, .site_count = 1},
	};
	struct model model = model_of(processes, 2);

	(void)state;
	expect(print_speedscope, &model,
	       (struct flame_graph_options){.by = FLAME_BYTES, .processes = true, .lines = true},
	       "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	       "\"name\":\"Device memory allocated\",\"exporter\":\"gpuprobe " GPUPROBE_VERSION
	       "\","
	       "\"activeProfileIndex\":0,\"shared\":{\"frames\":[{\"name\":\"main\"},"
	       "{\"name\":\"grow\",\"file\":\"/src/"
	       "cache.cc\",\"line\":88},{\"name\":\"cudaMalloc\"},"
	       "{\"name\":\"grow\",\"file\":\"/src/cache.cc\",\"line\":90}]},\"profiles\":["
	       "{\"type\":\"sampled\",\"name\":\"\\\"x\\\" "
	       "(13)\",\"unit\":\"bytes\",\"startValue\":0,"
	       "\"endValue\":4096,\"samples\":[[0,1,2]],\"weights\":[4096]},"
	       "{\"type\":\"sampled\",\"name\":\"train (12)\",\"unit\":\"bytes\",\"startValue\":0,"
	       "\"endValue\":4196,\"samples\":[[0,1,2],[0,3,2]],\"weights\":[4096,100]}]}\n");
}

static void test_speedscope_of_nothing(void **state)
{
	struct model model = model_of(NULL, 0);
	char *text = print(print_speedscope, &model,
			   (struct flame_graph_options){
				   .by = FLAME_FAILURES,
				   .processes = true,
				   .lines = true,
			   });

	(void)state;
	assert_non_null(strstr(text,
			       "\"profiles\":[{\"type\":\"sampled\",\"name\":\"Failed CUDA calls\","
			       "\"unit\":\"none\",\"startValue\":0,\"endValue\":0,\"samples\":[],"
			       "\"weights\":[]}]"));
	free(text);
}

/* --- notes and numbers --- */

static void expect_notes(const struct model *model, enum flame_by by, const char *expected)
{
	struct flame_graph *graph = graph_of(model, (struct flame_graph_options){.by = by});
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(flame_notes__print(out, graph, model), 0);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	free(text);
	flame_graph__free(graph);
}

static void test_notes(void **state)
{
	struct call_site sites[] = {
		{.stack = &grow,
		 .kind = SITE_WAIT,
		 .row = row_of("cudaDeviceSynchronize"),
		 .calls = 2,
		 .amount = 900},
		{.stack = NULL, .kind = SITE_LAUNCH, .calls = 1},
	};
	struct process process = {
		.pid = 1,
		.sites = sites,
		.site_count = COUNT(sites),
		.since_attach = true,
		.waits = {{.calls = 3, .ns = 1000}},
		.copy_waits = {.calls = 5, .ns = 2000},
		.free_waits = {1, 10},
	};
	struct model model = model_of(&process, 1);

	(void)state;
	model.min_wait_ns = 100000;
	model.stack_sample = 64;
	expect_notes(&model, FLAME_WAIT_TIME,
		     "1 of 1 process since attach: earlier calls are missing\n"
		     "waits shorter than 100 us not shown: 7, "
		     "together 2.1 us\n");
	process.since_attach = false;
	model.lost[LOSS_RING_FULL] = 4;
	model.launch_sample = 0;
	model.stacks_evicted = 7;
	expect_notes(&model, FLAME_LAUNCHES,
		     "stacks are those of a kernel's first launch by a call and of one in 64 after "
		     "it, and stand for "
		     "the launches between: --stack-sample 1 takes all\n"
		     "stack not known: 1 launch, 100.0 %\n"
		     "7 stacks are no longer known: see --stack-storage-size\n"
		     "lost: notices that did not fit the ring buffer: 4\n");
	expect_notes(&model, FLAME_FAILURES,
		     "no failure was seen: the graph is empty\n"
		     "launches: results were not checked\n"
		     "lost: notices that did not fit the ring buffer: 4\n");
}

static void test_notes_of_nothing(void **state)
{
	struct process process = {.pid = 1};
	struct model model = model_of(&process, 1);

	(void)state;
	model.stack_sample = 64;
	model.min_wait_ns = 100000;
	expect_notes(&model, FLAME_BYTES,
		     "no allocation of device memory was seen: the graph is empty\n");
	expect_notes(&model, FLAME_LIVE_BYTES,
		     "no live device memory at the end: the graph is empty\n");
	expect_notes(&model, FLAME_LAUNCHES, "no kernel launch was seen: the graph is empty\n");
	expect_notes(&model, FLAME_WAIT_TIME,
		     "no wait of 100 us or more was seen: the graph is empty\n");
	expect_notes(&model, FLAME_FAILURES, "no failure was seen: the graph is empty\n");
	expect_notes(&model, FLAME_TENSOR_BYTES, "no tensor was seen: the graph is empty\n");
	expect_notes(&model, FLAME_LIVE_TENSOR_BYTES,
		     "no live tensor at the end: the graph is empty\n");
	model.min_wait_ns = 1500000;
	expect_notes(&model, FLAME_WAIT_TIME,
		     "no wait of 1.5 ms or more was seen: the graph is empty\n");
	model.process_count = 0;
	expect_notes(&model, FLAME_WAIT_TIME, "no CUDA process was seen: the graph is empty\n");
}

static void expect_amount_in(enum quantity_form form, enum flame_by by, uint64_t value,
			     const char *expected)
{
	const struct flame_graph graph = {.amounts = form};
	char text[128] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	flame_text__amount(out, &graph, by, value);
	fclose(out);
	assert_string_equal(text, expected);
}

static void expect_amount(enum flame_by by, uint64_t value, const char *expected)
{
	expect_amount_in(QUANTITY_ROUNDED, by, value, expected);
}

static void test_amounts(void **state)
{
	(void)state;
	expect_amount(FLAME_BYTES, 0, "0 bytes");
	expect_amount(FLAME_BYTES, 1, "1 byte");
	expect_amount(FLAME_BYTES, 1023, "1023 bytes");
	expect_amount(FLAME_LIVE_BYTES, 1024, "1.0 KiB");
	expect_amount(FLAME_TENSOR_BYTES, 1024, "1.0 KiB");
	expect_amount(FLAME_BYTES, (1 << 20) - 1, "1.0 MiB");
	expect_amount(FLAME_BYTES, UINT64_MAX, "16.0 EiB");
	expect_amount(FLAME_WAIT_TIME, 999, "999 ns");
	expect_amount(FLAME_WAIT_TIME, 1500000, "1.5 ms");
	expect_amount(FLAME_WAIT_TIME, 7200000000000ull, "2 h 0 min");
	expect_amount(FLAME_LAUNCHES, 12000, "12.0 k launches");
	expect_amount(FLAME_LAUNCHES, 1, "1 launch");
	expect_amount(FLAME_FAILURES, 1, "1 failure");
	expect_amount_in(QUANTITY_EXACT, FLAME_BYTES, (1 << 20) - 1, "1,048,575 bytes");
	expect_amount_in(QUANTITY_EXACT, FLAME_WAIT_TIME, 1500001, "1,500,001 ns");
	expect_amount_in(QUANTITY_EXACT, FLAME_LAUNCHES, 12001, "12,001 launches");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_lines_apart),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_tensors),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_total_stays_in_bounds),
		cmocka_unit_test(test_svg_frames),
		cmocka_unit_test(test_svg_narrow),
		cmocka_unit_test(test_svg_hostile),
		cmocka_unit_test(test_svg_of_nothing),
		cmocka_unit_test(test_speedscope),
		cmocka_unit_test(test_speedscope_of_nothing),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_notes_of_nothing),
		cmocka_unit_test(test_amounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
