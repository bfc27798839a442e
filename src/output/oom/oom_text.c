// SPDX-License-Identifier: BSD-2-Clause
/*
 * The report of an allocation that failed for good:
 *
 *   [14:02:11] OUT OF MEMORY: process 4242 (python3), thread 4250
 *       asked for: 4.0 GiB on GPU 0, by cudaMalloc at load (train.py:12)
 *       GPU 0: 79.2 GiB, 78.4 GiB in use, 812.0 MiB free
 *       this process: 70.0 GiB: 69.4 GiB by its calls, 600.0 MiB context, code and libraries
 *           68.0 GiB in 17,000 allocations  step (train.py:40)
 *       last 30.0 s: +3.0 GiB in 750 allocations  step (train.py:40)
 *       other processes: 8.4 GiB
 *           8.4 GiB  process 77 (python3), user alice, container 0123456789ab
 *       likely cause: a leak: more and more memory at step (train.py:40)
 *       what to do: ...
 */
#include "output/oom/oom_text.h"

#include <string.h>
#include <time.h>

#include "api/api.h"
#include "base/escape.h"
#include "base/quantity.h"
#include "base/saturate.h"
#include "model/user_line.h"
#include "output/folded_stack.h"
#include "output/frame_text.h"

#define INDENT "    "
#define LEAK_NS 10000000000ull /* what grows for less long may be one step */
#define LINE_COLUMNS 60	       /* of a line of code, beside amounts */
#define CONTAINER_SHOWN 12     /* digits that container engines show */

static const char *bytes_text(uint64_t bytes, struct quantity *text)
{
	*text = quantity__bytes((double)bytes);
	return text->text;
}

/* "step (train.py:40)", the user's own line. */
static void print_line(FILE *out, const struct stack *stack)
{
	struct folded_line lines[FOLDED_LINES];
	size_t count, own;

	if (!stack) {
		fputs("an unknown line", out);
		return;
	}
	count = folded_stack__lines(stack, lines);
	own = folded_stack__own_line(stack, lines, count);
	if (count)
		folded_stack__print_line(out, stack, &lines[own < count ? own : 0], LINE_COLUMNS);
}

void oom_text__name_line(struct oom *oom)
{
	const struct stack_frame *own = user_line__find(oom->stack);

	oom->line[0] = '\0';
	if (own && own->function && own->file)
		snprintf(oom->line, sizeof(oom->line), "%.100s (%.40s:%u)", own->function,
			 frame_text__base_name(own->file), own->line);
}

static void print_head(FILE *out, const struct oom *oom, const struct timespec *wall)
{
	char text[32];
	struct tm tm;

	if (localtime_r(&wall->tv_sec, &tm) && strftime(text, sizeof(text), "%H:%M:%S", &tm))
		fprintf(out, "[%s] ", text);
	fprintf(out, "OUT OF MEMORY: process %d (", oom->pid);
	escape__text(out, oom->comm);
	fprintf(out, "), thread %d%s\n", oom->tid,
		oom->ended ? "; the process has ended since" : "");
}

static void print_request(FILE *out, const struct oom *oom)
{
	struct quantity bytes;

	fprintf(out, INDENT "asked for: %s", bytes_text(oom->bytes, &bytes));
	if (oom->gpu[0])
		fprintf(out, " on GPU %s", oom->gpu);
	fprintf(out, ", by %s", oom->of_framework ? "PyTorch" : api_functions[oom->row].symbol);
	if (oom->stack) {
		fputs(" at ", out);
		print_line(out, oom->stack);
	}
	fputs(oom->stack ? "\n" : " (--stack fp shows the line)\n", out);
}

static void print_gpu(FILE *out, const struct oom *oom)
{
	struct quantity total, used, left;

	if (!oom->gpu[0] || oom->total == GPU_UNKNOWN_BYTES) {
		fputs(INDENT "GPU: its memory is unknown; see nvidia-smi\n", out);
		return;
	}
	if (oom->used == GPU_UNKNOWN_BYTES) {
		fprintf(out, INDENT "GPU %s: %s; how much was free is unknown\n", oom->gpu,
			bytes_text(oom->total, &total));
		return;
	}
	fprintf(out, INDENT "GPU %s: %s, %s in use, %s free\n", oom->gpu,
		bytes_text(oom->total, &total), bytes_text(oom->used, &used),
		bytes_text(saturate__difference(oom->total, oom->used), &left));
}

static void print_site(FILE *out, const struct oom *oom, uint64_t bytes, uint64_t count,
		       const struct stack *stack)
{
	struct quantity text;

	fprintf(out, "%s%s in %s %s%s  ", oom->sites_estimated ? "about " : "",
		bytes_text(bytes, &text), quantity__amount((double)count).text,
		oom->of_tensors ? "tensor" : "allocation", count == 1 ? "" : "s");
	print_line(out, stack);
	fputc('\n', out);
}

