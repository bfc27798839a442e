// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sums over groups of processes, see process_groups.h.
 *
 * A member is a process on the page. It remembers the latest value of each counter that it added to
 * a sum, and adds only what came since.
 */
#include "output/metrics/process_groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"
#include "base/table.h"
#include "target/workload.h"

#define ERRORS_MAX 256 /* as of a process */
#define KEY_SIZE WORKLOAD_LONG_NAME_SIZE
#define OTHER "other"
#define UNKNOWN "unknown"

/* A label of one of many things that has its own series in a group. */
struct admitted {
	char *label; /* behind a digit: the kind of things */
	UT_hash_handle hh;
};

struct group {
	char key[KEY_SIZE]; /* what its processes have in common */
	bool is_other;
	bool is_unknown;       /* of processes that ended before their control group was read */
	struct workload names; /* of the process that was seen last */
	char container_id[CONTAINER_ID_LENGTH + 1];
	char user[sizeof(((struct process *)0)->user)];
	uint64_t page;	  /* number of the latest page it was on */
	uint64_t members; /* that live */
	struct admitted *admitted;
	size_t admitted_count[MANY_THINGS];
	UT_hash_handle hh;
};

/* One series. */
struct sum {
	struct group *group; /* NULL: of several processes */
	char *labels;
	uint64_t value;
	uint64_t page; /* number of the latest page on which a process had it */
	struct sum *next;
	UT_hash_handle hh;
	char key[]; /* group and labels */
};

struct family {
	const char *name;
	struct sum *sums;	   /* by key */
	struct sum *first, **last; /* in order of first sight */
	UT_hash_handle hh;
};

/* What a member added to a sum. */
struct part {
	struct sum *sum;
	uint64_t value; /* so far */
	uint64_t next;	/* on this page */
};

struct member {
	uint64_t serial; /* of its process */
	struct group *group;
	uint64_t page;
	struct part *parts;
	size_t count;
	size_t at; /* where the next sample is probably found: each page has the same order */
	UT_hash_handle hh;
};

struct process_groups {
	enum metrics_by by;
	size_t limits[MANY_THINGS];
	struct group *groups; /* by key */
	struct group other;
	struct family *families; /* by name */
	struct member *members;	 /* by serial */
	uint64_t page;
	int error; /* on this page */

	/* the family being written */
	struct exposition_sink sink;
	struct family *family;
	bool is_counter;
	enum metric_sum how;
	struct member *turn; /* NULL: nobody's */
};

/* --- making and freeing --- */

static void take_sample(void *arg, const char *labels, uint64_t value);

