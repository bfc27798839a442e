// SPDX-License-Identifier: BSD-2-Clause
// Units, machines and Slurm jobs by control group name, and jobs by their step's daemon.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "target/workload.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SLUID "s5K1KKYAYG5D00"

static struct workload parsed(const char *text)
{
	struct workload workload = {0};
	struct cgroup_names names;

	cgroup__parse(text, &names);
	workload__parse(text, &names, &workload);
	return workload;
}

static void units(void **state)
{
	static const struct {
		const char *text, *unit;
	} samples[] = {
		{"0::/system.slice/train.service\n", "train.service"},
		{"1:name=systemd:/system.slice/train@7.service\n0::/\n", "train@7.service"},
		{"0::/user.slice/user-1.slice/user@1.service/app.slice/run-u3.service\n",
		 "run-u3.service"},
		{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope\n", ""},
		{"0::/user.slice/user-1000.slice/session-3.scope\n", ""},
		/* What runs containers is not what their processes are. */
		{"0::/system.slice/containerd.service/docker-" ID ".scope\n", ""},
		{"0::/.service\n", ".service"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++)
		assert_string_equal(parsed(samples[i].text).unit, samples[i].unit);
}

static void machines(void **state)
{
	static const struct {
		const char *text, *name;
	} samples[] = {
		{"0::/lxc/box/init.scope\n", "box"},
		{"0::/lxc.payload.box/system.slice/ssh.service\n", "box"},
		{"0::/lxc.monitor.box\n", ""},
		{"0::/machine.slice/machine-box.scope\n", "box"},
		{"0::/machine.slice/systemd-nspawn@box.service/payload\n", "box"},
		{"0::/system.slice/ssh.service\n", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		struct workload workload = parsed(samples[i].text);

		assert_string_equal(workload.container, samples[i].name);
		assert_true(!workload.container[0] || !workload.unit[0]);
	}
}

static void jobs(void **state)
{
	static const struct {
		const char *text, *job, *step, *sluid;
	} samples[] = {
		{"9:memory:/\n4:freezer:/slurm_node1/uid_0/job_3/step_0\n0::/\n", "3", "0", ""},
		{"4:memory:/slurm/uid_7/job_12/step_batch/task_0\n", "12", "batch", ""},
		{"0::/system.slice/slurmstepd.scope/job_71/step_extern/user/task_special\n", "71",
		 "extern", ""},
		{"0::/system.slice/n1_slurmstepd.scope/job_71/step_2/user/task_0\n", "71", "2", ""},
		{"0::/system.slice/slurmstepd.scope/" SLUID "/step_0/user/task_0\n", "", "0",
		 SLUID},
		/* Jobs of others, and names that anyone may choose. */
		{"0::/user.slice/job_3/step_0\n", "", "", ""},
		{"0::/slurm/uid_7/job_x/step_;\n", "", "", ""},
		{"0::/slurm/uid_7/job_/step_\n", "", "", ""},
		{"0::/slurm/uid_7/job_123456789012345678901234567890\n", "", "", ""},
		{"0::/slurmstepd.scope/sabcdefghijklm\n", "", "", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		struct workload workload = parsed(samples[i].text);

		assert_string_equal(workload.slurm_job, samples[i].job);
		assert_string_equal(workload.slurm_step, samples[i].step);
		assert_string_equal(workload.slurm_sluid, samples[i].sluid);
	}
}

/* Every byte of a text changed, and the text cut short anywhere. */
static void any_bytes_are_survived(void **state)
{
	static const char text[] = "1:a:/lxc/box/x.service\n2:b:/slurm/uid_7/job_12/step_batch\n"
				   "0::/n_slurmstepd.scope/" SLUID "/step_0/machine-x.scope\n";

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		char *copy = strndup(text, i);

		parsed(copy);
		free(copy);
		for (int byte = 1; byte < 256; byte += 5) {
			copy = strdup(text);
			copy[i] = (char)byte;
			parsed(copy);
			free(copy);
		}
	}
}

/* A process that calls itself by that command line, and its child; both end with their input. */
static pid_t start_daemon(const char *command, pid_t *child, int *input)
{
	int ends[2], said[2];
	pid_t parent;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(said), 0);
	parent = fork();
	if (!parent) {
		pid_t below = fork();

		if (!below) {
			close(ends[1]);
			(void)!read(ends[0], &below, 1);
			_exit(0);
		}
		(void)!write(said[1], &below, sizeof(below));
		close(ends[1]);
		dup2(ends[0], 0);
		execl("/bin/cat", command, (char *)NULL);
		_exit(1);
	}
	close(ends[0]);
	assert_int_equal(read(said[0], child, sizeof(*child)), sizeof(*child));
	close(said[0]);
	close(said[1]);
	*input = ends[1];
	return parent;
}

/* The number that the child's job gets; it has time until the daemon has its name. */
static void expect_job(const char *command, const char *job)
{
	struct workload workload = {0};
	pid_t parent, child;
	int input;

	parent = start_daemon(command, &child, &input);
	for (int i = 0; i < 500 && strcmp(workload.slurm_job, job) != 0; i++) {
		workload = (struct workload){.slurm_sluid = SLUID};
		workload__find_job(child, &workload);
		usleep(10000);
	}
	close(input);
	waitpid(parent, NULL, 0);
	assert_string_equal(workload.slurm_job, job);
}

static void the_daemon_knows_the_number(void **state)
{
	(void)state;
	if (getuid())
		skip();
	expect_job("slurmstepd: [4711.0]", "4711");
	expect_job("slurmstepd: [4711]", "4711");
}

static void others_do_not(void **state)
{
	struct workload workload = {.slurm_sluid = SLUID};

	(void)state;
	workload__find_job(getpid(), &workload);
	assert_string_equal(workload.slurm_job, "");
	expect_job("slurmstepd: [x.0]", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units),
		cmocka_unit_test(machines),
		cmocka_unit_test(jobs),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(the_daemon_knows_the_number),
		cmocka_unit_test(others_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
