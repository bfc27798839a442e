// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of what a process belongs to; see workload.h. Components of control groups' paths:
 *
 *   /system.slice/NAME.service                          systemd
 *   /lxc/NAME, /lxc.payload.NAME                        LXC
 *   /machine.slice/machine-NAME.scope                   machined; NAME has \x2d for -
 *   /machine.slice/systemd-nspawn@NAME.service/payload  systemd-nspawn
 *   /slurm[_NODE]/uid_U/job_J/step_S                    Slurm, cgroup v1
 *   /[NODE_]slurmstepd.scope/job_J/step_S               Slurm to 25.11, cgroup v2
 *   /[NODE_]slurmstepd.scope/SLUID/step_S               Slurm from 26.05
 *   /../job_J/step_S                                    the same from another step's namespace
 *   /pbs_jobs.service/jobid/JOB                         PBS, cgroup v1
 *   /pbs_jobs.service/jobs/JOB                          PBS, cgroup v2
 *   /pbspro.slice/pbspro-JOB.slice, /pbspro/JOB         PBS, older
 *   /nomad.slice/share.slice/ALLOCATION.TASK.scope      Nomad
 *   /mesos/UUID                                         Mesos
 *   /htcondor/condor_FOLDER_SLOT@HOST                   HTCondor
 *
 * A SLUID is an s and 13 digits of Crockford's base 32. Apptainer and Singularity leave a process
 * in the group of its job or session.
 */
#include "target/workload.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/command_line.h"
#include "target/proc.h"

#define SLUID_LENGTH 14
#define ANCESTORS_MAX 64
#define STEP_DAEMON "slurmstepd: ["

/* A component of a path, not terminated. */
struct part {
	const char *start;
	size_t length;
};

/* What is above a component. */
struct place {
	struct part parent, grandparent;
	bool slurm; /* what is here may be of a job */
	bool nomad;
};

static bool strip_start(struct part *part, const char *start)
{
	size_t length = strlen(start);

	if (part->length <= length || memcmp(part->start, start, length))
		return false;
	part->start += length;
	part->length -= length;
	return true;
}

static bool strip_end(struct part *part, const char *end)
{
	size_t length = strlen(end);

	if (part->length <= length || memcmp(part->start + part->length - length, end, length))
		return false;
	part->length -= length;
	return true;
}

static bool equals(struct part part, const char *text)
{
	return part.length == strlen(text) && !memcmp(part.start, text, part.length);
}

static bool ends_with(struct part part, const char *end)
{
	return equals(part, end) || strip_end(&part, end);
}

static bool starts_with(struct part part, const char *start)
{
	return equals(part, start) || strip_start(&part, start);
}

static bool is_made_of(struct part part, int (*is)(int c))
{
	for (size_t i = 0; i < part.length; i++)
		if (!is((unsigned char)part.start[i]))
			return false;
	return part.length > 0;
}

/* A name that does not fit is none. */
static void take(struct part part, char *name, size_t size)
{
	if (part.length >= size)
		return;
	memcpy(name, part.start, part.length);
	name[part.length] = '\0';
}

static int hex_value(int c)
{
	return isdigit(c) ? c - '0' : c - 'a' + 10;
}

