// SPDX-License-Identifier: BSD-2-Clause
// Which functions are traced; see selection.h.
#include "trace/selection.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/similar.h"

/*
 * Not in the default: queries that programs and libraries make all the time, and calls that precede
 * each launch.
 */
static const char *const chatty[] = {
	"cudaGetDevice",	   "cuCtxGetCurrent",	       "cuCtxGetDevice*",
	"cudaGetLastError",	   "cudaPeekAtLastError",      "*GetAttribute*",
	"*GetProcAddress*",	   "cudaGetDriverEntryPoint*", "*Occupancy*",
	"cu*StreamGet*",	   "cu*StreamIsCapturing",     "*ThreadExchangeStreamCaptureMode",
	"__cuda*CallConfiguration"};

/* Functions of the device family that only return information. */
static const char *const reports[] = {"*Get*",	    "*CanAccess*",	"*ComputeCapability",
				      "*TotalMem*", "cudaChooseDevice", "cuDev*Resource*"};

/*
 * The first part of a call that is known by another name, into which it jumps. Only in the family
 * all.
 */
static const char *const halves[] = {"__cudaLaunchKernel"};

static const char *const errors[] = {"cudaGetLastError",   "cudaPeekAtLastError",
				     "cudaGetErrorString", "cudaGetErrorName",
				     "cuGetErrorString",   "cuGetErrorName"};

/* A pattern for functions of libraries begins with so many letters of theirs: "cub*", "nccl*". */
#define LIBRARY_PREFIX 3

enum family {
	FAMILY_NONE = 0, /* the rule is a name */
	FAMILY_MEMORY,
	FAMILY_LAUNCH,
	FAMILY_COPY,
	FAMILY_SYNC,
	FAMILY_STREAM,
	FAMILY_EVENT,
	FAMILY_DEVICE,
	FAMILY_CONTEXT,
	FAMILY_MODULE,
	FAMILY_GRAPH,
	FAMILY_NCCL,
	FAMILY_ERRORS,
	FAMILY_ALL,
	FAMILIES,
};

static const char *const family_words[FAMILIES] = {
	[FAMILY_MEMORY] = "memory", [FAMILY_LAUNCH] = "launch",	  [FAMILY_COPY] = "copy",
	[FAMILY_SYNC] = "sync",	    [FAMILY_STREAM] = "stream",	  [FAMILY_EVENT] = "event",
	[FAMILY_DEVICE] = "device", [FAMILY_CONTEXT] = "context", [FAMILY_MODULE] = "module",
	[FAMILY_GRAPH] = "graph",   [FAMILY_NCCL] = "nccl",	  [FAMILY_ERRORS] = "errors",
	[FAMILY_ALL] = "all",
};

struct rule {
	enum family family;
	char *name; /* for FAMILY_NONE; may contain * and ? */
	bool away;
};

struct trace_selection {
	enum api_mode api;
	struct rule *rules;
	size_t count;
};

struct trace_selection *trace_selection__new(enum api_mode api)
{
	struct trace_selection *selection = calloc(1, sizeof(*selection));

	if (selection)
		selection->api = api;
	return selection;
}

void trace_selection__free(struct trace_selection *selection)
{
	size_t i;

	if (!selection)
		return;
	for (i = 0; i < selection->count; i++)
		free(selection->rules[i].name);
	free(selection->rules);
	free(selection);
}

/* Supports only * and ?; on a mismatch, backtracks to the last *. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool in_list(const char *const *list, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (matches(list[i], name))
			return true;
	}
	return false;
}

#define IN_LIST(list, name) in_list(list, sizeof(list) / sizeof((list)[0]), name)

static bool in_family(enum family family, const struct api_function *function)
{
	if (family != FAMILY_ALL && IN_LIST(halves, function->base))
		return false;
	switch (family) {
	/* All of CUDA. */
	case FAMILY_ALL: return function->desc.layer != LAYER_LIBRARY;
	case FAMILY_ERRORS: return IN_LIST(errors, function->base);
	case FAMILY_MODULE:
		if (strcmp(function->family, "library") == 0)
			return true;
		break;
	default: break;
	}
	return strcmp(function->family, family_words[family]) == 0;
}

