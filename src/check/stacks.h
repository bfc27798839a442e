/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks: how they can be taken, Python's frames, and debug files from servers. */
#ifndef CHECK_STACKS_H
#define CHECK_STACKS_H

#include <stdbool.h>

#include "check/links.h"
#include "check/list.h"

struct stack_facts {
	bool asks_servers; /* DEBUGINFOD_URLS is set */
	bool servers_set;  /* DEBUGINFOD_URLS is, whether it is believed or not */
	int library;	   /* then: whether libdebuginfod was found, 0 or a negative errno */
	struct error library_error;
};

void stack_facts__read(struct stack_facts *facts);

void check_stacks__judge(const struct stack_facts *facts, const struct link_facts *links, struct check_list *list);

#endif
