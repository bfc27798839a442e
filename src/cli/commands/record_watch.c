// SPDX-License-Identifier: BSD-2-Clause
// What makes a flight recorder of readings write, see record_watch.h.
#include "cli/commands/record_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "base/escape.h"
#include "finding/seen.h"
#include "model/growth.h"
#include "model/oom.h"
#include "output/finding/findings.h"

#define LOOK_NS (5 * NS_PER_S) /* from one look at findings to the next */

struct record_watch {
	struct findings *findings;
	struct seen_findings *seen;
	struct finding_list list;
	uint64_t looked_ns;
	size_t ooms; /* that were seen */
};

struct record_watch *record_watch__new(unsigned int needs)
{
	const struct findings_options options = {.needs = needs, .window_ns = GROWTH_WINDOW_NS};
	struct record_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->findings = findings__new(&options);
	watch->seen = seen_findings__new();
	if (watch->findings && watch->seen)
		return watch;
	record_watch__free(watch);
	return NULL;
}

void record_watch__free(struct record_watch *watch)
{
	if (!watch)
		return;
	finding_list__clear(&watch->list);
	seen_findings__free(watch->seen);
	findings__free(watch->findings);
	free(watch);
}

void record_watch__begin(struct record_watch *watch, uint64_t began_ns)
{
	findings__begin(watch->findings, began_ns);
}

/* `what` is gpuprobe's; the name is the process's. Without memory the reason has no name. */
static void describe(struct record_reason *reason, const char *what, int32_t pid, const char *comm)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	snprintf(reason->text, sizeof(reason->text), "%s", what);
	if (!out)
		return;
	fputs(what, out);
	if (pid) {
		char name[17];

		snprintf(name, sizeof(name), "%.16s", comm);
		fprintf(out, ", process %d (", pid);
		escape__text(out, name);
		fputc(')', out);
	}
	if (!fclose(out))
		snprintf(reason->text, sizeof(reason->text), "%s", text);
	free(text);
}

static bool look_at_ooms(struct record_watch *watch, const struct model *model,
			 struct record_reason *reason)
{
	const struct oom *latest;

	if (model->oom_count <= watch->ooms)
		return false;
	watch->ooms = model->oom_count;
	latest = &model->ooms[model->oom_count - 1];
	describe(reason, "out of memory", latest->pid, latest->comm);
	return true;
}

static bool look_at_findings(struct record_watch *watch, const struct model *model,
			     struct record_reason *reason)
{
	const struct finding *finding;
	char what[96];

	if (findings__sample(watch->findings, model) || model->now_ns - watch->looked_ns < LOOK_NS)
		return false;
	watch->looked_ns = model->now_ns;
	if (findings__detect(watch->findings, model, &watch->list))
		return false;
	finding = seen_findings__note(watch->seen, &watch->list, SEVERITY_WARNING);
	if (!finding)
		return false;
	snprintf(what, sizeof(what), "%s %s", findings_text__severity_word(finding->severity),
		 finding->kind->id);
	describe(reason, what, finding->pid, finding->comm);
	return true;
}

bool record_watch__look(struct record_watch *watch, const struct model *model,
			struct record_reason *reason)
{
	/* Both look each time: neither must miss what it compares with. */
	bool has_finding = look_at_findings(watch, model, reason);

	return look_at_ooms(watch, model, reason) || has_finding;
}
