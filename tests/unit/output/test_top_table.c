// SPDX-License-Identifier: BSD-2-Clause
// The main page of `gpuprobe top` at several sizes (output/top/table.h).
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/quantity.h"
#include "base/text_stream.h"
#include "output/top/table.h"
#include "output/top/text.h"
#include "top_scene.h"

static struct top_machine machine;
static struct top_view view;
static struct model quiet; /* processes that have made no call */
static const char *only;   /* --comm and the like */
static uint64_t left_out;

static int begin(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	top_machine__begin(&machine);
	view = (struct top_view){.interval = 2};
	only = "";
	left_out = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	top_machine__end(&machine);
	return 0;
}

/* The caller clears the page. */
static void make(struct top_page *page, int width, size_t height)
{
	const struct top_order order = top_view__order(&view);
	struct top_list list;
	const struct top_scene scene = {
		.model = &machine.model,
		.list = &list,
		.view = &view,
		.only = only,
		.left_out = left_out,
		.width = width,
		.height = height,
	};

	*page = (struct top_page){0};
	assert_int_equal(top_list__make(&list, &machine.model, &quiet, machine.rates, &order), 0);
	top_view__settle(&view, &list, top_table__rows(&scene));
	assert_int_equal(top_table__add(page, &scene), 0);
	top_list__clear(&list);
}

/* GOLDEN=write writes tests/unit/golden/NAME anew. */
static void assert_page(int width, size_t height, const char *name)
{
	const char *mode = getenv("GOLDEN");
	bool writes = mode && !strcmp(mode, "write");
	char path[256], golden[8192] = "", *text = NULL;
	struct top_page page;
	size_t length;
	FILE *out = text_stream__open(&text, &length), *file;

	make(&page, width, height);
	top_page__print(out, &page, 0);
	assert_int_equal(fclose(out), 0);
	snprintf(path, sizeof(path), "tests/unit/golden/%s", name);
	file = fopen(path, writes ? "w" : "r");
	assert_non_null(file);
	if (writes)
		fwrite(text, 1, length, file);
	else
		golden[fread(golden, 1, sizeof(golden) - 1, file)] = '\0';
	fclose(file);
	if (!writes)
		assert_string_equal(text, golden);
	free(text);
	top_page__clear(&page);
}

static void has_all_columns_where_there_is_room(void **state)
{
	(void)state;
	assert_page(150, 0, "top.150");
}

static void has_exact_amounts_if_wanted(void **state)
{
	(void)state;
	view.form = QUANTITY_EXACT;
	assert_page(220, 0, "top.exact");
}

static void leaves_columns_out_at_100(void **state)
{
	(void)state;
	assert_page(100, 29, "top.100");
}

static void leaves_more_out_at_80(void **state)
{
	(void)state;
	view.sort = TOP_BY_LAUNCHES;
	view.tree = true;
	machine.gpus[1].busy_percent = GPU_UNKNOWN_PERCENT;
	machine.gpus[1].milliwatts = machine.gpus[1].celsius = GPU_UNKNOWN_NUMBER;
	assert_page(80, 23, "top.80");
}

/* The first rows are those that fit. */
static void fits_any_size(void **state)
{
	(void)state;
	for (int width = 1; width <= 200; width += width < 40 ? 1 : 20)
		for (size_t height = 1; height <= 24; height++) {
			struct top_page page;

			view.row = view.first = 0;
			view.pid = 0;
			make(&page, width, height);
			assert_true(page.count <= height || page.count == 1);
			for (size_t i = 0; i < page.count; i++)
				if (page.lines[i].style == TOP_SELECTED)
					assert_true(top_text__columns(page.lines[i].text,
								      TOP_ESCAPED) <= width);
			assert_true(height < 2 || page.lines[page.count - 1].style != TOP_COLUMNS);
			top_page__clear(&page);
		}
}

