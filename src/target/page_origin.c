// SPDX-License-Identifier: BSD-2-Clause
// Which pages of a mapped file are still the file's; see page_origin.h.
#include "target/page_origin.h"

#include <fcntl.h>
#include <unistd.h>

#include "target/proc.h"

#define PAGE 4096
/* Documentation/admin-guide/mm/pagemap.rst */
#define IN_MEMORY (1ull << 63)
#define IN_SWAP (1ull << 62) /* also while it moves */
#define OF_FILE (1ull << 61) /* or of shared memory */

void page_origin__open(struct page_origin *origin, pid_t pid)
{
	char path[64];

	proc__path(pid, "pagemap", path, sizeof(path));
	origin->fd = open(path, O_RDONLY | O_CLOEXEC);
	origin->count = 0;
}

void page_origin__close(struct page_origin *origin)
{
	if (origin->fd >= 0)
		close(origin->fd);
	origin->fd = -1;
}

static void look_up(struct page_origin *origin, uint64_t page)
{
	ssize_t n = pread(origin->fd, origin->entries, sizeof(origin->entries),
			  (off_t)(page * sizeof(*origin->entries)));

	origin->first = page;
	origin->count = n < 0 ? 0 : (uint64_t)n / sizeof(*origin->entries);
}

bool page_origin__is_file(struct page_origin *origin, uint64_t address)
{
	uint64_t page = address / PAGE, entry;

	if (origin->fd < 0)
		return false;
	if (page < origin->first || page - origin->first >= origin->count)
		look_up(origin, page);
	if (!origin->count)
		return false;
	entry = origin->entries[page - origin->first];
	if (entry & IN_SWAP)
		return false;
	return !(entry & IN_MEMORY) || entry & OF_FILE;
}
