// SPDX-License-Identifier: BSD-2-Clause
// The core of findings: their table, texts, order, thresholds, and which rules are applied.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "finding/finding.h"
#include "model/profile.h"
#include "model/growth.h"

/* --- the table --- */

static void test_kinds_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < finding_kind_count; i++) {
		const struct finding_kind *kind = finding_kinds[i];

		assert_ptr_equal(finding_kind__find(kind->id), kind);
		assert_true(!kind->detect != !kind->detect_all);
		assert_non_null(kind->title);
		assert_non_null(kind->thresholds[0].name);
		assert_null(kind->thresholds[FINDING_THRESHOLDS].name);
		for (size_t n = 0; kind->thresholds[n].name; n++)
			assert_non_null(kind->thresholds[n].meaning);
	}
	assert_null(finding_kind__find("nothing"));
}

/* --- thresholds --- */

static struct findings *new_findings(void)
{
	const struct findings_options options = {.needs = NEEDS_PROFILE,
						 .window_ns = GROWTH_WINDOW_NS};
	struct findings *findings = findings__new(&options);

	assert_non_null(findings);
	return findings;
}

static double value_of(const struct findings *findings, const char *id, const char *name)
{
	const struct finding_kind *kind = finding_kind__find(id);

	for (size_t i = 0; kind && kind->thresholds[i].name; i++)
		if (!strcmp(kind->thresholds[i].name, name))
			return findings__threshold(findings, kind, i);
	fail_msg("no threshold %s.%s", id, name);
	return 0;
}

static void test_thresholds_begin_with_the_table(void **state)
{
	struct findings *findings = new_findings();

	(void)state;
	for (size_t i = 0; i < finding_kind_count; i++)
		for (size_t n = 0; finding_kinds[i]->thresholds[n].name; n++)
			assert_true(findings__threshold(findings, finding_kinds[i], n) ==
				    finding_kinds[i]->thresholds[n].value);
	findings__free(findings);
}

static void takes(const char *text, const char *id, const char *name, double value)
{
	struct findings *findings = new_findings();
	struct error err = {""};

	if (findings__set_threshold(findings, text, &err))
		fail_msg("%s: %s", text, err.text);
	if (fabs(value_of(findings, id, name) - value) > value * 1e-12)
		fail_msg("%s is %f", text, value_of(findings, id, name));
	findings__free(findings);
}

static void test_thresholds_taken(void **state)
{
	(void)state;
	takes("alloc-churn=5%", "alloc-churn", "share", 0.05);
	takes("alloc-churn=0.25", "alloc-churn", "share", 0.25);
	takes("alloc-churn=0", "alloc-churn", "share", 0);
	takes("alloc-churn=100%", "alloc-churn", "share", 1);
	takes("alloc-churn.pairs=100", "alloc-churn", "pairs", 100);
	takes("leak-growing=64K", "leak-growing", "bytes", 65536);
	takes("leak-growing.bytes=1M", "leak-growing", "bytes", 1048576);
	takes("leak-growing=2GiB", "leak-growing", "bytes", 2147483648.0);
	takes("leak-growing=512", "leak-growing", "bytes", 512);
	takes("leak-growing=512B", "leak-growing", "bytes", 512);
	takes("sync-stall.mean=100ms", "sync-stall", "mean", 1e8);
	takes("sync-stall.mean=20us", "sync-stall", "mean", 2e4);
	takes("sync-stall.mean=1.5s", "sync-stall", "mean", 1.5e9);
	takes("error-storm=10/s", "error-storm", "rate", 10);
	takes("error-storm=12.5", "error-storm", "rate", 12.5);
	takes("device-imbalance=1.5", "device-imbalance", "ratio", 1.5);
	takes("sync-stall.launches=0.5", "sync-stall", "launches", 0.5);
	takes("oom=1", "oom", "calls", 1);
}

