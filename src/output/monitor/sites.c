// SPDX-License-Identifier: BSD-2-Clause
// The call sites of a process in its block of the monitor's report, see parts.h.
#include "api/api.h"
#include "base/quantity.h"
#include "output/frame_text.h"
#include "output/monitor/parts.h"
#include "output/report/line.h"
#include "output/report/parts.h"

#define SITES_SHOWN 2
#define FRAMES_SHOWN 4

static void print_frames(FILE *out, const struct stack *stack)
{
	if (!stack)
		fputs("    [stack not known]\n", out);
	for (uint32_t i = 0; stack && i < stack->count && i < FRAMES_SHOWN; i++) {
		fputs("    ", out);
		frame_text__print(out, &stack->frames[i]);
		fputc('\n', out);
	}
	if (stack && stack->count > FRAMES_SHOWN)
		fprintf(out, "    ... and %u more frame%s\n", stack->count - FRAMES_SHOWN,
			report_line__plural(stack->count - FRAMES_SHOWN));
}

static void print_live(FILE *out, const struct process *process)
{
	for (size_t i = 0; i < process->live_site_count && i < SITES_SHOWN; i++) {
		const struct live_site *site = &process->live_sites[i];

		fprintf(out, "%s %s in %s allocation%s\n",
			quantity__bytes((double)site->bytes).text,
			process->ended ? "live at exit" : "live", quantity__count(site->count).text,
			report_line__plural(site->count));
		print_frames(out, site->stack);
	}
}

/* Where most was allocated, freed or not. */
static void print_allocated(FILE *out, const struct process *process)
{
	for (size_t i = 0, shown = 0; i < process->site_count && shown < SITES_SHOWN; i++) {
		const struct call_site *site = &process->sites[i];

		if (site->kind != SITE_ALLOCATION)
			continue;
		shown++;
		fprintf(out, "%s allocated by %s call%s of %s\n",
			quantity__bytes((double)site->amount).text,
			quantity__count(site->calls).text, report_line__plural(site->calls),
			api_functions[site->row].shown);
		print_frames(out, site->stack);
	}
}

void monitor_sites__write(FILE *out, const struct monitor_page *page, const struct monitor_row *row)
{
	const struct process *process = row->process;
	const struct report_options options = {.top = page->options->top};

	if (!page->options->cut)
		report_sites__list(out, page->model, process, &options);
	else if (process->live_site_count)
		print_live(out, process);
	else
		print_allocated(out, process);
}
