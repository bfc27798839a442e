// SPDX-License-Identifier: BSD-2-Clause
// Gets the inode behind a mapping from the task_vma iterator; see identity.h.
#include "target/identity.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gen/identity.skel.h"
#include "gpuprobe/state.h"
#include "target/task_iterator.h"

#define MAPPINGS_MAX 131072 /* twice the kernel's default limit per process */

struct identity_reader {
	struct identity_programs programs;
	struct identity_bpf *skeleton; /* NULL: the programs belong to another object */
	struct bpf_link *link;
};

/*
 * Attaches to the mappings of one process (Linux 6.1): those of its main thread, or of the other
 * threads if that has ended.
 */
static struct bpf_link *attach_to(const struct identity_programs *programs, pid_t pid)
{
	return task_iterator__attach(programs->mappings, pid, 0);
}

/*
 * Limits the iterator to this process if the kernel can. Otherwise the iterator visits all
 * processes, and the program selects this one by `tgid`, which is correct in the initial pid
 * namespace.
 */
static struct bpf_link *attach(const struct identity_programs *programs)
{
	uint32_t zero = 0, tgid = (uint32_t)getpid();
	struct bpf_link *link = attach_to(programs, getpid());

	if (link)
		return link;
	if (bpf_map__update_elem(programs->tgid, &zero, sizeof(zero), &tgid, sizeof(tgid), 0))
		return NULL;
	return bpf_program__attach_iter(programs->mappings, NULL);
}

static int load(struct identity_reader *reader, struct error *err)
{
	reader->skeleton = identity_bpf__open_and_load();
	if (!reader->skeleton)
		return error__set(err, -errno, "the kernel refused the iterator over mappings: %s",
				  strerror(errno));
	reader->programs = (struct identity_programs)IDENTITY_PROGRAMS(reader->skeleton);
	return 0;
}

int identity_reader__new(const struct identity_programs *programs, struct identity_reader **out,
			 struct error *err)
{
	struct identity_reader *reader = calloc(1, sizeof(*reader));
	int ret = 0;

	if (!reader)
		return error__set(err, -ENOMEM, "out of memory");
	if (programs)
		reader->programs = *programs;
	else
		ret = load(reader, err);
	if (ret)
		goto fail;
	reader->link = attach(&reader->programs);
	if (!reader->link) {
		ret = error__set(err, -errno, "cannot attach the iterator over mappings: %s",
				 strerror(errno));
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

/*
 * A read ends with EAGAIN after a million mappings without output, which happens if it visits all
 * processes.
 */
static ssize_t read_more(int iter, void *buffer, size_t size, bool goes_on)
{
	ssize_t n;

	do {
		n = read(iter, buffer, size);
	} while (n < 0 && errno == EAGAIN && goes_on);
	return n;
}

/* Returns false to stop. */
typedef bool (*record_fn)(const struct vma_identity *record, void *arg);

/*
 * Passes on the iterator's records, at most `max`. Returns 0 at their end, 1 if `fn` stopped, or a
 * negative errno.
 */
static int read_records(struct bpf_link *link, size_t max, record_fn fn, void *arg)
{
	struct vma_identity batch[64];
	int iter = bpf_iter_create(bpf_link__fd(link)), ret = 0;
	size_t kept = 0, taken = 0;
	ssize_t n = 1;

	if (iter < 0)
		return -errno;
	while (!ret && taken < max &&
	       (n = read_more(iter, (char *)batch + kept, sizeof(batch) - kept, max == SIZE_MAX)) >
		       0) {
		size_t bytes = kept + (size_t)n, count = bytes / sizeof(*batch);

		for (size_t i = 0; i < count && !ret; i++)
			ret = !fn(&batch[i], arg);
		taken += count;
		kept = bytes % sizeof(*batch);
		memmove(batch, (char *)batch + bytes - kept, kept);
	}
	if (n < 0)
		ret = -errno;
	close(iter);
	return ret;
}

struct wanted_mapping {
	uint64_t start;
	struct file_identity *identity;
};

static struct file_identity identity_of(const struct vma_identity *record)
{
	return (struct file_identity){
		.inode = record->inode, .number = record->ino, .device = record->dev};
}

static bool find_mapping(const struct vma_identity *record, void *arg)
{
	const struct wanted_mapping *wanted = arg;

	if (record->start != wanted->start)
		return true;
	*wanted->identity = identity_of(record);
	return false;
}

int identity_reader__of_fd(struct identity_reader *reader, int fd, struct file_identity *identity)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	struct wanted_mapping wanted = {.start = (uint64_t)(uintptr_t)mapping,
					.identity = identity};
	int ret;

	if (mapping == MAP_FAILED)
		return -errno;
	ret = read_records(reader->link, SIZE_MAX, find_mapping, &wanted);
	munmap(mapping, size);
	return ret == 1 ? 0 : (ret ? ret : -ENOENT);
}

struct wanted_files {
	struct mapped_file *files;
	size_t count, known;
};

static int compare_starts(const void *start, const void *file)
{
	uint64_t a = *(const uint64_t *)start, b = ((const struct mapped_file *)file)->start;

	return (a > b) - (a < b);
}

/* For a process without its main thread, each mapping is reported once per thread. */
static bool take_file(const struct vma_identity *record, void *arg)
{
	struct wanted_files *wanted = arg;
	const uint64_t start = record->start;
	struct mapped_file *file = bsearch(&start, wanted->files, wanted->count,
					   sizeof(*wanted->files), compare_starts);

	if (!file || file->identity.inode)
		return true;
	file->identity = identity_of(record);
	file->is_fuse = record->magic == FUSE_SUPER_MAGIC;
	memcpy(file->name, record->name, sizeof(file->name));
	return ++wanted->known < wanted->count;
}

int identity_reader__of_process(struct identity_reader *reader, pid_t pid,
				struct mapped_file *files, size_t count)
{
	struct wanted_files wanted = {.files = files, .count = count};
	struct bpf_link *link = attach_to(&reader->programs, pid);
	int ret;

	if (!link)
		return -errno;
	ret = read_records(link, MAPPINGS_MAX, take_file, &wanted);
	bpf_link__destroy(link);
	return ret < 0 ? ret : 0;
}

int identity_reader__is_mapped(struct identity_reader *reader, const struct file_identity *identity)
{
	struct mapped_question question = {.inode = identity->inode};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &question,
		    .ctx_size_in = sizeof(question));
	int ret = bpf_prog_test_run_opts(bpf_program__fd(reader->programs.is_mapped), &options);

	if (ret)
		return -errno;
	return (int)options.retval;
}

bool file_identity__equal(const struct file_identity *a, const struct file_identity *b)
{
	return a->inode == b->inode && a->number == b->number && a->device == b->device;
}