static void print_process(FILE *out, const struct oom *oom)
{
	struct quantity own, tracked, rest, hole;

	fputs(INDENT "this process: ", out);
	if (oom->own != GPU_UNKNOWN_BYTES)
		fprintf(out, "%s: %s by its calls, %s context, code and libraries\n",
			bytes_text(oom->own, &own), bytes_text(oom->tracked, &tracked),
			bytes_text(saturate__difference(oom->own, oom->tracked), &rest));
	else
		fprintf(out, "%s by its calls%s\n", bytes_text(oom->tracked, &tracked),
			oom->ended && !oom->as_of_failure ? " at its end" : "");
	for (size_t i = 0; i < oom->site_count; i++) {
		fputs(INDENT INDENT, out);
		print_site(out, oom, oom->sites[i].bytes, oom->sites[i].count, oom->sites[i].stack);
	}
	if (oom->more_sites)
		fprintf(out, INDENT INDENT "and %zu more call site%s\n", oom->more_sites,
			oom->more_sites == 1 ? "" : "s");
	if (oom->late_frees_lost)
		fprintf(out,
			INDENT INDENT
			"at least: %s that were freed right after the failure are missing\n",
			quantity__amount((double)oom->late_frees_lost).text);
	if (oom->of_framework)
		fprintf(out, INDENT INDENT "PyTorch has %s in segments, %s of them in use\n",
			bytes_text(oom->reserved, &rest), bytes_text(oom->allocated, &hole));
	if (oom->of_tensors)
		fprintf(out,
			INDENT INDENT "%s unused in segments, the largest hole %s (modelled)\n",
			bytes_text(oom->unused, &rest), bytes_text(oom->largest_hole, &hole));
}

static void print_increase(FILE *out, const struct oom *oom)
{
	const struct site_increase *increase = &oom->increase;

	if (!increase->site)
		return;
	fprintf(out, INDENT "last %s: +", quantity__time((double)increase->span_ns).text);
	print_site(out, oom, increase->bytes, increase->count, increase->site->stack);
}

static void print_neighbour(FILE *out, const struct oom_neighbour *neighbour)
{
	struct quantity bytes;

	fprintf(out, INDENT INDENT "%s  process %d (", bytes_text(neighbour->bytes, &bytes),
		neighbour->pid);
	if (neighbour->comm[0])
		escape__text(out, neighbour->comm);
	else
		fputs("not watched", out);
	fputc(')', out);
	if (neighbour->user[0]) {
		fputs(", user ", out);
		escape__text(out, neighbour->user);
	}
	if (neighbour->container[0])
		fprintf(out, ", container %.*s", CONTAINER_SHOWN, neighbour->container);
	fputc('\n', out);
}

static void print_neighbours(FILE *out, const struct oom *oom)
{
	struct quantity others;

	if (!oom->others)
		return;
	fprintf(out, INDENT "other processes: %s\n", bytes_text(oom->others, &others));
	for (size_t i = 0; i < oom->neighbour_count && i < OOM_NEIGHBOURS; i++)
		print_neighbour(out, &oom->neighbours[i]);
	if (oom->neighbour_count > OOM_NEIGHBOURS)
		fprintf(out, INDENT INDENT "and %zu more\n", oom->neighbour_count - OOM_NEIGHBOURS);
}

/* --- the cause --- */

static const char *const advice[OOM_CAUSES] = {
	[OOM_UNKNOWN] = "run nvidia-smi, and gpuprobe memleak from the start of the process",
	[OOM_LARGE_REQUEST] = "check the size (batch, sequence length); split the request",
	[OOM_LEAK] =
		"free what this line keeps, or drop the references to it; see gpuprobe memleak",
	[OOM_FRAGMENTATION] =
		"set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or vary sizes less",
	[OOM_NEIGHBOUR] =
		"end or move the other process, or use another GPU (CUDA_VISIBLE_DEVICES)",
	[OOM_MANY_PROCESSES] = "run fewer processes on this GPU: each has a context of its own",
	[OOM_LIMIT] = "raise set_per_process_memory_fraction, or keep less within it",
	[OOM_OWN_MEMORY] = "keep less on the GPU: the call sites above hold it",
};

static void print_cause(FILE *out, const struct oom *oom)
{
	const struct oom_neighbour *first = &oom->neighbours[0];
	struct quantity bytes, hole;

	fputs(INDENT "likely cause: ", out);
	switch (oom->cause) {
	case OOM_LARGE_REQUEST:
		fprintf(out, "one large request of %s", bytes_text(oom->bytes, &bytes));
		break;
	case OOM_LEAK:
		/* In its first step a program that is too large for the GPU grows as well. */
		fputs(oom->increase.span_ns < LEAK_NS ?
			      "a leak, or one step that does not fit: more and more memory at " :
			      "a leak: more and more memory at ",
		      out);
		print_line(out, oom->increase.site->stack);
		break;
	case OOM_FRAGMENTATION:
		fprintf(out, "fragmentation: %s are unused, but the largest hole has %s",
			bytes_text(oom->unused, &bytes), bytes_text(oom->largest_hole, &hole));
		break;
	case OOM_NEIGHBOUR:
		if (oom->neighbour_count)
			fprintf(out, "process %d holds %s of the GPU", first->pid,
				bytes_text(first->bytes, &bytes));
		else
			fprintf(out, "processes that gpuprobe does not watch hold %s of the GPU",
				bytes_text(oom->others, &bytes));
		break;
	case OOM_MANY_PROCESSES:
		fprintf(out, "%zu other processes hold %s together", oom->neighbour_count,
			bytes_text(oom->others, &bytes));
		break;
	case OOM_LIMIT: fputs("a limit inside PyTorch: no call of CUDA failed", out); break;
	case OOM_OWN_MEMORY:
		fprintf(out, "this process holds %s, and nothing grew much lately",
			bytes_text(oom->tracked, &bytes));
		break;
	case OOM_UNKNOWN:
	case OOM_CAUSES: fputs("unknown", out); break;
	}
	fprintf(out, "\n" INDENT "what to do: %s\n",
		advice[oom->cause < OOM_CAUSES ? oom->cause : OOM_UNKNOWN]);
}

void oom_text__print(FILE *out, const struct oom *oom, const struct timespec *wall)
{
	print_head(out, oom, wall);
	print_request(out, oom);
	print_gpu(out, oom);
	print_process(out, oom);
	print_increase(out, oom);
	print_neighbours(out, oom);
	print_cause(out, oom);
}
