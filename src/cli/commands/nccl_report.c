// SPDX-License-Identifier: BSD-2-Clause
// Reports and findings of `gpuprobe nccl`, see nccl_report.h.
#include "cli/commands/nccl_report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "base/text_stream.h"
#include "cli/files/console.h"
#include "cli/files/output_file.h"
#include "output/nccl/nccl.h"

#define MOST_TOLD 256

/* A finding that has been printed. */
struct told {
	struct nccl_finding_key key;
	char *text;   /* NULL without memory */
	bool present; /* in the latest judgement */
	/* what NCCL itself says; NULL: nothing, or nothing yet */
	const struct ras_opinion *opinion;
};

struct nccl_report {
	struct nccl_report_scene scene;
	struct console *console;
	int fd;
	struct told *told;
	size_t told_count;
	uint64_t due_ns; /* of the next report */
	struct nccl_findings findings;
	uint64_t judgements; /* so far */
	char host[HOST_NAME_MAX + 1];
};

static void on_closed(void *arg)
{
	struct nccl_report *report = arg;

	report->scene.closed(report->scene.arg);
}

int nccl_report__new(const struct nccl_report_scene *scene, struct event_base *loop,
		     struct nccl_report **out, struct error *err)
{
	struct nccl_report *report = calloc(1, sizeof(*report));
	int ret;

	if (!report)
		return error__set(err, -ENOMEM, "out of memory");
	report->scene = *scene;
	report->fd = STDOUT_FILENO;
	if (gethostname(report->host, sizeof(report->host) - 1))
		report->host[0] = 0;
	if (scene->options->file)
		report->fd = output_file__open(scene->options->file, err);
	ret = report->fd < 0 ?
		      report->fd :
		      console__new(loop, report->fd, on_closed, report, &report->console, err);
	if (ret) {
		nccl_report__free(report);
		return ret;
	}
	report->due_ns = scene->begin_ns + (uint64_t)(scene->options->interval * (double)NS_PER_S);
	*out = report;
	return 0;
}

void nccl_report__free(struct nccl_report *report)
{
	if (!report)
		return;
	console__free(report->console);
	if (report->scene.options->file && report->fd >= 0)
		close(report->fd);
	for (size_t i = 0; i < report->told_count; i++)
		free(report->told[i].text);
	free(report->told);
	nccl_findings__free(&report->findings);
	free(report);
}

/* --- what has been told --- */

static struct told *find_told(const struct nccl_report *report, const struct nccl_finding *finding)
{
	const struct nccl_finding_key key = nccl_finding__key(finding);

	for (size_t i = 0; i < report->told_count; i++)
		if (nccl_finding_key__equal(&report->told[i].key, &key))
			return &report->told[i];
	return NULL;
}

static char *text_of(const struct nccl_finding *finding)
{
	size_t length = 0;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return NULL;
	nccl_output__finding(out, finding);
	return fclose(out) ? NULL : text;
}

/* Keeps the text as it is now: of a hang that goes on, the latest. */
static void tell(const struct nccl_finding *finding, struct told *told)
{
	char *text = text_of(finding);

	if (text) {
		free(told->text);
		told->text = text;
	}
}

/*
 * What NCCL itself says about a hang, as of when it was found. Returns whether it has said so just
 * now: it answers later.
 */
static bool add_opinion(const struct nccl_report *report, struct nccl_finding *finding,
			struct told *told)
{
	bool before = told->opinion;

	if (report->scene.ras && finding->verdict == NCCL_HANG && !told->opinion)
		told->opinion = nccl_ras__opinion(report->scene.ras, finding);
	finding->opinion = told->opinion;
	return told->opinion && !before;
}

/* Notes all present findings. Returns whether one of them is new, or NCCL has answered about it. */
static bool note_findings(struct nccl_report *report)
{
	bool fresh = false;

	for (size_t i = 0; i < report->told_count; i++)
		report->told[i].present = false;
	for (size_t i = 0; i < report->findings.count; i++) {
		struct nccl_finding *finding = &report->findings.items[i];
		struct told *told = find_told(report, finding);
		const struct told first = {.key = nccl_finding__key(finding)};

		if (!told) {
			if (report->told_count >= MOST_TOLD ||
			    ARRAY_APPEND(report->told, report->told_count, first))
				continue;
			told = &report->told[report->told_count - 1];
			fresh = true;
		}
		told->present = true;
		fresh |= add_opinion(report, finding, told);
		tell(finding, told);
	}
	return fresh;
}

/* --- output --- */