struct process_groups *process_groups__new(enum metrics_by by, unsigned int kernels)
{
	struct process_groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->by = by;
	groups->limits[MANY_KERNELS] = kernels;
	groups->limits[MANY_ERRORS] = ERRORS_MAX;
	groups->other.is_other = true;
	groups->sink = (struct exposition_sink){.take = take_sample, .arg = groups};
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

static void free_sum(struct sum *sum)
{
	free(sum->labels);
	free(sum);
}

static void free_family(struct family *family)
{
	TABLE_CLEAR(family->sums, free_sum);
	free(family);
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
	TABLE_CLEAR(groups->families, free_family);
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

/* Drops the sums of a group that is forgotten. */
static void forget_sums(struct family *family, const struct group *group)
{
	struct sum **at = &family->first, *sum;

	while ((sum = *at)) {
		if (sum->group != group) {
			at = &sum->next;
			continue;
		}
		*at = sum->next;
		HASH_DEL(family->sums, sum);
		free_sum(sum);
	}
	family->last = at;
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
	for (struct family *family = groups->families; family; family = family->hh.next)
		forget_sums(family, group);
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

static struct member *member_of(const struct process_groups *groups, const struct process *p)
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
		struct member *member = member_of(groups, page->processes[i]);

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

/* --- samples --- */

static struct sum *add_sum(struct family *family, const char *key, const char *labels)
{
	struct sum *sum = calloc(1, sizeof(*sum) + strlen(key) + 1);

	if (!sum)
		return NULL;
	memcpy(sum->key, key, strlen(key) + 1);
	sum->labels = strdup(labels);
	if (sum->labels)
		HASH_ADD_KEYPTR(hh, family->sums, sum->key, strlen(sum->key), sum);
	if (!sum->labels || !sum->hh.tbl) {
		free_sum(sum);
		return NULL;
	}
	*family->last = sum;
	family->last = &sum->next;
	return sum;
}

/* The series of a group with these labels. */
static struct sum *sum_of(struct process_groups *groups, struct group *group, const char *labels)
{
	struct sum *sum = NULL;
	char *key;

	if (asprintf(&key, "%p %s", (void *)group, labels) < 0)
		return NULL;
	HASH_FIND_STR(groups->family->sums, key, sum);
	if (!sum)
		sum = add_sum(groups->family, key, labels);
	if (sum)
		sum->group = group;
	free(key);
	return sum;
}

/* What the member adds to the sum, in this turn or before. */
static struct part *part_of(struct member *member, struct sum *sum)
{
	for (size_t i = 0; i < member->count; i++) {
		size_t at = (member->at + i) % member->count;

		if (member->parts[at].sum != sum)
			continue;
		member->at = at + 1;
		return &member->parts[at];
	}
	if (ARRAY_APPEND(member->parts, member->count, (struct part){.sum = sum}))
		return NULL;
	member->at = member->count;
	return &member->parts[member->count - 1];
}

static void take_gauge(struct process_groups *groups, struct sum *sum, uint64_t value)
{
	if (sum->page != groups->page)
		sum->value = 0;
	if (groups->how == SUM_ADDED)
		saturate__add(&sum->value, value);
	else if (value > sum->value)
		sum->value = value;
}

static void take_sample(void *arg, const char *labels, uint64_t value)
{
	struct process_groups *groups = arg;
	struct member *member = groups->turn;
	struct sum *sum = sum_of(groups, member ? member->group : NULL, labels);
	struct part *part = NULL;

	if (sum && groups->is_counter && member) {
		part = part_of(member, sum);
		if (part)
			saturate__add(&part->next, value);
	} else if (sum) {
		take_gauge(groups, sum, value);
	}
	if (!sum || (groups->is_counter && member && !part))
		groups->error = -ENOMEM;
	else
		sum->page = groups->page;
}

/* Adds what the process whose turn ends has counted since the page before. */
static void settle(struct process_groups *groups)
{
	struct member *member = groups->turn;

	for (size_t i = 0; groups->is_counter && member && i < member->count; i++) {
		struct part *part = &member->parts[i];

		if (part->next > part->value) {
			saturate__add(&part->sum->value, part->next - part->value);
			part->value = part->next;
		}
		part->next = 0;
	}
}

/* --- families --- */

static struct family *find_family(struct process_groups *groups, const char *name)
{
	struct family *family;

	HASH_FIND_STR(groups->families, name, family);
	if (family)
		return family;
	family = calloc(1, sizeof(*family));
	if (!family)
		return NULL;
	family->name = name;
	family->last = &family->first;
	HASH_ADD_KEYPTR(hh, groups->families, family->name, strlen(name), family);
	if (family->hh.tbl)
		return family;
	free(family);
	return NULL;
}

bool process_groups__begin_family(struct process_groups *groups, struct exposition_writer *w,
				  const struct metric_family *family, enum metric_sum sum)
{
	groups->family = find_family(groups, family->name);
	if (!groups->family || exposition__divert(w, &groups->sink)) {
		groups->error = -ENOMEM;
		return false;
	}
	exposition__family(w, family);
	groups->is_counter = family->type == METRIC_COUNTER;
	groups->how = sum;
	groups->turn = NULL;
	return true;
}

void process_groups__turn(struct process_groups *groups, const struct process *p)
{
	settle(groups);
	groups->turn = p ? member_of(groups, p) : NULL;
}

/* What tells apart jobs without a Slurm number. */
static void label_other_ids(struct exposition_writer *w, const struct workload *names)
{
	if (!names->slurm_job[0] && names->slurm_sluid[0])
		exposition__label(w, "slurm_sluid", names->slurm_sluid);
	if (names->pbs_job[0])
		exposition__label(w, "pbs_job_id", names->pbs_job);
}

static void label_group(struct exposition_writer *w, enum metrics_by by, const struct group *group)
{
	static const struct group nobody = {0};
	bool other = group && group->is_other;
	const char *id, *job;

	group = group ? group : &nobody;
	id = group->is_unknown ? UNKNOWN : group->container_id;
	job = group->is_unknown ? UNKNOWN : group->names.slurm_job;
	switch (by) {
	case METRICS_BY_CONTAINER:
		exposition__label(w, "namespace", other ? OTHER : group->names.namespace);
		exposition__label(w, "pod", other ? OTHER : group->names.pod);
		exposition__label(w, "container", other ? OTHER : group->names.container);
		exposition__label(w, "container_id", other ? OTHER : id);
		break;
	case METRICS_BY_USER: exposition__label(w, "user", other ? OTHER : group->user); break;
	case METRICS_BY_JOB:
		exposition__label(w, "slurm_job_id", other ? OTHER : job);
		label_other_ids(w, &group->names);
		break;
	case METRICS_BY_PROCESS: break;
	}
}

/* Counters stay as long as their group; gauges only while a process has them. */
static bool is_on_page(const struct process_groups *groups, const struct sum *sum)
{
	if (groups->is_counter && sum->group)
		return sum->group->page == groups->page;
	return sum->page == groups->page;
}

void process_groups__end_family(struct process_groups *groups, struct exposition_writer *w)
{
	settle(groups);
	groups->turn = NULL;
	if (exposition__divert(w, NULL))
		groups->error = -ENOMEM;
	for (const struct sum *sum = groups->family->first; sum; sum = sum->next) {
		if (!is_on_page(groups, sum))
			continue;
		exposition__sample(w);
		label_group(w, groups->by, sum->group);
		exposition__taken_labels(w, sum->labels);
		exposition__number(w, sum->value);
	}
}

bool process_groups__admits(struct process_groups *groups, const struct process *p,
			    enum many_things things, const char *label)
{
	struct member *member = member_of(groups, p);
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
		label_group(w, groups->by, group);
		exposition__number(w, group->members);
	}
	if (groups->other.page != groups->page)
		return;
	exposition__sample(w);
	label_group(w, groups->by, &groups->other);
	exposition__number(w, groups->other.members);
}
