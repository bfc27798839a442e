/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which file the kernel would probe. Two overlay mounts of one lower
 * directory show two devices by stat(2) and a third number in
 * /proc/PID/maps, yet a uprobe through either lands on the one inode below.
 * On btrfs two files have one number in maps. Only a mapping's own inode tells, so a file is mapped and looked at with a
 * BPF iterator, or the mappings of a process are, without a file being opened.
 * And whether anybody maps it.
 */
#ifndef TARGET_IDENTITY_H
#define TARGET_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "gpuprobe/state.h"

struct file_identity {
	uint64_t inode; /* the kernel's address of it: unique while the file is open somewhere */
	uint64_t number;
	uint32_t device;
};

/* A file that a process maps: its identity .inode 0 where it is not known. */
struct mapped_file {
	uint64_t start; /* of the mapping: given, the rest is found */
	struct file_identity identity;
	bool is_fuse;		     /* a program may serve it: by its file system, whatever that is mounted as */
	char name[MAPPED_NAME_SIZE]; /* the first 15 bytes of its name in its directory */
};

struct bpf_map;
struct bpf_program;

/* Those of bpf/core/identity.bpf.h, of an object that is loaded. */
struct identity_programs {
	struct bpf_program *mappings, *is_mapped;
	struct bpf_map *tgid;
};

/* Of the skeleton of an object that has them. */
#define IDENTITY_PROGRAMS(skeleton) \
	{ \
		.mappings = (skeleton)->progs.identity_of_mappings, .is_mapped = (skeleton)->progs.inode_is_mapped, \
		.tgid = (skeleton)->maps.identity_tgid \
	}

struct identity_reader;

/*
 * Attaches the iterator: of `programs`, whose object outlives the reader, or, with NULL, one that it loads. The reader is
 * used from one thread.
 */
int identity_reader__new(const struct identity_programs *programs, struct identity_reader **out, struct error *err);
void identity_reader__free(struct identity_reader *reader);

/* The identity of the file that is open for reading as `fd`. Returns 0 or a negative errno. */
int identity_reader__of_fd(struct identity_reader *reader, int fd, struct file_identity *identity);

/*
 * What the kernel would probe in these mappings of the process, by rising `start`; no file is opened for that. Those that are
 * gone, or not among the first 131,072, stay unknown. Returns 0 or a negative errno.
 */
int identity_reader__of_process(struct identity_reader *reader, pid_t pid, struct mapped_file *files, size_t count);

/*
 * Whether some process, of whatever namespace, has the file mapped. Returns 1, 0 or a negative errno. Only for a file
 * whose inode something keeps from being freed, as probes do. By the inode's list of mappings (i_mmap).
 */
int identity_reader__is_mapped(struct identity_reader *reader, const struct file_identity *identity);

bool file_identity__equal(const struct file_identity *a, const struct file_identity *b);

#endif
