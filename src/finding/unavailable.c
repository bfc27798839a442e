// SPDX-License-Identifier: BSD-2-Clause
// A process in which no call succeeds because there is no usable driver or device, and the reason,
// from its first error.
#include <errno.h>
#include <stddef.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "api/api.h"

enum {
	LEAST_CALLS,
};

/* a consequence if initialization failed; a cause of its own if nothing failed before */
#define NOT_INITIALIZED 3

/* What an error says about the machine. The runtime's codes equal the driver's. */
struct cause {
	int code;
	const char *why, *remedy;
};

static const struct cause causes[] = {
	{34, "the library that was loaded as the driver is a stub, made for linking alone",
	 "take the toolkit's directory `stubs` out of LD_LIBRARY_PATH and of the program's run "
	 "path, so that the driver's own "
	 "libcuda.so.1 is found"},
	{35,
	 "there is no driver (libcuda.so.1), or it is older than the program's CUDA runtime needs",
	 "nvidia-smi shows the driver and the newest CUDA version that it supports: install or "
	 "update it; start a "
	 "container with its GPUs (docker run --gpus all)"},
	{46, "all devices are busy or may not be used",
	 "see which processes have them, and their compute mode (nvidia-smi -q -d COMPUTE): in "
	 "exclusive mode only "
	 "one process can use a device"},
	{100, "the driver sees no device",
	 "look at nvidia-smi, at CUDA_VISIBLE_DEVICES, and in a container at its device nodes "
	 "/dev/nvidia*"},
	{102, "the virtual GPU has no licence", "look at its licence server (nvidia-smi -q)"},
	{802, "the system is not ready: NVSwitch's fabric is not up",
	 "start nvidia-fabricmanager of the driver's version, or wait until it is done"},
	{803, "the driver's library and its kernel module are of different versions",
	 "load the new module or reboot after an update; in a container use the host's library "
	 "(NVIDIA's container "
	 "toolkit mounts it)"},
	{804, "the device does not support the forward compatibility package that was loaded",
	 "take the compat directory out of LD_LIBRARY_PATH, or update the driver"},
	{805, "the MPS server cannot be reached",
	 "start nvidia-cuda-mps-control, or unset CUDA_MPS_PIPE_DIRECTORY"},
	{807, "the MPS server is not ready for clients",
	 "try again, and look at the MPS server's log"},
	{999, "the driver could not start, and gives no reason",
	 "look at the kernel's log (dmesg) for NVRM, check the permissions of /dev/nvidia*, and "
	 "whether nvidia-uvm "
	 "is loaded"},
	{NOT_INITIALIZED,
	 "CUDA is not initialised in this process: cuInit failed before it was watched, was never "
	 "called, or the "
	 "process was forked by one that had used CUDA",
	 "call cuInit first; start workers without fork (in Python by multiprocessing's "
	 "\"spawn\")"},
};

static const struct cause *cause_of(int code)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (causes[i].code == code)
			return &causes[i];
	return NULL;
}

/* Whether successes of the function are known: launches are not checked without a profile. */
static bool knows_success(const struct process *process, const struct function_totals *totals)
{
	enum operation operation = totals->row < api_function_count ?
					   api_functions[totals->row].desc.operation :
					   OP_NONE;

	if (totals->flags & (TALLY_REPLACED | TALLY_WITH_CONTEXT | TALLY_ENDED | TALLY_UNFOLLOWED))
		return false;
	return process->profile || (operation != OP_LAUNCH && operation != OP_GRAPH_LAUNCH);
}

static bool has_success(const struct process *process)
{
	for (size_t i = 0; i < process->function_count; i++)
		if (process->functions[i].calls && knows_success(process, &process->functions[i]))
			return true;
	return false;
}

/* The earliest failure; NULL: none. */
static const struct failure *first_of(const struct process *process)
{
	const struct failure *first = NULL;

	for (size_t i = 0; i < process->failure_count; i++)
		if (!first || process->failures[i].first_ns < first->first_ns)
			first = &process->failures[i];
	return first;
}

static uint64_t failures_of(const struct process *process)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < process->failure_count; i++)
		sum += process->failures[i].count;
	return sum;
}

static bool holds(const struct process *process, const double *thresholds)
{
	const struct failure *first = first_of(process);

	return first && cause_of(first->code) &&
	       (double)failures_of(process) >= thresholds[LEAST_CALLS] && !has_success(process);
}

static int report(struct finding *finding, const struct process *process)
{
	const struct failure *first = first_of(process);
	const struct cause *cause = cause_of(first->code);
	uint64_t count = failures_of(process);
	int row = api__find(first->function, API_NEWEST), ret;

	finding__number(finding, "calls", (double)count, UNIT_COUNT);
	finding__number(finding, "code", first->code, UNIT_COUNT);
	finding->weight = (double)count;
	if (row >= 0)
		finding->stack = site_lookup__of_failure(process, (size_t)row, first->code);
	ret = finding__subject(finding, "%s: %s", first->function,
			       first->error ? first->error : "an error");
	if (ret)
		return ret;
	return finding__evidence(finding, "%s call%s failed and none succeeded: %s; %s",
				 quantity__amount((double)count).text, count == 1 ? "" : "s",
				 cause->why, cause->remedy);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	struct finding *finding;

	if (!holds(process, input->thresholds))
		return 0;
	finding = finding_list__add(out, input, process);
	return finding ? report(finding, process) : -ENOMEM;
}

const struct finding_kind cuda_unavailable_kind = {
	.id = "cuda-unavailable",
	.severity = SEVERITY_CRITICAL,
	.title = "CUDA cannot be used here: no call succeeds",
	.advice = "None of the process's calls succeeded, and the first error says that there is "
		  "no usable driver or device. The evidence names the likely cause and what to "
		  "do. nvidia-smi shows whether the driver works, and gpuprobe check which "
		  "libraries and GPUs there are. A program that only asked whether there is a "
		  "GPU, and runs without one, has no fault. Other findings of such a process "
		  "could only come from failed calls, so they are left out.",
	.thresholds =
		{
			{"calls", 1, UNIT_COUNT, "minimum failed calls"},
		},
	.detect = detect,
	.stands_alone = holds,
};
