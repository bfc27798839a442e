// SPDX-License-Identifier: BSD-2-Clause
// Adds up what processes held and used, see account.h. Groups and GPUs are in groups.c.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "account/private.h"
#include "account/strangers.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/saturate.h"

#define LIVES_MAX 65536
/* Its user and control group may be unknown at the first readings of a process. */
#define UNNAMED_READINGS 3

const char *const account_by_words[ACCOUNT_BYS] = {
	[ACCOUNT_BY_JOB] = "job",
	[ACCOUNT_BY_USER] = "user",
	[ACCOUNT_BY_CONTAINER] = "container",
	[ACCOUNT_BY_IMAGE] = "image",
	[ACCOUNT_BY_PROCESS] = "process",
};

const char *account__job_word(enum account_job job)
{
	switch (job) {
	case ACCOUNT_SLURM: return "slurm";
	case ACCOUNT_PBS: return "pbs";
	case ACCOUNT_POD: return "pod";
	case ACCOUNT_UNIT: return "unit";
	case ACCOUNT_NO_JOB: break;
	}
	return NULL;
}

double byte_seconds__uncertainty(const struct byte_seconds *memory)
{
	double below = memory->best - memory->least, above = memory->most - memory->best;

	return memory->best > 0 ? (below > above ? below : above) / memory->best : 0;
}

/* --- making and freeing --- */

struct account *account__new(const struct account_options *options)
{
	struct account *account = calloc(1, sizeof(*account));

	if (!account)
		return NULL;
	account->options = *options;
	account->groups.by = options->by;
	account->groups.max = options->max_groups;
	account->groups.forgets = options->forgets;
	return account;
}

void account__free(struct account *account)
{
	if (!account)
		return;
	TABLE_CLEAR(account->processes, accounted__free);
	TABLE_CLEAR(account->lives, free);
	groups__clear(&account->groups);
	free(account->sources);
	free(account);
}

int account__add_source(struct account *account, const char *host, const char *boot_id)
{
	struct source source = {.host = (uint32_t)account->source_count};

	snprintf(source.name, sizeof(source.name), "%s", host ? host : "");
	snprintf(source.boot_id, sizeof(source.boot_id), "%s", boot_id ? boot_id : "");
	for (size_t i = 0; i < account->source_count && source.boot_id[0]; i++)
		if (!strcmp(account->sources[i].boot_id, source.boot_id) &&
		    !strcmp(account->sources[i].name, source.name))
			source.host = account->sources[i].host;
	if (ARRAY_APPEND(account->sources, account->source_count, source))
		return -ENOMEM;
	return (int)account->source_count - 1;
}

/* --- the part of a reading that counts --- */

/* NULL: what it has is counted in full. */
static struct life *life_of(struct account *account, uint32_t host, const struct process *process)
{
	const struct life_key key = {host, process->pid, process->start_ns};
	struct life *life;

	if (account->source_count < 2)
		return NULL;
	life = TABLE_FIND(account->lives, key, &key);
	if (!life && HASH_COUNT(account->lives) < LIVES_MAX)
		life = TABLE_ADD_NEW(account->lives, key, &key);
	return life;
}

/* CLOCK_REALTIME to the clock of the source's machine. */
static uint64_t boot_time(const struct source *source, int64_t wall_ns)
{
	int64_t ns = (int64_t)source->boot_ns - (source->wall_ns - wall_ns);

	return ns > 0 ? (uint64_t)ns : 0;
}

static int64_t wall_time(const struct source *source, uint64_t boot_ns)
{
	return source->wall_ns - ((int64_t)source->boot_ns - (int64_t)boot_ns);
}

/* Cuts the span to what has not been counted and is not before --since. */
static struct account_span cut(struct account *account, const struct source *source,
			       const struct process *process, const struct account_span *span)
{
	struct life *life = life_of(account, source->host, process);
	struct account_span counted = *span;
	uint64_t since_ns =
		account->options.since_ns ? boot_time(source, account->options.since_ns) : 0;

	if (counted.from_ns < since_ns)
		counted.from_ns = since_ns;
	if (life && counted.from_ns < life->until_ns)
		counted.from_ns = life->until_ns;
	if (counted.from_ns > counted.to_ns)
		counted.from_ns = counted.to_ns;
	if (life && life->until_ns < counted.to_ns)
		life->until_ns = counted.to_ns;
	return counted;
}

