// SPDX-License-Identifier: BSD-2-Clause
// CRCs of files, read once and with a limited rate; see file_crc.h.
#include "symbol/file_crc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "target/elf_file.h"

#define FILE_BYTES_MAX (1ull << 30)
#define BYTES_AT_ONCE (256ull << 20)
#define BYTES_A_SECOND (64ull << 20)
/* More than the number of files that a symbol cache has open. */
#define FILES_KEPT 512

/*
 * No padding, because it is compared as bytes. The change time is the one that no program can set.
 */
struct identity {
	uint64_t device, inode, size, changed_s, changed_ns;
};

struct file_crc {
	struct identity identity;
	uint64_t at; /* how far it has been read */
	uLong crc;
};

struct file_crcs {
	struct file_crc files[FILES_KEPT]; /* the oldest entry is replaced */
	size_t next;
	uint64_t left, filled_ns;
};

struct file_crcs *file_crcs__new(void)
{
	struct file_crcs *crcs = calloc(1, sizeof(*crcs));

	if (!crcs)
		return NULL;
	crcs->left = BYTES_AT_ONCE;
	crcs->filled_ns = clock__boot_ns();
	return crcs;
}

void file_crcs__free(struct file_crcs *crcs)
{
	free(crcs);
}

static void refill(struct file_crcs *crcs)
{
	uint64_t now = clock__boot_ns(), ms = (now - crcs->filled_ns) / NS_PER_MS;

	/* Counts whole milliseconds; the remainder counts the next time. */
	crcs->filled_ns += ms * NS_PER_MS;
	if (ms > 1000 * BYTES_AT_ONCE / BYTES_A_SECOND)
		ms = 1000 * BYTES_AT_ONCE / BYTES_A_SECOND;
	crcs->left += ms * (BYTES_A_SECOND / 1000);
	if (crcs->left > BYTES_AT_ONCE)
		crcs->left = BYTES_AT_ONCE;
}

static struct file_crc *find(struct file_crcs *crcs, const struct elf_file *file)
{
	const struct stat *stat = elf_file__stat(file);
	const struct identity identity = {
		.device = stat->st_dev,
		.inode = stat->st_ino,
		.size = (uint64_t)stat->st_size,
		.changed_s = (uint64_t)stat->st_ctim.tv_sec,
		.changed_ns = (uint64_t)stat->st_ctim.tv_nsec,
	};
	struct file_crc *entry;

	for (size_t i = 0; i < FILES_KEPT; i++) {
		if (memcmp(&crcs->files[i].identity, &identity, sizeof(identity)) == 0)
			return &crcs->files[i];
	}
	entry = &crcs->files[crcs->next];
	crcs->next = (crcs->next + 1) % FILES_KEPT;
	*entry = (struct file_crc){.identity = identity, .crc = crc32(0, NULL, 0)};
	return entry;
}

int file_crcs__find(struct file_crcs *crcs, const struct elf_file *file, uint32_t *crc)
{
	struct file_crc *entry;
	uint8_t buffer[65536];

	if ((uint64_t)elf_file__stat(file)->st_size > FILE_BYTES_MAX)
		return -EFBIG;
	refill(crcs);
	entry = find(crcs, file);
	while (entry->at < entry->identity.size) {
		uint64_t rest = entry->identity.size - entry->at;
		size_t size = rest < sizeof(buffer) ? (size_t)rest : sizeof(buffer);
		long n;

		if (crcs->left < size)
			return -EAGAIN;
		n = elf_file__read(file, entry->at, buffer, size);
		if (n <= 0)
			return -EIO;
		crcs->left -= (uint64_t)n;
		entry->at += (uint64_t)n;
		entry->crc = crc32(entry->crc, buffer, (uInt)n);
	}
	*crc = (uint32_t)entry->crc;
	return 0;
}
