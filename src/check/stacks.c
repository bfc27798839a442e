// SPDX-License-Identifier: BSD-2-Clause
// Judges call stacks; see stacks.h.
#include "check/stacks.h"

#include <stdlib.h>

#include "symbol/debuginfod_library.h"
#include "symbol/python_offsets.h"

void stack_facts__read(struct stack_facts *facts)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS"), *set = getenv("DEBUGINFOD_URLS");
	struct debuginfod_library library;

	*facts = (struct stack_facts){.asks_servers = urls && *urls, .servers_set = set && *set};
	if (!facts->asks_servers)
		return;
	facts->library = debuginfod_library__open(&library, &facts->library_error);
	if (!facts->library)
		debuginfod_library__close(&library);
}

static void judge_modes(const struct link_facts *links, struct check_list *list)
{
	if (!links->monitor.made || links->monitor.ret)
		check_list__lacks(list, "stacks", CHECK_MISSING,
				  "fix what is missing in the lines above",
				  "not tried: the kernel did not accept the monitor's programs");
	else if (links->stacks == STACK_OFF)
		check_list__lacks(list, "stacks", CHECK_DEGRADED,
				  "run gpuprobe check -vv, which prints the kernel's reasons",
				  "the kernel accepts only the programs without stacks");
	else
		check_list__ok(list, "stacks",
			       "by frame pointers, by DWARF unwinding, or by either (--stack fp, "
			       "dwarf, auto)");
}

static void judge_python(const struct link_facts *links, struct check_list *list)
{
	unsigned int oldest = 0, newest = 0;

	if (!links->monitor.made || links->monitor.ret || links->stacks == STACK_OFF)
		return;
	for (unsigned int minor = 1; minor < 64; minor++) {
		if (!python_offsets__of(minor))
			continue;
		oldest = oldest ? oldest : minor;
		newest = minor;
	}
	check_list__ok(list, "python", "frames of CPython 3.%u to 3.%u in stacks", oldest, newest);
}

static void judge_debuginfod(const struct stack_facts *facts, struct check_list *list)
{
	if (!facts->asks_servers && facts->servers_set)
		check_list__ok(list, "debuginfod",
			       "no server is asked: gpuprobe ignores DEBUGINFOD_URLS when its file "
			       "has privileges");
	else if (!facts->asks_servers)
		check_list__ok(list, "debuginfod",
			       "no server is asked: DEBUGINFOD_URLS is not set, and names come "
			       "from local files");
	else if (facts->library)
		check_list__lacks(list, "debuginfod", CHECK_DEGRADED,
				  "install libdebuginfod1, or unset DEBUGINFOD_URLS", "%s",
				  facts->library_error.text);
	else
		check_list__ok(list, "debuginfod",
			       "gpuprobe asks the servers in DEBUGINFOD_URLS for debug files");
}

void check_stacks__judge(const struct stack_facts *facts, const struct link_facts *links,
			 struct check_list *list)
{
	judge_modes(links, list);
	judge_python(links, list);
	judge_debuginfod(facts, list);
}
