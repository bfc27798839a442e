// SPDX-License-Identifier: BSD-2-Clause
// Attaches and detaches the probes of a family on all files; see family_links.h.
#include "probe/family_links.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/threads.h"
#include "api/api.h"

#define ENOTSUPP 524	   /* kernel-internal errno: an instruction that cannot be probed */
#define SAMPLED RATE_EXACT /* families below it may be detached */

/* A family's functions in one file. */
struct family_sites {
	struct link_point *sites;
	size_t count;
};

struct family_file {
	struct linked_file linked; /* owns its descriptor */
	struct family_sites families[SAMPLED];
};

struct family {
	struct links *links; /* NULL: detached */
	pthread_t closer;    /* closes the detached links: */
	struct links *gone;
	bool closing; /* the thread was started */
	bool closed;  /* atomic: it has finished */
};

struct family_links {
	enum link_kind kind;
	struct probe_programs programs;
	family_of_function family_of;
	int count; /* of families, at most SAMPLED */
	volatile uint64_t *unseen_until;
	struct family families[SAMPLED];
	struct family_file *files;
	size_t file_count;
	size_t left_out; /* files that could not be attached again, counted for each family */
};

int family_links__new(enum link_kind kind, const struct probe_programs *programs,
		      family_of_function family_of, int count, volatile uint64_t *unseen_until,
		      struct family_links **out, struct error *err)
{
	struct family_links *links = calloc(1, sizeof(*links));
	int ret = 0;

	if (!links)
		return error__set(err, -ENOMEM, "out of memory");
	links->kind = kind;
	links->programs = *programs;
	links->family_of = family_of;
	links->count = count;
	links->unseen_until = unseen_until;
	for (int family = 0; family < count && !ret; family++)
		ret = links__new(kind, programs, &links->families[family].links, err);
	if (ret) {
		family_links__free(links);
		return ret;
	}
	*out = links;
	return 0;
}

static void clear_file(struct family_file *file)
{
	for (int family = 0; family < SAMPLED; family++)
		free(file->families[family].sites);
	if (file->linked.fd >= 0)
		close(file->linked.fd);
}

static void finish_closing(struct family *family)
{
	if (family->closing)
		pthread_join(family->closer, NULL);
	family->closing = false;
}

static void free_family(void *arg, unsigned int which)
{
	struct family_links *links = arg;
	struct family *family = &links->families[which];

	finish_closing(family);
	links__free(family->links);
}

void family_links__free(struct family_links *links)
{
	if (!links)
		return;
	threads__each(free_family, links, (unsigned int)links->count);
	for (size_t i = 0; i < links->file_count; i++)
		clear_file(&links->files[i]);
	free(links->files);
	free(links);
}

/* --- files --- */

static enum rate_family family_of(const struct family_links *links, const struct link_point *site)
{
	return site->row < api_function_count ? links->family_of(&api_functions[site->row].desc) :
						RATE_EXACT;
}

size_t family_links__divide(const struct family_links *links, struct link_point *sites,
			    size_t count)
{
	size_t staying = 0;

	for (size_t i = 0; i < count; i++) {
		struct link_point site = sites[i];

		if (family_of(links, &site) != RATE_EXACT)
			continue;
		sites[i] = sites[staying];
		sites[staying++] = site;
	}
	return staying;
}

static int choose_sites(const struct family_links *links, struct family_sites *chosen, int family,
			const struct link_point *sites, size_t count)
{
	chosen->sites = calloc(count ? count : 1, sizeof(*chosen->sites));
	if (!chosen->sites)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if ((int)family_of(links, &sites[i]) == family)
			chosen->sites[chosen->count++] = sites[i];
	return 0;
}

