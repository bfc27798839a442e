// SPDX-License-Identifier: BSD-2-Clause
// Containers and pods by control group name: every runtime's format, nested groups, and garbage.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/cgroup.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "12345678-90ab-cdef-1234-567890abcdef"
#define UNIT_UID "12345678_90ab_cdef_1234_567890abcdef"
#define STATIC_UID "0123456789abcdef0123456789abcdef"
#define SLICES "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UNIT_UID ".slice"

struct sample {
	const char *text, *container, *pod;
};

static void check(const struct sample *samples, size_t count)
{
	struct cgroup_names names;

	for (size_t i = 0; i < count; i++) {
		cgroup__parse(samples[i].text, &names);
		if (strcmp(names.container, samples[i].container) ||
		    strcmp(names.pod, samples[i].pod))
			fail_msg("%s: container \"%s\", pod \"%s\"", samples[i].text,
				 names.container, names.pod);
	}
}

static void knows_runtimes(void **state)
{
	static const struct sample samples[] = {
		{"12:pids:/docker/" ID "\n11:cpu:/docker/" ID "\n", ID, ""},
		{"0::/system.slice/docker-" ID ".scope\n", ID, ""},
		{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID
		 ".scope\n",
		 ID, ""},
		{"0::/machine.slice/libpod-" ID ".scope/container\n", ID, ""},
		{"0::/libpod_parent/libpod-" ID "\n", ID, ""},
		{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		 ".scope\n",
		 ID, ""},
		{"0::/system.slice/nerdctl-" ID ".scope\n", ID, ""},
		{"0::/ecs/0123456789abcdef/" ID "\n", ID, ""},
		{"0::/../../docker/" ID "\n", ID, ""},
	};

	(void)state;
	check(samples, COUNT(samples));
}

static void knows_pods(void **state)
{
	static const struct sample samples[] = {
		{"0::" SLICES "/cri-containerd-" ID ".scope\n", ID, UID},
		{"0::" SLICES "/crio-" ID ".scope\n", ID, UID},
		{"0::" SLICES "/docker-" ID ".scope\n", ID, UID},
		{"0::/kubepods.slice/kubepods-pod" UNIT_UID ".slice/cri-containerd-" ID ".scope\n",
		 ID, UID},
		{"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UNIT_UID
		 ".slice/cri-containerd-" ID ".scope\n",
		 ID, UID},
		{"0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UNIT_UID
		 ".slice/cri-containerd-" ID ".scope\n",
		 ID, UID},
		{"4:memory:/kubepods/burstable/pod" UID "/" ID "\n", ID, UID},
		{"4:memory:/kubepods/pod" UID "/crio-" ID "\n", ID, UID},
		{"0::/kubepods/besteffort/pod" STATIC_UID "/" ID "\n", ID, STATIC_UID},
		{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" STATIC_UID
		 ".slice/cri-containerd-" ID ".scope\n",
		 ID, STATIC_UID},
		{"9:cpu:/system.slice/containerd.service/kubepods-burstable-pod" UNIT_UID
		 ".slice:cri-containerd:" ID "\n",
		 ID, UID},
		{"0::/kubepods/burstable/pod" UID "\n", "", UID},
	};

	(void)state;
	check(samples, COUNT(samples));
}

/* What gpuprobe reads in its own cgroup namespace, with the kubelet's cgroupfs driver. */
static void pods_beside_the_root_of_a_namespace(void **state)
{
	static const struct sample samples[] = {
		{"0::/../../pod" UID "/" ID "\n", ID, UID},
		{"0::/../../../burstable/pod" UID "/" ID "\n", ID, UID},
		{"0::/../../pod" STATIC_UID "/" ID "\n", ID, STATIC_UID},
		{"0::/../../pod" UID "/" ID "/worker\n", ID, UID},
		{"0::/../../pod" UID "/crio-" ID ".scope\n", ID, UID},
		/* In the same pod: nothing names it. */
		{"0::/../" ID "\n", ID, ""},
		{"0::/../../pod" UID "/worker/" ID "\n", ID, ""},
		{"0::/../../pod" UID "\n", "", ""},
	};

	(void)state;
	check(samples, COUNT(samples));
}

