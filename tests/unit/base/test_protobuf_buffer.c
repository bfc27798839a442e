// SPDX-License-Identifier: BSD-2-Clause
// Protobuf messages in a buffer that grows: nested ones get their lengths, whatever the size.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/protobuf_buffer.h"

static void writes_nested_messages(void **state)
{
	/* {1: {2: "ab", 3: 300}, 4: 1.0} */
	static const unsigned char expected[] = {0x0a, 7, 0x12, 2, 'a', 'b', 0x18, 0xac, 2,
						 0x21, 0, 0,	0, 0,	0,   0,	   0xf0, 0x3f};
	struct protobuf_buffer buffer = {0};
	size_t begin = protobuf_buffer__begin(&buffer, 1);

	(void)state;
	protobuf_buffer__text(&buffer, 2, "ab");
	protobuf_buffer__uint(&buffer, 3, 300);
	protobuf_buffer__end(&buffer, begin);
	protobuf_buffer__double(&buffer, 4, 1.0);
	assert_false(buffer.failed);
	assert_int_equal(buffer.length, sizeof(expected));
	assert_memory_equal(buffer.data, expected, sizeof(expected));
	protobuf_buffer__free(&buffer);
}

/* The length takes three bytes, and the message moves to make room for them. */
static void grows(void **state)
{
	enum {
		SIZE = 100000
	};
	struct protobuf_buffer buffer = {0};
	char *text = malloc(SIZE);
	size_t begin;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', SIZE);
	begin = protobuf_buffer__begin(&buffer, 1);
	protobuf_buffer__append(&buffer, text, SIZE);
	protobuf_buffer__end(&buffer, begin);
	assert_int_equal(buffer.length, 1 + 3 + SIZE);
	assert_memory_equal(buffer.data, "\x0a\xa0\x8d\x06", 4);
	assert_memory_equal(buffer.data + 4, text, SIZE);
	protobuf_buffer__clear(&buffer);
	assert_int_equal(buffer.length, 0);
	protobuf_buffer__free(&buffer);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_nested_messages),
		cmocka_unit_test(grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
