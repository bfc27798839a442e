/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of users by their number, each looked up once. Where gpuprobe runs in
 * a container, the host's /etc/passwd is asked (through /proc/1/root), since
 * its own knows others under the same numbers.
 */
#ifndef TARGET_USER_NAME_H
#define TARGET_USER_NAME_H

#include <sys/types.h>

#define USER_NAME_SIZE 33 /* longer names (useradd(8) allows 32 characters) are shown as numbers */

struct user_names;

/* NULL when out of memory. */
struct user_names *user_names__new(void);
void user_names__free(struct user_names *names);

/* Writes the user's name, or the number where there is none. May wait for the machine's directory service once. */
void user_names__find(struct user_names *names, uid_t uid, char name[USER_NAME_SIZE]);

/* The number of the user with this name, asked in the same place. -ENOENT where there is none. */
int user_name__to_uid(const char *name, uid_t *uid);

#endif
