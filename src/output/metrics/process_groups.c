// SPDX-License-Identifier: BSD-2-Clause
// Groups and their members, see process_groups.h; group_sums.c has their series.
#include "output/metrics/process_groups_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS_MAX 256 /* as of a process */

/* --- making and freeing --- */

struct process_groups *process_groups__new(enum metrics_by by, unsigned int kernels)
{
	struct process_groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->by = by;
	groups->limits[MANY_KERNELS] = kernels;
	groups->limits[MANY_ERRORS] = ERRORS_MAX;
	groups->other.is_other = true;
	groups->sink = (struct exposition_sink){.take = group_sums__take, .arg = groups};
	return groups;
}

static void free_admitted(struct admitted *admitted)
{
	free(admitted->label);
	free(admitted);
}

static void free_group(struct group *group)
{
	TABLE_CLEAR(group->admitted, free_admitted);
	free(group);
}

static void free_member(struct member *member)
{
	free(member->parts);
	free(member);
}

void process_groups__free(struct process_groups *groups)
{
	if (!groups)
		return;
	TABLE_CLEAR(groups->members, free_member);
	group_sums__clear(groups);
	TABLE_CLEAR(groups->groups, free_group);
	TABLE_CLEAR(groups->other.admitted, free_admitted);
	free(groups);
}

/* --- groups --- */

static bool is_unknown(const struct process_groups *groups, const struct process *p)
{
	return groups->by != METRICS_BY_USER && !p->cgroup_known;
}

/* Ids, since names may become known late. */
static void key_of(const struct process_groups *groups, const struct process *p, char key[KEY_SIZE])
{
	static const struct workload nothing = {0};
	const struct workload *workload = p->workload ? p->workload : &nothing;

	memset(key, 0, KEY_SIZE);
	if (is_unknown(groups, p)) {
		/* No name of a control group has a slash. */
		snprintf(key, KEY_SIZE, "/" UNKNOWN);
		return;
	}
	switch (groups->by) {
	case METRICS_BY_CONTAINER:
		snprintf(key, KEY_SIZE, "%s", p->container[0] ? p->container : workload->container);
		break;
	case METRICS_BY_USER: snprintf(key, KEY_SIZE, "%s", p->user); break;
	case METRICS_BY_JOB:
		snprintf(key, KEY_SIZE, "%s%s",
			 workload->slurm_job[0] ? workload->slurm_job : workload->slurm_sluid,
			 workload->pbs_job);
		break;
	case METRICS_BY_PROCESS: break;
	}
}

/* The group that has been off the page for longest; NULL: all are on it. */
static struct group *oldest(const struct process_groups *groups)
{
	struct group *found = NULL;

	for (struct group *group = groups->groups; group; group = group->hh.next)
		if (group->page + 1 < groups->page && (!found || group->page < found->page))
			found = group;
	return found;
}

/* Whether there is room for another group. */
static bool make_room(struct process_groups *groups)
{
	struct group *group;

	if (HASH_COUNT(groups->groups) < GROUPS_MAX)
		return true;
	group = oldest(groups);
	if (!group)
		return false;
	group_sums__forget(groups, group);
	HASH_DEL(groups->groups, group);
	free_group(group);
	return true;
}

static struct group *add_group(struct process_groups *groups, const char key[KEY_SIZE])
{
	struct group *group = make_room(groups) ? calloc(1, sizeof(*group)) : NULL;

	if (!group)
		return &groups->other;
	memcpy(group->key, key, KEY_SIZE);
	HASH_ADD(hh, groups->groups, key, KEY_SIZE, group);
	if (group->hh.tbl)
		return group;
	free(group);
	return &groups->other;
}

static struct group *group_of(struct process_groups *groups, const struct process *p)
{
	char key[KEY_SIZE];
	struct group *group;

	key_of(groups, p, key);
	HASH_FIND(hh, groups->groups, key, KEY_SIZE, group);
	return group ? group : add_group(groups, key);
}

/* --- members --- */

struct member *process_groups__member(const struct process_groups *groups, const struct process *p)
{
	return TABLE_FIND(groups->members, serial, &p->serial);
}

static struct member *add_member(struct process_groups *groups, const struct process *p)
{
	struct member *member = calloc(1, sizeof(*member));

	if (!member)
		return NULL;
	member->serial = p->serial;
	if (TABLE_ADD(groups->members, serial, member)) {
		free(member);
		return NULL;
	}
	member->group = group_of(groups, p);
	return member;
}

static void see(struct process_groups *groups, struct member *member, const struct process *p)
{
	struct group *group = member->group;

	if (group->page != groups->page)
		group->members = 0;
	group->members += !p->ended;
	group->page = member->page = groups->page;
	member->at = 0;
	group->is_unknown = is_unknown(groups, p);
	if (p->workload)
		group->names = *p->workload;
	memcpy(group->container_id, p->container, sizeof(group->container_id));
	memcpy(group->user, p->user, sizeof(group->user));
}

int process_groups__begin(struct process_groups *groups, const struct metrics_page *page)
{
	groups->page++;
	groups->error = 0;
	for (size_t i = 0; i < page->process_count; i++) {
		struct member *member = process_groups__member(groups, page->processes[i]);

		if (!member)
			member = add_member(groups, page->processes[i]);
		if (!member)
			return -ENOMEM;
		see(groups, member, page->processes[i]);
	}
	return 0;
}

int process_groups__end(struct process_groups *groups)
{
	struct member *member, *next;

	HASH_ITER (hh, groups->members, member, next) {
		if (member->page == groups->page)
			continue;
		HASH_DEL(groups->members, member);
		free_member(member);
	}
	return groups->error;
}

bool process_groups__admits(struct process_groups *groups, const struct process *p,
			    enum many_things things, const char *label)
{
	struct member *member = process_groups__member(groups, p);
	struct group *group = member ? member->group : &groups->other;
	struct admitted *admitted;
	char *key;

	if (asprintf(&key, "%d%s", things, label) < 0)
		return false;
	HASH_FIND_STR(group->admitted, key, admitted);
	if (admitted || group->admitted_count[things] >= groups->limits[things])
		goto out;
	admitted = calloc(1, sizeof(*admitted));
	if (!admitted)
		goto out;
	admitted->label = key;
	HASH_ADD_KEYPTR(hh, group->admitted, admitted->label, strlen(key), admitted);
	if (admitted->hh.tbl) {
		group->admitted_count[things]++;
		return true;
	}
	free(admitted);
	admitted = NULL;
out:
	free(key);
	return admitted;
}

void process_groups__write_counts(struct process_groups *groups, struct metrics_page *page)
{
	static const struct metric_family family = {"gpuprobe_processes", METRIC_GAUGE,
						    "CUDA processes of the group that live."};
	struct exposition_writer *w = &page->writer;

	exposition__family(w, &family);
	for (const struct group *group = groups->groups; group; group = group->hh.next) {
		if (group->page != groups->page)
			continue;
		exposition__sample(w);
		group_sums__label(w, groups->by, group);
		exposition__number(w, group->members);
	}
	if (groups->other.page != groups->page)
		return;
	exposition__sample(w);
	group_sums__label(w, groups->by, &groups->other);
	exposition__number(w, groups->other.members);
}
