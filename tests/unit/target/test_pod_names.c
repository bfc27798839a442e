// SPDX-License-Identifier: BSD-2-Clause
// Names of pods and containers by the kubelet's directories: found, missing, ambiguous, hostile.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "target/pod_names.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "12345678-90ab-cdef-1234-567890abcdef"
#define LONG_NAME "n234567890123456789012345678901234567890123456789012345678901234567890"

struct kubelet {
	char root[64], pods[80], containers[96];
	struct pod_logs logs;
};

static void make(const char *root, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static int set_up(void **state)
{
	struct kubelet *kubelet = calloc(1, sizeof(*kubelet));

	strcpy(kubelet->root, "/tmp/pod-names-XXXXXX");
	assert_non_null(mkdtemp(kubelet->root));
	snprintf(kubelet->pods, sizeof(kubelet->pods), "%s/pods", kubelet->root);
	snprintf(kubelet->containers, sizeof(kubelet->containers), "%s/containers", kubelet->root);
	make(kubelet->root, "pods");
	make(kubelet->root, "containers");
	kubelet->logs = (struct pod_logs){kubelet->pods, kubelet->containers};
	*state = kubelet;
	return 0;
}

static int tear_down(void **state)
{
	struct kubelet *kubelet = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", kubelet->root);
	assert_int_equal(system(command), 0);
	free(kubelet);
	return 0;
}

static struct workload found(const struct kubelet *kubelet, const char *container)
{
	struct cgroup_names names = {.pod = UID};
	struct workload workload = {0};

	strcpy(names.container, container);
	pod_names__find(&kubelet->logs, &names, &workload);
	return workload;
}

static void expect(const struct workload *workload, const char *namespace, const char *pod,
		   const char *container)
{
	assert_string_equal(workload->namespace, namespace);
	assert_string_equal(workload->pod, pod);
	assert_string_equal(workload->container, container);
}

static void a_pod_appears_late(void **state)
{
	const struct kubelet *kubelet = *state;
	struct workload workload;

	make(kubelet->pods, "other_pod_" UID "0");
	workload = found(kubelet, ID);
	expect(&workload, "", "", "");
	make(kubelet->pods, "ml_train-7_" UID);
	workload = found(kubelet, ID);
	expect(&workload, "ml", "train-7", "");
	make(kubelet->pods, "ml_train-7_" UID "/trainer");
	workload = found(kubelet, ID);
	expect(&workload, "ml", "train-7", "trainer");
}

static void several_containers(void **state)
{
	const struct kubelet *kubelet = *state;
	struct workload workload;

	make(kubelet->pods, "ml_train-7_" UID);
	make(kubelet->pods, "ml_train-7_" UID "/trainer");
	make(kubelet->pods, "ml_train-7_" UID "/side-car");
	workload = found(kubelet, ID);
	expect(&workload, "ml", "train-7", "");
	make(kubelet->containers, "train-7_ml_trainer-" ID ".log");
	make(kubelet->containers, "train-7_ml_side-car-" ID2 ".log");
	workload = found(kubelet, ID);
	expect(&workload, "ml", "train-7", "trainer");
	workload = found(kubelet, ID2);
	expect(&workload, "ml", "train-7", "side-car");
	workload = found(kubelet, "");
	expect(&workload, "ml", "train-7", "");
}

/* Entries without the form, or with names that are too long, are nobody's. */
static void hostile_names(void **state)
{
	const struct kubelet *kubelet = *state;
	struct workload workload;

	make(kubelet->pods, UID);
	make(kubelet->pods, "_" UID);
	make(kubelet->pods, "x_" UID);
	make(kubelet->pods, LONG_NAME "_pod_" UID);
	make(kubelet->containers, "-" ID ".log");
	make(kubelet->containers, ID ".log");
	make(kubelet->containers, "_-" ID ".lo");
	workload = found(kubelet, ID);
	assert_string_equal(workload.namespace, "");
	assert_string_equal(workload.pod, "");
}

static void no_directory(void **state)
{
	const struct kubelet nowhere = {.logs = {"/no/such/pods", "/no/such/containers"}};
	struct workload workload = found(&nowhere, ID);

	(void)state;
	expect(&workload, "", "", "");
	assert_null(pod_names__open("/no/such/pods"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pod_appears_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(several_containers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hostile_names, set_up, tear_down),
		cmocka_unit_test(no_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
