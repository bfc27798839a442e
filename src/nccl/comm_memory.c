// SPDX-License-Identifier: BSD-2-Clause
// Reads communicators in the memory of processes, see comm_memory.h.
#include "nccl/comm_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nccl/getter_code.h"
#include "target/elf_file.h"
#include "target/proc_maps.h"

#define FILES_MAX 64 /* whose layouts are remembered */
#define TRIED_MAX 8  /* files of a process */

/* A file, and what its code shows. */
struct known_file {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
	int ret; /* of comm_layout__read */
	struct comm_layout layout;
	int version; /* of comm_layout__version */
};

struct comm_memory {
	struct memory_reader *reader;
	struct known_file files[FILES_MAX];
	size_t count; /* so far: the oldest entry is replaced */
};

struct comm_memory *comm_memory__new(struct memory_reader *reader)
{
	struct comm_memory *memory = calloc(1, sizeof(*memory));

	if (memory)
		memory->reader = reader;
	return memory;
}

void comm_memory__free(struct comm_memory *memory)
{
	free(memory);
}

/* --- layouts --- */

static bool is_file(const struct known_file *file, const struct stat *status)
{
	return file->inode == status->st_ino && file->device == status->st_dev &&
	       file->size == status->st_size && file->changed.tv_sec == status->st_mtim.tv_sec &&
	       file->changed.tv_nsec == status->st_mtim.tv_nsec;
}

static const struct known_file *find_file(const struct comm_memory *memory,
					  const struct stat *status)
{
	size_t count = memory->count < FILES_MAX ? memory->count : FILES_MAX;

	for (size_t i = 0; i < count; i++)
		if (is_file(&memory->files[i], status))
			return &memory->files[i];
	return NULL;
}

/* Takes `fd`. */
static void read_file(int fd, struct known_file *known)
{
	struct elf_file *file;

	known->ret = elf_file__open_fd(fd, "NCCL", &file, NULL);
	if (known->ret)
		return;
	known->ret = comm_layout__read(file, &known->layout);
	known->version = comm_layout__version(file);
	elf_file__free(file);
}

/* Returns 0 or a negative errno; *out is valid until the next file. */
static int file_of_mapping(struct comm_memory *memory, const struct mapping *mapping, pid_t pid,
			   const struct known_file **out)
{
	int fd = mapping__open(mapping, pid);
	const struct known_file *known;
	struct known_file *file;
	struct stat status;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status)) {
		close(fd);
		return -EIO;
	}
	known = find_file(memory, &status);
	if (known) {
		close(fd);
		*out = known;
		return 0;
	}
	file = &memory->files[memory->count++ % FILES_MAX];
	*file = (struct known_file){
		.device = status.st_dev,
		.inode = status.st_ino,
		.size = status.st_size,
		.changed = status.st_mtim,
	};
	read_file(fd, file);
	*out = file;
	return 0;
}

struct search {
	struct comm_memory *memory;
	pid_t pid;
	unsigned int tried;
	int ret;
	struct comm_layout layout;
	int version; /* 0: unknown so far */
};

/* PyTorch may have NCCL linked in. */
static bool may_have_nccl(const char *path)
{
	const char *base = mapping__base_name(path);

	return base && (!strncmp(base, "libnccl", strlen("libnccl")) ||
			!strncmp(base, "libtorch_cuda", strlen("libtorch_cuda")));
}

static int try_mapping(const struct mapping *mapping, void *arg)
{
	struct search *search = arg;
	const struct known_file *file;

	if (!mapping->executable || !mapping__is_file(mapping) || !may_have_nccl(mapping->path))
		return 0;
	if (search->tried++ == TRIED_MAX)
		return 1;
	search->ret = file_of_mapping(search->memory, mapping, search->pid, &file);
	if (search->ret)
		return search->ret != -ENOENT;
	search->ret = file->ret;
	search->layout = file->layout;
	search->version = file->version;
	return file->ret != -ENOENT || file->version;
}

static int find_layout(struct comm_memory *memory, pid_t pid, struct comm_layout *layout)
{
	struct search search = {.memory = memory, .pid = pid, .ret = -ENOENT};
	int ret = proc_maps__each(pid, try_mapping, &search);

	*layout = search.layout;
	return ret < 0 ? ret : search.ret;
}

int comm_memory__version(struct comm_memory *memory, pid_t pid)
{
	struct search search = {.memory = memory, .pid = pid};

	return proc_maps__each(pid, try_mapping, &search) < 0 ? 0 : search.version;
}

/* --- communicators --- */

static int check_magic(struct memory_reader *reader, pid_t pid, uint64_t address)
{
	uint64_t magic;
	int ret = memory_reader__read(reader, pid, address, &magic, sizeof(magic));

	if (ret)
		return ret == -EFAULT ? -EINVAL : ret;
	return magic == NCCL_MAGIC ? 0 : -EINVAL;
}

int comm_memory__read(struct memory_reader *reader, pid_t pid, uint64_t handle,
		      const struct comm_layout *layout, struct comm_facts *facts)
{
	/* In the order of the layout. */
	struct {
		uint64_t hash;
		int32_t rank, size, device, nvml_device;
	} members;
	int ret = check_magic(reader, pid, handle);

	if (!ret && layout->has_end_magic)
		ret = check_magic(reader, pid, handle + layout->end_magic);
	if (!ret)
		ret = memory_reader__read(reader, pid, handle + layout->hash, &members,
					  sizeof(members));
	if (ret)
		return ret == -EFAULT ? -EINVAL : ret;
	if (members.size <= 0 || members.size > COMM_SIZE_MAX || members.rank < 0 ||
	    members.rank >= members.size)
		return -EINVAL;
	*facts = (struct comm_facts){
		.hash = layout->has_hash ? members.hash : 0,
		.rank = members.rank,
		.size = members.size,
		.device = members.device >= 0 ? members.device : NCCL_DEVICE_UNKNOWN,
	};
	return 0;
}

int comm_memory__look(struct comm_memory *memory, pid_t pid, uint64_t handle,
		      struct comm_facts *facts)
{
	struct comm_layout layout;
	int ret = find_layout(memory, pid, &layout);

	return ret ? ret : comm_memory__read(memory->reader, pid, handle, &layout, facts);
}

struct nccl_event comm_facts__event(const struct comm_facts *facts,
				    const struct nccl_process_key *process, uint64_t handle,
				    uint64_t ns)
{
	return (struct nccl_event){
		.ns = ns,
		.process = *process,
		.phase = NCCL_END,
		.function = NCCL_FOUND,
		.made = handle,
		.hash = facts->hash,
		.rank = facts->rank,
		.size = facts->size,
		.device = facts->device,
		.sequence = NCCL_SEQUENCE_UNKNOWN,
	};
}
