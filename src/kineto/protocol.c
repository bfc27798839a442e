// SPDX-License-Identifier: BSD-2-Clause
// The messages of Kineto and its daemon, see protocol.h.
#include "kineto/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TYPE_SIZE 32
#define CAN_TRACE 2 /* bit of a request's type: the profiler of activities is idle */

struct head {
	uint64_t size; /* of the content */
	char type[TYPE_SIZE];
};

struct request {
	int32_t type;
	int32_t pid_count;
	int64_t job;
	/* then the pids of the process and its ancestors, in its own pid namespace */
};

#define ANSWER_MAX (KINETO_DATAGRAM_MAX - sizeof(struct head))

enum kineto_question kineto_protocol__read(const void *datagram, size_t size, bool *idle)
{
	struct request request;
	struct head head;

	*idle = false;
	if (size < sizeof(head))
		return KINETO_NO_QUESTION;
	memcpy(&head, datagram, sizeof(head));
	if (head.size != size - sizeof(head) || !memchr(head.type, '\0', sizeof(head.type)))
		return KINETO_NO_QUESTION;
	if (!strcmp(head.type, "ctxt"))
		return KINETO_CONTEXT;
	if (strcmp(head.type, "req") != 0 || head.size < sizeof(request))
		return KINETO_NO_QUESTION;
	memcpy(&request, (const char *)datagram + sizeof(head), sizeof(request));
	*idle = request.type & CAN_TRACE;
	return KINETO_REQUEST;
}

size_t kineto_protocol__answer(enum kineto_question question, const char *configuration,
			       void *datagram)
{
	const int32_t processes = 1; /* that use this GPU */
	bool context = question == KINETO_CONTEXT;
	struct head head = {.size = context ? sizeof(processes) :
					      strnlen(configuration, ANSWER_MAX)};

	snprintf(head.type, sizeof(head.type), "%s", context ? "ctxt" : "req");
	memcpy(datagram, &head, sizeof(head));
	memcpy((char *)datagram + sizeof(head),
	       context ? (const void *)&processes : (const void *)configuration, head.size);
	return sizeof(head) + head.size;
}

/*
 * A version of Kineto that does not know a type of activity ignores the lines behind it, so that
 * line is the last one.
 */
int kineto_protocol__configure(const char *path, uint64_t duration_ms, char *text, size_t size)
{
	int n = snprintf(text, size,
			 "ACTIVITIES_LOG_FILE=%s\n"
			 "ACTIVITIES_DURATION_MSECS=%llu\n"
			 "ACTIVITIES_WARMUP_PERIOD_SECS=%d\n"
			 "ACTIVITY_TYPES=kernel,gpu_memcpy,gpu_memset,overhead\n",
			 path, (unsigned long long)duration_ms, KINETO_WARMUP_S);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

bool kineto_protocol__takes_path(const char *path)
{
	for (const char *at = path; *at; at++)
		if ((unsigned char)*at <= ' ' || strchr("#=\\\"", *at))
			return false;
	return *path == '/' && !strstr(path, "..") && !strstr(path, ".json") &&
	       !strstr(path, "://");
}
