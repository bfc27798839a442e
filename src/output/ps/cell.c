// SPDX-License-Identifier: BSD-2-Clause
// The cells of the table of `gpuprobe ps`, see parts.h.
#include "output/ps/parts.h"

#include <stdarg.h>
#include <string.h>

#include "api/api.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "device/cuda_environment.h"
#include "model/gpu_label.h"
#include "output/ps/ps.h"
#include "target/workload.h"

#define CONTAINER_SHOWN 12 /* digits that container engines show */
#define POD_SHOWN 8
#define SHORTEST_IDLE_NS NS_PER_S /* a shorter time says nothing by the time it is read */

const char *ps_words__state(enum ps_state state)
{
	static const char *const words[PS_STATES] = {
		[PS_RUNNING] = "running", [PS_WAITING] = "waiting", [PS_STUCK] = "stuck",
		[PS_IDLE] = "idle",	  [PS_STOPPED] = "stopped",
	};

	return state < PS_STATES ? words[state] : NULL;
}

const char *ps_words__library(enum ps_library_kind kind)
{
	static const char *const words[PS_LIBRARY_KINDS] = {
		[PS_DRIVER] = "libcuda",
		[PS_CUDART] = "cudart",
		[PS_NCCL] = "nccl",
		[PS_CUDNN] = "cudnn",
	};

	return kind < PS_LIBRARY_KINDS ? words[kind] : NULL;
}

/* Appends to a cell; what does not fit is cut. */
static __attribute__((format(printf, 2, 3))) void append(char text[PS_CELL_SIZE],
							 const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, PS_CELL_SIZE - length, format, arguments);
	va_end(arguments);
}

bool ps_cell__is_contained(const struct process *process)
{
	const struct workload *workload = process->workload;

	return process->container[0] || process->pod[0] || (workload && workload->container[0]);
}

static void container_text(const struct process *p, char text[PS_CELL_SIZE])
{
	const struct workload *workload = p->workload;

	if (workload && workload->pod[0])
		append(text, "%s/%s%s%s", workload->namespace, workload->pod,
		       workload->container[0] ? "/" : "", workload->container);
	else if (workload && workload->container[0])
		append(text, "%s", workload->container);
	else if (p->container[0])
		append(text, "%.*s", CONTAINER_SHOWN, p->container);
	else if (p->pod[0])
		append(text, "pod %.*s", POD_SHOWN, p->pod);
}

/* --- GPUs --- */

static bool is_on(const struct ps_row *row, size_t gpu)
{
	if (row->context != PS_CONTEXT_UNKNOWN)
		return row->on_gpus[gpu / 64] >> gpu % 64 & 1;
	for (size_t i = 0; i < row->process->gpu_count; i++)
		if (row->process->gpus[i].gpu == (int)gpu)
			return true;
	return false;
}

/* The last GPU of a row of neighbours that begins with `from`: "0-7" rather than all of them. */
static size_t end_of_range(const struct ps *ps, const struct ps_row *row, size_t from)
{
	const struct gpu *gpus = ps->model.gpus;
	size_t end = from;

	while (end + 1 < ps->model.gpu_count && is_on(row, end + 1) && gpus[end].mig == GPU_NONE &&
	       gpus[end + 1].mig == GPU_NONE && gpus[end + 1].index == gpus[end].index + 1)
		end++;
	return end;
}

static void gpus_text(const struct ps *ps, const struct ps_row *row, char text[PS_CELL_SIZE])
{
	for (size_t i = 0; i < ps->model.gpu_count; i++) {
		char first[GPU_LABEL_SIZE], last[GPU_LABEL_SIZE];
		size_t end;

		if (!is_on(row, i))
			continue;
		end = end_of_range(ps, row, i);
		gpu_label(&ps->model.gpus[i], first);
		gpu_label(&ps->model.gpus[end], last);
		append(text, "%s%s", text[0] ? "," : "", first);
		if (end > i)
			append(text, "%s%s", end > i + 1 ? "-" : ",", last);
		i = end;
	}
}

/* Without NVML, what the process may use by its environment. */
static void visible_text(const struct process *p, char text[PS_CELL_SIZE])
{
	const struct cuda_environment *environment = p->environment;

	if (environment && environment->known && environment->nodes == NODES_ALL)
		append(text, "%s", environment->has_visible ? environment->visible : "all");
}

/* --- memory and threads --- */

