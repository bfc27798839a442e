// SPDX-License-Identifier: BSD-2-Clause
// Buffers lines and writes them, see buffer.h.
#include "output/trace/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE (256u * 1024)
#define BUFFER_CALLS (16u * 1024)
#define RETRY_MS 10

/*
 * A file or a non-blocking descriptor takes as much as it can. A pipe that takes anything takes
 * PIPE_BUF bytes at once (pipe(7)).
 */
static size_t piece_of(int fd)
{
	struct stat status;
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && flags & O_NONBLOCK)
		return SIZE_MAX;
	return !fstat(fd, &status) && S_ISREG(status.st_mode) ? SIZE_MAX : PIPE_BUF;
}

int trace_buffer__init(struct trace_buffer *buffer, int fd)
{
	*buffer = (struct trace_buffer){.fd = fd,
					.stop_fd = -1,
					.piece = piece_of(fd),
					.capacity = BUFFER_SIZE,
					.end_capacity = BUFFER_CALLS};
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

/*
 * Waits until the descriptor can be written. Returns false if it cannot and stop_fd ends the wait.
 */
static bool wait_for_reader(const struct trace_buffer *buffer)
{
	struct pollfd fds[] = {{.fd = buffer->fd, .events = POLLOUT},
			       {.fd = buffer->stop_fd, .events = POLLIN}};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	/* If poll fails, the following write will report an error. */
	return fds[0].revents || !fds[1].revents;
}

/*
 * A terminal may have room, but not for the end of a line, which is two characters. Returns false
 * as wait_for_reader.
 */
static bool wait_a_little(const struct trace_buffer *buffer)
{
	struct pollfd stop = {.fd = buffer->stop_fd, .events = POLLIN};

	return poll(&stop, 1, RETRY_MS) <= 0;
}

/* Writes the buffered bytes. Returns how many were taken, and sets buffer->error on an error. */
static size_t write_all(struct trace_buffer *buffer)
{
	size_t done = 0;

	while (done < buffer->length && wait_for_reader(buffer)) {
		size_t left = buffer->length - done;
		ssize_t n = write(buffer->fd, buffer->data + done,
				  left < buffer->piece ? left : buffer->piece);

		if (n >= 0) {
			done += (size_t)n;
		} else if (errno == EAGAIN) {
			if (!wait_a_little(buffer))
				break;
		} else if (errno != EINTR) {
			buffer->error = -errno;
			break;
		}
	}
	return done;
}

/* Removes the written bytes to make room. */
static void remove_written(struct trace_buffer *buffer, size_t done, size_t calls)
{
	buffer->length -= done;
	buffer->end_count -= calls;
	memmove(buffer->data, buffer->data + done, buffer->length);
	for (size_t i = 0; i < buffer->end_count; i++)
		buffer->ends[i] = buffer->ends[i + calls] - (uint32_t)done;
}

int trace_buffer__flush(struct trace_buffer *buffer)
{
	size_t done, calls = 0;

	if (buffer->error || !buffer->length)
		return buffer->error;
	done = write_all(buffer);
	while (calls < buffer->end_count && buffer->ends[calls] <= done)
		calls++;
	buffer->calls += calls;
	if (buffer->error)
		buffer->length = buffer->end_count = 0;
	else
		remove_written(buffer, done, calls);
	return buffer->error;
}

static bool grow_data(struct trace_buffer *buffer, size_t size)
{
	char *data = size <= UINT32_MAX ? realloc(buffer->data, size) : NULL;

	if (!data)
		return false;
	buffer->data = data;
	buffer->capacity = size;
	return true;
}

static bool grow_ends(struct trace_buffer *buffer)
{
	uint32_t *ends = realloc(buffer->ends, 2 * buffer->end_capacity * sizeof(*ends));

	if (!ends)
		return false;
	buffer->ends = ends;
	buffer->end_capacity *= 2;
	return true;
}

static bool has_room(const struct trace_buffer *buffer, size_t size)
{
	return size <= buffer->capacity - buffer->length &&
	       buffer->end_count < buffer->end_capacity;
}

/*
 * Needed for hostile lines, which are larger than the buffer, and for lines that accumulate while
 * no reader is waited for.
 */
static bool grow(struct trace_buffer *buffer, size_t size)
{
	size_t needed = buffer->length + size, doubled = 2 * buffer->capacity;

	if (needed > buffer->capacity &&
	    !grow_data(buffer, buffer->length && needed < doubled ? doubled : needed))
		return false;
	return buffer->end_count < buffer->end_capacity || grow_ends(buffer);
}

char *trace_buffer__room(struct trace_buffer *buffer, size_t size)
{
	if (buffer->error)
		return NULL;
	if (!has_room(buffer, size) && trace_buffer__flush(buffer))
		return NULL;
	if (!has_room(buffer, size) && !grow(buffer, size)) {
		buffer->error = -ENOMEM;
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
