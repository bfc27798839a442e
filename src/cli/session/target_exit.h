/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects when the target processes and their descendants, as far as they are watched, have ended.
 */
#ifndef CLI_TARGET_EXIT_H
#define CLI_TARGET_EXIT_H

#include "base/error.h"
#include "cli/options/targets.h"

struct event_base;
struct target_exit;

/*
 * `watched_fd` is the BPF map of watched pids; a pid leaves it when its process ends. The loop
 * calls `all_ended` once. `targets` must outlive it.
 */
int target_exit__new(struct event_base *loop, const struct targets *targets, int watched_fd,
		     void (*all_ended)(void *arg), void *arg, struct target_exit **out,
		     struct error *err);
void target_exit__free(struct target_exit *exits);

#endif
