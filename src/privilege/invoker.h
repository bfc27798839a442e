/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user that called gpuprobe: whose identity COMMAND gets, with none of the
 * privileges that gpuprobe was given.
 */
#ifndef PRIVILEGE_INVOKER_H
#define PRIVILEGE_INVOKER_H

#include "base/error.h"

/*
 * Makes the calling process one of the caller's, for good:
 *
 * - the real user and group where they are not the effective ones: gpuprobe is
 *   a setuid or setgid file;
 * - else, where both are root, the user that called sudo (SUDO_UID, SUDO_GID,
 *   SUDO_USER), with his groups, and with his HOME, USER, LOGNAME and SHELL
 *   where sudo has put root's into the environment;
 * - else it stays what it is: who is root, and has called gpuprobe as such,
 *   gets a COMMAND that is.
 *
 * And takes what gpuprobe uses out of the ambient and inheritable
 * capabilities, which a normal user's gpuprobe may live by.
 *
 * Returns 0 or a negative errno: then nothing may be run in its place. Not for
 * a process with threads.
 */
int invoker__become(void);

/* -EINVAL with a text where that would fail since SUDO_UID or SUDO_GID is no number; 0 where they are not believed. */
int invoker__check(struct error *err);

#endif
