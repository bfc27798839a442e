// SPDX-License-Identifier: BSD-2-Clause
// Writes the page at /; see page.h.
#include "output/landing/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/xml.h"
#include "model/gpu_label.h"
#include "model/living.h"
#include "output/command_text.h"
#include "output/finding/findings.h"
#include "output/report/totals.h"

#define ID_SHOWN 12 /* digits of a container's id, as many as docker ps shows */

static const char head[] = "<!DOCTYPE html>\n"
			   "<html lang=\"en\">\n"
			   "<head><meta charset=\"utf-8\"><title>gpuprobe</title>\n"
			   "<style>body{font-family:sans-serif;margin:1em}"
			   "table{border-collapse:collapse}"
			   "td,th{padding:.2em .6em;text-align:left;border-bottom:1px solid #ccc}"
			   ".n{text-align:right}</style></head>\n"
			   "<body>\n";

static const char links[] =
	"<ul>\n"
	"<li><a href=\"/metrics\">/metrics</a>: OpenMetrics or Prometheus text</li>\n"
	"<li><a href=\"/healthz\">/healthz</a>: answers ok</li>\n"
	"</ul>\n"
	"</body>\n"
	"</html>\n";

/* --- processes --- */

static void print_command(FILE *out, const struct process *process)
{
	char command[sizeof(process->command)];

	command_text__public(process->command, process->comm, command, sizeof(command));
	xml__text(out, command);
}

static void print_gpus(FILE *out, const struct model *model, const struct process *process)
{
	char label[GPU_LABEL_SIZE];
	const char *before = "";

	for (size_t i = 0; i < process->gpu_count; i++) {
		const struct gpu *gpu = gpu_label__find(model, &process->gpus[i]);

		if (!gpu)
			continue;
		gpu_label(gpu, label);
		fprintf(out, "%s%s", before, label);
		before = ", ";
	}
	if (!*before)
		fputs("unknown", out);
}

static void print_container(FILE *out, const struct process *process)
{
	if (process->pod[0])
		fprintf(out, "pod %s", process->pod);
	else if (process->container[0])
		fprintf(out, "%.*s", ID_SHOWN, process->container);
	else
		fputs(process->cgroup_known ? "-" : "unknown", out);
}

static void print_process(FILE *out, const struct model *model, const struct process *process)
{
	uint64_t used = process__nvml_bytes(process);
	struct memory_totals device;

	report__device_memory(process, &device);
	fprintf(out, "<tr><td class=\"n\">%d</td><td>", process->pid);
	print_command(out, process);
	fputs("</td><td>", out);
	xml__text(out, process->identified ? process->user : "unknown");
	fputs("</td><td>", out);
	print_container(out, process);
	fputs("</td><td>", out);
	print_gpus(out, model, process);
	fprintf(out, "</td><td class=\"n\">%s</td>",
		used == GPU_UNKNOWN_BYTES ? "unknown" : quantity__bytes((double)used).text);
	if (model->sections & SECTION_MEMORY)
		fprintf(out, "<td class=\"n\">%s%s</td>",
			quantity__bytes((double)device.live_bytes).text,
			process->since_attach ? " since attach" : "");
	fputs("</tr>\n", out);
}

static void print_rows(FILE *out, const struct model *model, const struct process **processes,
		       size_t count)
{
	fputs("<table>\n<tr><th class=\"n\">pid</th><th>command</th><th>user</th>"
	      "<th>container</th><th>GPU</th><th class=\"n\">memory (NVML)</th>",
	      out);
	if (model->sections & SECTION_MEMORY)
		fputs("<th class=\"n\">allocated</th>", out);
	fputs("</tr>\n", out);
	for (size_t i = 0; i < count && i < LANDING_PROCESSES; i++)
		print_process(out, model, processes[i]);
	fputs("</table>\n", out);
	if (count > LANDING_PROCESSES)
		fprintf(out, "<p>and %zu more, see <a href=\"/metrics\">/metrics</a></p>\n",
			count - LANDING_PROCESSES);
}

static int print_processes(FILE *out, const struct model *model)
{
	const struct process **living;
	size_t count;
	int ret = model__living(model, &living, &count);

	if (ret)
		return ret;
	fprintf(out, "<h2>Processes that use CUDA: %zu</h2>\n", count);
	if (count)
		print_rows(out, model, living, count);
	free(living);
	return 0;
}

/* --- findings --- */

static void print_finding(FILE *out, const struct finding *finding)
{
	fprintf(out, "<tr><td>%s</td><td>", findings_text__severity_word(finding->severity));
	if (finding->pid) {
		fprintf(out, "%d ", finding->pid);
		xml__text(out, finding->comm);
	}
	fprintf(out, "</td><td>%s</td><td>", finding->kind->id);
	xml__text(out, finding->title ? finding->title : finding->kind->title);
	fputs("</td><td>", out);
	xml__text(out, finding->evidence);
	fputs("</td></tr>\n", out);
}

static void print_findings(FILE *out, const struct finding_list *list)
{
	fprintf(out, "<h2>Findings: %zu</h2>\n", list->count);
	if (!list->count)
		return;
	fputs("<table>\n<tr><th>severity</th><th>process</th><th>id</th><th>what</th>"
	      "<th>evidence</th></tr>\n",
	      out);
	for (size_t i = 0; i < list->count && i < LANDING_FINDINGS; i++)
		print_finding(out, &list->items[i]);
	fputs("</table>\n", out);
	if (list->count > LANDING_FINDINGS)
		fprintf(out, "<p>and %zu more</p>\n", list->count - LANDING_FINDINGS);
	fputs("<p><code>gpuprobe diagnose --explain ID</code> says what to do; the metric is "
	      "<a href=\"/metrics\">gpuprobe_finding_active</a>.</p>\n",
	      out);
}

/* --- the page --- */

static void print_losses(FILE *out, const struct model *model)
{
	uint64_t lost = 0;

	for (int i = 0; i < LOSS_COUNT; i++)
		lost += model->lost[i];
	if (lost)
		fprintf(out,
			"<p>lost: %s, see gpuprobe_events_lost_total in "
			"<a href=\"/metrics\">/metrics</a></p>\n",
			quantity__count(lost).text);
}

int landing_page__print(FILE *out, const struct landing_page *page, const struct model *model,
			const struct finding_list *findings)
{
	uint64_t now_ns = model->now_ns;
	int ret;

	fputs(head, out);
	fprintf(out, "<h1>gpuprobe %s</h1>\n<p>Watches ", page->version);
	xml__text(out, page->watched);
	if (page->began_ns && now_ns > page->began_ns)
		fprintf(out, ", for %s so far",
			quantity__time((double)(now_ns - page->began_ns)).text);
	fputs(".</p>\n", out);
	ret = print_processes(out, model);
	print_findings(out, findings);
	print_losses(out, model);
	if (page->hint) {
		fputs("<p>", out);
		xml__text(out, page->hint);
		fputs("</p>\n", out);
	}
	fputs(links, out);
	return ret;
}
