// SPDX-License-Identifier: BSD-2-Clause
/*
 * A long startup: either one part of it that is CUDA's, or due to how the program uses CUDA, takes
 * long; or all of it does, if the program was watched for a while afterwards. Healthy PyTorch
 * programs took 15 to 20 s to their first launch, nearly all of it before their first CUDA call,
 * and 1 to 2 s in each other part.
 */
#include <errno.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "model/profile.h"

enum {
	LEAST_PART,
	LEAST_START,
};

/* a process watched for less than this after startup is probably watched for its startup */
#define WATCHED_SINCE_NS 10000000000ull

struct cold_start {
	struct process_start times;
	const uint64_t *parts;
	uint64_t ns; /* the whole startup */
	int worst;   /* the part that stands out; START_PARTS: none */
};

/*
 * Parts that can take longer than a healthy program needs. The program's imports and its own work
 * are not compared.
 */
static bool may_stand_out(int part)
{
	return part != START_BEFORE && part != START_HOST && part != START_REST &&
	       part != START_WAITS;
}

static bool look_at(const struct finding_input *input, const struct process *process,
		    struct cold_start *start)
{
	const struct process_start *times = &start->times;

	start__evaluate(process, input->began_ns, &start->times);
	if (!times->from_begin || !times->launched_ns)
		return false;
	start->parts = times->steady_ns ? times->to_steady : times->to_launch;
	start->ns = (times->steady_ns ? times->steady_ns : times->launched_ns) - times->begin_ns;
	start->worst = START_PARTS;
	for (int i = 0; i < START_PARTS; i++)
		if (may_stand_out(i) && (double)start->parts[i] >= input->thresholds[LEAST_PART] &&
		    (start->worst == START_PARTS || start->parts[i] > start->parts[start->worst]))
			start->worst = i;
	return true;
}

static bool is_long(const struct finding_input *input, const struct process *process,
		    const struct cold_start *start)
{
	uint64_t to_ns = process->ended ? process->ended_ns : input->model->now_ns;

	return start->times.steady_ns && (double)start->ns >= input->thresholds[LEAST_START] &&
	       to_ns > start->times.steady_ns + WATCHED_SINCE_NS;
}

static const char *words_of(int part)
{
	static const char *const words[START_PARTS + 1] = {
		[START_BEFORE] = "before the first CUDA call",
		[START_DRIVER] = "initialisation of the driver",
		[START_CONTEXT] = "contexts",
		[START_MODULES] = "loads of modules",
		[START_GRAPHS] = "captures and graphs",
		[START_MEMORY] = "allocations",
		[START_COPIES] = "copies",
		[START_LAUNCHES] = "first launches of kernels",
		[START_WAITS] = "waits",
		[START_CALLS] = "other CUDA calls",
		[START_HOST] = "outside CUDA calls",
		[START_REST] = "not attributed",
		[START_PARTS] = "all of it",
	};

	return words[part];
}

static int largest_part(const struct cold_start *start)
{
	int largest = 0;

	for (int i = 1; i < START_PARTS; i++)
		if (start->parts[i] > start->parts[largest])
			largest = i;
	return largest;
}

static void number(struct finding *finding, const struct cold_start *start)
{
	const struct process_start *times = &start->times;

	finding__number(finding, "start_ns", (double)start->ns, UNIT_NS);
	finding__number(finding, "before_cuda_ns", (double)start->parts[START_BEFORE], UNIT_NS);
	finding__number(finding, "context_ns",
			(double)(start->parts[START_DRIVER] + start->parts[START_CONTEXT]),
			UNIT_NS);
	finding__number(finding, "modules_ns", (double)start->parts[START_MODULES], UNIT_NS);
	finding__number(finding, "loads", (double)times->loads, UNIT_COUNT);
	finding__number(finding, "graphs_ns", (double)start->parts[START_GRAPHS], UNIT_NS);
	finding__number(finding, "launches_ns", (double)start->parts[START_LAUNCHES], UNIT_NS);
	finding__number(finding, "copies_ns", (double)start->parts[START_COPIES], UNIT_NS);
	finding__number(finding, "uploaded", (double)times->uploads.bytes, UNIT_BYTES);
	finding__number(finding, "outside_ns", (double)start->parts[START_HOST], UNIT_NS);
}

static int report(struct finding *finding, const struct cold_start *start)
{
	const struct process_start *times = &start->times;
	int largest = start->worst < START_PARTS ? start->worst : largest_part(start);

	number(finding, start);
	if (finding__subject(finding, "%s", words_of(largest)))
		return -ENOMEM;
	return finding__evidence(
		finding,
		"%s passed until the first %s: %s before the first CUDA call, %s in contexts, %s "
		"in %s "
		"loads of modules, %s in first launches, %s in captures, %s in copies (%s)",
		quantity__time((double)start->ns).text, times->steady_ns ? "steady step" : "launch",
		quantity__time((double)start->parts[START_BEFORE]).text,
		quantity__time((double)(start->parts[START_DRIVER] + start->parts[START_CONTEXT]))
			.text,
		quantity__time((double)start->parts[START_MODULES]).text,
		quantity__amount((double)times->loads).text,
		quantity__time((double)start->parts[START_LAUNCHES]).text,
		quantity__time((double)start->parts[START_GRAPHS]).text,
		quantity__time((double)start->parts[START_COPIES]).text,
		quantity__bytes((double)times->uploads.bytes).text);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	struct cold_start start;
	struct finding *finding;

	if (!look_at(input, process, &start) ||
	    (start.worst == START_PARTS && !is_long(input, process, &start)))
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, start.worst < START_PARTS ? start.parts[start.worst] : start.ns,
		      site_lookup__watched_ns(input, process));
	return report(finding, &start);
}

const struct finding_kind cold_start_kind = {
	.id = "cold-start",
	.severity = SEVERITY_INFO,
	.needs = NEEDS_PROFILE,
	.title = "the program takes long to start",
	.advice = "If loads of modules or first launches take long, code is compiled for the GPU "
		  "at each start (PTX): build for its architecture (-gencode, "
		  "TORCH_CUDA_ARCH_LIST), keep the compiled code (a CUDA_CACHE_PATH that outlives "
		  "the container, CUDA_CACHE_MAXSIZE; TRITON_CACHE_DIR and "
		  "TORCHINDUCTOR_CACHE_DIR; jax_compilation_cache_dir), and leave "
		  "CUDA_MODULE_LOADING at LAZY. Contexts are created faster in persistence mode "
		  "(nvidia-smi -pm 1) and with only the GPUs that are used in "
		  "CUDA_VISIBLE_DEVICES. Copy weights from pinned memory, in large pieces, and "
		  "read files ahead. Capture graphs for fewer sizes. Time before the first CUDA "
		  "call is the program's own: python3 -X importtime shows which imports take it.",
	.cost = "the part of the start that stands out, or all of it",
	.thresholds =
		{
			{"part", 5e9, UNIT_NS,
			 "minimum time of one part, other than imports, to stand out"},
			{"start", 60e9, UNIT_NS,
			 "minimum time to the first steady step, if no part stands out"},
		},
	.detect = detect,
};
