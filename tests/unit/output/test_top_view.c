// SPDX-License-Identifier: BSD-2-Clause
// What keys do in `gpuprobe top` (output/top/view.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "output/top/view.h"
#include "top_scene.h"

#define ROWS 2 /* of the table that are shown */
#define LINES 9

static struct top_machine machine;
static struct top_view view;

static int begin(void **state)
{
	(void)state;
	top_machine__begin(&machine);
	view = (struct top_view){.interval = 2};
	return 0;
}

static int end(void **state)
{
	(void)state;
	top_machine__end(&machine);
	return 0;
}

/* The cursor's place afterwards is settled by a new list, as the owner does. */
static enum top_action press(int key)
{
	struct top_order order = top_view__order(&view);
	enum top_action action;
	struct top_list list;

	assert_int_equal(top_list__make(&list, &machine.model, NULL, machine.rates, &order), 0);
	top_view__settle(&view, &list, ROWS);
	action = top_view__key(&view, key, &list, ROWS, LINES);
	top_list__clear(&list);
	order = top_view__order(&view);
	assert_int_equal(top_list__make(&list, &machine.model, NULL, machine.rates, &order), 0);
	top_view__settle(&view, &list, ROWS);
	top_list__clear(&list);
	return action;
}

static void type(const char *text)
{
	for (; *text; text++)
		assert_int_equal(press((unsigned char)*text), TOP_DRAW);
}

/* The list is sorted anew when NVML answers, and the screen stays at its beginning. */
static void stays_at_the_top(void **state)
{
	(void)state;
	press(TOP_KEY_UP);
	assert_int_equal(view.pid, 102);
	press('L');
	assert_int_equal(view.pid, 101);
	assert_int_equal(view.first, 0);
	press(TOP_KEY_DOWN);
	assert_int_equal(view.pid, 102);
	press('N');
	assert_int_equal(view.pid, 102);
	assert_int_equal(view.row, 2);
}

static void moves_the_cursor(void **state)
{
	(void)state;
	press(TOP_KEY_UP);
	assert_int_equal(view.pid, 102);
	press(TOP_KEY_DOWN);
	assert_int_equal(view.pid, 101);
	assert_int_equal(view.first, 0);
	press(TOP_KEY_DOWN);
	assert_int_equal(view.pid, 200);
	assert_int_equal(view.first, 1);
	press(TOP_KEY_END);
	assert_int_equal(view.pid, 90);
	assert_int_equal(view.first, 3);
	press(TOP_KEY_PAGE_UP);
	assert_int_equal(view.pid, 200);
	assert_int_equal(view.first, 2);
	press(TOP_KEY_HOME);
	assert_int_equal(view.pid, 102);
	assert_int_equal(view.first, 0);
}

static void stays_with_the_process(void **state)
{
	(void)state;
	press(TOP_KEY_DOWN);
	assert_int_equal(view.pid, 101);
	press('N');
	assert_int_equal(view.pid, 101);
	assert_int_equal(view.row, 1);
	press('M');
	/* It is gone: the one at its place is chosen. */
	memmove(&machine.processes[1], &machine.processes[2], 3 * sizeof(machine.processes[0]));
	machine.model.process_count = 4;
	press(0);
	assert_int_equal(view.row, 1);
	assert_int_equal(view.pid, 200);
}

static void sorts(void **state)
{
	(void)state;
	press('L');
	assert_int_equal(view.sort, TOP_BY_LAUNCHES);
	press('>');
	assert_int_equal(view.sort, TOP_BY_WAIT);
	press('<');
	press('<');
	assert_int_equal(view.sort, TOP_BY_GROWTH);
	press('r');
	assert_true(view.reverse);
	press('t');
	assert_true(view.tree);
	press('C');
	assert_false(view.tree);
}

static void filters(void **state)
{
	(void)state;
	press('/');
	type("rxn");
	press(TOP_KEY_BACKSPACE);
	press(TOP_KEY_BACKSPACE);
	type("ank 1q");
	press(TOP_KEY_BACKSPACE);
	assert_string_equal(view.filter, "");
	press(TOP_KEY_ENTER);
	assert_string_equal(view.filter, "rank 1");
	assert_int_equal(view.pid, 102);
	press('u');
	type("bob");
	press(TOP_KEY_ESCAPE);
	assert_string_equal(view.user, "");
	assert_string_equal(view.filter, "rank 1");
	press(TOP_KEY_ESCAPE);
	assert_string_equal(view.filter, "");
}

static void types_no_function_keys(void **state)
{
	static const int keys[] = {TOP_KEY_F1, TOP_KEY_F4,    TOP_KEY_F5, TOP_KEY_F10,
				   TOP_KEY_UP, TOP_KEY_OTHER, '\t',	  1};

	(void)state;
	press('/');
	type("a");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		assert_int_equal(press(keys[i]), TOP_DRAW);
		assert_int_equal(view.prompt, TOP_ASKS_FILTER);
		assert_string_equal(view.input, "a");
	}
	press(TOP_KEY_ESCAPE);
	assert_string_equal(view.filter, "");
	press(TOP_KEY_OTHER);
	press(TOP_KEY_F5);
	assert_true(view.tree);
	press(TOP_KEY_F4);
	assert_int_equal(view.prompt, TOP_ASKS_FILTER);
	press(TOP_KEY_ESCAPE);
	press(TOP_KEY_F1);
	assert_int_equal(view.mode, TOP_HELP);
	press(TOP_KEY_F1);
	assert_int_equal(press(TOP_KEY_F10), TOP_QUIT);
}

