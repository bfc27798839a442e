/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identifies the file that the kernel would probe. Two overlay mounts of one lower directory show
 * two devices in stat(2) and a third number in /proc/PID/maps, but a uprobe through either is
 * placed on the one inode below. On btrfs two files may have the same number in maps. Only the
 * inode of a mapping itself is unambiguous. So gpuprobe maps the file and inspects the mapping with
 * a BPF iterator, or inspects the mappings of a process without opening a file. It can also tell
 * whether any process maps a file.
 */
#ifndef TARGET_IDENTITY_H
#define TARGET_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "gpuprobe/state.h"

struct file_identity {
	uint64_t inode; /* its address in the kernel: unique while the file is open somewhere */
	uint64_t number;
	uint32_t device;
};

/* A file that a process maps; its identity has .inode 0 if unknown. */
struct mapped_file {
	uint64_t start; /* of the mapping: input; the other members are output */
	struct file_identity identity;
	bool is_fuse;		     /* a program may serve it, by its file system's type */
	char name[MAPPED_NAME_SIZE]; /* the first 15 bytes of its name in its directory */
};

struct bpf_map;
struct bpf_program;

/* The programs and map of bpf/core/identity.bpf.h in a loaded object. */
struct identity_programs {
	struct bpf_program *mappings, *is_mapped;
	struct bpf_map *tgid;
};

/* From the skeleton of an object that has them. */
#define IDENTITY_PROGRAMS(skeleton) \
	{ \
		.mappings = (skeleton)->progs.identity_of_mappings, \
		.is_mapped = (skeleton)->progs.inode_is_mapped, \
		.tgid = (skeleton)->maps.identity_tgid \
	}

struct identity_reader;

/*
 * Attaches the iterator of `programs`, whose object must outlive the reader, or, with NULL, of an
 * object that it loads itself. Use the reader from one thread.
 */
int identity_reader__new(const struct identity_programs *programs, struct identity_reader **out,
			 struct error *err);
void identity_reader__free(struct identity_reader *reader);

/*
 * Finds the identity of the file that is open for reading as `fd`. Returns 0 or a negative errno.
 */
int identity_reader__of_fd(struct identity_reader *reader, int fd, struct file_identity *identity);

/*
 * Finds the identities of these mappings of the process, sorted by ascending `start`, without
 * opening any file. Mappings that are gone, or not among the first 131,072, stay unknown. Returns 0
 * or a negative errno.
 */
int identity_reader__of_process(struct identity_reader *reader, pid_t pid,
				struct mapped_file *files, size_t count);

/*
 * Whether any process, in any namespace, has the file mapped, by the inode's list of mappings
 * (i_mmap). Returns 1, 0 or a negative errno. Only for a file whose inode is pinned, for example by
 * probes.
 */
int identity_reader__is_mapped(struct identity_reader *reader,
			       const struct file_identity *identity);

bool file_identity__equal(const struct file_identity *a, const struct file_identity *b);

#endif
