// SPDX-License-Identifier: BSD-2-Clause
// Attaches the BPF programs to files; see links.h.
#include "probe/links.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/threads.h"
#include "base/sigkill_safe.h"
#include "probe/multi_link.h"
#include "probe/tracefs.h"

#define CLOSERS 16 /* links closed in parallel */

/* One attachment; closing it detaches all of its sites. */
struct holder {
	uint64_t file;
	int link_fd;	    /* a BPF link, or -1 */
	int perf_fd;	    /* LINKS_TRACEFS: the event, or -1 */
	unsigned int event; /* LINKS_TRACEFS: its number */
};

struct links {
	enum link_kind kind;
	struct probe_programs programs;
	struct tracefs *tracefs;
	unsigned int next_event;
	struct holder *holders; /* those of a file are adjacent */
	size_t count;
};

int links__new(enum link_kind kind, const struct probe_programs *programs, struct links **out,
	       struct error *err)
{
	struct links *links = calloc(1, sizeof(*links));
	int ret;

	if (!links)
		return error__set(err, -ENOMEM, "out of memory");
	links->kind = kind;
	links->programs = *programs;
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

_Static_assert(CLOSERS <= UNKILLED_MAX, "all at once");
_Static_assert(CLOSERS <= THREADS_MAX, "all at once");

static void close_holder(const struct holder *holder)
{
	if (holder->link_fd >= 0)
		close(holder->link_fd);
	if (holder->perf_fd >= 0)
		close(holder->perf_fd);
}

static void close_one(void *arg)
{
	close_holder(arg);
}

struct closing {
	const struct links *links;
	size_t next; /* atomic */
	size_t end;
};

static void close_some(void *arg)
{
	struct closing *closing = arg;
	size_t i;

	while ((i = __atomic_fetch_add(&closing->next, 1, __ATOMIC_RELAXED)) < closing->end)
		close_holder(&closing->links->holders[i]);
}

/*
 * Closes the holders from `first` up to `end`; for tracefs events all from `first` on. The guard
 * has each of these events open, too, and its close removes the probes. No other process may have
 * them open: removing the events of a dead gpuprobe relies on their being closed (tracefs.h).
 */
static void close_holders(const struct links *links, size_t first, size_t end)
{
	struct closing closing = {.links = links, .next = first, .end = end};
	unsigned int count = end - first < CLOSERS ? (unsigned int)(end - first) : CLOSERS;

	if (!count)
		return;
	if (links->kind == LINKS_TRACEFS) {
		threads__run(close_some, &closing, count);
		tracefs__close(links->tracefs, links->holders[first].event);
	} else {
		sigkill_safe__run(close_some, &closing, count);
	}
	for (size_t i = first; links->tracefs && i < end; i++)
		tracefs__remove(links->tracefs, links->holders[i].event);
}

void links__free(struct links *links)
{
	if (!links)
		return;
	close_holders(links, 0, links->count);
	tracefs__free(links->tracefs);
	free(links->holders);
	free(links);
}

void links__detach(struct links *links, uint64_t file)
{
	size_t first = 0, end;

	while (first < links->count && links->holders[first].file != file)
		first++;
	for (end = first; end < links->count && links->holders[end].file == file;)
		end++;
	if (first == end)
		return;
	close_holders(links, first, end);
	memmove(links->holders + first, links->holders + end,
		(links->count - end) * sizeof(*links->holders));
	links->count -= end - first;
}

bool links__are_orphaned(const struct links *links, uint64_t file)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->holders[i].file == file)
			return multi_link__is_orphaned(links->holders[i].link_fd);
	return false;
}

static int attach_multi(struct links *links, const struct bpf_program *program, int type,
			const struct linked_file *file, const struct multi_link_sites *sites,
			bool on_return, struct error *err)
{
	struct holder holder = {.file = file->number, .link_fd = -1, .perf_fd = -1};
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	holder.link_fd = multi_link__create_at(file->only, bpf_program__fd(program), type, path,
					       sites, on_return);
	if (holder.link_fd < 0)
		return error__set(err, holder.link_fd, "cannot attach %zu probes: %s", sites->count,
				  strerror(-holder.link_fd));
	if (ARRAY_APPEND(links->holders, links->count, holder)) {
		sigkill_safe__run(close_one, &holder, 1);
		return error__set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/*
 * Creates one tracefs event with `count` sites and runs `program` there with the event's number as
 * cookie.
 */
static int attach_event(struct links *links, const struct bpf_program *program,
			const struct linked_file *file, const struct tracefs_sites *sites,
			bool on_return, uint64_t cookie, struct error *err)
{
	struct holder holder = {
		.file = file->number, .link_fd = -1, .perf_fd = -1, .event = links->next_event};
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = cookie);
	int ret;

	ret = tracefs__add(links->tracefs, holder.event, on_return, file->fd, sites, err);
	if (ret < 0)
		return ret;
	links->next_event++;
	holder.perf_fd = ret;
	holder.link_fd =
		bpf_link_create(bpf_program__fd(program), holder.perf_fd, BPF_PERF_EVENT, &options);
	if (holder.link_fd < 0) {
		ret = error__set(err, -errno, "cannot attach to a uprobe event: %s",
				 strerror(errno));
		goto fail;
	}
	ret = ARRAY_APPEND(links->holders, links->count, holder);
	if (ret) {
		error__set(err, ret, "out of memory");
		goto fail;
	}
	return 0;
fail:
	close_holder(&holder);
	tracefs__close(links->tracefs, holder.event);
	tracefs__remove(links->tracefs, holder.event);
	return ret;
}

/* The cookie, as the BPF programs decode it. */
static uint32_t cookie_of(const struct link_point *site, pid_t only)
{
	return site->row | (site->unfollowed ? SITE_UNFOLLOWED : 0u) | (only ? SITE_CONFINED : 0u) |
	       (uint32_t)site->driver << SITE_DRIVER_SHIFT;
}

static int remember_sites(struct links *links, unsigned int event,
			  const struct link_point *const *sites, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct site_key key = {.event_and_ip =
					       event << 12 | (sites[i]->file_offset & 0xfff)};
		uint32_t cookie = cookie_of(sites[i], 0);

		if (bpf_map__update_elem(links->programs.sites, &key, sizeof(key), &cookie,
					 sizeof(cookie), BPF_ANY))
			return error__set(err, -errno, "cannot keep the probe sites: %s",
					  strerror(errno));
	}
	return 0;
}

