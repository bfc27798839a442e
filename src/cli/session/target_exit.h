/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When nobody is left of the processes that were given: they and their
 * descendants, as far as those are watched, have ended.
 */
#ifndef CLI_EXITS_H
#define CLI_EXITS_H

#include "base/error.h"
#include "cli/options/arguments.h"

struct event_base;
struct target_exit;

/*
 * `watched_fd` is the BPF map of pids that are watched, which leave it as they
 * end. `all_ended` is called once, by the loop. `targets` must outlive it.
 */
int target_exit__new(struct event_base *loop, const struct targets *targets, int watched_fd, void (*all_ended)(void *arg),
	       void *arg, struct target_exit **out, struct error *err);
void target_exit__free(struct target_exit *exits);

#endif
