// SPDX-License-Identifier: BSD-2-Clause
// The tracer's BPF programs as the source of a stream; see source.h.
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
#include "gpuprobe/losses.h"
#include "probe/stack_maps.h"

#define CALL_BYTES (sizeof(struct trace_event) + TRACE_PAYLOAD_MAX)
#define LIST_BYTES 65536 /* read at once */

struct bpf_source {
	struct trace_source source; /* must be first */
	struct trace_bpf *skeleton;
	struct ring ring;
	void *began;
	struct bpf_link *list;
	struct ring stack_ring;
	struct stack_maps stack_maps;
	int cpus;
	uint64_t *per_cpu;		  /* one value per CPU, for reading the map of losses */
	uint64_t not_reported, not_taken; /* stacks, as of the last reading */
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

/* Consumes the events of the edge-triggered epoll set, which then waits for the next ones. */
static void acknowledge(struct trace_source *source)
{
	struct epoll_event events[2];

	epoll_wait(source->fd, events, 2, 0);
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

/*
 * Passes on the calls in the first `used` bytes; *taken is the offset of an incomplete one at the
 * end.
 */
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

/* How many losses with this reason are new. */
static uint64_t new_losses(const struct bpf_source *bpf, enum loss reason, uint64_t *known)
{
	uint64_t count = 0, added;
	uint32_t key = reason;

	if (bpf_map_lookup_elem(bpf_map__fd(bpf->skeleton->maps.losses), &key, bpf->per_cpu))
		return 0;
	for (int i = 0; i < bpf->cpus; i++)
		count += bpf->per_cpu[i];
	added = count - *known;
	*known = count;
	return added;
}

static void count_lost_stacks(struct trace_source *source)
{
	struct bpf_source *bpf = of(source);

	if (!source->stacks)
		return;
	source->lost[TRACE_LOST_STACK].count +=
		new_losses(bpf, LOSS_STACK_RING_FULL, &bpf->not_reported);
	source->lost[TRACE_LOST_STACK_MEMORY].count +=
		new_losses(bpf, LOSS_STACK_NO_ROOM, &bpf->not_taken);
}

static void free_source(struct trace_source *source)
{
	struct bpf_source *bpf = of(source);

	if (source->fd >= 0)
		close(source->fd);
	bpf_link__destroy(bpf->list);
	ring__unmap(&bpf->ring);
	ring__unmap(&bpf->stack_ring);
	free(bpf->per_cpu);
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
	.count_lost_stacks = count_lost_stacks,
	.free = free_source,
};

static int watch_ring(int set, int ring_fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	return epoll_ctl(set, EPOLL_CTL_ADD, ring_fd, &event) ? -errno : 0;
}

/*
 * Opens an edge-triggered epoll set: the ring itself would stay readable as long as it is not
 * empty, but the BPF programs wake the reader only when there is much to read. For stacks they wake
 * it at once, because stacks are named while their process exists.
 */
static int open_set(const struct bpf_source *bpf)
{
	int fd = epoll_create1(EPOLL_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = watch_ring(fd, bpf_map__fd(bpf->skeleton->maps.ring));
	if (!ret && bpf->source.stacks)
		ret = watch_ring(fd, bpf_map__fd(bpf->stack_maps.ring));
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int open_stacks(struct bpf_source *bpf)
{
	int ret;

	if (bpf->skeleton->rodata->config.stack_mode == STACK_OFF)
		return 0;
	bpf->stack_maps = STACK_MAPS(bpf->skeleton);
	ret = ring__map(&bpf->stack_ring, bpf_map__fd(bpf->stack_maps.ring));
	if (ret)
		return ret;
	bpf->cpus = libbpf_num_possible_cpus();
	if (bpf->cpus < 0)
		return bpf->cpus;
	bpf->per_cpu = calloc((size_t)bpf->cpus, sizeof(*bpf->per_cpu));
	if (!bpf->per_cpu)
		return -ENOMEM;
	bpf->source.stacks = &bpf->stack_ring;
	bpf->source.stack_hooks = stack_maps__hooks(&bpf->stack_maps);
	return 0;
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
	int ret = ring__map(&bpf->ring, bpf_map__fd(ring));

	if (ret)
		return error__set(err, ret, "cannot map the ring buffer: %s", strerror(-ret));
	ret = map_progress(bpf);
	if (ret)
		return error__set(err, ret, "cannot map the table of calls in progress: %s",
				  strerror(-ret));
	ret = open_stacks(bpf);
	if (ret)
		return error__set(err, ret, "cannot map the ring of stacks: %s", strerror(-ret));
	bpf->source.fd = open_set(bpf);
	if (bpf->source.fd < 0)
		return error__set(err, bpf->source.fd, "cannot watch the ring buffer: %s",
				  strerror(-bpf->source.fd));
	bpf->list = bpf_program__attach_iter(bpf->skeleton->progs.calls_in_progress, NULL);
	if (!bpf->list)
		return error__set(err, -errno, "cannot attach the list of calls in progress: %s",
				  strerror(errno));
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
