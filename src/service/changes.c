// SPDX-License-Identifier: BSD-2-Clause
// Follows findings and losses from one look to the next, see changes.h.
#include "service/changes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/quantity.h"
#include "base/table.h"
#include "base/text_stream.h"
#include "output/enum_names.h"
#include "output/finding/findings.h"
#include "output/monitor/monitor.h"

/*
 * A finding is worse if its severity has risen, or if its cost, its bytes or its calls are this
 * many times those of its last line.
 */
#define WORSE 2
#define WORSE_REST_NS (60 * NS_PER_S) /* least time between two such lines */
/* A finding of a process that goes on has ended if it is absent for so long. */
#define ABSENT_NS (60 * NS_PER_S)
#define MINUTE_NS (60 * NS_PER_S)

/* Findings with the same key are one here: the list's first, which is the worst. */
struct followed {
	struct finding_key key;
	enum finding_severity severity;
	double amount;	    /* when the last line was written */
	uint64_t began_ns;  /* of the first line */
	uint64_t line_ns;   /* of the last line */
	uint64_t latest_ns; /* the latest look that had it */
	char *subject;	    /* for its last line, escaped */
	UT_hash_handle hh;
};

struct loss_line {
	uint64_t count, ns; /* 0: none yet */
};

struct changes {
	struct journal *journal;
	struct followed *followed;
	struct loss_line losses[LOSS_COUNT];
	uint64_t minute_ns; /* when the current minute began */
	unsigned int lines; /* of this minute */
	size_t waiting;	    /* findings of this look that have no line yet */
	uint64_t waiting_line_ns;
};

static void followed__free(struct followed *followed)
{
	free(followed->subject);
	free(followed);
}

struct changes *changes__new(struct journal *journal)
{
	struct changes *changes = calloc(1, sizeof(*changes));

	if (changes)
		changes->journal = journal;
	return changes;
}

void changes__free(struct changes *changes)
{
	if (!changes)
		return;
	TABLE_CLEAR(changes->followed, followed__free);
	free(changes);
}

/* Whether a line may be written; it counts as written then. */
static bool take_line(struct changes *changes, uint64_t now_ns)
{
	if (!changes->minute_ns || now_ns - changes->minute_ns >= MINUTE_NS) {
		changes->minute_ns = now_ns;
		changes->lines = 0;
	}
	if (changes->lines >= CHANGES_LINES)
		return false;
	changes->lines++;
	return true;
}

/* --- lines --- */

static enum journal_priority priority_of(enum finding_severity severity)
{
	switch (severity) {
	case SEVERITY_CRITICAL: return JOURNAL_ERROR;
	case SEVERITY_WARNING: return JOURNAL_WARNING;
	case SEVERITY_INFO: break;
	}
	return JOURNAL_NOTICE;
}

/* `event`: "new", "worse", "ended" */
static void write_record(struct changes *changes, const struct followed *followed,
			 const char *event, enum journal_priority priority, const char *message)
{
	char pid[16], tid[16];
	const struct journal_field fields[] = {
		{"GPUPROBE_EVENT", event},
		{"GPUPROBE_FINDING", finding_kinds[followed->key.kind]->id},
		{"GPUPROBE_SEVERITY", findings_text__severity_word(followed->severity)},
		{"GPUPROBE_PID", pid},
		{"GPUPROBE_TID", tid},
	};
	const struct journal_record record = {
		.priority = priority,
		.message = message,
		.fields = fields,
		/* A finding about GPUs has no process, most have no thread. */
		.field_count = followed->key.tid ? 5 : (followed->key.pid ? 4 : 3),
	};

	snprintf(pid, sizeof(pid), "%d", followed->key.pid);
	snprintf(tid, sizeof(tid), "%d", followed->key.tid);
	journal__write(changes->journal, &record);
}

/* "worse: warning error-storm: calls fail; process 123 (train): cudaMalloc; ..." */
static int write_finding(struct changes *changes, const struct model *model,
			 const struct followed *followed, const struct finding *finding,
			 const char *event)
{
	bool worse = !strcmp(event, "worse");
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return -ENOMEM;
	fprintf(out, "%s%s ", worse ? "worse: " : "",
		findings_text__severity_word(finding->severity));
	monitor_text__finding(out, model, finding);
	if (fclose(out))
		return -ENOMEM;
	write_record(changes, followed, event, priority_of(finding->severity), text);
	free(text);
	return 0;
}

/* "ended after 5 min 2 s: error-storm: process 123 (train): cudaMalloc", "ended with the ..." */
static int write_end(struct changes *changes, const struct followed *followed, bool process_ended)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return -ENOMEM;
	if (process_ended)
		fputs("ended with the process", out);
	else
		fprintf(out, "ended after %s",
			quantity__time((double)(followed->latest_ns - followed->began_ns)).text);
	fprintf(out, ": %s", finding_kinds[followed->key.kind]->id);
	if (*followed->subject)
		fprintf(out, ": %s", followed->subject);
	if (fclose(out))
		return -ENOMEM;
	write_record(changes, followed, "ended", JOURNAL_INFO, text);
	free(text);
	return 0;
}

/* --- findings --- */

static double amount_of(const struct finding *finding)
{
	return finding->has_cost ? finding->share : finding->weight;
}

static bool is_worse(const struct followed *followed, const struct finding *finding,
		     uint64_t now_ns)
{
	if (finding->severity > followed->severity)
		return true;
	return now_ns - followed->line_ns >= WORSE_REST_NS && followed->amount > 0 &&
	       amount_of(finding) >= WORSE * followed->amount;
}