static bool in_default(const struct api_function *function)
{
	unsigned int family;

	if (IN_LIST(chatty, function->base))
		return false;
	for (family = FAMILY_MEMORY; family <= FAMILY_EVENT; family++) {
		if (in_family((enum family)family, function))
			return true;
	}
	/* With the driver, a program sets the device by its context. */
	if (function->desc.operation != OP_CONTEXT && !in_family(FAMILY_DEVICE, function))
		return false;
	return !IN_LIST(reports, function->base);
}

static bool of_layer(const struct trace_selection *selection, enum layer layer)
{
	switch (selection->api) {
	case API_DRIVER: return layer == LAYER_DRIVER;
	case API_RUNTIME: return layer == LAYER_RUNTIME;
	default: return true;
	}
}

/*
 * A plain name also means the forms for the thread's own stream, and the version that reports give
 * this name. "cu*" means CUDA's functions, not those of cuBLAS.
 */
static bool names(const char *pattern, const struct api_function *function)
{
	if (function->desc.layer == LAYER_LIBRARY && strcspn(pattern, "*?") < LIBRARY_PREFIX)
		return false;
	return matches(pattern, function->symbol) || matches(pattern, function->base) ||
	       matches(pattern, function->shown);
}

bool trace_selection__wants(const struct trace_selection *selection,
			    const struct api_function *function)
{
	bool wanted;

	if (!of_layer(selection, (enum layer)function->desc.layer))
		return false;
	wanted = (!selection->count || selection->rules->away) && in_default(function);
	for (size_t i = 0; i < selection->count; i++) {
		const struct rule *rule = &selection->rules[i];

		if (rule->name ? names(rule->name, function) : in_family(rule->family, function))
			wanted = !rule->away;
	}
	return wanted;
}

/* Whether `symbol` matches the pattern followed by _ptds or _ptsz. */
static bool matches_per_thread(const char *pattern, const char *symbol)
{
	size_t length = strlen(symbol);
	char base[128];

	if (length <= 5 || length >= sizeof(base) ||
	    (strcmp(symbol + length - 5, "_ptds") != 0 &&
	     strcmp(symbol + length - 5, "_ptsz") != 0))
		return false;
	memcpy(base, symbol, length - 5);
	base[length - 5] = '\0';
	return matches(pattern, base);
}

bool trace_selection__wants_symbol(const struct trace_selection *selection, const char *symbol,
				   enum layer layer)
{
	bool wanted = false;

	if (!of_layer(selection, layer))
		return false;
	for (size_t i = 0; i < selection->count; i++) {
		const struct rule *rule = &selection->rules[i];

		if (rule->name ?
			    matches(rule->name, symbol) || matches_per_thread(rule->name, symbol) :
			    rule->family == FAMILY_ALL)
			wanted = !rule->away;
	}
	return wanted;
}

static enum family family_of(const char *word)
{
	unsigned int family;

	for (family = FAMILY_MEMORY; family < FAMILIES; family++) {
		if (strcmp(word, family_words[family]) == 0)
			return (enum family)family;
	}
	return FAMILY_NONE;
}

static bool is_pattern(const char *word)
{
	return strpbrk(word, "*?") != NULL;
}

/*
 * Whether the table has a function with that name, possibly only with _ptds, or one that the
 * pattern matches.
 */
static bool is_known(const char *name)
{
	size_t row;

	if (api__find(name, API_NEWEST) >= 0)
		return true;
	for (row = 0; row < api_function_count; row++) {
		if (names(name, &api_functions[row]))
			return true;
	}
	return false;
}

static const char *function_like(const char *word, bool families_too)
{
	struct similar similar;
	size_t i;

	similar__begin(&similar, word);
	for (i = FAMILY_MEMORY; families_too && i < FAMILIES; i++)
		similar__try(&similar, family_words[i]);
	for (i = 0; i < api_function_count; i++)
		similar__try(&similar, api_functions[i].base);
	return similar.best;
}

/* Whether the word only has letters, digits, _ and the wildcards. */
static bool is_spelt_well(const char *word)
{
	for (; *word; word++) {
		if (!isalnum((unsigned char)*word) && !strchr("_*?", *word))
			return false;
	}
	return true;
}