/* Replaces systemd's \xHH for a printable character; it writes - as \x2d in names of units. */
static void unescape(char *name)
{
	char *to = name;

	for (const char *at = name; *at; to++) {
		if (at[0] == '\\' && at[1] == 'x' && at[2] >= '2' && at[2] <= '7' &&
		    isxdigit((unsigned char)at[3]) && !isupper((unsigned char)at[3])) {
			*to = (char)(hex_value(at[2]) * 16 + hex_value(at[3]));
			at += 4;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
}

/* --- components --- */

static void take_unit(struct part part, struct workload *workload)
{
	/* A user's own manager, in which that user's services are. */
	if (ends_with(part, ".service") && !starts_with(part, "user@"))
		take(part, workload->unit, sizeof(workload->unit));
}

/* ALLOCATION.TASK, where ALLOCATION is a UUID. */
static bool is_task(struct part name)
{
	return name.length > POD_UID_LENGTH + 1 && name.start[POD_UID_LENGTH] == '.' &&
	       cgroup__is_uid(name.start, POD_UID_LENGTH);
}

/* What a scheduler calls a container of its own. */
static bool is_scheduled(struct part *name, const struct place *place)
{
	if (equals(place->parent, "mesos"))
		return cgroup__is_uid(name->start, name->length);
	if (equals(place->parent, "htcondor"))
		return starts_with(*name, "condor_");
	if (!place->nomad || !is_task(*name))
		return false;
	strip_end(name, ".scope");
	return true;
}

static void take_container(struct part part, const struct place *place, struct workload *workload)
{
	struct part name = part;

	if (is_scheduled(&name, place) || equals(place->parent, "lxc") ||
	    strip_start(&name, "lxc.payload.") ||
	    (strip_start(&name, "machine-") && strip_end(&name, ".scope")) ||
	    (strip_start(&name, "systemd-nspawn@") && strip_end(&name, ".service"))) {
		take(name, workload->container, sizeof(workload->container));
		unescape(workload->container);
	}
}

static void take_pbs_job(struct part part, const struct place *place, struct workload *workload)
{
	struct part job = part;
	bool below = equals(place->parent, "jobid") || equals(place->parent, "jobs");

	if ((below && starts_with(place->grandparent, "pbs")) || equals(place->parent, "pbspro") ||
	    (strip_start(&job, "pbspro-") && strip_end(&job, ".slice"))) {
		if (!job.length || !isdigit((unsigned char)job.start[0]))
			return;
		take(job, workload->pbs_job, sizeof(workload->pbs_job));
		unescape(workload->pbs_job);
	}
}

static int is_base32(int c)
{
	return isdigit(c) || (c >= 'A' && c <= 'Z' && !strchr("ILOU", c));
}

static bool is_sluid(struct part part)
{
	return part.length == SLUID_LENGTH && strip_start(&part, "s") &&
	       is_made_of(part, is_base32);
}

static bool is_slurms(struct part part)
{
	return starts_with(part, "slurm_") || equals(part, "slurm") ||
	       ends_with(part, "slurmstepd.scope");
}

/* Whether it is of a job. */
static bool take_job(struct part part, struct workload *workload)
{
	struct part value = part;

	if (strip_start(&value, "job_") && is_made_of(value, isdigit))
		take(value, workload->slurm_job, sizeof(workload->slurm_job));
	else if (is_sluid(part))
		take(part, workload->slurm_sluid, sizeof(workload->slurm_sluid));
	else if (strip_start(&value, "step_") && is_made_of(value, isalnum))
		take(value, workload->slurm_step, sizeof(workload->slurm_step));
	else
		return false;
	return true;
}

/*
 * Whether what follows may be of a job. In a cgroup namespace the path to a neighbour begins with
 * .. for all that is cut off.
 */
static bool is_below_slurm(struct part part, const struct place *place, bool is_jobs)
{
	return is_slurms(part) || equals(part, "..") ||
	       (place->slurm && (is_jobs || !equals(place->parent, "..")));
}

static void parse_path(struct part path, bool contained, struct workload *workload)
{
	const char *end = path.start + path.length;
	struct place place = {0};

	for (const char *at = path.start; at < end;) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		struct part part = {.start = at, .length = (size_t)((slash ? slash : end) - at)};

		place.slurm = is_below_slurm(part, &place, place.slurm && take_job(part, workload));
		place.nomad = place.nomad || starts_with(part, "nomad");
		take_pbs_job(part, &place, workload);
		if (!contained) {
			take_unit(part, workload);
			take_container(part, &place, workload);
		}
		place.grandparent = place.parent;
		place.parent = part;
		at += part.length + 1;
	}
}

void workload__parse(const char *cgroups, const struct cgroup_names *names,
		     struct workload *workload)
{
	bool contained = names->container[0] || names->pod[0];

	/* Slurm may limit a process in one hierarchy of v1 only. */
	for (const char *line = cgroups; *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		const char *end = line + strcspn(line, "\n");
		const char *colon = memchr(line, ':', (size_t)(end - line));
		const char *path = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;

		if (path)
			parse_path((struct part){.start = path + 1,
						 .length = (size_t)(end - path - 1)},
				   contained, workload);
	}
	/* The unit that runs a machine, or jobs. */
	if (workload->container[0] || workload->pbs_job[0])
		workload->unit[0] = '\0';
}

/* --- jobs by their step's daemon --- */

static bool is_of_root(pid_t pid)
{
	uid_t uid;

	return !proc__user(pid, &uid) && uid == 0;
}

/* "slurmstepd: [JOB.STEP]". */
static bool take_daemons_job(const char *command, struct workload *workload)
{
	struct part job = {.start = command + strlen(STEP_DAEMON)};

	if (strncmp(command, STEP_DAEMON, strlen(STEP_DAEMON)) != 0)
		return false;
	job.length = strcspn(job.start, ".]");
	if (is_made_of(job, isdigit))
		take(job, workload->slurm_job, sizeof(workload->slurm_job));
	return true;
}

void workload__find_job(pid_t pid, struct workload *workload)
{
	struct process_info info;
	bool found = false;

	if (workload->slurm_job[0] || (!workload->slurm_sluid[0] && !workload->slurm_step[0]))
		return;
	for (int i = 0; i < ANCESTORS_MAX && !found && pid > 1 && !proc__info(pid, &info); i++) {
		char *command = is_of_root(pid) ? command_line__from_proc(pid) : NULL;

		found = command && take_daemons_job(command, workload);
		free(command);
		pid = info.parent;
	}
}

bool workload__is_empty(const struct workload *workload)
{
	return !workload->namespace[0] && !workload->pod[0] && !workload->container[0] &&
	       !workload->unit[0] && !workload->slurm_job[0] && !workload->slurm_step[0] &&
	       !workload->slurm_sluid[0] && !workload->pbs_job[0] && !workload->image[0];
}
