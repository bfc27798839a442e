// SPDX-License-Identifier: BSD-2-Clause
/*
 * Confines probes to one process while only one process is watched, or only one of COMMAND's has
 * CUDA functions. No other process then meets a breakpoint, and a reader of the file by a private
 * mapping finds its real contents. When a second process has CUDA functions, all files get links
 * for all processes, whatever calls are in progress (bpf/process/confined.bpf.h).
 *
 * A link for each of several processes would cost every call there about 30 ns per additional link.
 * While a site has two links, neither can skip a return: launches, most of whose returns are
 * skipped, would cost 200 ns more, and threads that switch stacks would be ended
 * (bpf/call/switch.bpf.h). So even two processes get links for all.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/attacher_private.h"
#include "target/proc.h"

#define LEAVE_NS (5 * NS_PER_S) /* for calls in progress, before the links are detached */

static bool is_confined(const struct attached_file *file)
{
	return file->sites_kept;
}

void attacher__forget_sites(struct attached_file *file)
{
	free(file->sites_kept);
	file->sites_kept = NULL;
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void attacher__release(struct attacher *attacher, struct attached_file *file)
{
	uint64_t numbers[] = {file->links, file->leaving};

	for (int i = 0; i < 2 && numbers[i]; i++)
		attacher__unlink(attacher, numbers[i]);
	attacher__count_file(attacher, file, -1);
	attacher__forget_sites(file);
	*file = attacher->files[--attacher->file_count];
}

int attacher__keep_sites(struct attached_file *file, int fd, const struct link_point *sites,
			 size_t count, struct error *err)
{
	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (file->fd < 0)
		return error__set(err, -errno, "cannot keep the file open: %s", strerror(errno));
	file->sites_kept = calloc(count ? count : 1, sizeof(*sites));
	if (!file->sites_kept) {
		attacher__forget_sites(file);
		return error__set(err, -ENOMEM, "out of memory");
	}
	memcpy(file->sites_kept, sites, count * sizeof(*sites));
	file->kept_count = count;
	return 0;
}

/* --- whose they are --- */

uint64_t attacher__probed_ns(const struct attacher *attacher, const struct attached_file *file,
			     pid_t pid)
{
	return file->shared_ns && pid != attacher->last_owner ? file->shared_ns : file->probed_ns;
}

static void set_owner(struct attacher *attacher, pid_t pid)
{
	attacher->owner = pid;
	if (pid)
		attacher->last_owner = pid;
	*attacher->confined_to = pid;
}

static bool is_orphaned(const struct attacher *attacher, const struct attached_file *file)
{
	for (int kind = 0; kind < APART_KINDS; kind++)
		if (attacher->apart[kind] &&
		    family_links__are_orphaned(attacher->apart[kind], file->links))
			return true;
	return links__are_orphaned(attacher->links, file->links);
}

/* Attaches the file for all processes, in addition to the links for one. */
static void share_file(struct attacher *attacher, struct attached_file *file)
{
	const struct linked_file all = {.number = ++attacher->last_number, .fd = file->fd};
	struct error err = {""};

	if (attacher__link(attacher, &all, file->sites_kept, file->kept_count, &err)) {
		attacher->counts.skipped++;
		log__warn(attacher->log,
			  "process %d: the probes of one library stay in process %d only: %s",
			  attacher->scanned, attacher->owner, err.text);
	} else {
		file->leaving = file->links;
		file->links = all.number;
	}
	file->shared_ns = clock__boot_ns();
	attacher__forget_sites(file);
}

static void share(struct attacher *attacher)
{
	attacher->confines = false;
	if (!attacher->owner)
		return;
	*attacher->handing_over = 1;
	for (size_t i = 0; i < attacher->file_count; i++)
		if (is_confined(&attacher->files[i]))
			share_file(attacher, &attacher->files[i]);
	attacher->shared_ns = clock__boot_ns();
	log__info(attacher->log,
		  "process %d is no longer the only one that may call CUDA: from now on probes are "
		  "in CUDA's "
		  "libraries, for all processes of the machine",
		  attacher->owner);
	set_owner(attacher, 0);
}

/*
 * Removes the links of a process that is gone. If a file must be seen in every process, all files
 * get probes for all.
 */
static void drop_orphans(struct attacher *attacher)
{
	bool stays = false, keeps = false;

	for (size_t i = 0; i < attacher->file_count;) {
		struct attached_file *file = &attacher->files[i];
		bool is_owners = is_confined(file),
		     is_lost = is_owners && is_orphaned(attacher, file);

		if (is_lost && !file->is_kept) {
			attacher__release(attacher, file);
			continue;
		}
		keeps |= is_lost;
		stays |= is_owners;
		i++;
	}
	if (keeps)
		share(attacher);
	else if (!stays)
		set_owner(attacher, 0);
}

/*
 * Probes cannot be confined to a process whose main thread has ended (pthread_exit): the kernel
 * finds its memory by that thread. Links that were confined to it do not reach files that it maps
 * from then on.
 */
static bool can_own(struct attacher *attacher, pid_t pid)
{
	bool can = proc__living_thread(pid) == pid;

	if (!can && attacher->last_owner == pid)
		attacher->last_owner = 0;
	return can;
}

void attacher__claim(struct attacher *attacher)
{
	if (!attacher->confines || attacher->claimed)
		return;
	attacher->claimed = true;
	if (attacher->owner)
		drop_orphans(attacher);
	if (!attacher->confines)
		return;
	if (!attacher->scanned || (attacher->owner && attacher->owner != attacher->scanned) ||
	    !can_own(attacher, attacher->scanned))
		share(attacher);
	else
		set_owner(attacher, attacher->scanned);
}

bool attacher__confines(const struct attacher *attacher)
{
	return attacher->confines || (attacher->beside && attacher->beside->confines);
}

void attacher__widen(struct attacher *attacher)
{
	if (attacher->confines)
		share(attacher);
	if (attacher->beside)
		attacher__widen(attacher->beside);
}

static void finish_sharing(struct attacher *attacher, uint64_t now_ns)
{
	if (!*attacher->handing_over || now_ns - attacher->shared_ns < LEAVE_NS)
		return;
	for (size_t i = 0; i < attacher->file_count; i++) {
		struct attached_file *file = &attacher->files[i];

		if (!file->leaving)
			continue;
		attacher__unlink(attacher, file->leaving);
		file->leaving = 0;
	}
	*attacher->handed_over_ns = attacher->shared_ns;
	*attacher->handing_over = 0;
}

void attacher__finish_sharing(struct attacher *attacher, uint64_t now_ns)
{
	finish_sharing(attacher, now_ns);
	if (attacher->beside)
		finish_sharing(attacher->beside, now_ns);
}
