// SPDX-License-Identifier: BSD-2-Clause
// Groups of processes in an account, see groups.h.
#include "account/groups.h"

#include <stdio.h>
#include <string.h>

#include "base/saturate.h"

static void clear_group(struct group *group)
{
	TABLE_CLEAR(group->holdings, free);
}

static void free_group(struct group *group)
{
	clear_group(group);
	free(group);
}

void groups__clear(struct groups *groups)
{
	TABLE_CLEAR(groups->table, free_group);
	if (groups->other)
		free_group(groups->other);
	clear_group(&groups->total);
	groups->other = NULL;
}

/* --- names --- */

static void name_job(struct account_group *shown, const struct process *process)
{
	static const struct workload nothing = {0};
	const struct workload *workload = process->workload ? process->workload : &nothing;
	const char *slurm = workload->slurm_job[0] ? workload->slurm_job : workload->slurm_sluid;
	const char *pod = workload->pod[0] ? workload->pod : process->pod;

	shown->job = slurm[0]		  ? ACCOUNT_SLURM :
		     workload->pbs_job[0] ? ACCOUNT_PBS :
		     pod[0]		  ? ACCOUNT_POD :
		     workload->unit[0]	  ? ACCOUNT_UNIT :
					    ACCOUNT_NO_JOB;
	switch (shown->job) {
	case ACCOUNT_SLURM: snprintf(shown->name, sizeof(shown->name), "%s", slurm); break;
	case ACCOUNT_PBS:
		snprintf(shown->name, sizeof(shown->name), "%s", workload->pbs_job);
		break;
	case ACCOUNT_POD:
		snprintf(shown->name, sizeof(shown->name), "%s%s%s", workload->namespace,
			 workload->namespace[0] ? "/" : "", pod);
		break;
	case ACCOUNT_UNIT: snprintf(shown->name, sizeof(shown->name), "%s", workload->unit); break;
	case ACCOUNT_NO_JOB: shown->name[0] = '\0'; break;
	}
}

static void name_container(struct account_group *shown, const struct process *process)
{
	const struct workload *workload = process->workload;

	if (workload && workload->pod[0])
		snprintf(shown->name, sizeof(shown->name), "%s/%s/%s", workload->namespace,
			 workload->pod, workload->container);
	else if (workload && workload->container[0])
		snprintf(shown->name, sizeof(shown->name), "%s", workload->container);
	else
		snprintf(shown->name, sizeof(shown->name), "%.12s", process->container);
}

static const char *image_of(const struct process *process)
{
	return process->workload ? process->workload->image : "";
}

static void name_image(struct account_group *shown, const struct process *process)
{
	const char *image = image_of(process);
	bool is_unknown = !image[0] && process->container[0];

	snprintf(shown->name, sizeof(shown->name), "%s", is_unknown ? ACCOUNT_UNKNOWN : image);
}

void group__name(struct group *group, enum account_by by, const struct process *process)
{
	struct account_group *shown = &group->shown;

	if (shown->is_other)
		return;
	if (!shown->user[0])
		memcpy(shown->user, process->user, sizeof(shown->user));
	memcpy(shown->pod_uid, process->pod, sizeof(shown->pod_uid));
	if (process->workload)
		shown->names = *process->workload;
	switch (by) {
	case ACCOUNT_BY_JOB: name_job(shown, process); break;
	case ACCOUNT_BY_CONTAINER: name_container(shown, process); break;
	case ACCOUNT_BY_IMAGE: name_image(shown, process); break;
	case ACCOUNT_BY_PROCESS:
		snprintf(shown->name, sizeof(shown->name), "%.16s", process->comm);
		break;
	case ACCOUNT_BY_USER:
	case ACCOUNT_BYS: break;
	}
}

/* --- finding a group --- */

/* Ids where there are any, since names may become known late. A user is one on all machines. */
static void key_of(enum account_by by, const struct process *process, char key[ACCOUNT_KEY_SIZE])
{
	struct group named = {0};
	const char *common = named.shown.name;
	bool with_user = true;

	group__name(&named, by, process);
	if (by == ACCOUNT_BY_CONTAINER && process->container[0])
		common = process->container;
	if (by == ACCOUNT_BY_JOB && named.shown.job == ACCOUNT_POD && process->pod[0])
		common = process->pod;
	if (by == ACCOUNT_BY_JOB || by == ACCOUNT_BY_CONTAINER)
		with_user = !common[0];
	if (by == ACCOUNT_BY_IMAGE)
		with_user = !image_of(process)[0];
	memset(key, 0, ACCOUNT_KEY_SIZE);
	snprintf(key, ACCOUNT_KEY_SIZE, "%d/%s/%s", (int)named.shown.job,
		 with_user ? process->user : "", common);
}