static void folds_gpus_to_make_room(void **state)
{
	struct top_page page;

	(void)state;
	make(&page, 80, 6);
	assert_string_equal(page.lines[1].text,
			    "GPU 0   busy  97 %  memory     20.0 GiB of 80.0 GiB  350 W  66 C  "
			    "NVIDIA H100");
	top_page__clear(&page);
	machine.gpus[0].strangers[0].pid = machine.processes[0].pid;
	machine.gpus[0].strangers[1].pid = 4711;
	machine.gpus[0].stranger_count = 2;
	make(&page, 80, 23);
	assert_non_null(strstr(page.lines[1].text, "66 C  also pid 4711 (not listed)  NVIDIA"));
	machine.gpus[0].stranger_count = 0;
	top_page__clear(&page);
	view.gpus = TOP_GPUS_FOLDED;
	make(&page, 80, 24);
	assert_string_equal(page.lines[1].text, "2 GPUs  busy  97 % mean  memory    40.0 GiB "
						"of 160.0 GiB  699 W  hottest  66 C");
	machine.gpus[1].milliwatts = GPU_UNKNOWN_NUMBER;
	machine.gpus[1].busy_percent = GPU_UNKNOWN_PERCENT;
	machine.gpus[1].used_bytes = GPU_UNKNOWN_BYTES;
	top_page__clear(&page);
	make(&page, 80, 24);
	assert_string_equal(page.lines[1].text, "2 GPUs  busy     - mean  memory             "
						"           -      -  hottest  66 C");
	top_page__clear(&page);
}

static void says_what_it_is_limited_to(void **state)
{
	struct top_page page;

	(void)state;
	only = "--comm x\033[2J";
	make(&page, 200, 24);
	assert_non_null(strstr(page.lines[0].text, "5 processes, only --comm x\\x1b[2J, by "));
	top_page__clear(&page);
	machine.model.process_count = 0;
	make(&page, 200, 24);
	assert_string_equal(page.lines[4].text,
			    "  no CUDA process seen yet that matches --comm x\\x1b[2J");
	top_page__clear(&page);
	left_out = 2;
	make(&page, 200, 24);
	assert_non_null(strstr(page.lines[4].text, "x\\x1b[2J; 2 others are left out"));
	top_page__clear(&page);
}

/* On the usual terminal. */
static void helps_in_80_columns(void **state)
{
	struct top_page page = {0};
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_int_equal(top_help__add(&page), 0);
	for (size_t i = 0; i < page.count; i++)
		assert_true(top_text__columns(page.lines[i].text, TOP_ESCAPED) <= 80);
	top_page__clear(&page);
	assert_non_null(out);
	top_table__bottom(out, &view, NULL);
	assert_int_equal(fclose(out), 0);
	assert_true(top_text__columns(text, TOP_ESCAPED) <= 80);
}

static void shows_the_moment_of_a_recording(void **state)
{
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct top_page page;

	(void)state;
	view.recorded = view.paused = true;
	snprintf(view.moment, sizeof(view.moment), "reading 12 of 60, 11.0 s");
	make(&page, 80, 24);
	assert_null(strstr(page.lines[0].text, "PAUSED"));
	top_page__clear(&page);
	assert_non_null(out);
	top_table__bottom(out, &view, NULL);
	view.mode = TOP_PROCESS;
	fputc('|', out);
	top_table__bottom(out, &view, NULL);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "reading 12 of 60, 11.0 s  h help  q quit  left, right, Home, "
				  "End: another  space play"
				  "|reading 12 of 60, 11.0 s  q back  [ ] another  arrows scroll");
}

/* A long summary is cut at its end. */
static void says_first_that_it_stands_still(void **state)
{
	struct top_page page;

	(void)state;
	view.paused = true;
	only = "--comm trainer --uid 1000";
	make(&page, 80, 24);
	assert_non_null(strstr(page.lines[0].text, "  PAUSED  5 processes"));
	top_page__clear(&page);
}

