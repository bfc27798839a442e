// SPDX-License-Identifier: BSD-2-Clause
// Attaches the BPF programs to files, see links.h.
#include "probe/links.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/gpuprobe.skel.h"
#include "probe/multi_link.h"
#include "probe/tracefs.h"

#define CLOSERS 16 /* threads that close links */

/* What holds one attachment; closing it detaches all of its sites. */
struct holder {
	int link_fd;	    /* a BPF link, or -1 */
	int perf_fd;	    /* LINKS_TRACEFS: the event, or -1 */
	unsigned int event; /* LINKS_TRACEFS: its number */
};

struct links {
	enum link_kind kind;
	struct gpuprobe_bpf *skeleton;
	struct tracefs *tracefs;
	unsigned int next_event;
	struct holder *holders;
	size_t count;
	size_t capacity;
};

int links__new(enum link_kind kind, struct gpuprobe_bpf *skeleton, struct links **out, struct error *err)
{
	struct links *links = calloc(1, sizeof(*links));
	int ret;

	if (!links)
		return error__set(err, -ENOMEM, "out of memory");
	links->kind = kind;
	links->skeleton = skeleton;
	if (kind == LINKS_TRACEFS) {
		ret = tracefs__new(&links->tracefs, err);
		if (ret) {
			free(links);
			return ret;
		}
	}
	*out = links;
	return 0;
}

static void close_holder(const struct holder *holder)
{
	if (holder->link_fd >= 0)
		close(holder->link_fd);
	if (holder->perf_fd >= 0)
		close(holder->perf_fd);
}

struct closing {
	const struct links *links;
	size_t next; /* atomic */
};

static void *close_some(void *arg)
{
	struct closing *closing = arg;
	size_t i;

	while ((i = __atomic_fetch_add(&closing->next, 1, __ATOMIC_RELAXED)) < closing->links->count)
		close_holder(&closing->links->holders[i]);
	return NULL;
}

static void close_all(const struct links *links)
{
	struct closing closing = {.links = links};
	pthread_t threads[CLOSERS];
	size_t started = 0;

	while (started < CLOSERS && started + 1 < links->count &&
	       !pthread_create(&threads[started], NULL, close_some, &closing))
		started++;
	close_some(&closing);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

void links__free(struct links *links)
{
	if (!links)
		return;
	close_all(links);
	for (size_t i = 0; links->tracefs && i < links->count; i++)
		tracefs__remove(links->tracefs, links->holders[i].event);
	tracefs__free(links->tracefs);
	free(links->holders);
	free(links);
}

static int add_holder(struct links *links, const struct holder *holder)
{
	size_t capacity = links->capacity ? links->capacity * 2 : 16;
	struct holder *grown;

	if (links->count == links->capacity) {
		grown = realloc(links->holders, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		links->holders = grown;
		links->capacity = capacity;
	}
	links->holders[links->count++] = *holder;
	return 0;
}

/* Undoes attachments down to `count`, where an attach failed half-way. */
static void roll_back(struct links *links, size_t count)
{
	while (links->count > count) {
		const struct holder *holder = &links->holders[--links->count];

		close_holder(holder);
		if (links->tracefs)
			tracefs__remove(links->tracefs, holder->event);
	}
}

static int attach_multi(struct links *links, const struct bpf_program *program, int type, int fd,
			const uint64_t *offsets, const uint64_t *cookies, size_t count, bool on_return,
			struct error *err)
{
	struct holder holder = {.link_fd = -1, .perf_fd = -1};
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	holder.link_fd = multi_link__create(bpf_program__fd(program), type, path, offsets, cookies, count, on_return);
	if (holder.link_fd < 0)
		return error__set(err, holder.link_fd, "cannot attach %zu probes: %s", count,
				  strerror(-holder.link_fd));
	if (add_holder(links, &holder)) {
		close_holder(&holder);
		return error__set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Makes one tracefs event of `count` sites and runs `program` there with `cookie`. */
static int attach_event(struct links *links, const struct bpf_program *program, const struct tracefs_site *sites,
			size_t count, bool on_return, uint64_t cookie, struct error *err)
{
	struct holder holder = {.link_fd = -1, .perf_fd = -1, .event = links->next_event};
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = cookie);
	int ret;

	ret = tracefs__add(links->tracefs, holder.event, on_return, sites, count, err);
	if (ret < 0)
		return ret;
	links->next_event++;
	holder.perf_fd = ret;
	holder.link_fd = bpf_link_create(bpf_program__fd(program), holder.perf_fd, BPF_PERF_EVENT, &options);
	if (holder.link_fd < 0) {
		ret = error__set(err, -errno, "cannot attach to a uprobe event: %s", strerror(errno));
		goto fail;
	}
	ret = add_holder(links, &holder);
	if (ret) {
		error__set(err, ret, "out of memory");
		goto fail;
	}
	return 0;
fail:
	close_holder(&holder);
	tracefs__remove(links->tracefs, holder.event);
	return ret;
}

/* A function's site in any of the files that are attached together. */
struct event_site {
	struct tracefs_site where;
	uint16_t row;
};

/* What tells an event's sites apart: the low bits of an address are those of the file offset. */
static uint32_t low_bits(const struct event_site *site)
{
	return site->where.file_offset & 0xfff;
}

static int remember_site(struct links *links, unsigned int event, const struct event_site *site, struct error *err)
{
	struct site_key key = {.event_and_ip = event << 12 | low_bits(site)};
	uint32_t row = site->row;

	if (bpf_map__update_elem(links->skeleton->maps.sites, &key, sizeof(key), &row, sizeof(row), BPF_ANY))
		return error__set(err, -errno, "cannot keep the probe sites: %s", strerror(errno));
	return 0;
}

/*
 * Makes an event of those of the `remaining` entries that can be told apart,
 * and moves the others to the front, *left of them. Two sites of one function
 * (in copies of one library) need not be told apart.
 */
static int attach_some_entries(struct links *links, struct event_site *remaining, size_t count, size_t *left,
			       struct error *err)
{
	struct tracefs_site *taken = calloc(count, sizeof(*taken));
	uint32_t row_of[4096] = {0}; /* by low bits: the row of the site that has them, + 1 */
	size_t n = 0;
	int ret = 0;

	*left = 0;
	if (!taken)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count && !ret; i++) {
		const struct event_site site = remaining[i];
		uint32_t *row = &row_of[low_bits(&site)];

		if (*row && *row != site.row + 1u) {
			remaining[(*left)++] = site;
			continue;
		}
		if (!*row)
			ret = remember_site(links, links->next_event, &site, err);
		*row = site.row + 1u;
		taken[n++] = site.where;
	}
	if (!ret)
		ret = attach_event(links, links->skeleton->progs.call_entry, taken, n, false, links->next_event, err);
	free(taken);
	return ret;
}

static int attach_entries(struct links *links, const struct link_file *files, size_t count, size_t sites,
			  struct error *err)
{
	struct event_site *remaining = calloc(sites, sizeof(*remaining));
	size_t left = 0;
	int ret = 0;

	if (!remaining)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < files[i].count; k++)
			remaining[left++] = (struct event_site){
				.where = {.fd = files[i].fd, .file_offset = files[i].sites[k].file_offset},
				.row = files[i].sites[k].row,
			};
	while (left && !ret)
		ret = attach_some_entries(links, remaining, left, &left, err);
	free(remaining);
	return ret;
}

/* A return is told by the call that was recorded at its entry, so that all fit one event. */
static int attach_returns(struct links *links, const struct link_file *files, size_t count, size_t sites,
			  struct error *err)
{
	struct tracefs_site *returns = calloc(sites, sizeof(*returns));
	size_t n = 0;
	int ret = 0;

	if (!returns)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < files[i].count; k++)
			if (files[i].sites[k].wants_return)
				returns[n++] = (struct tracefs_site){
					.fd = files[i].fd,
					.file_offset = files[i].sites[k].file_offset,
				};
	if (n)
		ret = attach_event(links, links->skeleton->progs.call_return, returns, n, true, 0, err);
	free(returns);
	return ret;
}