static struct group *other_of(struct groups *groups)
{
	if (!groups->other)
		groups->other = calloc(1, sizeof(*groups->other));
	if (groups->other)
		groups->other->shown.is_other = true;
	return groups->other;
}

/* The group that nobody has used for longest; NULL: all are used. */
static struct group *oldest(const struct groups *groups)
{
	struct group *found = NULL;

	for (struct group *group = groups->table; group; group = group->hh.next)
		if (!group->members &&
		    (!found || group->shown.last_call_ns < found->shown.last_call_ns))
			found = group;
	return found;
}

static bool make_room(struct groups *groups)
{
	struct group *group;

	if (HASH_COUNT(groups->table) < groups->max)
		return true;
	group = groups->forgets ? oldest(groups) : NULL;
	if (!group)
		return false;
	HASH_DEL(groups->table, group);
	free_group(group);
	return true;
}

struct group *groups__of(struct groups *groups, const struct process *process)
{
	char key[ACCOUNT_KEY_SIZE];
	struct group *group;

	key_of(groups->by, process, key);
	HASH_FIND(hh, groups->table, key, ACCOUNT_KEY_SIZE, group);
	if (group)
		return group;
	if (!make_room(groups))
		return other_of(groups);
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	memcpy(group->key, key, ACCOUNT_KEY_SIZE);
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the freed one is out of the table */
	HASH_ADD(hh, groups->table, key, ACCOUNT_KEY_SIZE, group);
	if (group->hh.tbl)
		return group;
	free(group);
	return NULL;
}

/* --- GPUs --- */

struct holding *group__hold(struct group *group, uint32_t host, const struct account_span *span,
			    const struct gpu_use *use)
{
	const struct holding_key key = {.host = host, .gpu = use->gpu};
	struct holding *holding = TABLE_TAKE(group->holdings, key, &key);

	if (!holding)
		return NULL;
	if (!holding->first_ns)
		holding->first_ns = span->from_ns;
	if (!holding->is_open) {
		holding->is_open = true;
		holding->from_ns = span->from_ns;
		holding->to_ns = span->to_ns;
		holding->held_ns = holding->most_ns = holding->least_ns = 0;
	}
	holding->from_ns = span->from_ns < holding->from_ns ? span->from_ns : holding->from_ns;
	holding->to_ns = span->to_ns > holding->to_ns ? span->to_ns : holding->to_ns;
	saturate__add(&holding->held_ns, span->to_ns - span->from_ns);
	saturate__add(&holding->most_ns, use->most_ns);
	saturate__add(&holding->least_ns, use->least_ns);
	return holding;
}

static uint64_t less_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What another source of the machine has counted already does not count again. */
static void fold(struct account_group *shown, struct holding *holding)
{
	uint64_t from_ns =
		holding->from_ns > holding->until_ns ? holding->from_ns : holding->until_ns;
	uint64_t held_ns = less_of(holding->held_ns, saturate__difference(holding->to_ns, from_ns));

	holding->is_open = false;
	if (holding->to_ns > holding->until_ns)
		holding->until_ns = holding->to_ns;
	saturate__add(&shown->held_ns, held_ns);
	saturate__add(&shown->work_most_ns, less_of(holding->most_ns, held_ns));
	saturate__add(&shown->work_least_ns,
		      less_of(holding->least_ns, less_of(holding->most_ns, held_ns)));
}

static void fold_group(struct group *group)
{
	for (struct holding *holding = group->holdings; holding; holding = holding->hh.next)
		if (holding->is_open)
			fold(&group->shown, holding);
}

void groups__fold(struct groups *groups)
{
	for (struct group *group = groups->table; group; group = group->hh.next)
		fold_group(group);
	if (groups->other)
		fold_group(groups->other);
	fold_group(&groups->total);
}
