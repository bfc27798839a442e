// SPDX-License-Identifier: BSD-2-Clause
// The bpftrace script, see bpftrace_script.h. trace/bpftrace_details.c makes the details of a
// function.
#include "output/bpftrace_script.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "trace/bpftrace_details.h"
#include "trace/type.h"

/* Probes that bpftrace attaches at most, unless BPFTRACE_MAX_PROBES is larger. */
#define PROBES_BY_DEFAULT 512

/* BEGIN, END and the probe of a thread's end. */
#define PROBES_OF_ITS_OWN 3

/* Larger than any error code. */
#define ERROR_CODES 1000

/* Sites that share a function's text. */
struct entry {
	const struct bpftrace_site *sites;
	size_t count;
	struct bpftrace_details details;
};

struct script {
	FILE *out;
	struct entry *entries;
	size_t count;
	size_t sites;
	unsigned int stack_words; /* largest number that one of them needs */
	bool has_layer[LAYER_COUNT], has_kernel;
};

static int compare_sites(const void *a, const void *b)
{
	const struct bpftrace_site *x = a, *y = b;
	int order;
	enum layer layers[] = {trace_function__layer(x->function),
			       trace_function__layer(y->function)};

	/* The runtime first: most programs mostly call it. */
	if (layers[0] != layers[1])
		return layers[0] < layers[1] ? -1 : 1;
	order = strcmp(trace_function__symbol(x->function), trace_function__symbol(y->function));
	if (order)
		return order;
	return strcmp(x->path, y->path);
}

static size_t sort_sites(struct bpftrace_site *sites, size_t count)
{
	size_t kept = 0;

	qsort(sites, count, sizeof(*sites), compare_sites);
	/* bpftrace takes one name at two addresses in a file for one function. */
	for (size_t i = 0; i < count; i++)
		if (!kept || compare_sites(&sites[kept - 1], &sites[i]))
			sites[kept++] = sites[i];
	return kept;
}

static int add_entry(struct script *script, const struct bpftrace_site *sites, size_t count)
{
	struct entry *entry = &script->entries[script->count++];

	*entry = (struct entry){.sites = sites, .count = count};
	script->has_layer[trace_function__layer(sites->function)] = true;
	if (bpftrace_details__make(&entry->details, sites->function))
		return -ENOMEM;
	if (script->stack_words < entry->details.stack_words)
		script->stack_words = entry->details.stack_words;
	script->has_kernel |= entry->details.kernel != BPFTRACE_NO_KERNEL;
	return 0;
}

static int make_entries(struct script *script, const struct bpftrace_site *sites)
{
	size_t end;

	script->entries = calloc(script->sites, sizeof(*script->entries));
	if (!script->entries)
		return -ENOMEM;
	for (size_t i = 0; i < script->sites; i = end) {
		for (end = i + 1; end < script->sites && sites[i].function == sites[end].function;
		     end++)
			;
		if (add_entry(script, &sites[i], end - i))
			return -ENOMEM;
	}
	return 0;
}

/* bpftrace takes a quoted path, but has no escape for a quote or a backslash in it. */
static int check_path(const char *path, struct error *err)
{
	for (const unsigned char *at = (const unsigned char *)path; *at; at++)
		if (*at < ' ' || *at == 0x7f || strchr("\"\\*?[]", *at))
			return error__set(err, -EINVAL,
					  "%s: bpftrace cannot read such a path in a script", path);
	return 0;
}

static void print_head(const struct script *script, const char *note)
{
	size_t probes = 2 * script->sites + PROBES_OF_ITS_OWN;
	FILE *out = script->out;

	if (probes > PROBES_BY_DEFAULT)
		fprintf(out, "#!/usr/bin/env -S BPFTRACE_MAX_PROBES=%zu bpftrace\n", probes);
	else
		fputs("#!/usr/bin/env bpftrace\n", out);
	fputs("// SPDX-License-Identifier: BSD-2-Clause\n"
	      "/*\n"
	      " * CUDA calls as they return, one line each, of the runtime and of the driver.\n"
	      " *\n"
	      " * Run it as root, with bpftrace 0.17 or later; -p PID watches one process, -c "
	      "COMMAND\n"
	      " * starts one. Ctrl-C ends it: detaching takes some 0.1 s a probe.\n",
	      out);
	if (probes > PROBES_BY_DEFAULT)
		fprintf(out,
			" * It has %zu probes, so it needs that line above, or: "
			"BPFTRACE_MAX_PROBES=%zu bpftrace FILE,\n"
			" * and ulimit -n %zu.\n",
			probes, probes, 2 * probes + 256);
	fprintf(out,
		" *\n"
		" * %s\n"
		" *\n"
		" * Of traced calls inside one another, as the driver's that the runtime makes, "
		"the outermost is\n"
		" * shown, once. TIME is that of the call; lines come in the order of the returns. "
		"A launch shows\n"
		" * its kernel's mangled name, up to 63 characters of it, found through the handle "
		"that the driver\n"
		" * was given. What an argument points to is read when the call has returned.\n"
		" * \"Lost N events\" from bpftrace means lines that are missing. gpuprobe trace "
		"has none of these\n"
		" * limits.\n"
		" */\n\n",
		note);
}

