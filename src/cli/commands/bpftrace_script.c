// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe bpftrace-script: prints a script for bpftrace, for the libraries of this machine.
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "cli/options/shared_rows.h"
#include "cli/options/targets.h"
#include "cli/options/option_table.h"
#include "target/cuda_files.h"
#include "cli/commands/subcommand.h"
#include "cli/commands/trace_choice.h"
#include "output/bpftrace_script.h"
#include "target/cuda_library.h"
#include "trace/selection.h"

/* The functions selected without -e: the calls of a small program, at either layer. */
#define DEFAULT_SELECTION \
	"cudaMalloc,cudaFree,cudaMemcpy,cudaLaunchKernel,cudaStreamCreate,cudaStreamSynchronize," \
	"cudaGetDevice," \
	"cudaSetDevice,cudaEventCreate,cudaEventRecord,cudaEventSynchronize,cuMemAlloc_v2," \
	"cuMemFree_v2," \
	"cuMemcpyHtoD_v2,cuMemcpyDtoH_v2,cuMemcpyDtoD_v2,cuLaunchKernel,cuLaunchKernelEx," \
	"cuStreamCreate," \
	"cuStreamSynchronize,cuCtxGetDevice,cuCtxSetCurrent,cuEventCreate,cuEventRecord," \
	"cuEventSynchronize"

#define STANDARD_LIBCUDA "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
#define STANDARD_LIBCUDART "/usr/local/cuda/lib64/libcudart.so"

struct request {
	struct option_list events;
	enum api_mode api;
	bool standard;
	unsigned int named; /* LAYER_BIT() of the layers whose libraries the user named */
	struct trace_selection *selection;
	struct trace_functions *functions;
	struct cuda_files files;
	struct bpftrace_site *sites;
	size_t site_count;
};

/* The row's `min` is an enum layer. */
static int take_library(const struct option_row *row, void *field, const char *path,
			struct error *err)
{
	struct request *request = field;
	int ret = targets__check_library(path, err);

	request->named |= LAYER_BIT((enum layer)row->min);
	if (!ret)
		ret = cuda_files__add(&request->files, path, err);
	return ret ? targets__library_error(ret, err) : 0;
}

#define FIELD(member) .offset = offsetof(struct request, member)

static const struct option_row option_rows[] = {
	{"events", 'e', "WORD,...",
	 "families and functions, as for gpuprobe trace\n"
	 "(repeatable) [25 functions of both layers: memory,\n"
	 "copies, launches, streams, events, devices]",
	 option__list, FIELD(events)},
	{"api", 0, "runtime|driver|both", "layers to trace [both]", shared_rows__take_layers,
	 FIELD(api)},
	{"libcudart-path", 0, "FILE", "use this runtime, not those found (repeatable)",
	 take_library, .min = LAYER_RUNTIME},
	{"libcuda-path", 0, "FILE", "use this driver, not those found (repeatable)", take_library,
	 .min = LAYER_DRIVER},
	{"standard-paths", 0, NULL,
	 "look at no library: use the usual paths, and all\n"
	 "selected functions",
	 option__flag, FIELD(standard)},
	{.rows = help_rows},
	{0},
};

const struct option_table bpftrace_script_options = {
	.program = "gpuprobe bpftrace-script",
	.head = "Usage: gpuprobe bpftrace-script [OPTIONS] > FILE\n"
		"\n"
		"Prints a bpftrace script that shows CUDA calls as they return, with the paths of\n"
		"this machine's libraries and the functions that they have.\n"
		"\n",
	.rows = option_rows,
};

static int select_functions(struct request *request, struct error *err)
{
	int ret = 0;

	request->selection = trace_selection__new(request->api);
	request->functions = trace_functions__new(false);
	if (!request->selection || !request->functions)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !ret && i < request->events.count; i++)
		ret = trace_selection__add(request->selection, request->events.texts[i], err);
	if (!ret && !request->events.count)
		ret = trace_selection__add(request->selection, DEFAULT_SELECTION, err);
	if (!ret)
		ret = trace_selection__check(request->selection, err);
	return ret ? error__prefix(err, ret, "-e") : 0;
}

/* Returns an enum option_result, or a negative errno with a message. */
static int parse(struct request *request, int argc, char **argv, struct error *err)
{
	int ret = option_table__parse(&bpftrace_script_options, request, argc, argv, err);

	if (ret)
		return ret;
	if (optind < argc)
		return error__set(err, -EINVAL,
				  "unexpected '%.100s': see gpuprobe bpftrace-script --help",
				  argv[optind]);
	if (request->standard && request->named)
		return error__set(err, -EINVAL,
				  "--standard-paths and a path do not go together: choose one");
	return select_functions(request, err);
}

static int add_site(struct request *request, size_t row, const char *path)
{
	return ARRAY_APPEND(request->sites, request->site_count,
			    (struct bpftrace_site){
				    path, trace_functions__at(request->functions, (uint32_t)row)});
}

