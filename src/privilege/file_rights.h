/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With whose rights a file is opened, or a port taken, that the caller of gpuprobe names: his own, where gpuprobe is a
 * setuid or setgid file, or a user's that has capabilities, by its file or lent. Otherwise anybody could have root's files
 * read and overwritten by it.
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
 * Until file_rights__give_back files are looked for, opened, made, replaced and
 * removed, and ports taken, as the caller may, by the calling thread alone; what is made is his.
 * Changes nothing where gpuprobe's rights are the caller's. `before` gets what
 * is to be given back. Returns 0 or a negative errno: then nothing has changed,
 * and nothing that the caller names may be opened.
 */
int file_rights__take_invokers(struct file_rights *before);

/* errno stays. */
void file_rights__give_back(const struct file_rights *before);

#endif
