// SPDX-License-Identifier: BSD-2-Clause
// What is read of CUPTI's records is where CUPTI has it: by numbers, and by CUPTI's header if there
// is one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cupti_library.h"

#if __has_include(<cupti_activity.h>)
#include <cupti.h>
#define HAS_HEADER 1
#else
#define HAS_HEADER 0
#endif

static void test_offsets(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct cupti_kernel, start), 16);
	assert_int_equal(offsetof(struct cupti_kernel, end), 24);
	assert_int_equal(offsetof(struct cupti_kernel, device), 40);
	assert_int_equal(offsetof(struct cupti_kernel, stream), 48);
	assert_int_equal(offsetof(struct cupti_kernel, correlation), 92);
	assert_int_equal(offsetof(struct cupti_kernel, name), 104);
	assert_int_equal(offsetof(struct cupti_kernel, graph_node), 144);
	assert_int_equal(offsetof(struct cupti_copy, copy_kind), 4);
	assert_int_equal(offsetof(struct cupti_copy, bytes), 8);
	assert_int_equal(offsetof(struct cupti_copy, start), 16);
	assert_int_equal(offsetof(struct cupti_copy, end), 24);
	assert_int_equal(offsetof(struct cupti_copy, device), 32);
	assert_int_equal(offsetof(struct cupti_copy, stream), 40);
	assert_int_equal(offsetof(struct cupti_copy, correlation), 44);
	assert_int_equal(offsetof(struct cupti_peer_copy, correlation), 60);
	assert_int_equal(offsetof(struct cupti_call, start), 8);
	assert_int_equal(offsetof(struct cupti_call, thread), 28);
	assert_int_equal(offsetof(struct cupti_call, correlation), 32);
	assert_int_equal(offsetof(struct cupti_set, bytes), 8);
	assert_int_equal(offsetof(struct cupti_set, correlation), 44);
	assert_int_equal(offsetof(struct cupti_set, device), 32);
	assert_int_equal(offsetof(struct cupti_set, stream), 40);
	assert_int_equal(offsetof(struct cupti_graph, start), 8);
	assert_int_equal(offsetof(struct cupti_graph, end), 16);
	assert_int_equal(offsetof(struct cupti_graph, device), 24);
	assert_int_equal(offsetof(struct cupti_graph, stream), 36);
}

#if HAS_HEADER
#define SAME(own, member, theirs, their_member) \
	do { \
		assert_int_equal(offsetof(struct own, member), offsetof(theirs, their_member)); \
		assert_int_equal(sizeof(((struct own *)0)->member), \
				 sizeof(((theirs *)0)->their_member)); \
	} while (0)

#define SAME_KERNEL(theirs) \
	do { \
		SAME(cupti_kernel, kind, theirs, kind); \
		SAME(cupti_kernel, start, theirs, start); \
		SAME(cupti_kernel, end, theirs, end); \
		SAME(cupti_kernel, device, theirs, deviceId); \
		SAME(cupti_kernel, stream, theirs, streamId); \
		SAME(cupti_kernel, correlation, theirs, correlationId); \
		SAME(cupti_kernel, name, theirs, name); \
	} while (0)

#define SAME_COPY(theirs) \
	do { \
		SAME(cupti_copy, copy_kind, theirs, copyKind); \
		SAME(cupti_copy, bytes, theirs, bytes); \
		SAME(cupti_copy, start, theirs, start); \
		SAME(cupti_copy, end, theirs, end); \
		SAME(cupti_copy, device, theirs, deviceId); \
		SAME(cupti_copy, stream, theirs, streamId); \
	} while (0)

static void test_header(void **state)
{
	(void)state;
	assert_int_equal(CUPTI_COPY, CUPTI_ACTIVITY_KIND_MEMCPY);
	assert_int_equal(CUPTI_SET, CUPTI_ACTIVITY_KIND_MEMSET);
	assert_int_equal(CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	assert_int_equal(CUPTI_PEER_COPY, CUPTI_ACTIVITY_KIND_MEMCPY2);
	assert_int_equal(CUPTI_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	assert_int_equal(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
	assert_int_equal(CUPTI_OLD_DRIVER, CUPTI_ERROR_NOT_INITIALIZED);
	assert_int_equal(CUPTI_OTHER_SUBSCRIBER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	SAME_KERNEL(CUpti_ActivityKernel4);
	SAME_KERNEL(CUpti_ActivityKernel9);
	SAME(cupti_kernel, graph_node, CUpti_ActivityKernel9, graphNodeId);
	SAME_KERNEL(CUpti_ActivityKernel10);
	SAME(cupti_kernel, graph_node, CUpti_ActivityKernel10, graphNodeId);
	SAME_COPY(CUpti_ActivityMemcpy5);
	SAME_COPY(CUpti_ActivityMemcpy6);
	SAME_COPY(CUpti_ActivityMemcpyPtoP4);
	assert_int_equal(CUPTI_DRIVER_CALL, CUPTI_ACTIVITY_KIND_DRIVER);
	assert_int_equal(CUPTI_SYSTEM_THREAD_IDS, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	SAME(cupti_copy, correlation, CUpti_ActivityMemcpy6, correlationId);
	SAME(cupti_peer_copy, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
	SAME(cupti_call, start, CUpti_ActivityAPI, start);
	SAME(cupti_call, end, CUpti_ActivityAPI, end);
	SAME(cupti_call, thread, CUpti_ActivityAPI, threadId);
	SAME(cupti_call, correlation, CUpti_ActivityAPI, correlationId);
	SAME(cupti_set, correlation, CUpti_ActivityMemset4, correlationId);
	SAME(cupti_graph, correlation, CUpti_ActivityGraphTrace2, correlationId);
	SAME(cupti_set, bytes, CUpti_ActivityMemset4, bytes);
	SAME(cupti_set, start, CUpti_ActivityMemset4, start);
	SAME(cupti_set, end, CUpti_ActivityMemset4, end);
	SAME(cupti_set, device, CUpti_ActivityMemset4, deviceId);
	SAME(cupti_graph, start, CUpti_ActivityGraphTrace2, start);
	SAME(cupti_graph, end, CUpti_ActivityGraphTrace2, end);
	SAME(cupti_graph, device, CUpti_ActivityGraphTrace2, deviceId);
}
#else
static void test_header(void **state)
{
	(void)state;
	print_message("skipped: there is no CUPTI header\n");
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