static void memory_text(const struct ps_row *row, enum quantity_form form, char text[PS_CELL_SIZE])
{
	uint64_t bytes = ps_row__bytes(row);

	if (row->context == PS_NO_CONTEXT)
		append(text, "no context");
	else if (bytes != GPU_UNKNOWN_BYTES)
		append(text, "%s", quantity__bytes_as(form, bytes).text);
}

/* The time in its largest unit: "3 h" of "3 h 20 min". */
static int idle_length(const char *time)
{
	const char *unit = strchr(time, ' '), *rest = unit ? strchr(unit + 1, ' ') : NULL;

	return (int)(rest ? (size_t)(rest - time) : strlen(time));
}

static void state_text(const struct ps_row *row, char text[PS_CELL_SIZE])
{
	const char *word = ps_words__state(row->state);
	struct quantity time;

	if (row->blocked)
		word = "blocked";
	append(text, "%s%s", word ? word : "", row->state == PS_STUCK ? "?" : "");
	if (row->state != PS_IDLE || !row->idle_ns)
		return;
	if (row->idle_ns < SHORTEST_IDLE_NS) {
		append(text, " under 1 s");
		return;
	}
	time = quantity__time((double)row->idle_ns);
	append(text, " %.*s", idle_length(time.text), time.text);
}

static void in_cuda_text(const struct ps_row *row, char text[PS_CELL_SIZE])
{
	const char *call = ps_row__call(row);

	if (!row->looked_at)
		return;
	append(text, "%zu/%zu", row->in_cuda, row->threads);
	if (call)
		append(text, " %s", api__shown(call));
}

/* --- libraries --- */

/* Its first two numbers: "13.0" of "13.0.48". */
static int short_version(const char *version)
{
	size_t length = strcspn(version, ".");

	if (version[length])
		length += 1 + strcspn(version + length + 1, ".");
	return (int)length;
}

static void append_library(char text[PS_CELL_SIZE], const char *name, const char *version,
			   int length)
{
	append(text, "%s%s", text[0] ? ", " : "", name);
	if (length)
		append(text, " %.*s", length, version);
}

/* A driver library of another version than the kernel's: of a container, or a newer one for it. */
static bool is_other_driver(const struct ps *ps, const struct ps_library *driver)
{
	return driver->mapped && ps->driver[0] && strchr(driver->version, '.') &&
	       strcmp(driver->version, ps->driver) != 0;
}

static void libraries_text(const struct ps *ps, const struct ps_libraries *libraries,
			   char text[PS_CELL_SIZE])
{
	const struct ps_library *driver = &libraries->list[PS_DRIVER];

	for (int kind = PS_CUDART; kind < PS_LIBRARY_KINDS; kind++) {
		const struct ps_library *library = &libraries->list[kind];

		if (!library->mapped)
			continue;
		append_library(text, ps_words__library((enum ps_library_kind)kind),
			       library->version, short_version(library->version));
		if (library->inside)
			append(text, " static");
	}
	if (is_other_driver(ps, driver))
		append_library(text, ps_words__library(PS_DRIVER), driver->version,
			       (int)strlen(driver->version));
	else if (driver->mapped && !text[0])
		append_library(text, ps_words__library(PS_DRIVER), "", 0);
	if (libraries->known && !text[0])
		append(text, "none");
}

char *ps_cell__text(const struct ps *ps, const struct ps_row *row, enum ps_column column,
		    enum quantity_form form, char text[PS_CELL_SIZE])
{
	const struct process *p = row->process;

	text[0] = '\0';
	switch (column) {
	case PS_COLUMN_PID: append(text, "%d", p->pid); break;
	case PS_COLUMN_USER: append(text, "%s", p->user); break;
	case PS_COLUMN_CONTAINER: container_text(p, text); break;
	case PS_COLUMN_GPU:
		gpus_text(ps, row, text);
		if (!ps->model.gpu_count)
			visible_text(p, text);
		break;
	case PS_COLUMN_MEMORY: memory_text(row, form, text); break;
	case PS_COLUMN_STATE: state_text(row, text); break;
	case PS_COLUMN_IN_CUDA: in_cuda_text(row, text); break;
	case PS_COLUMN_LIBRARIES: libraries_text(ps, &row->libraries, text); break;
	default: break;
	}
	if (!text[0])
		append(text, "-");
	return text;
}
