// SPDX-License-Identifier: BSD-2-Clause
// Units, machines and jobs by control group name, all forms in one table, and jobs by their step's
// daemon.
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
#define UID "12345678-90ab-cdef-1234-567890abcdef"
#define USER "0::/user.slice/user-1000.slice/user@1000.service/"
#define CONDOR "condor_var_lib_condor_execute_slot1_1@node"

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

/* What a text says; what is not in a row is empty. */
static const struct form {
	const char *text, *id, *pod, *container, *unit, *job, *step, *sluid, *pbs;
} forms[] = {
	/* clang-format off */
	/* Nomad, with its own drivers and with Docker's */
	{.text = "0::/nomad.slice/share.slice/" UID ".train.scope\n", .container = UID ".train"},
	{.text = "0::/nomad.slice/reserve.slice/" UID ".web-1.scope/x\n", .container = UID ".web-1"},
	{.text = "0::/nomad.slice/" UID ".train.scope\n", .container = UID ".train"},
	{.text = "5:memory:/nomad/" UID ".train\n0::/system.slice/nomad.service\n",
	 .container = UID ".train"},
	{.text = "0::/nomad.slice/share.slice/docker-" ID ".scope\n", .id = ID},
	{.text = "0::/nomad.slice/share.slice/train.scope\n"},
	{.text = "0::/user.slice/" UID ".train.scope\n"},
	/* PBS */
	{.text = "7:cpuset:/pbs_jobs.service/jobid/4711.server\n1:name=systemd:/system.slice/pbs.service\n",
	 .pbs = "4711.server"},
	{.text = "0::/pbs_jobs.service/jobs/4711[3].server\n", .pbs = "4711[3].server"},
	{.text = "4:memory:/pbspro.slice/pbspro-4711.a\\x2db.slice\n", .pbs = "4711.a-b"},
	{.text = "4:memory:/pbspro/4711.server\n", .pbs = "4711.server"},
	{.text = "0::/pbs_jobs.service/jobid\n", .unit = "pbs_jobs.service"},
	{.text = "0::/x/jobs/4711.server\n"},
	{.text = "0::/pbs_jobs.service/jobs/x\n", .unit = "pbs_jobs.service"},
	/* Mesos, HTCondor */
	{.text = "3:cpu:/mesos/" UID "\n", .container = UID},
	{.text = "0::/mesos/" UID "/mesos/" UID "\n", .container = UID},
	{.text = "0::/mesos/x\n"},
	{.text = "0::/system.slice/condor.service/htcondor/" CONDOR "\n", .container = CONDOR},
	{.text = "6:memory:/htcondor/" CONDOR "\n", .container = CONDOR},
	/* Apptainer and Singularity: the group of the job, or one that says nothing */
	{.text = "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n", .job = "7", .step = "0"},
	{.text = USER "user.slice/apptainer-123.scope\n"},
	{.text = "8:memory:/singularity/123\n"},
	/* LXC, LXD, machined */
	{.text = "0::/lxc.payload.box/user.slice/user-0.slice/session-1.scope\n", .container = "box"},
	{.text = "4:memory:/lxc/box\n0::/init.scope\n", .container = "box"},
	{.text = "0::/user.slice/user-1000.slice/session-1.scope/lxc.payload.box\n", .container = "box"},
	{.text = "0::/lxc.payload.outer/lxc.payload.inner\n", .container = "inner"},
	{.text = "0::/lxc.payload.box/docker/" ID "\n", .id = ID},
	{.text = "0::/machine.slice/machine-my\\x2dbox.scope\n", .container = "my-box"},
	{.text = "0::/machine.slice/machine-a\\x0ab\\x2.scope\n", .container = "a\\x0ab\\x2"},
	/* Podman without root, in pods, below a unit's group */
	{.text = USER "user.slice/libpod-" ID ".scope/container\n", .id = ID},
	{.text = USER "user.slice/user-libpod_pod_" ID ".slice/libpod-" ID ".scope\n", .id = ID},
	{.text = "0::/system.slice/train.service/libpod-payload-" ID "\n", .id = ID},
	{.text = USER "app.slice/train.service/libpod-payload-" ID "\n", .id = ID},
	{.text = "0::/machine.slice/libpod-conmon-" ID ".scope\n"},
	{.text = USER "user.slice/docker-" ID ".scope\n", .id = ID},
	/* systemd's slices of users */
	{.text = USER "app.slice/app-org.gnome.Terminal.slice/vte-spawn-" UID ".scope\n"},
	{.text = USER "app.slice/jupyter.service\n", .unit = "jupyter.service"},
	{.text = USER "init.scope\n"},
	{.text = "0::/user.slice/user-1000.slice/session-3.scope\n"},
	/* Hierarchies of cgroup v1: each may say a part */
	{.text = "12:pids:/\n9:memory:/docker/" ID "\n1:name=systemd:/docker/" ID "\n0::/\n", .id = ID},
	{.text = "9:memory:/slurm/uid_7/job_3/step_batch\n5:cpu,cpuacct:/system.slice/slurmd.service\n",
	 .job = "3", .step = "batch", .unit = "slurmd.service"},
	{.text = "1:name=systemd:/system.slice/train.service\n", .unit = "train.service"},
	/* From a cgroup namespace: what is cut off begins with .. */
	{.text = "0::/../../kubepods-pod12345678_90ab_cdef_1234_567890abcdef.slice/cri-containerd-" ID
	 ".scope\n", .id = ID, .pod = UID},
	{.text = "0::/../pod" UID "/" ID "\n", .id = ID, .pod = UID},
	{.text = "0::/../../system.slice/train.service\n", .unit = "train.service"},
	{.text = "0::/../lxc.payload.box/init.scope\n", .container = "box"},
	{.text = "0::/../../job_3/step_0/user/task_0\n", .job = "3", .step = "0"},
	{.text = "0::/../step_1/user/task_0\n", .step = "1"},
	{.text = "0::/../../" SLUID "/step_0/user/task_0\n", .sluid = SLUID, .step = "0"},
	{.text = "0::/../../x/job_3/step_0\n"},
	{.text = "0::/../../job_x/step_0\n"},
	{.text = "0::/..\n"},
	/* clang-format on */
};