/* Returns first: a call must not be seen entering whose return is not. */
static int attach_tracefs(struct links *links, const struct link_file *files, size_t count, struct error *err)
{
	size_t sites = 0;
	int ret;

	for (size_t i = 0; i < count; i++)
		sites += files[i].count;
	if (!sites)
		return 0;
	ret = attach_returns(links, files, count, sites, err);
	return ret ? ret : attach_entries(links, files, count, sites, err);
}

static int attach_multi_returns(struct links *links, const struct link_file *file, struct error *err)
{
	uint64_t *offsets = calloc(file->count, sizeof(*offsets));
	size_t returns = 0;
	int ret = 0;

	if (!offsets)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < file->count; i++)
		if (file->sites[i].wants_return)
			offsets[returns++] = file->sites[i].file_offset;
	if (returns)
		ret = attach_multi(links, links->skeleton->progs.call_return, ATTACH_UPROBE_MULTI, file->fd, offsets,
				   NULL, returns, true, err);
	free(offsets);
	return ret;
}

static int attach_file_multi(struct links *links, const struct link_file *file, struct error *err)
{
	const struct gpuprobe_bpf *skeleton = links->skeleton;
	uint64_t *offsets, *cookies;
	int ret;

	if (!file->count)
		return 0;
	offsets = calloc(file->count * 2, sizeof(*offsets));
	if (!offsets)
		return error__set(err, -ENOMEM, "out of memory");
	cookies = offsets + file->count;
	for (size_t i = 0; i < file->count; i++) {
		offsets[i] = file->sites[i].file_offset;
		cookies[i] = file->sites[i].row;
	}
	if (links->kind == LINKS_SESSION) {
		ret = attach_multi(links, skeleton->progs.call_session, ATTACH_UPROBE_SESSION, file->fd, offsets,
				   cookies, file->count, false, err);
		goto out;
	}
	/* Returns first: a call must not be seen entering whose return is not. */
	ret = attach_multi_returns(links, file, err);
	if (!ret)
		ret = attach_multi(links, skeleton->progs.call_entry, ATTACH_UPROBE_MULTI, file->fd, offsets, cookies,
				   file->count, false, err);
out:
	free(offsets);
	return ret;
}

int links__attach(struct links *links, const struct link_file *files, size_t count, struct error *err)
{
	size_t before = links->count;
	int ret = 0;

	if (links->kind == LINKS_TRACEFS)
		ret = attach_tracefs(links, files, count, err);
	else
		for (size_t i = 0; i < count && !ret; i++)
			ret = attach_file_multi(links, &files[i], err);
	if (ret)
		roll_back(links, before);
	return ret;
}

int links__attach_loader(struct links *links, int fd, uint64_t file_offset, int64_t to_r_debug, struct error *err)
{
	const struct bpf_program *program = links->skeleton->progs.loader_entry;
	const struct tracefs_site site = {.fd = fd, .file_offset = file_offset};
	uint64_t cookie = (uint64_t)to_r_debug;

	if (links->kind == LINKS_TRACEFS)
		return attach_event(links, program, &site, 1, false, cookie, err);
	return attach_multi(links, program, ATTACH_UPROBE_MULTI, fd, &file_offset, &cookie, 1, false, err);
}