static int check_name(const char *word, struct error *err)
{
	const char *like;

	if (!*word)
		return error__set(
			err, -EINVAL,
			"a word is missing: families, names and patterns, separated by commas");
	if (is_spelt_well(word) &&
	    (is_pattern(word) || is_known(word) || strncmp(word, "cu", 2) == 0))
		return 0;
	like = is_spelt_well(word) ? function_like(word, true) : NULL;
	if (like)
		return error__set(err, -EINVAL,
				  "'%s' is neither a family nor a function; did you mean %s?", word,
				  like);
	return error__set(err, -EINVAL,
			  "'%.64s' is neither a family nor a function; the families are memory, "
			  "launch, copy, "
			  "sync, stream, event, device, context, module, graph, nccl, errors, all",
			  word);
}

static int add_word(struct trace_selection *selection, const char *word, struct error *err)
{
	struct rule rule = {.away = *word == '!'};
	int rc = 0;

	word += rule.away;
	rule.family = family_of(word);
	if (!rule.family)
		rc = check_name(word, err);
	if (rc)
		return rc;
	rule.name = rule.family ? NULL : strdup(word);
	if ((!rule.family && !rule.name) ||
	    ARRAY_APPEND(selection->rules, selection->count, rule)) {
		free(rule.name);
		return error__set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

int trace_selection__add(struct trace_selection *selection, const char *text, struct error *err)
{
	char *copy = strdup(text), *rest = copy, *word;
	int rc = copy ? 0 : error__set(err, -ENOMEM, "out of memory");

	while (!rc && (word = strsep(&rest, ",")))
		rc = add_word(selection, word, err);
	free(copy);
	return rc;
}

/* Whether a library found so far exports a function with that name that is not in the table. */
static bool is_exported(const struct trace_functions *functions, const char *name)
{
	const struct trace_function *function;
	uint32_t row = (uint32_t)api_function_count;

	while ((function = trace_functions__at(functions, row++))) {
		const char *symbol = trace_function__symbol(function);

		if (matches(name, symbol) || matches_per_thread(name, symbol))
			return true;
	}
	return false;
}

const char *trace_selection__unknown(const struct trace_selection *selection,
				     const struct trace_functions *functions, size_t *at)
{
	while (*at < selection->count) {
		const char *name = selection->rules[(*at)++].name;

		if (name && !is_known(name) && !is_exported(functions, name))
			return name;
	}
	return NULL;
}

const char *trace_selection__like(const char *name)
{
	return is_pattern(name) ? NULL : function_like(name, false);
}

static bool wants_a_row(const struct trace_selection *selection)
{
	size_t row;

	for (row = 0; row < api_function_count; row++) {
		if (trace_selection__wants(selection, &api_functions[row]))
			return true;
	}
	return false;
}

bool trace_selection__wants_libraries(const struct trace_selection *selection)
{
	for (size_t row = 0; row < api_function_count; row++)
		if (api_functions[row].desc.layer == LAYER_LIBRARY &&
		    trace_selection__wants(selection, &api_functions[row]))
			return true;
	return false;
}

int trace_selection__check(const struct trace_selection *selection, struct error *err)
{
	if (wants_a_row(selection))
		return 0;
	for (size_t i = 0; i < selection->count; i++) {
		const struct rule *rule = &selection->rules[i];

		if (rule->name && !rule->away && !is_known(rule->name))
			return 0;
	}
	return error__set(err, -EINVAL, "the selection leaves no function");
}

int trace_selection__check_names(const struct trace_selection *selection,
				 const struct trace_functions *functions, struct error *err)
{
	const char *like;

	if (wants_a_row(selection) || trace_functions__count(functions) > api_function_count)
		return 0;
	for (size_t i = 0; i < selection->count; i++) {
		const struct rule *rule = &selection->rules[i];

		if (!rule->name || rule->away || is_pattern(rule->name) || is_known(rule->name))
			continue;
		like = function_like(rule->name, false);
		if (like)
			return error__set(
				err, -EINVAL,
				"gpuprobe knows no function %s, and no library found has it; "
				"did you mean %s?",
				rule->name, like);
	}
	return 0;
}