static void expect_text(const struct form *form, const char *what, const char *is,
			const char *expected)
{
	if (strcmp(is, expected ? expected : "") != 0)
		fail_msg("%s%s: \"%s\"", form->text, what, is);
}

static void all_forms(void **state)
{
	(void)state;
	for (const struct form *form = forms; form < forms + COUNT(forms); form++) {
		struct workload workload = parsed(form->text);
		struct cgroup_names names;

		cgroup__parse(form->text, &names);
		expect_text(form, "container id", names.container, form->id);
		expect_text(form, "pod", names.pod, form->pod);
		expect_text(form, "container", workload.container, form->container);
		expect_text(form, "unit", workload.unit, form->unit);
		expect_text(form, "job", workload.slurm_job, form->job);
		expect_text(form, "step", workload.slurm_step, form->step);
		expect_text(form, "SLUID", workload.slurm_sluid, form->sluid);
		expect_text(form, "PBS job", workload.pbs_job, form->pbs);
	}
}

/* Every byte of a text changed, and the text cut short anywhere. */
static void any_bytes_are_survived(void **state)
{
	static const char text[] = "1:a:/lxc/box/x.service\n2:b:/slurm/uid_7/job_12/step_batch\n"
				   "0::/n_slurmstepd.scope/" SLUID "/step_0/machine-x\\x2d.scope\n"
				   "4:c:/nomad/" UID ".train.scope\n5:d:/pbspro-4\\x2d7.slice\n";

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
		cmocka_unit_test(all_forms),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(the_daemon_knows_the_number),
		cmocka_unit_test(others_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
