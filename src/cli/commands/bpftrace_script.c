// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe bpftrace-script: prints a script for bpftrace, for the libraries of this machine.
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/options/arguments.h"
#include "target/cuda_files.h"
#include "cli/commands/subcommand.h"
#include "cli/commands/unknown_names.h"
#include "output/bpftrace_script.h"
#include "target/cuda_library.h"
#include "trace/selection.h"

/* What the script is for unless -e says otherwise: the calls of a small program, at either layer. */
#define DEFAULT_SELECTION \
	"cudaMalloc,cudaFree,cudaMemcpy,cudaLaunchKernel,cudaStreamCreate,cudaStreamSynchronize,cudaGetDevice," \
	"cudaSetDevice,cudaEventCreate,cudaEventRecord,cudaEventSynchronize,cuMemAlloc_v2,cuMemFree_v2," \
	"cuMemcpyHtoD_v2,cuMemcpyDtoH_v2,cuMemcpyDtoD_v2,cuLaunchKernel,cuLaunchKernelEx,cuStreamCreate," \
	"cuStreamSynchronize,cuCtxGetDevice,cuCtxSetCurrent,cuEventCreate,cuEventRecord,cuEventSynchronize"

#define STANDARD_LIBCUDA "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
#define STANDARD_LIBCUDART "/usr/local/cuda/lib64/libcudart.so"

static const char help[] =
	"Usage: gpuprobe bpftrace-script [OPTIONS] > FILE\n"
	"\n"
	"Prints a script for bpftrace that shows CUDA calls as they return, with the\n"
	"paths of this machine's libraries and those functions that they have.\n"
	"\n"
	"  -e, --events LIST       families and functions, as gpuprobe trace takes them\n"
	"                          (repeatable) [25 functions of both layers: allocating,\n"
	"                          copying, launching, streams, events, devices]\n"
	"  --api LAYER             runtime, driver or both [both]\n"
	"  --libcudart-path FILE   this runtime, not those that are found (repeatable)\n"
	"  --libcuda-path FILE     this driver, not those that are found (repeatable)\n"
	"  --standard-paths        look at no library: the usual paths, and all functions\n"
	"                          that are chosen\n"
	"  -h, --help              this text\n"
	"  -V, --version           the version\n";

struct request {
	const char **events;
	size_t event_count;
	enum api_mode api;
	bool standard, help, version;
	unsigned int named; /* LAYER_BIT() of the layers whose libraries were named */
	struct trace_selection *selection;
	struct trace_functions *functions;
	struct cuda_files files;
	struct bpftrace_site *sites;
	size_t site_count, site_capacity;
};

enum option_id {
	OPT_API = 256,
	OPT_LIBCUDART,
	OPT_LIBCUDA,
	OPT_STANDARD
};

static const struct option long_options[] = {
	{"events", required_argument, NULL, 'e'},
	{"api", required_argument, NULL, OPT_API},
	{"libcudart-path", required_argument, NULL, OPT_LIBCUDART},
	{"libcuda-path", required_argument, NULL, OPT_LIBCUDA},
	{"standard-paths", no_argument, NULL, OPT_STANDARD},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static int take_api(struct request *request, const char *text, struct error *err)
{
	static const char *const words[] = {"runtime", "driver", "both"};
	static const enum api_mode modes[] = {API_RUNTIME, API_DRIVER, API_BOTH};
	size_t which = 0;
	int ret = arguments__word("--api", text, words, 3, &which, err);

	if (!ret)
		request->api = modes[which];
	return ret;
}

static int take_library(struct request *request, enum layer layer, const char *path, struct error *err)
{
	int ret = arguments__library(path, err);

	request->named |= LAYER_BIT(layer);
	if (!ret)
		ret = cuda_files__add(&request->files, path, err);
	return ret ? arguments__library_error(ret, err) : 0;
}

static int take_option(struct request *request, int id, struct error *err)
{
	switch (id) {
	case 'e':
		return arguments__append(&request->events, &request->event_count, optarg, err);
	case OPT_API:
		return take_api(request, optarg, err);
	case OPT_LIBCUDART:
		return take_library(request, LAYER_RUNTIME, optarg, err);
	case OPT_LIBCUDA:
		return take_library(request, LAYER_DRIVER, optarg, err);
	case OPT_STANDARD:
		request->standard = true;
		return 0;
	case 'V':
		request->version = true;
		return 0;
	default:
		request->help = true;
		return 0;
	}
}

/* Whether something is told of gpuprobe, and no script printed. */
static bool tells(const struct request *request)
{
	return request->help || request->version;
}

static int parse(struct request *request, int argc, char **argv, int *status, struct error *err)
{
	int id, ret = 0;

	*status = EXIT_USAGE;
	opterr = 0;
	while (!ret && !tells(request) && (id = getopt_long(argc, argv, "+:e:hV", long_options, NULL)) != -1) {
		if (id == ':' || id == '?')
			return arguments__bad_option(id, argc, argv, long_options, "gpuprobe bpftrace-script", err);
		ret = take_option(request, id, err);
	}
	if (ret || tells(request))
		return ret;
	if (optind < argc)
		return error__set(err, -EINVAL, "unexpected '%.100s': see gpuprobe bpftrace-script --help", argv[optind]);
	if (request->standard && request->named)
		return error__set(err, -EINVAL, "--standard-paths and a path do not go together: choose one");
	request->selection = trace_selection__new(request->api);
	request->functions = trace_functions__new(false);
	if (!request->selection || !request->functions)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !ret && i < request->event_count; i++)
		ret = trace_selection__add(request->selection, request->events[i], err);
	if (!ret && !request->event_count)
		ret = trace_selection__add(request->selection, DEFAULT_SELECTION, err);
	if (!ret)
		ret = trace_selection__check(request->selection, err);
	return ret ? error__prefix(err, ret, "-e") : 0;
}

