// SPDX-License-Identifier: BSD-2-Clause
// When findings first held, see finding_marks.h.
#include "cli/commands/finding_marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session/replay.h"
#include "finding/seen.h"
#include "model/growth.h"
#include "output/finding/findings.h"

struct finding_marks {
	struct recording_choice choice;
	const struct log *log;
	struct replay *replay;
	struct findings *findings;
	struct finding_list list;
	struct seen_findings *seen;
	/* while they are drawn: */
	struct timeline *timeline;
	uint64_t from_ns, to_ns, now_ns;
};

/* --- opening --- */

/* Without names of the machine, an anonymous recording may be of any. */
static int check_origin(const struct finding_marks *marks, const struct recording_header *calls,
			struct error *err)
{
	const struct recording_header *readings = replay__header(marks->replay);

	if (!*readings->boot_id || !*calls->boot_id || !strcmp(readings->boot_id, calls->boot_id))
		return 0;
	return error__set(err, -EINVAL,
			  "--findings: %s was recorded on another machine, or after another boot, "
			  "than the calls",
			  marks->choice.path);
}

static int begin(struct finding_marks *marks, struct error *err)
{
	const struct recorded_reading *first = replay__reading(marks->replay);
	const struct findings_options options = {
		.needs = first->needs,
		.window_ns = growth__window(0),
	};

	marks->findings = findings__new(&options);
	marks->seen = seen_findings__new();
	if (!marks->findings || !marks->seen)
		return error__set(err, -ENOMEM, "out of memory");
	findings__begin(marks->findings, first->began_ns);
	return 0;
}

int finding_marks__new(const char *path, const struct recording_header *calls,
		       const struct log *log, struct finding_marks **out, struct error *err)
{
	struct finding_marks *marks = calloc(1, sizeof(*marks));
	int ret;

	if (!marks)
		return error__set(err, -ENOMEM, "out of memory");
	marks->choice.path = path;
	marks->log = log;
	ret = replay__new(&marks->choice, log, &marks->replay, err);
	if (!ret)
		ret = check_origin(marks, calls, err);
	if (!ret)
		ret = begin(marks, err);
	if (ret) {
		finding_marks__free(marks);
		return ret;
	}
	*out = marks;
	return 0;
}

void finding_marks__free(struct finding_marks *marks)
{
	if (!marks)
		return;
	finding_list__clear(&marks->list);
	seen_findings__free(marks->seen);
	findings__free(marks->findings);
	replay__free(marks->replay);
	free(marks);
}

/* --- drawing --- */

static void draw(const struct finding *finding, void *arg)
{
	const struct finding_marks *marks = arg;
	char name[64];
	const struct timeline_finding mark = {
		.pid = finding->pid,
		.time_ns = marks->now_ns,
		.name = name,
		.title = finding->title ? finding->title : finding->kind->title,
	};

	if (marks->now_ns < marks->from_ns || (marks->to_ns && marks->now_ns > marks->to_ns))
		return;
	snprintf(name, sizeof(name), "%s %s", findings_text__severity_word(finding->severity),
		 finding->kind->id);
	timeline__finding(marks->timeline, &mark);
}

/* What holds at the present reading. */
static int look(struct finding_marks *marks, struct error *err)
{
	const struct model *model = replay__reading(marks->replay)->model;

	marks->now_ns = model->now_ns;
	if (findings__sample(marks->findings, model) ||
	    findings__detect(marks->findings, model, &marks->list))
		return error__set(err, -ENOMEM, "out of memory");
	seen_findings__each_new(marks->seen, &marks->list, SEVERITY_INFO, draw, marks);
	return 0;
}

int finding_marks__draw(struct finding_marks *marks, uint64_t from_ns, uint64_t to_ns,
			struct timeline *timeline, struct error *err)
{
	uint64_t first_ns = replay__reading(marks->replay)->began_ns;
	int ret;

	marks->timeline = timeline;
	marks->from_ns = from_ns;
	marks->to_ns = to_ns;
	for (ret = look(marks, err); !ret && !replay__is_last(marks->replay);) {
		ret = replay__next(marks->replay, err);
		if (!ret)
			ret = look(marks, err);
	}
	if (ret)
		return ret;
	replay__warn(marks->replay);
	if (marks->now_ns < from_ns || (to_ns && first_ns > to_ns))
		log__warn(marks->log,
			  "--findings: %s is of another time than the timeline, which has none",
			  marks->choice.path);
	return 0;
}
