/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With whose rights a file is opened that the caller of gpuprobe names: his
 * own, where gpuprobe is a setuid or setgid file. Otherwise anybody could have
 * root's files overwritten by it.
 */
#ifndef PRIVILEGE_FILE_RIGHTS_H
#define PRIVILEGE_FILE_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

struct file_rights {
	bool changed;
	uid_t user;
	gid_t group;
};

/* Whether the caller's are others than gpuprobe's: the real user or group is not the effective one. */
bool file_rights__are_others(void);

/*
 * Until file_rights__give_back files are looked for, opened, made, replaced and
 * removed as the caller may, by the calling thread alone; what is made is his.
 * Changes nothing where gpuprobe's rights are the caller's. `before` gets what
 * is to be given back. Returns 0 or a negative errno: then nothing has changed,
 * and nothing that the caller names may be opened.
 */
int file_rights__take_callers(struct file_rights *before);

/* errno stays. */
void file_rights__give_back(const struct file_rights *before);

#endif