static void shortens_commands_where_room_is_scarce(void **state)
{
	struct top_page page;

	(void)state;
	strcpy(machine.processes[2].command, "/opt/conda/bin/python3 /home/ann/runs/train.py");
	make(&page, 80, 24);
	assert_non_null(strstr(page.lines[4].text, " python3 train.py"));
	top_page__clear(&page);
	make(&page, 200, 24);
	assert_non_null(strstr(page.lines[4].text, " python3 /home/ann/runs/train.py"));
	top_page__clear(&page);
	view.full_path = true;
	make(&page, 200, 24);
	assert_non_null(strstr(page.lines[4].text, " /opt/conda/bin/python3 /home/ann/runs/"));
	top_page__clear(&page);
}

static void shows_processes_that_have_not_called(void **state)
{
	struct process_gpu used = {.ordinal = GPU_NONE, .gpu = 1, .used_bytes = 30ull << 30};
	struct process process = {
		.pid = 4711,
		.identified = true,
		.user = "eve",
		.command = "python3 -m serve",
		.since_attach = true,
		.gpus = &used,
		.gpu_count = 1,
	};
	struct top_page page;

	(void)state;
	quiet = (struct model){.processes = &process, .process_count = 1};
	make(&page, 150, 24);
	assert_non_null(strstr(page.lines[0].text, "  6 processes, "));
	assert_non_null(
		strstr(page.lines[6].text,
		       "   4711 eve        1    30.0 GiB           -         -           -"
		       "           -        -           -       - idle       python3 -m serve "));
	top_page__clear(&page);
	quiet = (struct model){0};
}

static void shows_losses(void **state)
{
	struct top_page page;

	(void)state;
	machine.model.lost[LOSS_NO_MEMORY] = 3;
	make(&page, 80, 24);
	assert_int_equal(page.lines[1].style, TOP_WARNING);
	assert_memory_equal(page.lines[1].text, "lost: 3 records ", 16);
	assert_int_equal(page.count, 10);
	top_page__clear(&page);
}

static void shows_copies(void **state)
{
	struct top_page page;

	(void)state;
	machine.processes[3].copies[COPY_H2D][1].bytes = 2000000;
	machine.model.now_ns += 2 * NS_PER_S;
	process_rates__sample(machine.rates, &machine.model);
	make(&page, 150, 24);
	assert_non_null(strstr(page.lines[6].text, quantity__bandwidth(1000000).text));
	top_page__clear(&page);
}

static void cannot_be_garbled_by_a_name(void **state)
{
	struct top_page page;

	(void)state;
	strcpy(machine.processes[2].command, "x\x1b[2J\n\u202e\u8a13\u7df4 y");
	make(&page, 200, 24);
	assert_non_null(strstr(page.lines[4].text, "x\\x1b[2J\\n\\xe2\\x80\\xae\u8a13\u7df4 y"));
	top_page__clear(&page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(has_all_columns_where_there_is_room, begin, end),
		cmocka_unit_test_setup_teardown(has_exact_amounts_if_wanted, begin, end),
		cmocka_unit_test_setup_teardown(leaves_columns_out_at_100, begin, end),
		cmocka_unit_test_setup_teardown(leaves_more_out_at_80, begin, end),
		cmocka_unit_test_setup_teardown(fits_any_size, begin, end),
		cmocka_unit_test_setup_teardown(folds_gpus_to_make_room, begin, end),
		cmocka_unit_test_setup_teardown(says_what_it_is_limited_to, begin, end),
		cmocka_unit_test_setup_teardown(helps_in_80_columns, begin, end),
		cmocka_unit_test_setup_teardown(says_first_that_it_stands_still, begin, end),
		cmocka_unit_test_setup_teardown(shows_the_moment_of_a_recording, begin, end),
		cmocka_unit_test_setup_teardown(shortens_commands_where_room_is_scarce, begin, end),
		cmocka_unit_test_setup_teardown(shows_processes_that_have_not_called, begin, end),
		cmocka_unit_test_setup_teardown(shows_losses, begin, end),
		cmocka_unit_test_setup_teardown(shows_copies, begin, end),
		cmocka_unit_test_setup_teardown(cannot_be_garbled_by_a_name, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
