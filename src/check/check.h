/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpuprobe check`: what of gpuprobe works on this machine, and what to do about
 * the rest. It looks, and tries for moments what gpuprobe does; nothing of it stays.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "check/list.h"

struct cuda_files;

struct check_options {
	const pid_t *pids; /* these and their descendants; without any the whole machine */
	size_t pid_count;
	struct cuda_files *named; /* files that the user has named; emptied */
	const char *links;	  /* the value of GPUPROBE_LINKS, or NULL */
};

/*
 * Fills `list`. Takes seconds, and forks: before threads are started. Returns 0, or -ENOMEM
 * with the reason in `err`. The list is to be cleared in any case.
 */
int check__run(const struct check_options *options, struct check_list *list, struct error *err);

#endif