static bool has_room(const struct changes *changes, const struct finding_key *key)
{
	size_t of_process = 0;

	if (HASH_COUNT(changes->followed) >= CHANGES_FOLLOWED)
		return false;
	if (!key->pid)
		return true;
	for (const struct followed *each = changes->followed; each; each = each->hh.next)
		of_process += each->key.pid == key->pid && each->key.start_ns == key->start_ns;
	return of_process < CHANGES_OF_PROCESS;
}

static void note_line(struct followed *followed, const struct finding *finding, uint64_t now_ns)
{
	followed->severity = finding->severity;
	followed->amount = amount_of(finding);
	followed->line_ns = now_ns;
}

/* The subject as text (malloc); NULL without memory. */
static char *subject_of(const struct model *model, const struct finding *finding)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return NULL;
	monitor_text__finding_subject(out, model, finding);
	return fclose(out) ? NULL : text;
}

static int follow(struct changes *changes, const struct model *model, const struct finding_key *key,
		  const struct finding *finding)
{
	struct followed *followed;
	char *subject;

	if (!has_room(changes, key) || !take_line(changes, model->now_ns)) {
		changes->waiting++;
		return 0;
	}
	subject = subject_of(model, finding);
	followed = subject ? TABLE_ADD_NEW(changes->followed, key, key) : NULL;
	if (!followed) {
		free(subject);
		return -ENOMEM;
	}
	followed->subject = subject;
	followed->began_ns = followed->latest_ns = model->now_ns;
	note_line(followed, finding, model->now_ns);
	return write_finding(changes, model, followed, finding, "new");
}

static int look_at(struct changes *changes, const struct model *model,
		   const struct finding *finding)
{
	const struct finding_key key = finding__key(finding);
	struct followed *followed = TABLE_FIND(changes->followed, key, &key);

	if (!followed)
		return follow(changes, model, &key, finding);
	/* Another one with this key, which is worse, has been looked at. */
	if (followed->latest_ns == model->now_ns)
		return 0;
	followed->latest_ns = model->now_ns;
	if (!is_worse(followed, finding, model->now_ns) || !take_line(changes, model->now_ns))
		return 0;
	note_line(followed, finding, model->now_ns);
	return write_finding(changes, model, followed, finding, "worse");
}

static bool has_process_ended(const struct model *model, const struct finding_key *key)
{
	const struct process *process =
		key->pid ? model__process_of(model, key->pid, key->start_ns) : NULL;

	return key->pid && (!process || process->start_ns != key->start_ns || process->ended);
}

static int look_for_ends(struct changes *changes, const struct model *model)
{
	struct followed *followed, *next;
	int ret = 0;

	HASH_ITER (hh, changes->followed, followed, next) {
		bool process_ended = has_process_ended(model, &followed->key);

		if (followed->latest_ns == model->now_ns ||
		    (!process_ended && model->now_ns - followed->latest_ns < ABSENT_NS))
			continue;
		if (!take_line(changes, model->now_ns))
			break;
		ret = write_end(changes, followed, process_ended);
		if (ret)
			break;
		HASH_DEL(changes->followed, followed);
		followed__free(followed);
	}
	return ret;
}

/* --- what has no line --- */

static void write_plain(struct changes *changes, const char *message,
			const struct journal_field *fields, size_t count)
{
	const struct journal_record record = {.priority = JOURNAL_WARNING,
					      .message = message,
					      .fields = fields,
					      .field_count = count};

	journal__write(changes->journal, &record);
}

static void write_waiting(struct changes *changes, uint64_t now_ns)
{
	char message[128];

	if (!changes->waiting ||
	    (changes->waiting_line_ns && now_ns - changes->waiting_line_ns < MINUTE_NS))
		return;
	changes->waiting_line_ns = now_ns;
	snprintf(message, sizeof(message),
		 "%s more findings are not logged one by one: too many at a time",
		 quantity__count(changes->waiting).text);
	write_plain(changes, message, NULL, 0);
}

static void write_losses(struct changes *changes, const struct model *model)
{
	for (int loss = 0; loss < LOSS_COUNT; loss++) {
		struct loss_line *line = &changes->losses[loss];
		char message[256], count[24];
		const struct journal_field fields[] = {
			{"GPUPROBE_EVENT", "lost"},
			{"GPUPROBE_LOSS", enum_names__loss_name(loss)},
			{"GPUPROBE_LOST", count},
		};

		if (!model->lost[loss] ||
		    (line->count && (model->lost[loss] / WORSE < line->count ||
				     model->now_ns - line->ns < MINUTE_NS)))
			continue;
		*line = (struct loss_line){.count = model->lost[loss], .ns = model->now_ns};
		snprintf(count, sizeof(count), "%" PRIu64, line->count);
		snprintf(message, sizeof(message), "lost: %s: %s", enum_names__loss_text(loss),
			 quantity__count(line->count).text);
		write_plain(changes, message, fields, sizeof(fields) / sizeof(*fields));
	}
}

int changes__write(struct changes *changes, const struct model *model,
		   const struct finding_list *list)
{
	int ret = 0;

	changes->waiting = 0;
	for (size_t i = 0; i < list->count && !ret; i++)
		if (!findings_text__is_reported_before(list, i))
			ret = look_at(changes, model, &list->items[i]);
	if (!ret)
		ret = look_for_ends(changes, model);
	write_waiting(changes, model->now_ns);
	write_losses(changes, model);
	return ret;
}