static void print_earlier(FILE *out, const struct nccl_report *report)
{
	const char *head = "\nFound earlier, and over since:\n";

	for (size_t i = 0; i < report->told_count; i++) {
		uint32_t verdict = report->told[i].key.verdict;

		/* Lateness that went away was none of the job. */
		if (report->told[i].present || !report->told[i].text || verdict == NCCL_STRAGGLER ||
		    verdict == NCCL_IMBALANCE)
			continue;
		fputs(head, out);
		fputs(report->told[i].text, out);
		head = "";
	}
}

static void print_text(FILE *out, const struct nccl_report *report, uint64_t now_ns, bool final)
{
	const struct nccl_report_scene *scene = &report->scene;
	uint64_t lost = scene->lost(scene->arg);

	fprintf(out, "%s%s\n", final ? "at the end, after " : "after ",
		quantity__time((double)(now_ns - scene->begin_ns)).text);
	if (!nccl_jobs__next(scene->watch->jobs, NULL))
		fputs("no call of NCCL seen since attach\n", out);
	nccl_output__text(out, scene->watch->jobs, &report->findings, now_ns);
	if (final)
		print_earlier(out, report);
	if (lost)
		fprintf(out, "lost: %s calls that did not fit the buffers; see --buffer\n",
			quantity__count(lost).text);
	if (!final)
		fputc('\n', out);
}

static void print_json(FILE *out, const struct nccl_report *report, uint64_t now_ns, bool final)
{
	const struct nccl_report_scene *scene = &report->scene;
	struct json json;

	json__init(&json, out);
	json__object_begin(&json);
	json__key_u64(&json, "time_ns", now_ns);
	json__key_double(&json, "seconds", (double)(now_ns - scene->begin_ns) / (double)NS_PER_S);
	json__key_bool(&json, "final", final);
	json__key_known_text(&json, "host", report->host);
	nccl_output__json(&json, scene->watch->jobs, &report->findings, now_ns);
	json__key_u64(&json, "lost_calls", scene->lost(scene->arg));
	json__object_end(&json);
	fputc('\n', out);
}

static void print(struct nccl_report *report, uint64_t now_ns, bool final)
{
	size_t length = 0;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &length);

	if (out && report->scene.options->json)
		print_json(out, report, now_ns, final);
	else if (out)
		print_text(out, report, now_ns, final);
	if (out && !fclose(out))
		console__write(report->console, text, length);
	else
		log__warn(report->scene.log, "out of memory: a report is missing");
	nccl_jobs__begin_period(report->scene.watch->jobs, now_ns);
}

/* `least_ns` as nccl_watch__judge. */
static int judge(struct nccl_report *report, uint64_t now_ns, uint64_t least_ns)
{
	const struct nccl_patience patience = {.hang_ns = report->scene.options->hang_ns,
					       .times_ns = NCCL_TIMES_NS};

	report->judgements++;
	return nccl_watch__judge(report->scene.watch, &patience, now_ns, least_ns,
				 &report->findings);
}

static bool has_new_hang(const struct nccl_report *report)
{
	for (size_t i = 0; i < report->findings.count; i++)
		if (report->findings.items[i].verdict == NCCL_HANG &&
		    !find_told(report, &report->findings.items[i]))
			return true;
	return false;
}

void nccl_report__judge(struct nccl_report *report, uint64_t now_ns)
{
	const struct nccl_options *options = report->scene.options;
	bool due = options->interval > 0 && now_ns >= report->due_ns;

	if (judge(report, now_ns, NCCL_LOOK_AGAIN_NS))
		return;
	if (has_new_hang(report) && judge(report, now_ns, 1))
		return;
	if (!note_findings(report) && !due)
		return;
	/* A reader that has not taken the last report gets the next one after that. */
	if (console__is_busy(report->console))
		return;
	print(report, now_ns, false);
	if (due)
		report->due_ns = now_ns + (uint64_t)(options->interval * (double)NS_PER_S);
}

int nccl_report__metrics(void *arg, enum exposition form, bool anew, uint64_t *reading, FILE *out)
{
	struct nccl_report *report = arg;

	/* What the findings point to is valid until the next event, so they are judged anew. */
	if ((anew || report->findings.count) && judge(report, clock__boot_ns(), NCCL_LOOK_AGAIN_NS))
		return -ENOMEM;
	*reading = report->judgements;
	nccl_output__metrics(out, report->scene.watch->jobs, &report->findings,
			     report->scene.lost(report->scene.arg), form);
	return ferror(out) ? -EIO : 0;
}

int nccl_report__finish(struct nccl_report *report, uint64_t now_ns, struct error *err)
{
	const char *file = report->scene.options->file;

	if (!console__finish(report->console)) {
		if (judge(report, now_ns, 1))
			log__warn(report->scene.log, "out of memory: findings are missing");
		note_findings(report);
		print(report, now_ns, true);
		console__finish(report->console);
	}
	return console__failure(report->console, file ? file : "standard output", err);
}