/* Symbol names from a file end up in a script that root will run. */
static bool is_identifier(const char *symbol)
{
	return symbol[strspn(symbol,
			     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] ==
	       '\0';
}

/* Adds a row for a function that the table does not have. */
static int add_unknown(const char *symbol, enum layer layer, void *arg)
{
	struct request *request = arg;

	if (!is_identifier(symbol) ||
	    !trace_selection__wants_symbol(request->selection, symbol, layer))
		return -ENOENT;
	return trace_functions__add(request->functions, symbol, layer);
}

static int add_functions(struct request *request, const struct cuda_file *file)
{
	bool *rows = calloc(api_function_count, sizeof(*rows));
	struct wanted_functions wanted = {rows, add_unknown, request};
	struct probe_point *sites = NULL;
	size_t count = 0, missing;
	int ret = rows ? 0 : -ENOMEM;

	for (size_t row = 0; !ret && row < api_function_count; row++)
		rows[row] = file->layers & LAYER_BIT(api_functions[row].desc.layer) &&
			    trace_selection__wants(request->selection, &api_functions[row]);
	if (!ret)
		ret = cuda_library__sites(file->elf, &wanted, &sites, &count, &missing);
	for (size_t i = 0; !ret && i < count; i++)
		ret = add_site(request, sites[i].row, file->path);
	free(sites);
	free(rows);
	return ret;
}

static int find_sites(struct request *request, struct error *err)
{
	unsigned int layers = LAYER_BIT(LAYER_RUNTIME) | LAYER_BIT(LAYER_DRIVER);
	int ret = cuda_files__find(&request->files, layers & ~request->named, err);

	if (ret)
		return ret;
	for (size_t i = 0; !ret && i < request->files.count; i++) {
		const struct cuda_file *file = &request->files.files[i];

		ret = add_functions(request, file);
		if (ret)
			error__set(err, ret, "%s: cannot read its symbols: %s", file->path,
				   strerror(-ret));
	}
	return ret;
}

static int standard_sites(struct request *request, struct error *err)
{
	int ret = 0;

	for (size_t row = 0; !ret && row < api_function_count; row++)
		if (api__find(api_functions[row].symbol, API_NEWEST) == (int)row &&
		    trace_selection__wants(request->selection, &api_functions[row]))
			ret = add_site(request, row,
				       api_functions[row].desc.layer == LAYER_DRIVER ?
					       STANDARD_LIBCUDA :
					       STANDARD_LIBCUDART);
	return ret ? error__set(err, ret, "out of memory") : 0;
}

/* Warns of requested layers without a library: their functions are not in the script. */
static void warn_of_missing_layers(const struct request *request)
{
	const struct log log = {.level = LOG_WARN};
	unsigned int found = 0;

	for (size_t i = 0; i < request->files.count; i++)
		found |= request->files.files[i].layers;
	if (request->api != API_RUNTIME && !(found & LAYER_BIT(LAYER_DRIVER)))
		log__warn(&log, "no libcuda found, so the script has no function of the driver: "
				"give --libcuda-path");
	if (request->api != API_DRIVER && !(found & LAYER_BIT(LAYER_RUNTIME)))
		log__warn(&log,
			  "no libcudart found, so the script has no function of the runtime: give "
			  "--libcudart-path, which may be a program with the runtime inside");
}

static const char *note_of(const struct request *request)
{
	if (!request->standard)
		return "The paths are those of the machine on which gpuprobe bpftrace-script "
		       "printed it.";
	return "The paths are the usual ones. Where the libraries are elsewhere, put theirs in "
	       "their place,\n"
	       " *   sed -i 's|" STANDARD_LIBCUDART "|/opt/cuda/lib/libcudart.so.13|' FILE\n"
	       " * or let gpuprobe bpftrace-script print a script for that machine. bpftrace "
	       "refuses the whole\n"
	       " * script if a file lacks one function: take out what it names. A program with the "
	       "runtime linked\n"
	       " * into it (nvcc's default) needs its own path in place of libcudart's; the "
	       "driver's calls are\n"
	       " * seen of any program.";
}

static void clear(struct request *request)
{
	free(request->sites);
	free(request->events.texts);
	trace_selection__free(request->selection);
	trace_functions__free(request->functions);
	cuda_files__clear(&request->files);
}

static int print(struct request *request, struct error *err)
{
	const struct log log = {.level = LOG_WARN};
	int ret = request->standard ? standard_sites(request, err) : find_sites(request, err);

	if (ret)
		return ret;
	trace_choice__warn_unknown(request->selection, request->functions,
				   "no library has a function of this name", &log);
	if (!request->standard)
		warn_of_missing_layers(request);
	ret = bpftrace_script__print(request->sites, request->site_count, note_of(request), stdout,
				     err);
	if (!ret && fflush(stdout))
		ret = error__set(err, -errno, "cannot write standard output: %s", strerror(errno));
	return ret;
}

int bpftrace_script_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct request request = {.api = API_BOTH};
	int ret = parse(&request, argc, argv, err);

	if (!subcommand__is_done(ret, &bpftrace_script_options, status)) {
		ret = print(&request, err);
		*status = ret ? EXIT_FAILED : 0;
	}
	clear(&request);
	return ret < 0 ? ret : 0;
}
