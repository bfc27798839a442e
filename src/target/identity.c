// SPDX-License-Identifier: BSD-2-Clause
// Asks the task_vma iterator for the inode behind a mapping, see identity.h.
#include "target/identity.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gen/identity.skel.h"
#include "gpuprobe/state.h"

struct identity_reader {
	struct identity_bpf *skeleton;
	struct bpf_link *link;
};

/*
 * Limits the iterator to this process where the kernel can (Linux 6.1).
 * Elsewhere it goes through all processes, and the program picks this one by
 * `tgid`, which is right in the initial pid namespace.
 */
static struct bpf_link *attach(struct identity_bpf *skeleton)
{
	struct bpf_program *program = skeleton->progs.identity_of_mappings;
	uint32_t zero = 0, tgid = (uint32_t)getpid();
	struct bpf_iter_attach_opts options;
	union bpf_iter_link_info info;
	struct bpf_link *link;

	/* Not LIBBPF_OPTS: the compiler need not clear what follows the last member, and libbpf refuses what is not zero. */
	memset(&options, 0, sizeof(options));
	memset(&info, 0, sizeof(info));
	info.task.pid = tgid;
	options.sz = sizeof(options);
	options.link_info = &info;
	options.link_info_len = sizeof(info);
	link = bpf_program__attach_iter(program, &options);
	if (link)
		return link;
	if (bpf_map__update_elem(skeleton->maps.identity_tgid, &zero, sizeof(zero), &tgid, sizeof(tgid), 0))
		return NULL;
	return bpf_program__attach_iter(program, NULL);
}

int identity_reader__new(struct identity_reader **out, struct error *err)
{
	struct identity_reader *reader = calloc(1, sizeof(*reader));
	int ret;

	if (!reader)
		return error__set(err, -ENOMEM, "out of memory");
	reader->skeleton = identity_bpf__open_and_load();
	if (!reader->skeleton) {
		ret = error__set(err, -errno, "the kernel refused the iterator over mappings: %s", strerror(errno));
		goto fail;
	}
	reader->link = attach(reader->skeleton);
	if (!reader->link) {
		ret = error__set(err, -errno, "cannot attach the iterator over mappings: %s", strerror(errno));
		goto fail;
	}
	*out = reader;
	return 0;
fail:
	identity_reader__free(reader);
	return ret;
}

void identity_reader__free(struct identity_reader *reader)
{
	if (!reader)
		return;
	bpf_link__destroy(reader->link);
	identity_bpf__destroy(reader->skeleton);
	free(reader);
}

/* A read ends with EAGAIN after a million mappings that were not told of, as where it goes through all processes. */
static ssize_t read_more(int iter, void *buffer, size_t size)
{
	ssize_t n;

	do {
		n = read(iter, buffer, size);
	} while (n < 0 && errno == EAGAIN);
	return n;
}

/* Reads the iterator's records until the mapping at `start` comes by. */
static int find_mapping(struct identity_reader *reader, uint64_t start, struct file_identity *identity)
{
	struct vma_identity batch[64];
	int iter = bpf_iter_create(bpf_link__fd(reader->link)), ret = -ENOENT;
	size_t kept = 0;
	ssize_t n;

	if (iter < 0)
		return -errno;
	while ((n = read_more(iter, (char *)batch + kept, sizeof(batch) - kept)) > 0) {
		size_t bytes = kept + (size_t)n, count = bytes / sizeof(*batch);

		for (size_t i = 0; i < count; i++) {
			if (batch[i].start != start)
				continue;
			identity->inode = batch[i].inode;
			identity->number = batch[i].ino;
			identity->device = batch[i].dev;
			ret = 0;
			goto out;
		}
		kept = bytes % sizeof(*batch);
		memmove(batch, (char *)batch + bytes - kept, kept);
	}
	if (n < 0)
		ret = -errno;
out:
	close(iter);
	return ret;
}

int identity_reader__of_fd(struct identity_reader *reader, int fd, struct file_identity *identity)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	int ret;

	if (mapping == MAP_FAILED)
		return -errno;
	ret = find_mapping(reader, (uint64_t)(uintptr_t)mapping, identity);
	munmap(mapping, size);
	return ret;
}

int identity_reader__is_mapped(struct identity_reader *reader, const struct file_identity *identity)
{
	struct mapped_question question = {.inode = identity->inode};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &question, .ctx_size_in = sizeof(question));
	int ret = bpf_prog_test_run_opts(bpf_program__fd(reader->skeleton->progs.inode_is_mapped), &options);

	if (ret)
		return -errno;
	return (int)options.retval;
}

bool file_identity__equal(const struct file_identity *a, const struct file_identity *b)
{
	return a->inode == b->inode && a->number == b->number && a->device == b->device;
}