/*
 * The sites of an event are told apart by the low 12 bits of their addresses. Puts those of the
 * `remaining` sites that do not collide into one event, and moves the other *left sites to the
 * front. A return is matched with the call that was recorded at its entry, so all returns fit one
 * event.
 */
static int attach_round(struct links *links, const struct link_point **remaining, size_t count,
			const struct linked_file *file, bool on_return, size_t *left,
			struct error *err)
{
	const struct link_point **taken = calloc(count, sizeof(*taken));
	uint64_t *offsets = calloc(2 * count, sizeof(*offsets));
	bool used[4096] = {false};
	const struct bpf_program *program = on_return		 ? links->programs.on_return :
					    remaining[0]->tensor ? links->programs.tensor :
								   links->programs.entry;
	struct tracefs_sites sites = {.offsets = offsets,
				      .counters = offsets ? offsets + count : NULL};
	size_t n = 0;
	int ret = -ENOMEM;

	*left = 0;
	if (!taken || !offsets) {
		error__set(err, ret, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t low = remaining[i]->file_offset & 0xfff;

		if (!on_return && used[low]) {
			remaining[(*left)++] = remaining[i];
			continue;
		}
		used[low] = true;
		offsets[n] = remaining[i]->file_offset;
		offsets[count + n] = remaining[i]->semaphore;
		taken[n++] = remaining[i];
	}
	sites.count = n;
	ret = on_return ? 0 : remember_sites(links, links->next_event, taken, n, err);
	if (!ret)
		ret = attach_event(links, program, file, &sites, on_return, links->next_event, err);
out:
	free(taken);
	free(offsets);
	return ret;
}

static int attach_tracefs(struct links *links, const struct linked_file *file,
			  const struct link_point *sites, size_t count, bool on_return,
			  struct error *err)
{
	const struct link_point **remaining = calloc(count, sizeof(*remaining));
	size_t left = 0;
	int ret = 0;

	if (!remaining)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		if (!on_return || sites[i].wants_return)
			remaining[left++] = &sites[i];
	while (left && !ret)
		ret = attach_round(links, remaining, left, file, on_return, &left, err);
	free(remaining);
	return ret;
}

static int attach_multi_returns(struct links *links, const struct linked_file *file,
				const struct link_point *sites, size_t count, struct error *err)
{
	uint64_t *offsets = calloc(count, sizeof(*offsets));
	struct multi_link_sites returns = {.offsets = offsets};
	int ret = 0;

	if (!offsets)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		if (sites[i].wants_return)
			offsets[returns.count++] = sites[i].file_offset;
	if (returns.count)
		ret = attach_multi(links, links->programs.on_return, ATTACH_UPROBE_MULTI, file,
				   &returns, true, err);
	free(offsets);
	return ret;
}

static int attach_all_multi(struct links *links, const struct linked_file *file,
			    const struct link_point *sites, size_t count, struct error *err)
{
	uint64_t *offsets = calloc(count * 3, sizeof(*offsets));
	uint64_t *cookies = offsets ? offsets + count : NULL;
	uint64_t *counters = offsets ? cookies + count : NULL;
	const struct multi_link_sites all = {.offsets = offsets,
					     .cookies = cookies,
					     .counters = sites[0].tensor ? counters : NULL,
					     .count = count};
	int ret;

	if (!offsets)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		offsets[i] = sites[i].file_offset;
		cookies[i] = cookie_of(&sites[i], file->only);
		counters[i] = sites[i].semaphore;
	}
	if (sites[0].tensor) {
		ret = attach_multi(links, links->programs.tensor, ATTACH_UPROBE_MULTI, file, &all,
				   false, err);
		goto out;
	}
	if (links->kind == LINKS_SESSION) {
		ret = attach_multi(links, links->programs.session, ATTACH_UPROBE_SESSION, file,
				   &all, false, err);
		goto out;
	}
	/* Returns first: no call may be seen entering without its return being probed. */
	ret = attach_multi_returns(links, file, sites, count, err);
	if (!ret)
		ret = attach_multi(links, links->programs.entry, ATTACH_UPROBE_MULTI, file, &all,
				   false, err);
out:
	free(offsets);
	return ret;
}

int links__attach(struct links *links, const struct linked_file *file,
		  const struct link_point *sites, size_t count, struct error *err)
{
	int ret;

	if (!count)
		return 0;
	if (links->kind == LINKS_TRACEFS) {
		ret = attach_tracefs(links, file, sites, count, true, err);
		if (!ret)
			ret = attach_tracefs(links, file, sites, count, false, err);
	} else {
		ret = attach_all_multi(links, file, sites, count, err);
	}
	if (ret)
		links__detach(links, file->number);
	return ret;
}
