// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks the properties of the simulated CUDA that a tracer relies on. Each case runs in a process
 * of its own, with the environment that it needs.
 */
#define _GNU_SOURCE
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#define HEAD ".version 7.0 // .entry no\n.target sm_75\n/* .entry neither() */\n"

const char two_kernels[] = HEAD ".visible .entry first(\n.param .u64 a)\n{ret;}\n"
	".entry second(){ret;}\n.visible .global .align 4 .b8 table[64];\n"
	".global .u32 number = 5;\n";

CUcontext open_driver(void)
{
	CUcontext context;

	OK(cuInit(0));
	OK(cuCtxCreate_v2(&context, 0, 0));
	return context;
}

void cuda_sim_write_truth(void);

unsigned long long truth(int nr_keys, const char *const *keys)
{
	const char *file = getenv("CUDA_SIM_TRUTH");
	static char text[1 << 20];
	const char *at = text;
	size_t size;
	FILE *in;

	cuda_sim_write_truth();
	in = fopen(file, "re");
	EXPECT(in);
	size = fread(text, 1, sizeof(text) - 1, in);
	text[size] = '\0';
	fclose(in);
	for (int i = 0; i < nr_keys; i++) {
		char quoted[64];

		snprintf(quoted, sizeof(quoted), "%s\"%s\":", i ? "" : "\n ", keys[i]);
		at = strstr(at, quoted);
		EXPECT(at);
		at += strlen(quoted);
	}
	return strtoull(at, NULL, 10);
}

static const struct test *const lists[] = {
	basic_tests, truth_tests, graph_tests, family_tests, v1_tests, clock_tests,
	clock_graph_tests,
};

/*
 * The libraries read the environment when they are loaded, so each case executes the program again.
 */
static bool run_apart(const struct test *test)
{
	char truth_file[64];
	int status;
	pid_t child;

	snprintf(truth_file, sizeof(truth_file), "/tmp/cuda-sim-selftest.%d.json", getpid());
	child = fork();
	if (!child) {
		setenv("CUDA_SIM_TRUTH", truth_file, 1);
		if (test->variable)
			setenv(test->variable, test->value, 1);
		execl("/proc/self/exe", "selftest", test->name, NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return false;
	unlink(truth_file);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
	unsigned int passed = 0, failed = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		for (const struct test *test = lists[i]; test->name; test++) {
			if (argc > 1 && !strcmp(argv[1], test->name)) {
				test->run();
				return 0;
			}
			if (argc > 1)
				continue;
			if (run_apart(test)) {
				passed++;
				continue;
			}
			fprintf(stderr, "FAILED: %s\n", test->name);
			failed++;
		}
	}
	if (argc > 1)
		return 2;
	printf("simulated CUDA: %u passed, %u failed\n", passed, failed);
	return failed != 0;
}
