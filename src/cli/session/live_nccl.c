// SPDX-License-Identifier: BSD-2-Clause
// Judges the ranks of NCCL's communicators for a live model, see live_nccl.h.
#include "cli/session/live_nccl.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "cli/options/trace_options.h"
#include "cli/session/nccl_watch.h"
#include "nccl/intake.h"
#include "output/nccl/note.h"

#define MOST_NOTES 256
#define GROWN 1.1 /* times the time or the collectives in a note: it is written anew */

/* A process whose files wait for their probes. */
struct waiting {
	pid_t pid;
	enum process_scan scan;
	uint64_t since_ns;
};

struct live_nccl {
	struct live_nccl_options options;
	const struct log *log;
	bool failed;		  /* it cannot be loaded, and is not tried again */
	struct nccl_watch *watch; /* NULL: no process maps NCCL so far */
	struct attacher *attacher;
	bool attached; /* what ran already has its probes */
	struct waiting *waiting;
	size_t waiting_count;
	struct nccl_findings findings;
	struct nccl_note *notes;
	bool *present; /* by note: in the latest judgement */
	size_t note_count;
	bool warned; /* that findings are missing */
	bool finished;
};

struct live_nccl *live_nccl__new(const struct live_nccl_options *options, const struct log *log)
{
	struct live_nccl *nccl = calloc(1, sizeof(*nccl));

	if (!nccl)
		return NULL;
	nccl->options = *options;
	nccl->log = log;
	nccl->notes = calloc(MOST_NOTES, sizeof(*nccl->notes));
	nccl->present = calloc(MOST_NOTES, sizeof(*nccl->present));
	if (nccl->notes && nccl->present)
		return nccl;
	live_nccl__free(nccl);
	return NULL;
}

void live_nccl__free(struct live_nccl *nccl)
{
	if (!nccl)
		return;
	attacher__free(nccl->attacher);
	nccl_findings__free(&nccl->findings);
	nccl_watch__free(nccl->watch);
	for (size_t i = 0; i < nccl->note_count; i++)
		nccl_note__clear(&nccl->notes[i]);
	free(nccl->waiting);
	free(nccl->notes);
	free(nccl->present);
	free(nccl);
}

/* --- probes --- */

static void on_failed(void *arg)
{
	const struct live_nccl *nccl = arg;

	log__warn(nccl->log, "cannot read further calls of NCCL: %s; findings about its ranks end",
		  strerror(-nccl->watch->failure));
}

static int make_attacher(struct live_nccl *nccl, struct error *err)
{
	const struct targets *targets = nccl->options.targets;
	const struct selection selection = {
		.api = API_BOTH,
		.choice = &nccl->watch->choice.choice,
		.of_machine = !(targets->command || targets->pid_count),
	};

	return attacher__new(&selection, nccl->options.links, &nccl->watch->programs, nccl->log,
			     &nccl->attacher, err);
}

static int load(struct live_nccl *nccl, struct session *session, struct error *err)
{
	const struct nccl_watch_options options = {
		.targets = nccl->options.targets,
		.filter = nccl->options.filter,
		.only_watched = true,
		.ring_bytes = BUFFER_DEFAULT,
		.failed = on_failed,
		.arg = nccl,
	};
	int ret = nccl_watch__new(&options, nccl->log, &nccl->watch, err);

	if (!ret)
		ret = nccl_watch__load(nccl->watch, &nccl->options.features, nccl->options.links,
				       err);
	if (!ret)
		ret = make_attacher(nccl, err);
	if (!ret)
		ret = nccl_watch__listen(nccl->watch, session__loop(session), err);
	if (!ret && nccl->attached)
		nccl_watch__begin(nccl->watch);
	return ret;
}

/* Returns whether there is something to attach to. */
static bool is_loaded(struct live_nccl *nccl, struct session *session)
{
	struct error err = {""};

	if (nccl->watch || nccl->failed)
		return !nccl->failed && !nccl->finished;
	if (!load(nccl, session, &err))
		return true;
	log__warn(nccl->log, "cannot trace the calls of NCCL, so its ranks are not judged: %s",
		  err.text);
	nccl->failed = true;
	attacher__free(nccl->attacher);
	nccl_watch__free(nccl->watch);
	nccl->attacher = NULL;
	nccl->watch = NULL;
	return false;
}

