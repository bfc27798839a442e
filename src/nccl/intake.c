// SPDX-License-Identifier: BSD-2-Clause
// From traced calls to events, see intake.h.
#include "nccl/intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "nccl/call.h"
#include "nccl/captures.h"
#include "nccl/late.h"
#include "trace/function.h"

#define UNKNOWN_ADDRESSES 16
#define MOST_DEVICES 64	 /* of ncclCommInitAll */
#define MOST_EXCLUDED 64 /* of ncclCommShrink */
#define CONFIG_MAGIC 0xcafebeef
#define CONFIG_HAS_NAME 56 /* size of the first ncclConfig_t with a name */

/* A communicator's address that NCCL has not written yet. */
struct unknown {
	uint64_t at; /* 0: none */
	pid_t tid;
};

struct caller {
	struct nccl_process_key key;
	enum nccl_hashing hashing;
	pid_t tid;	   /* of the latest collective or message */
	uint64_t stream;   /* of that one */
	bool many_streams; /* collectives were on several streams */
	struct nccl_captures captures;
	struct nccl_late late;
	struct unknown unknown[UNKNOWN_ADDRESSES];
	size_t unknown_count;
	UT_hash_handle hh;
};

struct nccl_intake {
	struct nccl_jobs *jobs;
	struct nccl_intake_hooks hooks;
	struct caller *callers;
	size_t unknown_count; /* of all callers */
	uint64_t left_out;
};

struct nccl_intake *nccl_intake__new(struct nccl_jobs *jobs, const struct nccl_intake_hooks *hooks)
{
	struct nccl_intake *intake = calloc(1, sizeof(*intake));

	if (!intake)
		return NULL;
	intake->jobs = jobs;
	intake->hooks = *hooks;
	return intake;
}

void nccl_intake__free(struct nccl_intake *intake)
{
	if (!intake)
		return;
	TABLE_CLEAR(intake->callers, free);
	free(intake);
}

static struct nccl_process_key key_of(const struct trace_process *process)
{
	return (struct nccl_process_key){
		.pid = process->pid, .uid = process->uid, .start_ns = process->start_ns};
}

/* Finds or makes. NULL: there are too many. */
static struct caller *take_caller(struct nccl_intake *intake, const struct trace_process *process)
{
	struct nccl_process_key key = key_of(process);
	struct caller *caller = TABLE_FIND(intake->callers, key, &key);

	if (caller)
		return caller;
	if (HASH_COUNT(intake->callers) < NCCL_INTAKE_PROCESSES)
		caller = TABLE_ADD_NEW(intake->callers, key, &key);
	if (!caller) {
		intake->left_out++;
		return NULL;
	}
	if (intake->hooks.hashing)
		caller->hashing = intake->hooks.hashing(key.pid, intake->hooks.arg);
	return caller;
}

/* --- arguments --- */

static uint64_t word_of(const struct trace_line *line, uint8_t word)
{
	return word < line->word_count ? line->words[word] : 0;
}

static int32_t int_of(const struct trace_line *line, uint8_t word)
{
	return (int32_t)word_of(line, word);
}

static const struct trace_field *field_of(const struct trace_line *line, const char *name)
{
	for (size_t i = 0; i < line->field_count; i++)
		if (!strcmp(line->fields[i].name, name))
			return &line->fields[i];
	return NULL;
}

static uint64_t number_of(const struct trace_line *line, const char *name)
{
	const struct trace_field *field = field_of(line, name);

	return !field || field->form == FORM_UNREADABLE || field->form == FORM_TEXT ||
			       field->form == FORM_BYTES ?
		       0 :
		       field->number;
}

/* What a call that makes a communicator has returned: its address. */
static uint64_t made_of(const struct trace_line *line)
{
	uint64_t made = number_of(line, "newcomm");

	return made ? made : number_of(line, "comm");
}

/* The 128 bytes of the unique id; false: they could not be read. */
static bool id_of(const struct trace_line *line, const struct nccl_call *call,
		  uint8_t id[NCCL_ID_SIZE])
{
	const struct trace_field *field = field_of(line, "commIds");

	if (call->id != NCCL_NO_WORD && (call->id + NCCL_ID_SIZE / 8u) <= line->word_count) {
		memcpy(id, line->words + call->id, NCCL_ID_SIZE);
		return true;
	}
	if (!field || field->form != FORM_BYTES || field->length != NCCL_ID_SIZE)
		return false;
	memcpy(id, field->text, NCCL_ID_SIZE);
	return true;
}