static int fill_file(const struct family_links *links, struct family_file *file, int fd,
		     const struct link_point *sites, size_t count, struct error *err)
{
	file->linked.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (file->linked.fd < 0)
		return error__set(err, -errno, "cannot keep the file open: %s", strerror(errno));
	for (int family = 0; family < links->count; family++)
		if (choose_sites(links, &file->families[family], family, sites, count))
			return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

static int attach_family(struct family_links *links, int family, const struct family_file *file,
			 struct error *err)
{
	const struct family_sites *own = &file->families[family];

	return links__attach(links->families[family].links, &file->linked, own->sites, own->count,
			     err);
}

struct detaching {
	struct family_links *links;
	uint64_t file;
};

static void detach_family(void *arg, unsigned int which)
{
	const struct detaching *detaching = arg;
	struct family *family = &detaching->links->families[which];

	if (family->links)
		links__detach(family->links, detaching->file);
}

static void detach_families(struct family_links *links, uint64_t file)
{
	struct detaching detaching = {.links = links, .file = file};

	threads__each(detach_family, &detaching, (unsigned int)links->count);
}

/* Attaches all families that are in use; none of them if one fails. */
static int attach_families(struct family_links *links, const struct family_file *file,
			   struct error *err)
{
	int ret = 0;

	for (int family = 0; family < links->count && !ret; family++)
		if (links->families[family].links)
			ret = attach_family(links, family, file, err);
	if (ret)
		detach_families(links, file->linked.number);
	return ret;
}

int family_links__add(struct family_links *links, const struct linked_file *linked,
		      const struct link_point *sites, size_t count, struct error *err)
{
	struct family_file file = {
		.linked = {.number = linked->number, .fd = -1, .only = linked->only}};
	int ret = fill_file(links, &file, linked->fd, sites, count, err);

	if (!ret && ARRAY_RESERVE(links->files, links->file_count, 1))
		ret = error__set(err, -ENOMEM, "out of memory");
	if (!ret)
		ret = attach_families(links, &file, err);
	if (ret) {
		clear_file(&file);
		return ret;
	}
	links->files[links->file_count++] = file;
	return 0;
}

void family_links__remove(struct family_links *links, uint64_t file)
{
	size_t i = 0;

	while (i < links->file_count && links->files[i].linked.number != file)
		i++;
	if (i == links->file_count)
		return;
	detach_families(links, file);
	clear_file(&links->files[i]);
	links->files[i] = links->files[--links->file_count];
}

bool family_links__are_orphaned(const struct family_links *links, uint64_t file)
{
	for (int family = 0; family < links->count; family++)
		if (links->families[family].links &&
		    links__are_orphaned(links->families[family].links, file))
			return true;
	return false;
}

/* --- in and out --- */

static void *close_links(void *arg)
{
	struct family *family = arg;

	links__free(family->gone);
	__atomic_store_n(&family->closed, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_closing(const struct family *family)
{
	return family->closing && !__atomic_load_n(&family->closed, __ATOMIC_ACQUIRE);
}

static void take_out(struct family_links *links, int which)
{
	struct family *family = &links->families[which];

	finish_closing(family); /* no wait: a family that is attached has no closer running */
	/* Set this before detaching: from here on calls are known to be unseen. */
	links->unseen_until[which] = UINT64_MAX;
	family->gone = family->links;
	family->links = NULL;
	family->closed = false;
	if (pthread_create(&family->closer, NULL, close_links, family))
		links__free(family->gone);
	else
		family->closing = true;
}

/*
 * Whether the file is at fault: its owner may have truncated or changed it. Other files must keep
 * their probes.
 */
static bool is_of_file(int code)
{
	return code == -EINVAL || code == -EIO || code == -ENOEXEC || code == -ENOTSUPP;
}

static int put_in_file(struct family_links *links, int which, struct family_file *file,
		       struct error *err)
{
	int ret = attach_family(links, which, file, err);

	if (ret == -ESRCH && file->linked.only)
		return 0; /* the process is gone, so there is nothing left to watch */
	if (!is_of_file(ret))
		return ret;
	file->families[which].count = 0;
	links->left_out++;
	return 0;
}

static int put_in(struct family_links *links, int which, struct error *err)
{
	struct family *family = &links->families[which];
	int ret = links__new(links->kind, &links->programs, &family->links, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < links->file_count && !ret; i++)
		ret = put_in_file(links, which, &links->files[i], err);
	if (ret) {
		links__free(family->links);
		family->links = NULL;
		return ret;
	}
	links->unseen_until[which] = clock__boot_ns();
	return 0;
}

/* Attaching while the kernel is still detaching the previous links would only be slow. */
static bool is_busy(const struct family_links *links, unsigned int families)
{
	for (int family = 0; family < links->count; family++)
		if (families & 1u << family && !links->families[family].links &&
		    is_closing(&links->families[family]))
			return true;
	return false;
}

int family_links__watch(struct family_links *links, unsigned int families, struct error *err)
{
	int first = 0;

	if (is_busy(links, families))
		return error__set(err, -EBUSY, "probes are still being removed");

	for (int family = 0; family < links->count; family++) {
		bool wanted = families & 1u << family;
		int ret = 0;

		if (wanted && !links->families[family].links)
			ret = put_in(links, family, err);
		else if (!wanted && links->families[family].links)
			take_out(links, family);
		first = first ? first : ret;
	}
	return first;
}

size_t family_links__left_out(const struct family_links *links)
{
	return links->left_out;
}