/* Without memory or room the process is judged by the calls of its files that have probes. */
static void wait_for_turn(struct live_nccl *nccl, const struct waiting *process)
{
	if (nccl->waiting_count == NCCL_INTAKE_PROCESSES ||
	    ARRAY_APPEND(nccl->waiting, nccl->waiting_count, *process))
		log__warn(nccl->log, "cannot trace NCCL in process %d: there are too many",
			  process->pid);
}

static void attach(struct live_nccl *nccl, const struct waiting *process)
{
	struct attach_failure failure;
	uint64_t ready_ns;

	attacher__add_process(nccl->attacher, process->pid, process->scan, process->since_ns,
			      &failure);
	/* The session's scan has told why a file cannot be attached. */
	if (attacher__is_unfinished(nccl->attacher, &ready_ns))
		wait_for_turn(nccl, process);
}

static void attach_waiting(struct live_nccl *nccl)
{
	struct waiting *waiting = nccl->waiting;
	size_t count = nccl->waiting_count;

	nccl->waiting = NULL;
	nccl->waiting_count = 0;
	for (size_t i = 0; i < count; i++)
		attach(nccl, &waiting[i]);
	free(waiting);
}

void live_nccl__see_process(struct live_nccl *nccl, struct session *session, pid_t pid,
			    enum process_scan scan, uint64_t since_ns)
{
	const struct waiting process = {.pid = pid, .scan = scan, .since_ns = since_ns};
	uint8_t state = WATCHED;
	int32_t key = pid;

	if (!is_loaded(nccl, session))
		return;
	if (bpf_map__update_elem(nccl->watch->programs.watched, &key, sizeof(key), &state,
				 sizeof(state), BPF_ANY))
		log__warn(nccl->log, "cannot trace NCCL in process %d: %s", pid, strerror(errno));
	else if (nccl->attached)
		attach(nccl, &process);
	else
		wait_for_turn(nccl, &process);
}

/* Calls are numbered from the attach on, so all ranks get their probes at the same time. */
void live_nccl__attach(struct live_nccl *nccl)
{
	nccl->attached = true;
	if (!nccl->watch)
		return;
	for (size_t i = 0; i < nccl->waiting_count; i++)
		attacher__expect_process(nccl->attacher, nccl->waiting[i].pid);
	attach_waiting(nccl);
	attacher__forget_expected(nccl->attacher);
	nccl_watch__begin(nccl->watch);
}

void live_nccl__second(struct live_nccl *nccl, uint64_t unused_ns)
{
	if (!nccl->watch || nccl->finished)
		return;
	attach_waiting(nccl);
	attacher__release_unused(nccl->attacher, unused_ns, clock__boot_ns());
	attacher__finish_sharing(nccl->attacher, clock__boot_ns());
	nccl_watch__second(nccl->watch);
}

/* --- notes --- */

/* NULL: there is none of this finding. */
static struct nccl_note *find_note(struct live_nccl *nccl, const struct nccl_finding *finding)
{
	const struct nccl_finding_key key = nccl_finding__key(finding);

	for (size_t i = 0; i < nccl->note_count; i++)
		if (nccl_finding_key__equal(&nccl->notes[i].key, &key))
			return &nccl->notes[i];
	return NULL;
}

/* Whether what a note says is old, so that texts of what goes on do not fill a recording. */
static bool is_due(const struct live_nccl *nccl, const struct nccl_note *note,
		   const struct nccl_finding *finding)
{
	return !nccl->options.rarely || nccl->finished || note->over ||
	       (double)finding->ns > GROWN * (double)note->ns ||
	       (double)finding->compared > GROWN * (double)note->compared;
}

