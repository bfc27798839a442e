/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpuprobe check`: which parts of gpuprobe work on this machine, and what to do about the rest. It
 * inspects the machine and briefly tries what gpuprobe does; it leaves nothing behind.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "check/list.h"

struct cuda_files;
struct process_filter;

struct check_options {
	const pid_t *pids; /* check these and their descendants; if none, the whole machine */
	size_t pid_count;
	const struct process_filter *filter; /* opened: the processes that get a line */
	struct cuda_files *named;	     /* files named by the user; check__run empties it */
	const char *links;		     /* the value of GPUPROBE_LINKS, or NULL */
};

/*
 * Fills `list`. Takes seconds and forks, so call it before starting threads. Returns 0, or -ENOMEM
 * with the reason in `err`. The caller clears the list in any case.
 */
int check__run(const struct check_options *options, struct check_list *list, struct error *err);

#endif
