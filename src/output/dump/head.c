// SPDX-License-Identifier: BSD-2-Clause
// The first line of a process, see parts.h.
#include "output/dump/parts.h"

#include <string.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "model/gpu_label.h"
#include "output/clip.h"
#include "output/command_text.h"

#define COMMAND_COLUMNS 80
#define COMMAND_SIZE 1024     /* as much as may matter for a few columns */
#define CONTAINER_ID 64	      /* digits of a complete container id */
#define CONTAINER_ID_SHOWN 12 /* digits that container engines show */

static void print_command(FILE *out, const struct dump_process *process, bool on_terminal)
{
	const char *command =
		process->command && process->command[0] ? process->command : process->process->comm;

	char shortened[COMMAND_SIZE];

	fprintf(out, "process %d (", process->process->pid);
	if (on_terminal) {
		command_text__shorten(command, shortened, sizeof(shortened));
		clip__print(out, shortened, COMMAND_COLUMNS);
	} else {
		clip__print(out, command, CLIP_WHOLE);
	}
	fputc(')', out);
}

static void print_container(FILE *out, const char *container)
{
	char shown[CONTAINER_ID + 1];
	int digits = strlen(container) == CONTAINER_ID ? CONTAINER_ID_SHOWN : CONTAINER_ID;

	if (!container[0])
		return;
	snprintf(shown, sizeof(shown), "%.*s", digits, container);
	fputs(", container ", out);
	escape__text(out, shown);
}

static void print_owner(FILE *out, const struct process *p)
{
	if (!p->identified)
		return;
	fputs(", user ", out);
	escape__text(out, p->user);
	if (!p->cgroup_known)
		fputs(", container unknown", out);
	if (p->pod[0]) {
		fputs(", pod ", out);
		escape__text(out, p->pod);
	}
	print_container(out, p->container);
}

static void print_gpu(FILE *out, const struct model *model, const struct process_gpu *g,
		      enum quantity_form form)
{
	const struct gpu *gpu = gpu_label__find(model, g);
	char label[GPU_LABEL_SIZE];

	if (gpu) {
		gpu_label(gpu, label);
		fprintf(out, ", GPU %s", label);
	} else {
		fputs(", GPU unknown", out);
	}
	if (gpu && gpu->name[0]) {
		fputs(" (", out);
		escape__text(out, gpu->name);
		fputc(')', out);
	}
	if (g->used_bytes == GPU_UNKNOWN_BYTES)
		fputs(": memory unknown", out);
	else
		fprintf(out, ": %s", quantity__bytes_as(form, g->used_bytes).text);
}

static void print_threads(FILE *out, const struct dump_process *process)
{
	size_t threads = process->thread_count + process->unseen;

	fprintf(out, ", %zu thread%s, ", threads, threads == 1 ? "" : "s");
	if (process->in_cuda)
		fprintf(out, "%zu in CUDA\n", process->in_cuda);
	else
		fputs(process->maps_cuda ? "none in CUDA\n" : "no CUDA library is mapped\n", out);
}

void dump_head__print(FILE *out, const struct model *model, const struct dump_process *process,
		      const struct dump_view *view)
{
	const struct process *p = process->process;

	print_command(out, process, view->on_terminal);
	print_owner(out, p);
	for (size_t i = 0; i < p->gpu_count; i++)
		if (process->maps_cuda || p->gpus[i].used_bytes != GPU_UNKNOWN_BYTES)
			print_gpu(out, model, &p->gpus[i], view->form);
	print_threads(out, process);
}