static void take_config(struct nccl_intake *intake, const struct trace_line *line,
			struct nccl_event *event, char name[NCCL_NAME_SIZE])
{
	uint64_t at = number_of(line, "config.commName");

	if (number_of(line, "config.magic") != CONFIG_MAGIC)
		return;
	event->nonblocking = !number_of(line, "config.blocking");
	if (number_of(line, "config.size") < CONFIG_HAS_NAME || !at)
		return;
	/* A short text may end just before memory that cannot be read. */
	for (size_t length = 0; length < NCCL_NAME_SIZE - 1; length++)
		if (intake->hooks.read(line->process->pid, at + length, name + length, 1,
				       intake->hooks.arg) ||
		    !name[length])
			break;
	name[NCCL_NAME_SIZE - 1] = 0;
	event->name = name[0] ? name : NULL;
}

/* --- addresses that come later --- */

static void await_address(struct nccl_intake *intake, struct caller *caller, uint64_t at, pid_t tid)
{
	for (size_t i = 0; i < UNKNOWN_ADDRESSES; i++) {
		if (caller->unknown[i].at)
			continue;
		caller->unknown[i] = (struct unknown){.at = at, .tid = tid};
		caller->unknown_count++;
		intake->unknown_count++;
		return;
	}
	intake->left_out++;
}

static void look_for_addresses(struct nccl_intake *intake, struct caller *caller, uint64_t now_ns)
{
	for (size_t i = 0; i < UNKNOWN_ADDRESSES && caller->unknown_count; i++) {
		struct unknown *unknown = &caller->unknown[i];
		struct nccl_event event = {
			.ns = now_ns,
			.process = caller->key,
			.tid = unknown->tid,
			.phase = NCCL_END,
			.function = NCCL_MADE,
			.made_at = unknown->at,
		};

		if (!unknown->at)
			continue;
		if (!intake->hooks.read(caller->key.pid, unknown->at, &event.made,
					sizeof(event.made), intake->hooks.arg)) {
			if (!event.made)
				continue;
			nccl_jobs__feed(intake->jobs, &event);
		}
		*unknown = (struct unknown){0};
		caller->unknown_count--;
		intake->unknown_count--;
	}
}

void nccl_intake__look(struct nccl_intake *intake, uint64_t now_ns)
{
	struct caller *caller, *after;

	if (!intake->unknown_count)
		return;
	HASH_ITER (hh, intake->callers, caller, after)
		look_for_addresses(intake, caller, now_ns);
}

/* --- calls --- */

static struct nccl_event event_of(const struct trace_line *line, enum nccl_function function)
{
	return (struct nccl_event){
		.ns = line->start_ns,
		.process = key_of(line->process),
		.tid = line->tid,
		.function = function,
		.phase = NCCL_BEGIN,
		.rank = NCCL_RANK_UNKNOWN,
		.device = line->device,
		.sequence = NCCL_SEQUENCE_UNKNOWN,
	};
}

static void set_operation(struct caller *caller, const struct trace_line *line,
			  const struct nccl_call *call, struct nccl_event *event)
{
	uint64_t stream = word_of(line, call->stream);

	event->operation = (struct nccl_operation){
		.count = word_of(line, call->count),
		.datatype = int_of(line, call->datatype),
		.op = int_of(line, call->op),
		.root = int_of(line, call->root),
		.function = call->function,
	};
	event->captured = nccl_captures__has(&caller->captures, line->tid, stream);
	if (event->captured)
		return;
	caller->many_streams |= caller->tid && caller->stream != stream;
	caller->stream = stream;
	caller->tid = line->tid;
}

/* Ranks that a shrink leaves out. */
static void take_excluded(struct nccl_intake *intake, const struct trace_line *line,
			  struct nccl_event *event, int32_t excluded[MOST_EXCLUDED])
{
	uint64_t count = (uint32_t)int_of(line, 2);

	if (!count || count > MOST_EXCLUDED ||
	    intake->hooks.read(line->process->pid, word_of(line, 1), excluded,
			       count * sizeof(*excluded), intake->hooks.arg))
		return;
	event->excluded = excluded;
	event->excluded_count = count;
}

/* The unique id that a new rank passes to ncclCommGrow. */
static bool read_id(struct nccl_intake *intake, const struct trace_line *line,
		    uint8_t id[NCCL_ID_SIZE])
{
	return !intake->hooks.read(line->process->pid, word_of(line, 2), id, NCCL_ID_SIZE,
				   intake->hooks.arg);
}