static void print_tables(const struct script *script)
{
	static const char *const maps[] = {
		[LAYER_RUNTIME] = "runtime_error", [LAYER_DRIVER] = "driver_error"};

	for (size_t layer = 0; layer < sizeof(maps) / sizeof(*maps); layer++)
		for (int code = 0; script->has_layer[layer] && code < ERROR_CODES; code++)
			if (api__error_name((enum layer)layer, code))
				fprintf(script->out, "\t@%s[%d] = \"%s\";\n", maps[layer], code,
					api__error_name((enum layer)layer, code));
}

static void print_begin(const struct script *script)
{
	fputs("BEGIN\n{\n", script->out);
	for (int kind = 0; kind <= COPY_DEFAULT; kind++)
		fprintf(script->out, "\t@copy_kind[%d] = \"%s\";\n", kind,
			trace_type__copy_kind(kind));
	print_tables(script);
	fputs("\tprintf(\"%12s %-16s %7s %7s %-24s %13s %3s %-32s %s\\n\", \"TIME(ms)\", "
	      "\"PROCESS\", \"PID\", \"TID\",\n"
	      "\t       \"EVENT\", \"DURATION(us)\", \"\", \"RESULT\", \"DETAILS\");\n"
	      "}\n\n",
	      script->out);
}

static void print_sites(const struct script *script, const struct entry *entry, const char *type,
			bool more)
{
	for (size_t i = 0; i < entry->count; i++)
		fprintf(script->out, "%s%s:\"%s\":%s", more || i ? ",\n" : "", type,
			entry->sites[i].path, trace_function__symbol(entry->sites[i].function));
}

/* Whether the functions have identical entry code. */
static bool is_alike(const struct entry *a, const struct entry *b)
{
	return !a->details.stack_words == !b->details.stack_words &&
	       a->details.kernel == b->details.kernel &&
	       a->details.kernel_word == b->details.kernel_word;
}

static void print_kept(const struct script *script, const struct entry *entry)
{
	FILE *out = script->out;

	fputs("{\n"
	      "\tif (reg(\"sp\") >= @call[tid].0) {\n"
	      "\t\t@call[tid] = (reg(\"sp\"), elapsed, arg0, arg1, arg2, arg3, arg4, arg5);\n",
	      out);
	if (entry->details.stack_words) {
		fputs("\t\t@stack[tid] = (", out);
		/* bpftrace has no tuples of one element. */
		for (unsigned int i = 0; i < script->stack_words || i < 2; i++)
			fprintf(out, "%ssarg%u", i ? ", " : "", i);
		fputs(");\n", out);
	}
	if (entry->details.kernel == BPFTRACE_KERNEL_INSIDE)
		fputs("\t\t@kernel[tid] = 0;\n", out);
	fputs("\t}\n", out);
	if (entry->details.kernel == BPFTRACE_KERNEL_GIVEN)
		fprintf(out, "\t@kernel[tid] = arg%u;\n", entry->details.kernel_word);
	fputs("}\n\n", out);
}

static bool has_predecessor(const struct script *script, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (is_alike(&script->entries[i], &script->entries[at]))
			return true;
	return false;
}

static void print_entries(const struct script *script)
{
	fputs("// A call is outermost where no traced one is in progress further up the thread's "
	      "stack.\n",
	      script->out);
	for (size_t i = 0; i < script->count; i++) {
		if (has_predecessor(script, i))
			continue;
		for (size_t j = i; j < script->count; j++)
			if (is_alike(&script->entries[i], &script->entries[j]))
				print_sites(script, &script->entries[j], "uprobe", j > i);
		fputc('\n', script->out);
		print_kept(script, &script->entries[i]);
	}
}

