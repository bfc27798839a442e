// SPDX-License-Identifier: BSD-2-Clause
// Judges processes by name, user, control group, container and pod; see process_filter.h.
#include "target/process_filter.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "target/pod_names.h"
#include "target/proc.h"

#define COMM_LENGTH 15 /* the kernel cuts longer names, so the comparison does too */
#define STATIC_POD_LENGTH 32

/* --- the options' texts --- */

int process_filter__check_container(const char *text, struct error *err)
{
	size_t digits = strspn(text, "0123456789abcdefABCDEF");

	if (text[digits] || digits < CONTAINER_DIGITS_MIN || digits > CONTAINER_ID_LENGTH)
		return error__set(err, -EINVAL,
				  "--container '%.100s': give at least %d digits of a container's "
				  "id, as docker ps and crictl ps show it",
				  text, CONTAINER_DIGITS_MIN);
	return 0;
}

static bool is_uid(const char *text)
{
	size_t length = strlen(text);

	if (length != POD_UID_LENGTH && length != STATIC_POD_LENGTH)
		return false;
	return strspn(text, length == POD_UID_LENGTH ? "0123456789abcdefABCDEF-" :
						       "0123456789abcdefABCDEF") == length;
}

int process_filter__check_pod(const char *text, struct error *err)
{
	const char *slash = strchr(text, '/');

	if (!*text || slash == text || (slash && (!slash[1] || strchr(slash + 1, '/'))))
		return error__set(err, -EINVAL,
				  "--pod '%.100s': give a pod's NAME, NAMESPACE/NAME or UID, see "
				  "kubectl get pods -A",
				  text);
	return 0;
}

bool process_filter__is_set(const struct process_filter *filter)
{
	return filter->comm || filter->user || filter->cgroup ||
	       process_filter__needs_names(filter);
}

bool process_filter__needs_names(const struct process_filter *filter)
{
	return filter->container || filter->pod;
}

static const char *logs_of(const struct process_filter *filter)
{
	return filter->pod_logs ? filter->pod_logs : POD_LOGS;
}

static int check_logs(const struct process_filter *filter, struct error *err)
{
	DIR *logs = pod_names__open(logs_of(filter));
	int code = -errno;

	if (!logs)
		return error__set(err, code,
				  "--pod '%.100s': names of pods come from %s: %s; give the pod's "
				  "UID (metadata.uid) instead",
				  filter->pod, logs_of(filter), strerror(-code));
	closedir(logs);
	return 0;
}

int process_filter__open(struct process_filter *filter, struct error *err)
{
	int ret = 0;

	if (filter->cgroup)
		ret = cgroup_id__find(filter->cgroup, &filter->cgroup_id, err);
	if (!ret && filter->pod && !is_uid(filter->pod))
		ret = check_logs(filter, err);
	return ret;
}

/* --- pods --- */

/* Whether the pod is the wanted one, which is NAME or NAMESPACE/NAME. */
static bool is_called(const struct workload *pod, const char *wanted)
{
	const char *slash = strchr(wanted, '/');
	size_t length = slash ? (size_t)(slash - wanted) : 0;

	if (slash && (strlen(pod->namespace) != length || strncmp(pod->namespace, wanted, length)))
		return false;
	return pod->pod[0] && !strcmp(pod->pod, slash ? slash + 1 : wanted);
}

/* The directory is read each time: pods come and go, and few processes are asked about. */
static bool is_pod_called(const struct process_filter *filter, const char *uid)
{
	const struct pod_logs logs = {.pods = filter->pod_logs};
	struct cgroup_names names = {0};
	struct workload pod = {0};

	snprintf(names.pod, sizeof(names.pod), "%s", uid);
	pod_names__find(&logs, &names, &pod);
	return is_called(&pod, filter->pod);
}

static bool is_in_pod(const struct process_filter *filter, const char *uid)
{
	if (!*uid)
		return false;
	return is_uid(filter->pod) ? !strcasecmp(filter->pod, uid) : is_pod_called(filter, uid);
}

/* --- the judgement --- */

static bool has_names(const struct process_filter *filter, const struct cgroup_names *names)
{
	if (filter->container &&
	    strncasecmp(names->container, filter->container, strlen(filter->container)))
		return false;
	return !filter->pod || is_in_pod(filter, names->pod);
}

enum filter_verdict process_filter__judge(const struct process_filter *filter,
					  const struct filter_facts *facts)
{
	if (filter->comm && strncmp(facts->comm, filter->comm, COMM_LENGTH))
		return FILTER_LEAVES;
	if (filter->user && facts->uid != filter->uid)
		return FILTER_LEAVES;
	if (!filter->cgroup && !process_filter__needs_names(filter))
		return FILTER_TAKES;
	if (!facts->names)
		return FILTER_UNSURE;
	if (filter->cgroup && !cgroup_id__contains(&filter->cgroup_id, facts->pid))
		return FILTER_LEAVES;
	return has_names(filter, facts->names) ? FILTER_TAKES : FILTER_LEAVES;
}

enum filter_verdict process_filter__judge_pid(const struct process_filter *filter, pid_t pid)
{
	struct cgroup_names names;
	struct process_info info;
	uid_t uid = 0;

	if (!process_filter__is_set(filter))
		return FILTER_TAKES;
	if (proc__info(pid, &info) || proc__user(pid, &uid) || cgroup__read(pid, &names))
		return FILTER_LEAVES;
	return process_filter__judge(
		filter,
		&(struct filter_facts){.pid = pid, .comm = info.comm, .uid = uid, .names = &names});
}

bool process_filter__takes_path(const struct process_filter *filter, const char *path)
{
	struct cgroup_names names;
	char *line = NULL;

	if (!process_filter__needs_names(filter))
		return true;
	if (!path || asprintf(&line, "0::%s", path) < 0)
		return false;
	cgroup__parse(line, &names);
	free(line);
	return has_names(filter, &names);
}

static void append(struct filter_text *text, const char *option, const char *value)
{
	size_t length = strlen(text->text);

	if (value && length < sizeof(text->text))
		snprintf(text->text + length, sizeof(text->text) - length, "%s%s %.60s",
			 length ? " " : "", option, value);
}

struct filter_text process_filter__text(const struct process_filter *filter)
{
	struct filter_text text = {""};

	append(&text, "--comm", filter->comm);
	append(&text, "--uid", filter->user);
	append(&text, "--cgroup", filter->cgroup);
	append(&text, "--container", filter->container);
	append(&text, "--pod", filter->pod);
	return text;
}