/*
 * Learns from the process what its calls do not say: a communicator may be older than the attach,
 * and its splits have numbers that count from its start.
 */
static void look_at(struct nccl_intake *intake, struct caller *caller, uint64_t handle,
		    uint64_t now_ns)
{
	struct comm_facts facts;
	struct nccl_event event;

	if (!intake->hooks.look || nccl_jobs__knows(intake->jobs, &caller->key, handle))
		return;
	/* It may be one whose creation was seen, but not its address. */
	look_for_addresses(intake, caller, now_ns);
	if (nccl_jobs__knows(intake->jobs, &caller->key, handle) ||
	    !nccl_late__takes(&caller->late, handle) ||
	    intake->hooks.look(caller->key.pid, handle, &facts, intake->hooks.arg))
		return;
	event = comm_facts__event(&facts, &caller->key, handle, now_ns);
	nccl_jobs__feed(intake->jobs, &event);
}

static void begin_call(struct nccl_intake *intake, struct caller *caller,
		       const struct trace_line *line, const struct nccl_call *call)
{
	struct nccl_event event = event_of(line, call->function);
	int32_t excluded[MOST_EXCLUDED];
	char name[NCCL_NAME_SIZE] = "";
	uint8_t id[NCCL_ID_SIZE];

	event.comm = word_of(line, call->comm);
	if (event.comm)
		look_at(intake, caller, event.comm, line->start_ns);
	if (call->count != NCCL_NO_WORD)
		set_operation(caller, line, call, &event);
	if (call->made_at != NCCL_NO_WORD) {
		event.made_at = word_of(line, call->made_at);
		event.hashing = caller->hashing;
		event.size = int_of(line, call->size);
		if (call->rank != NCCL_NO_WORD)
			event.rank = int_of(line, call->rank);
		take_config(intake, line, &event, name);
	}
	if (call->function == NCCL_INIT_RANK) {
		if (!id_of(line, call, id)) {
			intake->left_out++;
			return;
		}
		event.hash = nccl_hash__id(caller->hashing, id);
		event.magic = nccl_hash__magic(id);
	}
	if (call->function == NCCL_GROW && !event.comm && read_id(intake, line, id))
		event.magic = nccl_hash__magic(id);
	if (call->function == NCCL_SPLIT) {
		event.color = int_of(line, 1);
		event.key = int_of(line, 2);
	}
	if (call->function == NCCL_SHRINK)
		take_excluded(intake, line, &event, excluded);
	nccl_jobs__feed(intake->jobs, &event);
}

/* The communicators that ncclCommInitAll has made; their hash is one of our own. */
static void find_all(struct nccl_intake *intake, const struct trace_line *line)
{
	int32_t count = int_of(line, 1);
	uint64_t comms[MOST_DEVICES];
	int32_t devices[MOST_DEVICES];
	struct nccl_event event = event_of(line, NCCL_FOUND);

	if (line->failed || count <= 0 || count > MOST_DEVICES ||
	    intake->hooks.read(line->process->pid, word_of(line, 0), comms,
			       (size_t)count * sizeof(*comms), intake->hooks.arg))
		return;
	if (!word_of(line, 2) ||
	    intake->hooks.read(line->process->pid, word_of(line, 2), devices,
			       (size_t)count * sizeof(*devices), intake->hooks.arg))
		for (int32_t i = 0; i < count; i++)
			devices[i] = i;
	event.phase = NCCL_END;
	event.hash = nccl_hash__split(NCCL_HASHING_MIXER, line->process->start_ns,
				      line->process->pid, (int32_t)(comms[0] >> 4));
	event.size = count;
	event.sequence = 0;
	for (int32_t i = 0; i < count; i++) {
		event.made = comms[i];
		event.rank = i;
		event.device = devices[i];
		nccl_jobs__feed(intake->jobs, &event);
	}
}

