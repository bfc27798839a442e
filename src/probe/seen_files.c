// SPDX-License-Identifier: BSD-2-Clause
// Files of processes that were scanned, see seen_files.h.
#include "probe/seen_files.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "api/api.h"
#include "base/table.h"
#include "target/proc.h"

#define SEEN_MAX 65536	     /* files remembered as scanned; at the limit all are forgotten */
#define KERNEL_MINOR_BITS 20 /* of a device number inside the kernel */
#define KERNEL_MINOR_MASK ((1u << KERNEL_MINOR_BITS) - 1)

struct seen_file {
	struct seen_key key;
	uint64_t file; /* its number among those with probes; 0 if it got none */
	UT_hash_handle hh;
};

void attacher__forget_seen(struct attacher *attacher)
{
	TABLE_CLEAR(attacher->seen, free);
}

struct seen_key seen_files__key(const struct mapping *mapping, const struct file_identity *identity,
				int fd)
{
	struct seen_key key = {
		.address = identity->inode,
		.number = identity->number,
		.on = identity->device,
		.device = mapping->device,
		.inode = mapping->inode,
	};
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status)) {
		key.changed_s = status.st_ctim.tv_sec;
		key.changed_ns = status.st_ctim.tv_nsec;
	}
	return key;
}

static struct seen_file *find_seen(const struct attacher *attacher, const struct seen_key *key)
{
	return TABLE_FIND(attacher->seen, key, key);
}

bool seen_files__have(const struct attacher *attacher, const struct seen_key *key)
{
	return find_seen(attacher, key);
}

void seen_files__remember(struct attacher *attacher, const struct seen_key *key, uint64_t file)
{
	struct seen_file *seen = find_seen(attacher, key);

	if (!seen && HASH_COUNT(attacher->seen) >= SEEN_MAX)
		attacher__forget_seen(attacher);
	if (!seen)
		seen = TABLE_ADD_NEW(attacher->seen, key, key);
	if (seen) /* else it will be scanned again */
		seen->file = file;
}

static bool is_late(const struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
		    uint64_t since_ns)
{
	const struct attached_file *file;
	const struct seen_file *seen, *next;

	HASH_ITER (hh, attacher->seen, seen, next) {
		if (seen->key.device != device || seen->key.inode != inode || !seen->file)
			continue;
		file = attacher__find_file(attacher, seen->file);
		if (file && attacher__probed_ns(attacher, file, pid) > since_ns)
			return true;
	}
	return false;
}

bool attacher__is_late(const struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
		       uint64_t since_ns)
{
	return is_late(attacher, pid, device, inode, since_ns) ||
	       (attacher->beside && is_late(attacher->beside, pid, device, inode, since_ns));
}

/*
 * Whether the file had probes at `since_ns`: a file given by name is probed before any process maps
 * it.
 */
static bool had_probes(const struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
		       uint64_t since_ns)
{
	for (size_t i = 0; i < attacher->file_count; i++) {
		const struct attached_file *file = &attacher->files[i];
		const struct file_identity *identity = &file->identity;

		if (identity->number == inode &&
		    makedev(identity->device >> KERNEL_MINOR_BITS,
			    identity->device & KERNEL_MINOR_MASK) == device)
			return attacher__probed_ns(attacher, file, pid) <= since_ns;
	}
	return false;
}

static bool has_missed(struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
		       uint64_t since_ns)
{
	const struct seen_file *seen, *next;

	if (had_probes(attacher, pid, device, inode, since_ns))
		return false;

	HASH_ITER (hh, attacher->seen, seen, next) {
		if (seen->key.device == device && seen->key.inode == inode)
			return false;
	}
	attacher->counts.skipped++;
	return true;
}

bool attacher__has_missed(struct attacher *attacher, pid_t pid, dev_t device, uint64_t inode,
			  uint64_t since_ns)
{
	bool missed = has_missed(attacher, pid, device, inode, since_ns);

	if (attacher->beside)
		missed |= has_missed(attacher->beside, pid, device, inode, since_ns);
	return missed;
}

/* `arg` is the attacher. Returns 1 for a probed library that says when memory ran out. */
static int find_exhaustion(const struct mapping *mapping, void *arg)
{
	const struct attacher *attacher = arg;
	const char *base = mapping__base_name(mapping->path);
	const struct attached_file *file;
	const struct seen_file *seen, *next;

	if (!mapping->executable || !base || !api__has_exhaustion(base))
		return 0;
	HASH_ITER (hh, attacher->seen, seen, next) {
		if (seen->key.device != mapping->device || seen->key.inode != mapping->inode)
			continue;
		file = attacher__find_file(attacher, seen->file);
		if (file && file->says_exhaustion)
			return 1;
	}
	return 0;
}

bool attacher__has_exhaustion(const struct attacher *attacher, pid_t pid)
{
	return proc_maps__each(pid, find_exhaustion, (void *)attacher) == 1;
}

void seen_files__count_skipped(struct attacher *attacher, const struct mapping *mapping)
{
	const struct seen_key key = {.device = mapping->device, .inode = mapping->inode};

	if (find_seen(attacher, &key))
		return;
	seen_files__remember(attacher, &key, 0);
	attacher->counts.skipped++;
}

void seen_files__count_cut(struct attacher *attacher, pid_t pid)
{
	struct process_info info;
	/* No file has such a device. */
	struct seen_key key = {.device = UINT64_MAX, .inode = (uint64_t)pid};

	if (!proc__info(pid, &info))
		key.number = info.start_ns;
	if (find_seen(attacher, &key))
		return;
	seen_files__remember(attacher, &key, 0);
	attacher->counts.skipped++;
}
