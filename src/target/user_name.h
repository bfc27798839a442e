/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of users by their number, each looked up once. If gpuprobe runs in a container, it uses the
 * host's /etc/passwd (through /proc/1/root), because its own maps the same numbers to other names.
 */
#ifndef TARGET_USER_NAME_H
#define TARGET_USER_NAME_H

#include <sys/types.h>

#define USER_NAME_SIZE 33 /* longer names (useradd(8) allows 32) are printed as numbers */

struct user_names;

/* Returns NULL if out of memory. */
struct user_names *user_names__new(void);
void user_names__free(struct user_names *names);

/*
 * Writes the user's name, or the number if there is none. The first look-up may wait for the
 * machine's directory service.
 */
void user_names__find(struct user_names *names, uid_t uid, char name[USER_NAME_SIZE]);

/*
 * Finds the number of the user with this name, in the same source. Returns -ENOENT if there is
 * none.
 */
int user_name__to_uid(const char *name, uid_t *uid);

#endif