static void end_call(struct nccl_intake *intake, struct caller *caller,
		     const struct trace_line *line, const struct nccl_call *call, int32_t result)
{
	struct nccl_event event = event_of(line, call->function);

	event.phase = NCCL_END;
	event.result = result;
	event.comm = word_of(line, call->comm);
	if (call->function == NCCL_DESTROY || call->function == NCCL_ABORT)
		nccl_late__forget(&caller->late, event.comm);
	if (call->made_at != NCCL_NO_WORD && call->function != NCCL_INIT_ALL) {
		event.made_at = word_of(line, call->made_at);
		event.made = made_of(line);
		if (call->function != NCCL_INIT_RANK && event.made == event.comm)
			event.made = 0;
		/* A split without a colour makes none. */
		if (!event.made && !line->failed && event.made_at &&
		    !(call->function == NCCL_SPLIT && int_of(line, 1) == NCCL_NO_COLOR))
			await_address(intake, caller, event.made_at, line->tid);
	}
	if (call->function == NCCL_GET_ASYNC_ERROR)
		event.async_error = (int32_t)number_of(line, "asyncError");
	nccl_jobs__feed(intake->jobs, &event);
	if (call->function == NCCL_INIT_ALL)
		find_all(intake, line);
	if (caller->unknown_count &&
	    (call->function == NCCL_GROUP_END || call->function == NCCL_GET_ASYNC_ERROR))
		look_for_addresses(intake, caller, line->start_ns);
}

static void take_call(struct nccl_intake *intake, const struct trace_line *line,
		      const struct nccl_call *call)
{
	struct caller *caller = take_caller(intake, line->process);

	if (!caller)
		return;
	if (line->kind == LINE_ENTRY || line->kind == LINE_UNFOLLOWED)
		begin_call(intake, caller, line, call);
	if (line->kind == LINE_RETURN)
		end_call(intake, caller, line, call, (int32_t)line->result);
	/* Nobody sees its return: it counts as one that succeeded. */
	if (line->kind == LINE_UNFOLLOWED)
		end_call(intake, caller, line, call, 0);
}

/* --- CUDA --- */

/* A wait for the stream of all collectives is one for all; of others, nobody knows. */
static void take_wait(struct nccl_intake *intake, const struct caller *caller,
		      const struct trace_line *line, bool whole)
{
	struct nccl_event event = event_of(line, NCCL_WAIT);

	if (line->kind != LINE_ENTRY && line->kind != LINE_RETURN)
		return;
	event.phase = line->kind == LINE_ENTRY ? NCCL_BEGIN : NCCL_END;
	event.partial = !whole && (caller->many_streams || !caller->tid ||
				   word_of(line, 0) != caller->stream);
	nccl_jobs__feed(intake->jobs, &event);
}

static bool begins_with(const char *symbol, const char *prefix)
{
	return !strncmp(symbol, prefix, strlen(prefix));
}

static void take_cuda(struct nccl_intake *intake, const struct trace_line *line, const char *symbol)
{
	struct nccl_process_key key = key_of(line->process);
	struct caller *caller = TABLE_FIND(intake->callers, key, &key);

	/* Nothing of a process without NCCL is of interest. */
	if (!caller)
		return;
	if (begins_with(symbol, "cuStreamSynchronize") ||
	    begins_with(symbol, "cuEventSynchronize") || begins_with(symbol, "cuMemcpyDtoH"))
		take_wait(intake, caller, line, false);
	else if (begins_with(symbol, "cuCtxSynchronize"))
		take_wait(intake, caller, line, true);
	else if (begins_with(symbol, "cuStreamBeginCapture") && line->kind == LINE_RETURN &&
		 !line->failed)
		nccl_captures__begin(&caller->captures, line->tid, word_of(line, 0));
	else if (begins_with(symbol, "cuStreamEndCapture") && line->kind == LINE_ENTRY)
		nccl_captures__end(&caller->captures, word_of(line, 0));
}

void nccl_intake__line(struct nccl_intake *intake, const struct trace_line *line)
{
	const struct nccl_call *call;
	const char *symbol;

	if (!line->function || !line->process || !line->process->pid)
		return;
	symbol = trace_function__symbol(line->function);
	call = nccl_call__find(symbol);
	if (call)
		take_call(intake, line, call);
	else
		take_cuda(intake, line, symbol);
}

/* --- processes --- */

void nccl_intake__process_ended(struct nccl_intake *intake, const struct nccl_process_key *key)
{
	struct nccl_process_key plain = *key;
	struct caller *caller = TABLE_FIND(intake->callers, key, &plain);

	if (caller) {
		intake->unknown_count -= caller->unknown_count;
		HASH_DEL(intake->callers, caller);
		free(caller);
	}
	nccl_jobs__process_ended(intake->jobs, key);
}

pid_t nccl_intake__thread(const struct nccl_intake *intake, const struct nccl_process_key *key)
{
	struct nccl_process_key plain = *key;
	const struct caller *caller = TABLE_FIND(intake->callers, key, &plain);

	return caller ? caller->tid : 0;
}

uint64_t nccl_intake__left_out(const struct nccl_intake *intake)
{
	return intake->left_out;
}
