// SPDX-License-Identifier: BSD-2-Clause
// Gathering lines and writing them, see buffer.h.
#include "output/trace/buffer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_SIZE (256u * 1024)
#define BUFFER_CALLS (16u * 1024)

int trace_buffer__init(struct trace_buffer *buffer, int fd)
{
	*buffer = (struct trace_buffer){.fd = fd, .capacity = BUFFER_SIZE};
	buffer->data = malloc(BUFFER_SIZE);
	buffer->ends = malloc(BUFFER_CALLS * sizeof(*buffer->ends));
	if (buffer->data && buffer->ends)
		return 0;
	trace_buffer__free(buffer);
	return -ENOMEM;
}

void trace_buffer__free(struct trace_buffer *buffer)
{
	free(buffer->data);
	free(buffer->ends);
	buffer->data = NULL;
	buffer->ends = NULL;
}

/* Writes all of `data`; returns how much was taken, with *error set where that is not all. */
static size_t write_all(int fd, const char *data, size_t length, int *error)
{
	struct pollfd writable = {.fd = fd, .events = POLLOUT};
	size_t done = 0;

	while (done < length) {
		ssize_t n = write(fd, data + done, length - done);

		if (n >= 0) {
			done += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN && (poll(&writable, 1, -1) >= 0 || errno == EINTR))
			continue;
		*error = -errno;
		break;
	}
	return done;
}

int trace_buffer__flush(struct trace_buffer *buffer)
{
	size_t done, calls = 0;

	if (buffer->error || !buffer->length)
		return buffer->error;
	done = write_all(buffer->fd, buffer->data, buffer->length, &buffer->error);
	while (calls < buffer->end_count && buffer->ends[calls] <= done)
		calls++;
	buffer->calls += calls;
	buffer->length = 0;
	buffer->end_count = 0;
	return buffer->error;
}

/* Only hostile lines are larger than the buffer. */
static bool grow(struct trace_buffer *buffer, size_t size)
{
	char *data = size <= UINT32_MAX ? realloc(buffer->data, size) : NULL;

	if (!data) {
		buffer->error = -ENOMEM;
		return false;
	}
	buffer->data = data;
	buffer->capacity = size;
	return true;
}

char *trace_buffer__room(struct trace_buffer *buffer, size_t size)
{
	if (buffer->error)
		return NULL;
	if (size > buffer->capacity - buffer->length || buffer->end_count == BUFFER_CALLS) {
		if (trace_buffer__flush(buffer))
			return NULL;
		if (size > buffer->capacity && !grow(buffer, size))
			return NULL;
	}
	return buffer->data + buffer->length;
}

void trace_buffer__commit(struct trace_buffer *buffer, const char *end, bool call)
{
	buffer->length = (size_t)(end - buffer->data);
	if (call)
		buffer->ends[buffer->end_count++] = (uint32_t)buffer->length;
}