static void refuses(const char *text, const char *why)
{
	struct findings *findings = new_findings();
	struct error err = {""};

	assert_int_equal(findings__set_threshold(findings, text, &err), -EINVAL);
	if (!strstr(err.text, why))
		fail_msg("%s: %s", text, err.text);
	for (size_t i = 0; i < finding_kind_count; i++)
		for (size_t n = 0; finding_kinds[i]->thresholds[n].name; n++)
			assert_true(findings__threshold(findings, finding_kinds[i], n) ==
				    finding_kinds[i]->thresholds[n].value);
	findings__free(findings);
}

static void test_thresholds_refused(void **state)
{
	(void)state;
	refuses("", "is not ID=VALUE or ID.NAME=VALUE");
	refuses("alloc-churn", "is not ID=VALUE or ID.NAME=VALUE");
	refuses("churn=1", "no finding is called 'churn' (did you mean alloc-churn?): see gpuprobe "
			   "diagnose --list");
	refuses("idel-gaps=4", "no finding is called 'idel-gaps' (did you mean idle-gaps?)");
	refuses("idle-gaps.shaer=4", "it has share, gaps; did you mean share?");
	refuses("OOM=1", "(did you mean oom?)");
	refuses("Leak-At=1", "(did you mean leak-at-exit?)");
	refuses("alloc=5%", "no finding is called 'alloc' (did you mean alloc-churn?)");
	refuses("alloc-churns=5%", "(did you mean alloc-churn?)");
	refuses("leaks=1", "no finding is called 'leaks': see gpuprobe diagnose --list");
	refuses("=5%", "no finding is called '': see gpuprobe diagnose --list");
	refuses("alloc-churn.count=5", "alloc-churn has no threshold 'count'; it has share, pairs");
	refuses("alloc-churn.=5", "has no threshold ''");
	refuses("alloc-churn.pair=5", "has no threshold 'pair'");
	refuses("alloc-churn=", "alloc-churn.share: '' is not a share such as 5% or 0.05");
	refuses("alloc-churn=5", "is not a share");
	refuses("alloc-churn=101%", "is not a share");
	refuses("alloc-churn=-1%", "is not a share");
	refuses("alloc-churn=nan", "is not a share");
	refuses("alloc-churn=5%%", "is not a share");
	refuses("alloc-churn=1.2.3", "is not a share");
	refuses("alloc-churn=.", "is not a share");
	refuses("alloc-churn.pairs=10K", "is not a whole number");
	refuses("alloc-churn.pairs=0x10", "is not a whole number");
	refuses("alloc-churn.pairs=inf", "is not a whole number");
	refuses("alloc-churn.pairs=10000000000000000000000000000000000000000",
		"is not a whole number");
	refuses("oom.calls=1.5", "oom.calls: '1.5' is not a whole number such as 10, from 1 up");
	refuses("oom=0", "is not a whole number such as 10, from 1 up");
	refuses("device-imbalance=0.9", "'0.9' is not a ratio such as 1.2, from 1 up");
	refuses("leak-growing=1X", "leak-growing.bytes: '1X' is not bytes such as");
	refuses("sync-stall.mean=5", "is not a time with its unit");
	refuses("error-storm=10/m", "is not a rate such as 10/s");
}

/* --- the list --- */

static struct finding *add(struct finding_list *list, const char *id, const struct process *process)
{
	const struct finding_input input = {.kind = finding_kind__find(id)};
	struct finding *finding = finding_list__add(list, &input, process);

	assert_non_null(finding);
	return finding;
}

