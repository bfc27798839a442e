/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts that lines have in common, ready to copy: the escaped names of processes, and all facts
 * about functions that a line needs.
 */
#ifndef OUTPUT_TRACE_CACHE_H
#define OUTPUT_TRACE_CACHE_H

#include "output/trace/text.h"
#include "trace/function.h"

#define TRACE_CACHE_PROCESSES 64
#define TRACE_CACHE_FUNCTIONS 512

struct trace_process_text {
	bool known;
	uint32_t number;
	/* wider than necessary: below 256 gcc copies by a slow `rep movs` */
	uint32_t length, pid_length;
	char pid[TRACE_TEXT_NUMBER];
	char comm[COMM_SIZE * TRACE_TEXT_EXPANSION];
};

struct trace_function_text {
	const struct trace_function *function; /* NULL: an empty entry */
	const char *symbol;
	uint32_t length;
	bool is_identifier; /* the symbol needs no escaping */
	bool is_launch;
	bool is_blocking_copy; /* its duration is the copy's */
	uint8_t returns;       /* enum trace_returns */
	uint8_t layer;
	int32_t code; /* the last result whose name is cached, if `code_known` */
	bool code_known;
	uint32_t code_length; /* 0: no name */
	const char *code_name;
};

struct trace_cache {
	bool json; /* escape names for JSON */
	struct trace_process_text processes[TRACE_CACHE_PROCESSES];
	struct trace_function_text functions[TRACE_CACHE_FUNCTIONS];
};

/* Each result is valid until the next line. */
const struct trace_process_text *trace_cache__process(struct trace_cache *cache,
						      const struct trace_process *process);
struct trace_function_text *trace_cache__function(struct trace_cache *cache,
						  const struct trace_function *function);

/* The name of a code and its length, or NULL. */
const char *trace_cache__result(struct trace_function_text *text, int32_t code, size_t *length);

#endif