static void scale(struct byte_seconds *bytes, double share)
{
	bytes->best *= share;
	bytes->least *= share;
	bytes->most *= share;
}

static void add_bytes(struct account_group *shown, const struct byte_seconds *bytes, bool by_nvml)
{
	shown->memory.best += bytes->best;
	shown->memory.least += bytes->least;
	shown->memory.most += bytes->most;
	shown->nvml_byte_seconds += by_nvml ? bytes->best : 0;
}

/* --- a process --- */

static void note_call(struct account_group *shown, const struct source *source, uint64_t call_ns)
{
	int64_t wall_ns = call_ns ? wall_time(source, call_ns) : 0;

	if (wall_ns > shown->last_call_ns)
		shown->last_call_ns = wall_ns;
}

static int add_use(struct group *group, const struct source *source,
		   const struct accounted *accounted, const struct account_span *counted,
		   const struct gpu_use *use)
{
	struct holding *holding = group__hold(group, source->host, counted, use);

	if (!holding)
		return -ENOMEM;
	if (accounted->last_call_ns > holding->last_call_ns)
		holding->last_call_ns = accounted->last_call_ns;
	if (!accounted->ended) {
		holding->source = accounted->key.source;
		holding->reading = accounted->reading;
	}
	return 0;
}

static int add_uses(struct group *group, const struct source *source,
		    const struct accounted *accounted, const struct account_span *counted,
		    double share)
{
	int ret = 0;

	for (size_t i = 0; i < accounted->use_count && !ret; i++) {
		struct gpu_use use = accounted->uses[i];

		use.most_ns = (uint64_t)((double)use.most_ns * share);
		use.least_ns = (uint64_t)((double)use.least_ns * share);
		ret = add_use(group, source, accounted, counted, &use);
	}
	note_call(&group->shown, source, accounted->last_call_ns);
	return ret;
}

static struct group *join(struct account *account, struct accounted *accounted,
			  const struct process *process)
{
	struct group *group = groups__of(&account->groups, process);

	if (!group)
		return NULL;
	group__name(group, account->options.by, process);
	if (accounted->group != group) {
		if (accounted->group) {
			accounted->group->shown.processes--;
			accounted->group->members--;
		} else {
			account->groups.total.shown.processes++;
		}
		group->shown.processes++;
		group->members++;
		accounted->group = group;
	}
	if (accounted->is_partial && !accounted->said_partial) {
		accounted->said_partial = true;
		group->shown.partial++;
		account->groups.total.shown.partial++;
	}
	return group;
}

static void note_range(struct account *account, const struct source *source,
		       const struct account_span *counted)
{
	int64_t from_ns = wall_time(source, counted->from_ns),
		to_ns = wall_time(source, counted->to_ns);

	if (!account->from_ns || from_ns < account->from_ns)
		account->from_ns = from_ns;
	if (to_ns > account->to_ns)
		account->to_ns = to_ns;
}

/* Adds what it had in the span to its group and to the total. */
static int add_process(struct account *account, const struct source *source,
		       struct accounted *accounted, const struct process *process)
{
	const struct account_span *span = &accounted->span;
	struct account_span counted;
	struct byte_seconds bytes;
	struct group *group;
	double share;
	bool by_nvml;
	int ret;

