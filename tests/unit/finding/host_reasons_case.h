/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of a process, with the call sites that they spend time in. Include after cmocka.h. */
#ifndef TESTS_HOST_REASONS_CASE_H
#define TESTS_HOST_REASONS_CASE_H

#include "finding/host_reasons.h"

#define MS 1000000ull
#define PYTHON(name, path, number) \
	{ \
		.kind = FRAME_PYTHON, .function = name, .file = path, .line = number \
	}
#define STACK(name, ...) \
	static const struct stack_frame name##_frames[] = {__VA_ARGS__}; \
	static const struct stack name = {.count = sizeof(name##_frames) / sizeof(*name##_frames), \
					  .frames = name##_frames}
#define LOCATIONS(...) \
	(struct host_location[]) \
	{ \
		__VA_ARGS__ \
	}
#define MAIN PYTHON("<module>", "/home/user/train.py", 80)

STACK(takes, {.function = "futex_wait", .object = "libc.so.6"},
      PYTHON("take", "/home/user/train.py", 50), MAIN);
STACK(reads, PYTHON("load", "/home/user/data.py", 7));
STACK(draws, PYTHON("randn", "/home/user/train.py", 30), MAIN);
STACK(gets, PYTHON("wait", "/usr/lib/python3.11/threading.py", 320),
      PYTHON("get", "/usr/lib/python3.11/queue.py", 171),
      PYTHON("fetch", "/home/user/train.py", 60), MAIN);
STACK(of_a_library, {.function = "read", .object = "libc.so.6"});
STACK(holds, PYTHON("hold", "/home/user/train.py", 12));

static inline struct host_thread thread(bool submits, int32_t tid, struct host_location *locations,
					size_t count)
{
	struct host_thread thread = {.submits = submits,
				     .tid = tid,
				     .pid = 10,
				     .watched_ns = 100 * MS,
				     .locations = locations,
				     .location_count = count};

	return thread;
}

static inline struct host_partner partner(int32_t tid, size_t number)
{
	return (struct host_partner){.tid = tid, .pid = 10, .ns = 1, .count = 1, .thread = number};
}

static inline struct host_reasons reasons_of(struct host_process *host)
{
	const struct process process = {.host = host};
	struct host_reasons reasons;

	assert_int_equal(host_reasons__of(&process, 0, &reasons), 0);
	return reasons;
}

#endif
