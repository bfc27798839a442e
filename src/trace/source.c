// SPDX-License-Identifier: BSD-2-Clause
// The tracer's BPF programs as the source of a stream, see source.h.
#include "trace/source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/trace.skel.h"

#define CALL_BYTES (sizeof(struct trace_event) + TRACE_PAYLOAD_MAX)
#define LIST_BYTES 65536 /* read at once */

struct bpf_source {
	struct trace_source source; /* first */
	struct trace_bpf *skeleton;
	struct ring ring;
	void *began;
	struct bpf_link *list;
};

static struct bpf_source *of(struct trace_source *source)
{
	return (struct bpf_source *)source;
}

static uint64_t now(struct trace_source *source)
{
	(void)source;
	return clock__boot_ns();
}

static uint32_t thread_count(struct trace_source *source)
{
	return __atomic_load_n(&of(source)->skeleton->bss->thread_count, __ATOMIC_ACQUIRE);
}

/* Takes the event of the edge-triggered set, which then waits for the next. */
static void acknowledge(struct trace_source *source)
{
	struct epoll_event event;

	epoll_wait(source->fd, &event, 1, 0);
}

static uint64_t written(struct trace_source *source)
{
	return ring__written(&of(source)->ring);
}

static uint64_t position(struct trace_source *source)
{
	return of(source)->ring.read;
}

static int read_records(struct trace_source *source, uint64_t end, ring_record_fn fn, void *arg)
{
	return ring__read(&of(source)->ring, end, fn, arg);
}

/* Gives out the calls in the first `used` bytes; *taken is where one begins that is not whole. */
static int give_calls(const char *bytes, size_t used, size_t *taken, trace_call_fn fn, void *arg)
{
	_Alignas(struct trace_event) char call[CALL_BYTES];
	uint32_t size;
	int ret = 0;

	*taken = 0;
	while (!ret && used - *taken >= sizeof(size)) {
		memcpy(&size, bytes + *taken, sizeof(size));
		if (size < sizeof(struct trace_event) || size > sizeof(call))
			return -EPROTO;
		if (used - *taken - sizeof(size) < size)
			break;
		memcpy(call, bytes + *taken + sizeof(size), size);
		*taken += sizeof(size) + size;
		ret = fn((const struct trace_event *)call, size, arg);
	}
	return ret;
}

static int read_list(int fd, trace_call_fn fn, void *arg)
{
	char *bytes = malloc(LIST_BYTES);
	size_t used = 0, taken;
	ssize_t n;
	int ret = 0;

	if (!bytes)
		return -ENOMEM;
	do {
		n = read(fd, bytes + used, LIST_BYTES - used);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			ret = -errno;
		if (n <= 0)
			continue;
		used += (size_t)n;
		ret = give_calls(bytes, used, &taken, fn, arg);
		memmove(bytes, bytes + taken, used - taken);
		used -= taken;
	} while (!ret && n);
	free(bytes);
	return ret;
}

static int in_progress(struct trace_source *source, trace_call_fn fn, void *arg)
{
	struct bpf_source *bpf = of(source);
	int fd = bpf_iter_create(bpf_link__fd(bpf->list)), ret;

	if (fd < 0)
		return -errno;
	ret = read_list(fd, fn, arg);
	close(fd);
	return ret;
}

static int set_python(struct trace_source *source, pid_t pid, const struct python_target *target)
{
	int ret = bpf_map_update_elem(bpf_map__fd(of(source)->skeleton->maps.python_targets), &pid, target, BPF_ANY);

	return ret < 0 ? -errno : 0;
}

static void free_source(struct trace_source *source)
{
	struct bpf_source *bpf = of(source);

	if (source->fd >= 0)
		close(source->fd);
	bpf_link__destroy(bpf->list);
	ring__unmap(&bpf->ring);
	if (bpf->began)
		munmap(bpf->began, TRACE_THREADS * sizeof(uint64_t));
	free(bpf);
}

static const struct trace_source_calls calls = {
	.now = now,
	.thread_count = thread_count,
	.acknowledge = acknowledge,
	.written = written,
	.position = position,
	.read = read_records,
	.in_progress = in_progress,
	.set_python = set_python,
	.free = free_source,
};

/*
 * A set of its own that is edge-triggered: the ring itself would be readable as
 * long as anything is in it, and the BPF programs wake us for much only.
 */
static int open_set(int ring_fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int fd = epoll_create1(EPOLL_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	if (!epoll_ctl(fd, EPOLL_CTL_ADD, ring_fd, &event))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static int map_progress(struct bpf_source *bpf)
{
	void *mapping = mmap(NULL, TRACE_THREADS * sizeof(uint64_t), PROT_READ, MAP_SHARED,
			     bpf_map__fd(bpf->skeleton->maps.in_progress), 0);

	if (mapping == MAP_FAILED)
		return -errno;
	bpf->began = mapping;
	bpf->source.began = mapping;
	return 0;
}

static int open_parts(struct bpf_source *bpf, struct error *err)
{
	const struct bpf_map *ring = bpf->skeleton->maps.ring;
	int ret = ring__map(&bpf->ring, bpf_map__fd(ring), bpf_map__max_entries(ring));

	if (ret)
		return error__set(err, ret, "cannot map the ring buffer: %s", strerror(-ret));
	ret = map_progress(bpf);
	if (ret)
		return error__set(err, ret, "cannot map the table of calls in progress: %s", strerror(-ret));
	bpf->source.fd = open_set(bpf_map__fd(ring));
	if (bpf->source.fd < 0)
		return error__set(err, bpf->source.fd, "cannot watch the ring buffer: %s", strerror(-bpf->source.fd));
	bpf->list = bpf_program__attach_iter(bpf->skeleton->progs.calls_in_progress, NULL);
	if (!bpf->list)
		return error__set(err, -errno, "cannot attach the list of calls in progress: %s", strerror(errno));
	return 0;
}

int trace_source__new(struct trace_bpf *skeleton, struct trace_source **out, struct error *err)
{
	struct bpf_source *bpf = calloc(1, sizeof(*bpf));
	int ret;

	if (!bpf)
		return error__set(err, -ENOMEM, "out of memory");
	bpf->skeleton = skeleton;
	bpf->source.calls = &calls;
	bpf->source.fd = -1;
	bpf->source.config = (const struct trace_config *)&skeleton->rodata->trace;
	bpf->source.lost = (struct trace_lost *)skeleton->bss->lost;
	ret = open_parts(bpf, err);
	if (ret) {
		free_source(&bpf->source);
		return ret;
	}
	*out = &bpf->source;
	return 0;
}