/* Returns whether there was memory and room for it. */
static bool note(struct live_nccl *nccl, const struct nccl_finding *finding)
{
	struct nccl_note *found = find_note(nccl, finding);
	size_t at = found ? (size_t)(found - nccl->notes) : nccl->note_count;

	if (at == MOST_NOTES)
		return false;
	if ((!found || is_due(nccl, found, finding)) && nccl_note__write(&nccl->notes[at], finding))
		return false;
	nccl->note_count += !found;
	nccl->present[at] = true;
	return true;
}

/* Lateness that went away was none of the job. */
static bool stays(const struct live_nccl *nccl, size_t at)
{
	uint32_t verdict = nccl->notes[at].key.verdict;

	return nccl->present[at] ||
	       (nccl->options.keeps_past && verdict != NCCL_STRAGGLER && verdict != NCCL_IMBALANCE);
}

static void drop_past(struct live_nccl *nccl)
{
	size_t kept = 0;

	for (size_t i = 0; i < nccl->note_count; i++) {
		if (!stays(nccl, i)) {
			nccl_note__clear(&nccl->notes[i]);
			continue;
		}
		nccl->notes[i].over = !nccl->present[i];
		if (kept < i) {
			nccl->notes[kept] = nccl->notes[i];
			nccl->notes[i] = (struct nccl_note){0};
		}
		kept++;
	}
	nccl->note_count = kept;
}

static bool has_new_hang(struct live_nccl *nccl)
{
	for (size_t i = 0; i < nccl->findings.count; i++) {
		const struct nccl_finding *finding = &nccl->findings.items[i];

		if (finding->verdict == NCCL_HANG && !find_note(nccl, finding))
			return true;
	}
	return false;
}

/* A hang is looked at when it is found, and now and then while it lasts. */
static int judge_and_look(struct live_nccl *nccl)
{
	const struct nccl_patience patience = {.hang_ns = nccl->options.hang_ns,
					       .times_ns = NCCL_TIMES_NS};
	uint64_t now_ns = clock__boot_ns();
	int ret = nccl_watch__judge(nccl->watch, &patience, now_ns, NCCL_LOOK_AGAIN_NS,
				    &nccl->findings);

	if (!ret && has_new_hang(nccl))
		ret = nccl_watch__judge(nccl->watch, &patience, now_ns, 1, &nccl->findings);
	return ret;
}

static void judge(struct live_nccl *nccl)
{
	size_t missing = 0;
	int ret = judge_and_look(nccl);

	memset(nccl->present, 0, MOST_NOTES * sizeof(*nccl->present));
	for (size_t i = 0; i < nccl->findings.count; i++)
		missing += !note(nccl, &nccl->findings.items[i]);
	drop_past(nccl);
	/* They point to ranks, which the next event may change. */
	nccl_findings__free(&nccl->findings);
	if ((ret || missing) && !nccl->warned)
		log__warn(nccl->log, "some findings about NCCL are missing: %s",
			  ret ? "out of memory" : "there are too many");
	nccl->warned |= ret || missing;
}

static void finish(struct live_nccl *nccl)
{
	uint64_t lost;
	int ret;

	attacher__free(nccl->attacher);
	nccl->attacher = NULL;
	ret = nccl_watch__finish(nccl->watch);
	nccl_watch__unlisten(nccl->watch);
	nccl->finished = true;
	if (ret < 0 && !nccl->watch->failure)
		log__warn(nccl->log, "cannot read further calls of NCCL: %s", strerror(-ret));
	lost = nccl_watch__lost(nccl->watch);
	if (lost)
		log__warn(nccl->log,
			  "%s calls of NCCL did not fit the buffers: its ranks are judged without "
			  "them",
			  quantity__count(lost).text);
}

void live_nccl__refresh(struct live_nccl *nccl, struct model *model)
{
	if (nccl->watch && !nccl->finished) {
		if (model->final)
			finish(nccl);
		judge(nccl);
	}
	model->nccl = nccl->notes;
	model->nccl_count = nccl->note_count;
	if (!nccl->watch)
		return;
	model->nccl_jobs = nccl->watch->jobs;
	model->nccl_lost = nccl_watch__lost(nccl->watch);
}