static void the_innermost_counts(void **state)
{
	static const struct sample samples[] = {
		{"0::/docker/" ID "/docker/" ID2 "\n", ID2, ""},
		{"0::/docker/" ID "/kubelet/kubepods/pod" UID "/" ID2 "\n", ID2, UID},
		{"0::/docker/" ID "/system.slice/ssh.service\n", ID, ""},
		{"0::" SLICES "/cri-containerd-" ID ".scope/init.scope\n", ID, UID},
		/* The unified hierarchy of a hybrid machine says nothing; the others do. */
		{"2:cpu:/\n1:name=systemd:/docker/" ID "\n0::/\n", ID, ""},
		{"2:cpu:/docker/" ID "\n1:name=systemd:/docker/" ID2 "\n", ID, ""},
	};

	(void)state;
	check(samples, COUNT(samples));
}

static void ordinary_groups_are_none(void **state)
{
	static const struct sample samples[] = {
		{"", "", ""},
		{"\n\n", "", ""},
		{"0::/\n", "", ""},
		{"0::/user.slice/user-1000.slice/session-3.scope\n", "", ""},
		{"0::/system.slice/docker.service\n", "", ""},
		{"0::/machine.slice/libpod-conmon-" ID ".scope\n", "", ""},
		{"0::/system.slice/crio-conmon-" ID ".scope\n", "", ""},
		{"0::/machine.slice/machine-libpod_pod_" ID ".slice\n", "", ""},
		{"0::/pod" UID "\n", "", ""},
		{"0::/user.slice/app-pod" UNIT_UID ".slice\n", "", ""},
	};

	(void)state;
	check(samples, COUNT(samples));
}

static void rubbish_is_none(void **state)
{
	static const struct sample samples[] = {
		{"0::/docker/" ID "0\n", "", ""},
		{"0::/docker/0123\n", "", ""},
		{"0::/docker-" ID "x.scope\n", "", ""},
		{"0::/docker/0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\n",
		 "", ""},
		{"0::/docker/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
		 "", ""},
		{"0::/docker-docker-" ID ".scope\n", "", ""},
		{"0::/kubepods/pod12345678-90ab-cdef-1234-567890abcde\"/x\n", "", ""},
		{"0::/kubepods/pod12345678+90ab-cdef-1234-567890abcdef/x\n", "", ""},
		{"0::/kubepods/pod12345678-90ab-cdef-1234-567890abcdef0/x\n", "", ""},
		{"0::/kubepods/pod/podpod\n", "", ""},
		{"no colons /docker/" ID "\n", "", ""},
		{"0:/docker/" ID "\n", "", ""},
		{"::" ID, ID, ""},
		{":::::::/docker-" ID ".scope", ID, ""},
		{"0::/\xff\xfe/docker-" ID ".scope\x01\n", "", ""},
	};

	(void)state;
	check(samples, COUNT(samples));
}

/* Every text cut short anywhere, and with any byte changed, is read within its bounds. */
static void any_bytes_are_survived(void **state)
{
	static const char text[] =
		"9:cpu:/kubepods-burstable-pod" UNIT_UID ".slice:cri-containerd:" ID "\n0::" SLICES
		"/cri-containerd-" ID ".scope\n";
	struct cgroup_names names;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++) {
		char *copy = strndup(text, i);

		cgroup__parse(copy, &names);
		free(copy);
		for (int byte = 1; byte < 256; byte += 7) {
			copy = strdup(text);
			copy[i] = (char)byte;
			/* The terminating NUL stays. */
			if (i == sizeof(text) - 1)
				copy[i] = '\0';
			cgroup__parse(copy, &names);
			assert_true(strspn(names.container, "0123456789abcdef") ==
				    strlen(names.container));
			assert_true(strspn(names.pod, "0123456789abcdef-") == strlen(names.pod));
			free(copy);
		}
	}
}

static void reads_proc(void **state)
{
	struct cgroup_names names = {.container = "x"};

	(void)state;
	assert_int_equal(cgroup__read(getpid(), &names), 0);
	assert_int_equal(cgroup__read(999999999, &names), -ESRCH);
	assert_string_equal(names.container, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_runtimes),
		cmocka_unit_test(knows_pods),
		cmocka_unit_test(pods_beside_the_root_of_a_namespace),
		cmocka_unit_test(the_innermost_counts),
		cmocka_unit_test(ordinary_groups_are_none),
		cmocka_unit_test(rubbish_is_none),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(reads_proc),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