	if (!accounted->use_count) /* no GPU yet */
		return 0;
	ret = account_memory__take(&accounted->memory, process, span, &bytes, &by_nvml);
	if (ret)
		return ret;
	accounted__remember(accounted, process);
	counted = cut(account, source, process, span);
	if (counted.from_ns >= counted.to_ns)
		return 0;
	accounted->is_partial = process->since_attach && !by_nvml;
	group = join(account, accounted, process);
	if (!group)
		return -ENOMEM;
	share = (double)(counted.to_ns - counted.from_ns) / (double)(span->to_ns - span->from_ns);
	scale(&bytes, share);
	add_bytes(&group->shown, &bytes, by_nvml);
	add_bytes(&account->groups.total.shown, &bytes, by_nvml);
	note_range(account, source, &counted);
	ret = add_uses(group, source, accounted, &counted, share);
	return ret ? ret : add_uses(&account->groups.total, source, accounted, &counted, share);
}

/* --- a reading --- */

static struct accounted *accounted_of(struct account *account, uint32_t source,
				      const struct process *process)
{
	const struct accounted_key key = {source, process->pid, process->start_ns};

	return TABLE_TAKE(account->processes, key, &key);
}

/* Whether it waits for a reading that knows whom the process belongs to. */
static bool waits_for_name(struct accounted *accounted, const struct process *process)
{
	if (accounted->has_begun || process->ended ||
	    (process->identified && process->cgroup_known))
		return false;
	return accounted->unnamed_readings++ < UNNAMED_READINGS;
}

/* A reading while it is taken in. */
struct taken {
	struct account *account;
	uint32_t source;
	const struct model *model, *quiet;
	uint64_t began_ns;
	struct gpu_sharing sharing;
};

static int find_uses(struct taken *taken, const struct process *process)
{
	struct account *account = taken->account;
	struct accounted *accounted = accounted_of(account, taken->source, process);

	if (!accounted)
		return -ENOMEM;
	accounted->reading = account->sources[taken->source].readings;
	accounted->is_due = !accounted->ended && !waits_for_name(accounted, process);
	return accounted->is_due ? accounted__look(accounted, process, taken->model->now_ns,
						   taken->began_ns, &taken->sharing) :
				   0;
}

static int add_uses_of(struct taken *taken, const struct process *process)
{
	struct account *account = taken->account;
	struct accounted *accounted = accounted_of(account, taken->source, process);

	if (!accounted)
		return -ENOMEM;
	if (!accounted->is_due)
		return 0;
	gpu_sharing__apply(&taken->sharing, accounted);
	accounted->ended = process->ended;
	return add_process(account, &account->sources[taken->source], accounted, process);
}

static int each(struct taken *taken, const struct model *model,
		int (*take)(struct taken *taken, const struct process *process))
{
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++)
		ret = take(taken, &model->processes[i]);
	return ret;
}

static int take(struct taken *taken)
{
	int ret = gpu_sharing__begin(&taken->sharing, taken->model);

	if (!ret)
		ret = each(taken, taken->model, find_uses);
	if (!ret)
		ret = each(taken, taken->quiet, find_uses);
	if (!ret)
		ret = each(taken, taken->model, add_uses_of);
	if (!ret)
		ret = each(taken, taken->quiet, add_uses_of);
	gpu_sharing__clear(&taken->sharing);
	return ret;
}

int account__take(struct account *account, int number, const struct model *model,
		  const struct model *quiet, uint64_t began_ns)
{
	struct source *source = &account->sources[number];
	struct model strangers = {0};
	struct taken taken = {
		.account = account,
		.source = (uint32_t)number,
		.model = model,
		.quiet = quiet ? quiet : &strangers,
		.began_ns = began_ns,
	};
	int ret;

	/* The next reading has what this one lacks. */
	if (model->broken_off)
		return 0;
	source->readings++;
	source->boot_ns = model->now_ns;
	source->wall_ns = model->wall.tv_sec * (int64_t)NS_PER_S + model->wall.tv_nsec;
	memcpy(source->lost, model->lost, sizeof(source->lost));
	ret = quiet ? 0 : strangers__find(model, &strangers);
	if (!ret)
		ret = take(&taken);
	groups__fold(&account->groups);
	model__clear(&strangers);
	TABLE_DROP(account->processes, process,
		   process->key.source == (uint32_t)number && process->reading != source->readings,
		   accounted__free);
	return ret;
}
