/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens files and binds ports that the caller names with the caller's permissions, not gpuprobe's.
 * This matters if gpuprobe is a setuid or setgid file, or has capabilities from its file or lent by
 * somebody. Otherwise anyone could use it to read and overwrite root's files.
 */
#ifndef PRIVILEGE_FILE_RIGHTS_H
#define PRIVILEGE_FILE_RIGHTS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/types.h>

struct file_rights {
	bool changed;
	uid_t user;
	gid_t group;
	struct __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3];
};

/*
 * Until file_rights__give_back, the calling thread looks up, opens, creates, replaces and removes
 * files and binds ports with the caller's permissions; new files belong to the caller. Other
 * threads are unaffected. Does nothing if gpuprobe's permissions are the caller's. `before`
 * receives what to give back. Returns 0 or a negative errno: then nothing has changed, and no file
 * that the caller names may be opened.
 */
int file_rights__take_invokers(struct file_rights *before);

/* Preserves errno. */
void file_rights__give_back(const struct file_rights *before);

/* openat(2) with the caller's permissions. Returns a descriptor or a negative errno. */
int file_rights__open(int directory, const char *path, int flags, mode_t mode);

/* The same for reading. A pipe does not make gpuprobe wait for its writer. */
int file_rights__open_to_read(const char *path);

#endif
