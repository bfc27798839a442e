/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user who called gpuprobe: COMMAND runs with this identity and with none of the privileges
 * that gpuprobe was given.
 */
#ifndef PRIVILEGE_INVOKER_H
#define PRIVILEGE_INVOKER_H

#include "base/error.h"

/*
 * Changes the calling process to the caller's identity, for good:
 *
 * - If the real user and group differ from the effective ones (gpuprobe is a setuid or setgid
 *   file): the real ones.
 * - Otherwise, if both are root: the user who called sudo (SUDO_UID, SUDO_GID, SUDO_USER), with
 *   their groups. HOME, USER, LOGNAME and SHELL become that user's where sudo has set them to
 *   root's.
 * - Otherwise it keeps its identity: root without sudo gets a COMMAND that runs as root.
 *
 * Also removes the capabilities that gpuprobe uses from the ambient and inheritable sets, from
 * which a normal user's gpuprobe may have them.
 *
 * Returns 0 or a negative errno; after an error nothing may be executed. Not for a process with
 * threads.
 */
int invoker__become(void);

/*
 * Checks beforehand that invoker__become will understand SUDO_UID and SUDO_GID. Returns -EINVAL
 * with a text if one is not a number; 0 if they are fine or not trusted.
 */
int invoker__check(struct error *err);

#endif
