// SPDX-License-Identifier: BSD-2-Clause
/*
 * Removes the probes from files that no process maps any more; see attacher__release_unused in
 * attacher.h. Probes pin a file's inode and mount: a container's file system would never be
 * unmounted, and a deleted file's space never freed.
 *
 * This loses no calls that would be seen otherwise: the kernel reports a mapping only after the
 * fact, and a mapping reported before the probes are removed resets the time.
 */
#include "probe/attacher_private.h"

/* If it is unknown whether the file is mapped, it counts as used. */
static bool is_unused(struct attacher *attacher, struct attached_file *file, uint64_t unused_ns,
		      uint64_t now_ns)
{
	if (identity_reader__is_mapped(attacher->identities, &file->identity)) {
		file->unmapped_ns = 0;
		return false;
	}
	if (!file->unmapped_ns)
		file->unmapped_ns = now_ns;
	return now_ns - file->unmapped_ns >= unused_ns;
}

static void release_one(struct attacher *attacher, uint64_t unused_ns, uint64_t now_ns)
{
	for (size_t i = 0; attacher->releases && i < attacher->file_count; i++) {
		struct attached_file *file = &attacher->files[i];

		if (file->is_kept || !is_unused(attacher, file, unused_ns, now_ns))
			continue;
		log__debug(attacher->log,
			   "inode %llu: no process maps it any more: removing its probes",
			   (unsigned long long)file->identity.number);
		attacher__release(attacher, file);
		return;
	}
}

void attacher__release_unused(struct attacher *attacher, uint64_t unused_ns, uint64_t now_ns)
{
	release_one(attacher, unused_ns, now_ns);
	if (attacher->beside)
		release_one(attacher->beside, unused_ns, now_ns);
}
