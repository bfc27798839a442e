// SPDX-License-Identifier: BSD-2-Clause
// Texts kept from line to line, see cache.h.
#include "output/trace/cache.h"

#include <ctype.h>

#include "api/api.h"

/* The upper bits of a 64-bit hash select the entry. */
#define TRACE_CACHE_SHIFT (64 - 9)
_Static_assert(TRACE_CACHE_FUNCTIONS == 1 << (64 - TRACE_CACHE_SHIFT),
	       "slots and bits of the hash agree");

static size_t escape(const struct trace_cache *cache, char *at, const char *text, size_t length)
{
	char *end = cache->json ? trace_text__json(at, text, length) :
				  trace_text__escaped(at, text, length, 0, false);

	return (size_t)(end - at);
}

const struct trace_process_text *trace_cache__process(struct trace_cache *cache,
						      const struct trace_process *process)
{
	struct trace_process_text *text =
		&cache->processes[process->number % TRACE_CACHE_PROCESSES];

	if (text->known && text->number == process->number)
		return text;
	text->known = true;
	text->number = process->number;
	text->pid_length = (uint32_t)(trace_text__signed(text->pid, process->pid) - text->pid);
	text->length = (uint32_t)escape(cache, text->comm, process->comm,
					strnlen(process->comm, COMM_SIZE));
	return text;
}

static bool is_identifier(const char *symbol)
{
	for (; *symbol; symbol++) {
		if (!isalnum((unsigned char)*symbol) && *symbol != '_')
			return false;
	}
	return true;
}

/* An asynchronous copy's duration is only the time to enqueue it. */
static bool is_blocking_copy(const struct trace_function *function, const char *symbol)
{
	int row =
		trace_function__operation(function) == OP_COPY ? api__find(symbol, API_NEWEST) : -1;

	return row >= 0 && !(api_functions[row].desc.flags & FUNCTION_ASYNC);
}

static void describe(struct trace_function_text *text, const struct trace_function *function)
{
	text->function = function;
	text->symbol = trace_function__symbol(function);
	text->length = (uint32_t)strlen(text->symbol);
	text->is_identifier = is_identifier(text->symbol);
	text->is_launch = trace_function__operation(function) == OP_LAUNCH;
	text->is_blocking_copy = is_blocking_copy(function, text->symbol);
	text->returns = trace_function__returns(function);
	text->layer = trace_function__layer(function);
	text->code_known = false;
}

struct trace_function_text *trace_cache__function(struct trace_cache *cache,
						  const struct trace_function *function)
{
	uint64_t hash = (uint64_t)(uintptr_t)function * 0x9e3779b97f4a7c15ull;
	struct trace_function_text *text = &cache->functions[hash >> TRACE_CACHE_SHIFT];

	if (text->function != function)
		describe(text, function);
	return text;
}

const char *trace_cache__result(struct trace_function_text *text, int32_t code, size_t *length)
{
	if (!text->code_known || text->code != code) {
		text->code_known = true;
		text->code = code;
		text->code_name = trace_function__result_name(text->function, code);
		text->code_length = text->code_name ? (uint32_t)strlen(text->code_name) : 0;
	}
	*length = text->code_length;
	return text->code_name;
}