static int add_site(struct request *request, size_t row, const char *path)
{
	if (request->site_count == request->site_capacity) {
		size_t capacity = request->site_capacity ? 2 * request->site_capacity : 256;
		void *grown = realloc(request->sites, capacity * sizeof(*request->sites));

		if (!grown)
			return -ENOMEM;
		request->sites = grown;
		request->site_capacity = capacity;
	}
	request->sites[request->site_count++] =
		(struct bpftrace_site){path, trace_functions__at(request->functions, (uint32_t)row)};
	return 0;
}

/* What a file calls its functions goes into a script that root will run. */
static bool is_identifier(const char *symbol)
{
	return symbol[strspn(symbol, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* A function that the table does not have gets a row of its own. */
static int add_unknown(const char *symbol, enum layer layer, void *arg)
{
	struct request *request = arg;

	if (!is_identifier(symbol) || !trace_selection__wants_symbol(request->selection, symbol, layer))
		return -ENOENT;
	return trace_functions__add(request->functions, symbol, layer);
}

static int add_functions(struct request *request, const struct cuda_file *file)
{
	bool *rows = calloc(api_function_count, sizeof(*rows));
	struct wanted_functions wanted = {rows, add_unknown, request};
	struct probe_site *sites = NULL;
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
			error__set(err, ret, "%s: cannot read its symbols: %s", file->path, strerror(-ret));
	}
	return ret;
}

static int standard_sites(struct request *request, struct error *err)
{
	int ret = 0;

	for (size_t row = 0; !ret && row < api_function_count; row++)
		if (api__find(api_functions[row].symbol, API_NEWEST) == (int)row &&
		    trace_selection__wants(request->selection, &api_functions[row]))
			ret = add_site(request, row, api_functions[row].desc.layer == LAYER_DRIVER ? STANDARD_LIBCUDA : STANDARD_LIBCUDART);
	return ret ? error__set(err, ret, "out of memory") : 0;
}

/* Where a layer that was asked for has no library, its functions are not in the script. */
static void warn_of_missing_layers(const struct request *request)
{
	const struct log log = {.level = LOG_WARN};
	unsigned int found = 0;

	for (size_t i = 0; i < request->files.count; i++)
		found |= request->files.files[i].layers;
	if (request->api != API_RUNTIME && !(found & LAYER_BIT(LAYER_DRIVER)))
		log__warn(&log, "no libcuda was found, so no function of the driver is in the script: give --libcuda-path");
	if (request->api != API_DRIVER && !(found & LAYER_BIT(LAYER_RUNTIME)))
		log__warn(&log, "no libcudart was found, so no function of the runtime is in the script: give "
				"--libcudart-path, which may be a program with the runtime inside");
}

static const char *note_of(const struct request *request)
{
	if (!request->standard)
		return "The paths are those of the machine on which gpuprobe bpftrace-script printed it.";
	return "The paths are the usual ones. Where the libraries are elsewhere, put theirs in their place,\n"
	       " *   sed -i 's|" STANDARD_LIBCUDART "|/opt/cuda/lib/libcudart.so.13|' FILE\n"
	       " * or let gpuprobe bpftrace-script print a script for that machine. bpftrace refuses the whole\n"
	       " * script if a file lacks one function: take out what it names. A program with the runtime linked\n"
	       " * into it (nvcc's default) needs its own path in place of libcudart's; the driver's calls are\n"
	       " * seen of any program.";
}

static void clear(struct request *request)
{
	free(request->sites);
	free(request->events);
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
	unknown_names__warn(request->selection, request->functions, "no library has a function of this name", &log);
	if (!request->standard)
		warn_of_missing_layers(request);
	ret = bpftrace_script__print(request->sites, request->site_count, note_of(request), stdout, err);
	if (!ret && fflush(stdout))
		ret = error__set(err, -errno, "cannot write standard output: %s", strerror(errno));
	return ret;
}

int bpftrace_script_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct request request = {.api = API_BOTH};
	int ret = parse(&request, argc, argv, status, err);

	if (!ret) {
		*status = EXIT_FAILED;
		if (request.help)
			fputs(help, stdout);
		else if (request.version)
			subcommand__print_version();
		else
			ret = print(&request, err);
	}
	if (!ret)
		*status = 0;
	clear(&request);
	return ret;
}
