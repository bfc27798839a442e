// SPDX-License-Identifier: BSD-2-Clause
// NVTX ranges as lines of a trace: in the order of their times, with what their records say, of
// which nothing can be trusted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_stream_scene.h"

#define LINES 16

/* What is kept of a line. */
struct seen {
	enum trace_line_kind kind;
	char event[32], name[NVTX_NAME_SIZE], domain[NVTX_NAME_SIZE];
	uint64_t start, duration, id;
	uint8_t depth;
	bool cut;
};

/* An event with its payload. */
struct told_range {
	_Alignas(8) uint8_t head[sizeof(struct trace_event)];
	struct trace_range range;
};

struct ranges_test {
	struct fake *fake;
	struct trace_stream *stream;
	struct trace_functions *functions;
	struct seen seen[LINES];
	size_t count;
};

static void copy(char to[NVTX_NAME_SIZE], const struct trace_field *field)
{
	assert_true(field->form == FORM_TEXT && field->length < NVTX_NAME_SIZE);
	memcpy(to, field->text, field->length);
}

static int keep(const struct trace_line *line, void *arg)
{
	struct ranges_test *test = arg;
	struct seen *seen = &test->seen[test->count++];

	assert_true(test->count <= LINES);
	*seen = (struct seen){.kind = line->kind,
			      .start = line->start_ns,
			      .duration = line->duration_ns,
			      .depth = line->depth};
	snprintf(seen->event, sizeof(seen->event), "%s", trace_function__symbol(line->function));
	for (size_t i = 0; i < line->field_count && line->kind == LINE_RANGE; i++) {
		const struct trace_field *field = &line->fields[i];

		if (!strcmp(field->name, "name"))
			copy(seen->name, field);
		if (!strcmp(field->name, "domain"))
			copy(seen->domain, field);
		if (!strcmp(field->name, "id"))
			seen->id = field->number;
		seen->cut |= field->form == FORM_TEXT && field->cut;
	}
	return 0;
}

static int begin(void **state)
{
	struct ranges_test *test = calloc(1, sizeof(*test));
	const struct trace_stream_options options = {.line = keep, .arg = test};
	struct error err;

	test->fake = fake__new(false);
	test->functions = trace_functions__new(false);
	assert_int_equal(trace_functions__add_ranges(test->functions), 0);
	assert_int_equal(trace_stream__open(&test->fake->source, test->functions, &options, NULL,
					    &test->stream, &err),
			 0);
	fake__announce(test->fake, 1, 1, 77, 78, "ranges");
	*state = test;
	return 0;
}

static int end(void **state)
{
	struct ranges_test *test = *state;

	trace_stream__free(test->stream);
	trace_functions__free(test->functions);
	free(test);
	return 0;
}

static struct trace_event *event_of(struct told_range *record)
{
	return (struct trace_event *)(void *)record->head;
}

static struct told_range range_of(const struct ranges_test *test, uint16_t function,
				  const char *text, uint64_t domain_length)
{
	struct told_range record = {.range = {.domain_length = domain_length}};
	struct trace_event *event = event_of(&record);

	event->type = TRACE_RANGE;
	event->row = function;
	event->thread = 1;
	event->start_ns = test->fake->clock;
	snprintf(record.range.text, sizeof(record.range.text), "%s", text);
	return record;
}

static void put(struct ranges_test *test, const struct told_range *range)
{
	assert_true(fake__put(test->fake, range, sizeof(*range)));
}

static void take_all(struct ranges_test *test)
{
	assert_int_equal(trace_stream__finish(test->stream), 0);
}

static uint64_t malformed(const struct ranges_test *test)
{
	struct trace_counts counts;

	trace_stream__count(test->stream, &counts);
	return counts.malformed;
}

/* A call that began before a range comes before it, though its record came later. */
static void test_order(void **state)
{
	struct ranges_test *test = *state;
	struct told_range range;

	fake__enter(test->fake, test->functions, 1, SIMPLE, 1);
	test->fake->clock += 100;
	range = range_of(test, NVTX_PUSH, "model: step", 5);
	event_of(&range)->depth = 1;
	put(test, &range);
	test->fake->clock += 100;
	fake__leave(test->fake, 1, 0);
	range = range_of(test, NVTX_POP, "model: step", 5);
	event_of(&range)->duration_ns = 100;
	put(test, &range);
	take_all(test);
	assert_int_equal(test->count, 3);
	assert_int_equal(test->seen[0].kind, LINE_CALL);
	assert_int_equal(test->seen[1].kind, LINE_RANGE);
	assert_string_equal(test->seen[1].event, "nvtxRangePush");
	assert_int_equal(test->seen[1].depth, 1);
	assert_string_equal(test->seen[2].event, "nvtxRangePop");
	assert_string_equal(test->seen[2].name, "step");
	assert_string_equal(test->seen[2].domain, "model");
	assert_int_equal(test->seen[2].duration, 100);
}

static void test_names(void **state)
{
	static const struct {
		const char *text;
		uint64_t domain_length;
		const char *name, *domain;
	} texts[] = {
		{"a: b", 0, "a: b", ""}, {"a: b", 1, "b", "a"},	  {"a: ", 1, "", "a"},
		{"a", 1, "", "a"},	 {"abc", 400, "abc", ""}, {"abc", UINT64_MAX, "abc", ""},
		{"", 0, "", ""},
	};
	struct ranges_test *test = *state;
	size_t count = sizeof(texts) / sizeof(*texts);

	for (size_t i = 0; i < count; i++) {
		struct told_range range =
			range_of(test, NVTX_START, texts[i].text, texts[i].domain_length);

		range.range.id = i;
		put(test, &range);
		test->fake->clock++;
	}
	take_all(test);
	assert_int_equal(test->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(test->seen[i].name, texts[i].name);
		assert_string_equal(test->seen[i].domain, texts[i].domain);
		assert_int_equal(test->seen[i].id, i);
		assert_false(test->seen[i].cut);
	}
}

/* A text without an end; a range that is longer than its end's time. */
static void test_hostile(void **state)
{
	struct ranges_test *test = *state;
	struct told_range range = range_of(test, NVTX_POP, "", 3);

	memset(range.range.text, 'x', sizeof(range.range.text));
	event_of(&range)->duration_ns = event_of(&range)->start_ns + 1;
	put(test, &range);
	take_all(test);
	assert_int_equal(test->count, 1);
	assert_true(test->seen[0].cut);
	assert_string_equal(test->seen[0].domain, "xxx");
	assert_int_equal(test->seen[0].duration, 0);
}

static void test_malformed(void **state)
{
	struct ranges_test *test = *state;
	struct told_range whole = range_of(test, NVTX_PUSH, "x", 0), range;

	assert_true(fake__put(test->fake, &whole, sizeof(whole) - 1));
	assert_true(fake__put(test->fake, &whole, sizeof(whole.head)));
	assert_true(fake__put(test->fake, &whole, 8));
	range = whole;
	event_of(&range)->row = NVTX_NAME; /* has no line */
	put(test, &range);
	event_of(&range)->row = NVTX_FUNCTIONS;
	put(test, &range);
	range = whole;
	event_of(&range)->thread = TRACE_THREADS;
	put(test, &range);
	range = whole;
	event_of(&range)->depth = TRACE_DEPTH;
	put(test, &range);
	take_all(test);
	assert_int_equal(test->count, 0);
	assert_int_equal(malformed(test), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, begin, end),
		cmocka_unit_test_setup_teardown(test_names, begin, end),
		cmocka_unit_test_setup_teardown(test_hostile, begin, end),
		cmocka_unit_test_setup_teardown(test_malformed, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
