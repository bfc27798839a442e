/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks: how they can be captured, Python frames, and debug files from servers. */
#ifndef CHECK_STACKS_H
#define CHECK_STACKS_H

#include <stdbool.h>

#include "check/links.h"
#include "check/list.h"

struct stack_facts {
	bool asks_servers; /* DEBUGINFOD_URLS is set and trusted */
	bool servers_set;  /* DEBUGINFOD_URLS is set, trusted or not */
	int library;	   /* if set: 0 if libdebuginfod was found, or a negative errno */
	struct error library_error;
};

void stack_facts__read(struct stack_facts *facts);

void check_stacks__judge(const struct stack_facts *facts, const struct link_facts *links,
			 struct check_list *list);

#endif