static void test_list(void **state)
{
	const struct process process = {.pid = 12, .comm = "train"};
	struct finding_list list = {0};
	struct finding *finding = add(&list, "alloc-churn", &process);

	(void)state;
	assert_int_equal(finding->pid, 12);
	assert_string_equal(finding->comm, "train");
	assert_int_equal(finding->severity, SEVERITY_WARNING);
	assert_null(finding->subject);
	assert_int_equal(finding__subject(finding, "one %d", 1), 0);
	assert_int_equal(finding__subject(finding, "two %d", 2), 0);
	assert_int_equal(finding__evidence(finding, "%s", "so"), 0);
	assert_string_equal(finding->subject, "two 2");
	assert_string_equal(finding->evidence, "so");
	for (int i = 0; i < FINDING_NUMBERS + 2; i++)
		finding__number(finding, "n", i, UNIT_COUNT);
	assert_int_equal(finding->number_count, FINDING_NUMBERS);
	finding__cost(finding, 50, 200);
	assert_true(finding->has_cost && finding->cost_ns == 50 && finding->share == 0.25);
	finding__cost(finding, 50, 0);
	assert_true(finding->share == 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(add(&list, "oom", NULL)->pid, 0);
	assert_string_equal(list.items[0].subject, "two 2");
	finding_list__clear(&list);
	assert_int_equal(list.count, 0);
	assert_null(list.items);
}

static void test_order(void **state)
{
	static const char *const order[] = {"oom",	    "implicit-sync", "alloc-churn",
					    "leak-growing", "leak-growing",  "leak-growing",
					    "missing-sync", "chatty-getters"};
	struct finding_list list = {0};
	struct finding *finding;

	(void)state;
	finding__cost(add(&list, "chatty-getters", NULL), 1000000, 1);
	add(&list, "missing-sync", NULL);
	add(&list, "leak-growing", NULL)->weight = 1;
	finding = add(&list, "leak-growing", NULL);
	finding->weight = 5;
	finding->tid = 1;
	finding = add(&list, "leak-growing", NULL);
	finding->weight = 5;
	finding->tid = 2;
	finding__cost(add(&list, "alloc-churn", NULL), 10, 1);
	finding__cost(add(&list, "implicit-sync", NULL), 20, 1);
	add(&list, "oom", NULL);
	assert_int_equal(finding_list__sort(&list), 0);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		assert_string_equal(list.items[i].kind->id, order[i]);
	assert_int_equal(list.items[3].tid, 1);
	assert_int_equal(list.items[4].tid, 2);
	assert_true(list.items[5].weight == 1);
	finding_list__clear(&list);
}

/* --- detection --- */

static void test_nothing_of_nothing(void **state)
{
	struct findings *findings = new_findings();
	struct process processes[2] = {{.pid = 1, .comm = "a"},
				       {.pid = 2, .comm = "b", .ended = true}};
	struct model model = {.now_ns = 100 * NS_PER_S};
	struct finding_list list = {0};

	(void)state;
	findings__begin(findings, 90 * NS_PER_S);
	assert_int_equal(findings__began_ns(findings), 90 * NS_PER_S);
	assert_int_equal(findings__detect(findings, &model, &list), 0);
	assert_int_equal(list.count, 0);
	model.processes = processes;
	model.process_count = 2;
	processes[0].profile = profile__new();
	assert_int_equal(findings__sample(findings, &model), 0);
	assert_int_equal(findings__detect(findings, &model, &list), 0);
	assert_int_equal(list.count, 0);
	profile__free(processes[0].profile);
	findings__free(findings);
	findings__free(NULL);
}

/* The first call may come before the last probe. */
static void test_begins_with_the_first_call(void **state)
{
	struct findings *findings = new_findings();
	struct process process = {.pid = 1, .comm = "a", .profile = profile__new()};
	struct model model = {.now_ns = 100 * NS_PER_S, .processes = &process, .process_count = 1};
	struct thread_profile threads[] = {{.first_ns = 95 * NS_PER_S}, {.first_ns = 0}};

	(void)state;
	process.profile->threads = threads;
	process.profile->thread_count = 2;
	findings__begin(findings, 90 * NS_PER_S);
	assert_int_equal(findings__sample(findings, &model), 0);
	assert_int_equal(findings__began_ns(findings), 90 * NS_PER_S);
	threads[0].first_ns = 89 * NS_PER_S;
	assert_int_equal(findings__sample(findings, &model), 0);
	assert_int_equal(findings__began_ns(findings), 89 * NS_PER_S);
	process.profile->threads = NULL;
	process.profile->thread_count = 0;
	profile__free(process.profile);
	findings__free(findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_are_whole),
		cmocka_unit_test(test_thresholds_begin_with_the_table),
		cmocka_unit_test(test_thresholds_taken),
		cmocka_unit_test(test_thresholds_refused),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_nothing_of_nothing),
		cmocka_unit_test(test_begins_with_the_first_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
