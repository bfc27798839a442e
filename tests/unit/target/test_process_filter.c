// SPDX-License-Identifier: BSD-2-Clause
// Which processes --comm, --uid, --container and --pod take, and which texts they refuse.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/process_filter.h"

#define CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "11111111-2222-3333-4444-555555555555"
#define OTHER_UID "99999999-2222-3333-4444-555555555555"

static const struct cgroup_names in_pod = {CONTAINER, UID}, nowhere = {"", ""};

static enum filter_verdict judge(const struct process_filter *filter, const char *comm,
				 uint32_t uid, const struct cgroup_names *names)
{
	return process_filter__judge(
		filter,
		&(struct filter_facts){.pid = getpid(), .comm = comm, .uid = uid, .names = names});
}

static void nothing_given_takes_all(void **state)
{
	const struct process_filter filter = {0};

	(void)state;
	assert_false(process_filter__is_set(&filter));
	assert_int_equal(judge(&filter, "train", 7, NULL), FILTER_TAKES);
	assert_int_equal(process_filter__judge_pid(&filter, getpid()), FILTER_TAKES);
	assert_string_equal(process_filter__text(&filter).text, "");
}

static void name_and_user(void **state)
{
	struct process_filter filter = {.comm = "a-name-of-20-letters"};

	(void)state;
	assert_int_equal(judge(&filter, "a-name-of-20-le", 7, NULL), FILTER_TAKES);
	assert_int_equal(judge(&filter, "a-name-of-20-l", 7, NULL), FILTER_LEAVES);
	filter = (struct process_filter){.comm = "train", .user = "seven", .uid = 7};
	assert_int_equal(judge(&filter, "train", 7, NULL), FILTER_TAKES);
	assert_int_equal(judge(&filter, "train", 8, NULL), FILTER_LEAVES);
	assert_int_equal(judge(&filter, "trains", 7, NULL), FILTER_LEAVES);
	assert_string_equal(process_filter__text(&filter).text, "--comm train --uid seven");
}

static void container(void **state)
{
	const struct process_filter filter = {.container = "01234567"};
	const struct process_filter upper = {.container = "0123456789ABCDEF"};
	const struct process_filter other = {.container = "123456"};

	(void)state;
	assert_int_equal(judge(&filter, "train", 7, &in_pod), FILTER_TAKES);
	assert_int_equal(judge(&upper, "train", 7, &in_pod), FILTER_TAKES);
	assert_int_equal(judge(&other, "train", 7, &in_pod), FILTER_LEAVES);
	assert_int_equal(judge(&filter, "train", 7, &nowhere), FILTER_LEAVES);
	assert_int_equal(judge(&filter, "train", 7, NULL), FILTER_UNSURE);
}

static void path(void **state)
{
	const struct process_filter filter = {.container = "0123", .pod = UID};
	const struct process_filter none = {.comm = "x"};

	(void)state;
	assert_true(
		process_filter__takes_path(&filter, "/kubepods/burstable/pod" UID "/" CONTAINER));
	assert_false(process_filter__takes_path(&filter,
						"/kubepods/burstable/pod" OTHER_UID "/" CONTAINER));
	assert_false(process_filter__takes_path(&filter, "/docker/" CONTAINER));
	assert_false(process_filter__takes_path(&filter, NULL));
	assert_true(process_filter__takes_path(&none, NULL));
}

/* --- pods, by the kubelet's directories --- */

struct logs {
	char directory[64];
};

static int make_logs(void **state)
{
	static const char *const entries[] = {"team_train-0_" UID, "team_train-1_" OTHER_UID,
					      "other_train-0_" OTHER_UID, "no-underscores", "_"};
	static struct logs logs;
	char entry[256];

	snprintf(logs.directory, sizeof(logs.directory), "/tmp/pods-XXXXXX");
	if (!mkdtemp(logs.directory))
		return -1;
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		snprintf(entry, sizeof(entry), "%s/%s", logs.directory, entries[i]);
		if (mkdir(entry, 0700))
			return -1;
	}
	*state = &logs;
	return 0;
}

static int remove_logs(void **state)
{
	const struct logs *logs = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", logs->directory);
	return system(command);
}

static enum filter_verdict judge_pod(const struct logs *logs, const char *pod)
{
	const struct process_filter filter = {.pod = pod, .pod_logs = logs->directory};

	return judge(&filter, "train", 7, &in_pod);
}

static void pod(void **state)
{
	const struct logs *logs = *state;
	struct process_filter filter = {.pod = "train-0", .pod_logs = logs->directory};
	struct error err = {""};

	assert_int_equal(judge_pod(logs, UID), FILTER_TAKES);
	assert_int_equal(judge_pod(logs, OTHER_UID), FILTER_LEAVES);
	assert_int_equal(judge_pod(logs, "train-0"), FILTER_TAKES);
	assert_int_equal(judge_pod(logs, "team/train-0"), FILTER_TAKES);
	assert_int_equal(judge_pod(logs, "train-1"), FILTER_LEAVES);
	assert_int_equal(judge_pod(logs, "train"), FILTER_LEAVES);
	assert_int_equal(judge_pod(logs, "other/train-0"), FILTER_LEAVES);
	assert_int_equal(judge_pod(logs, "tea/train-0"), FILTER_LEAVES);
	assert_int_equal(process_filter__open(&filter, &err), 0);
	filter.pod_logs = "/no/such/directory";
	assert_int_equal(process_filter__open(&filter, &err), -ENOENT);
	assert_non_null(strstr(err.text, "--pod 'train-0': names of pods come from /no/such"));
	filter.pod = UID;
	assert_int_equal(process_filter__open(&filter, &err), 0);
}

static void texts(void **state)
{
	static const char *const ids[] = {"", "abc", "abcg", "web-1", CONTAINER "0"};
	static const char *const pods[] = {"", "/", "a/", "/a", "a/b/c"};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		assert_int_equal(process_filter__check_container(ids[i], &err), -EINVAL);
	assert_int_equal(process_filter__check_container("abcd", &err), 0);
	assert_int_equal(process_filter__check_container(CONTAINER, &err), 0);
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods); i++)
		assert_int_equal(process_filter__check_pod(pods[i], &err), -EINVAL);
	assert_int_equal(process_filter__check_pod("a/b", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_given_takes_all),
		cmocka_unit_test(name_and_user),
		cmocka_unit_test(container),
		cmocka_unit_test(path),
		cmocka_unit_test_setup_teardown(pod, make_logs, remove_logs),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