/* The result's columns, 36 characters wide: a code and its name, a value, or nothing. */
static void result_columns(const struct trace_function *function, const char **format,
			   const char **arguments)
{
	bool runtime = trace_function__layer(function) == LAYER_RUNTIME;

	switch (trace_function__returns(function)) {
	case TRACE_RETURNS_VALUE:
		*format = "0x%-34lx";
		*arguments = "retval";
		return;
	case TRACE_RETURNS_NOTHING:
		*format = "%-36s";
		*arguments = "\"\"";
		return;
	default:
		*format = "%3d %-32s";
		*arguments = runtime ? "$result, @runtime_error[$result]" :
				       "$result, @driver_error[$result]";
	}
}

static void print_return(const struct script *script, const struct entry *entry)
{
	const struct trace_function *function = entry->sites->function;
	const struct bpftrace_details *details = &entry->details;
	const char *format, *arguments;
	FILE *out = script->out;

	result_columns(function, &format, &arguments);
	print_sites(script, entry, "uretprobe", false);
	fputs("\n/@call[tid].0 + 8 == reg(\"sp\")/\n{\n"
	      "\t$call = @call[tid];\n",
	      out);
	if (details->stack_words)
		fputs("\t$stack = @stack[tid];\n", out);
	fprintf(out,
		"\t$duration = elapsed - $call.1;\n"
		"\t$result = (int32)retval;\n"
		"\tprintf(\"%%8lu.%%03lu %%-16s %%7d %%7d %%-24s %%9lu.%%03lu %s %s\\n\",\n"
		"\t       $call.1 / 1000000, $call.1 / 1000 %% 1000, comm, pid, tid, \"%s\", "
		"$duration / 1000,\n"
		"\t       $duration %% 1000, %s%s);\n"
		"\tdelete(@call[tid]);\n",
		format, details->format, trace_function__symbol(function), arguments,
		details->arguments);
	if (details->stack_words)
		fputs("\tdelete(@stack[tid]);\n", out);
	if (details->kernel)
		fputs("\tdelete(@kernel[tid]);\n", out);
	fputs("}\n\n", out);
}

/* Clears the maps: bpftrace prints non-empty maps when it ends. */
static void print_end(const struct script *script)
{
	static const char *const maps[] = {"@call",	 "@stack",	   "@kernel",
					   "@copy_kind", "@runtime_error", "@driver_error"};
	const bool used[] = {
		true, script->stack_words > 0,		script->has_kernel,
		true, script->has_layer[LAYER_RUNTIME], script->has_layer[LAYER_DRIVER]};

	fputs("// A thread that ends in a call leaves nothing to the next one with its number.\n"
	      "tracepoint:sched:sched_process_exit\n{\n",
	      script->out);
	for (int i = 0; i < 3; i++)
		if (used[i])
			fprintf(script->out, "\tdelete(%s[tid]);\n", maps[i]);
	fputs("}\n\nEND\n{\n", script->out);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		if (used[i])
			fprintf(script->out, "\tclear(%s);\n", maps[i]);
	fputs("}\n", script->out);
}

static void free_entries(struct script *script)
{
	for (size_t i = 0; i < script->count; i++)
		bpftrace_details__clear(&script->entries[i].details);
	free(script->entries);
}

int bpftrace_script__print(struct bpftrace_site *sites, size_t count, const char *note, FILE *out,
			   struct error *err)
{
	struct script script = {.out = out};
	int ret = 0;

	if (!count)
		return error__set(err, -EINVAL,
				  "nothing to probe: no library has a function of this selection");
	script.sites = sort_sites(sites, count);
	for (size_t i = 0; !ret && i < script.sites; i++)
		ret = check_path(sites[i].path, err);
	if (ret)
		return ret;
	ret = make_entries(&script, sites);
	if (ret) {
		free_entries(&script);
		return error__set(err, ret, "out of memory");
	}
	print_head(&script, note);
	print_begin(&script);
	print_entries(&script);
	for (size_t i = 0; i < script.count; i++)
		print_return(&script, &script.entries[i]);
	print_end(&script);
	free_entries(&script);
	return 0;
}