static void takes_a_character_back_as_a_whole(void **state)
{
	(void)state;
	press('/');
	type("a\u8a13");
	press(TOP_KEY_BACKSPACE);
	assert_string_equal(view.input, "a");
	for (int i = 0; i < 200; i++)
		press('x');
	assert_int_equal(strlen(view.input), TOP_INPUT_SIZE - 1);
}

static enum top_action set_interval(const char *text)
{
	press('d');
	type(text);
	return press(TOP_KEY_ENTER);
}

static void takes_an_interval(void **state)
{
	(void)state;
	assert_int_equal(set_interval("0.5"), TOP_NEW_INTERVAL);
	assert_true(view.interval == 0.5);
	assert_null(view.mistake);
	for (size_t i = 0; i < 5; i++) {
		const char *const wrong[] = {"", "0.01", "-1", "nan", "2x"};

		assert_int_equal(set_interval(wrong[i]), TOP_DRAW);
		assert_non_null(view.mistake);
	}
	assert_true(view.interval == 0.5);
	press('r');
	assert_null(view.mistake);
}

static void opens_a_process_and_comes_back(void **state)
{
	(void)state;
	assert_int_equal(press(TOP_KEY_ENTER), TOP_LOOK);
	assert_int_equal(view.mode, TOP_PROCESS);
	press(TOP_KEY_END);
	assert_int_equal(view.line, LINES - ROWS);
	press(TOP_KEY_PAGE_DOWN);
	assert_int_equal(view.line, LINES - ROWS);
	press(TOP_KEY_RIGHT);
	assert_int_equal(view.column, 8);
	press(TOP_KEY_LEFT);
	press(TOP_KEY_LEFT);
	assert_int_equal(view.column, 0);
	assert_int_equal(press('q'), TOP_DRAW);
	assert_int_equal(view.mode, TOP_TABLE);
	press('h');
	assert_int_equal(view.mode, TOP_HELP);
	press(TOP_KEY_ESCAPE);
	assert_int_equal(view.mode, TOP_TABLE);
	assert_int_equal(press('q'), TOP_QUIT);
}

static void opens_nothing_without_processes(void **state)
{
	(void)state;
	machine.model.process_count = 0;
	assert_int_equal(press(TOP_KEY_ENTER), TOP_DRAW);
	assert_int_equal(view.mode, TOP_TABLE);
	press(TOP_KEY_DOWN);
	press(TOP_KEY_END);
	assert_int_equal(view.pid, 0);
}

static void folds_and_pauses(void **state)
{
	(void)state;
	view.gpus_folded = true;
	press('1');
	assert_int_equal(view.gpus, TOP_GPUS_EACH);
	press('1');
	assert_int_equal(view.gpus, TOP_GPUS_FOLDED);
	view.gpus = TOP_GPUS_BY_ROOM;
	view.gpus_folded = false;
	press('1');
	assert_int_equal(view.gpus, TOP_GPUS_FOLDED);
	press(' ');
	assert_true(view.paused);
	press('p');
	assert_true(view.full_path);
}

/* Arrows scroll a page, and what is typed is typed. */
static void goes_through_a_recording(void **state)
{
	(void)state;
	assert_int_equal(press(TOP_KEY_LEFT), TOP_DRAW);
	assert_int_equal(press(']'), TOP_DRAW);
	view.recorded = true;
	assert_int_equal(press(TOP_KEY_LEFT), TOP_PREVIOUS_READING);
	assert_int_equal(press(TOP_KEY_RIGHT), TOP_NEXT_READING);
	assert_int_equal(press(TOP_KEY_HOME), TOP_FIRST_READING);
	assert_int_equal(press(TOP_KEY_END), TOP_LAST_READING);
	press('d');
	assert_int_equal(view.prompt, TOP_NO_PROMPT);
	press('/');
	type("[]");
	assert_string_equal(view.input, "[]");
	press(TOP_KEY_ESCAPE);
	assert_int_equal(press(TOP_KEY_ENTER), TOP_LOOK);
	assert_int_equal(press(TOP_KEY_RIGHT), TOP_DRAW);
	assert_int_equal(view.column, 8);
	assert_int_equal(press('['), TOP_PREVIOUS_READING);
	assert_int_equal(press(']'), TOP_NEXT_READING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stays_at_the_top, begin, end),
		cmocka_unit_test_setup_teardown(moves_the_cursor, begin, end),
		cmocka_unit_test_setup_teardown(stays_with_the_process, begin, end),
		cmocka_unit_test_setup_teardown(sorts, begin, end),
		cmocka_unit_test_setup_teardown(filters, begin, end),
		cmocka_unit_test_setup_teardown(types_no_function_keys, begin, end),
		cmocka_unit_test_setup_teardown(takes_a_character_back_as_a_whole, begin, end),
		cmocka_unit_test_setup_teardown(takes_an_interval, begin, end),
		cmocka_unit_test_setup_teardown(opens_a_process_and_comes_back, begin, end),
		cmocka_unit_test_setup_teardown(opens_nothing_without_processes, begin, end),
		cmocka_unit_test_setup_teardown(folds_and_pauses, begin, end),
		cmocka_unit_test_setup_teardown(goes_through_a_recording, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
