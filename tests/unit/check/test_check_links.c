// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe check: its lines about BPF, links, programs, stacks and GPUs.
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "check/gpus.h"
#include "check/links.h"
#include "check/stacks.h"
#include "check_lines.h"
#include "no_valgrind.h"

static const struct kernel_types newest = {
	.loops = true, .finds_mappings = true, .one_process = true, .counts_mappings = true};

static struct link_facts good_links(void)
{
	return (struct link_facts){
		.features = {.uprobe_multi = true, .uprobe_session = true, .lazy_maps = true},
		.kind = LINKS_SESSION,
		.probing = {.made = true},
		.trial = {.calls = 64,
			  .hits = 129,
			  .plain = TRIAL_RETURNED,
			  .filtered = TRIAL_RETURNED},
		.iterator = {.made = true},
		.monitor = {.made = true},
		.tracer = {.made = true},
		.threads = {.made = true},
		.stacks = STACK_AUTO,
	};
}

static void expect_links(const struct link_facts *facts, const struct kernel_types *types,
			 const char *topic, enum check_state state, const char *text,
			 const char *advice)
{
	struct check_list list = {0};

	check_links__judge(facts, types, &list);
	expect_line(&list, topic, state, text, advice);
	check_list__clear(&list);
}

static void all_is_well(void **state)
{
	const struct link_facts facts = good_links();
	struct check_list list = {0};

	(void)state;
	check_links__judge(&facts, &newest, &list);
	assert_int_equal(check_list__in_state(&list, CHECK_OK), list.count);
	expect_line(&list, "links", CHECK_OK, "uprobe_multi", NULL);
	expect_fact(&list, "links", "", "kind", "session");
	expect_line(&list, "reach", CHECK_OK, "git add", NULL);
	expect_line(&list, "probes", CHECK_OK, "64 calls", NULL);
	expect_line(&list, "threads", CHECK_OK, "can follow", NULL);
	check_list__clear(&list);
}

static void judges_programs(void **state)
{
	struct link_facts facts = good_links();
	struct check_list list = {0};

	(void)state;
	facts.program = -EPERM;
	expect_links(&facts, &newest, "bpf", CHECK_MISSING, "Operation not permitted", "sudo");
	check_links__judge(&facts, &newest, &list);
	expect_line(&list, "links", CHECK_MISSING, "a BPF program must be loaded", "as root");
	assert_false(has_topic(&list, "session") || has_topic(&list, "probes") ||
		     has_topic(&list, "monitor"));
	expect_line(&list, "untried", CHECK_DEGRADED,
		    "session, probes, seccomp, iterator, monitor, tracer, threads, maps, copies",
		    "fix what");
	expect_fact(&list, "untried", "not tried", "topics",
		    "session,probes,seccomp,iterator,monitor,tracer,threads,maps,copies");
	check_list__clear(&list);
	facts.program = -EACCES;
	expect_links(&facts, &newest, "bpf", CHECK_MISSING, "Permission denied", "sudo");
	facts.program = -ENOSYS;
	expect_links(&facts, &newest, "bpf", CHECK_MISSING, "no bpf(2)", "CONFIG_BPF_SYSCALL");
	facts.program = -EINVAL;
	expect_links(&facts, &newest, "bpf", CHECK_MISSING, "Invalid argument", "-vv");
	facts.program = 0;
	facts.reading = -EINVAL;
	expect_links(&facts, &newest, "bpf", CHECK_MISSING, "may not read", "lockdown");
}

static void judges_kinds(void **state)
{
	struct link_facts facts = good_links();
	struct check_list list = {0};

	(void)state;
	facts.kind = LINKS_MULTI;
	facts.features.uprobe_session = false;
	expect_links(&facts, &newest, "links", CHECK_OK, "uprobe_multi", NULL);
	expect_links(&facts, &newest, "session", CHECK_DEGRADED, "no session probes: results",
		     "--check-launches");
	expect_links(&facts, &newest, "reach", CHECK_DEGRADED, "even with -p and COMMAND",
		     "Linux 6.13");
	facts.kind = LINKS_TRACEFS;
	facts.features.uprobe_multi = false;
	expect_links(&facts, &newest, "links", CHECK_DEGRADED,
		     "tracefs events: gpuprobe needs CAP_SYS_ADMIN", "Linux 6.6");
	assert_int_equal(link_facts__tracefs_use(&facts), TRACEFS_USED);
	facts.features = good_links().features;
	facts.forced = true;
	expect_links(&facts, &newest, "links", CHECK_DEGRADED, "tracefs events, by GPUPROBE_LINKS",
		     "unset");
	expect_links(&facts, &newest, "session", CHECK_DEGRADED,
		     "no session probes, by GPUPROBE_LINKS", "unset");
	facts.chosen = -EINVAL;
	strcpy(facts.choice_error.text, "GPUPROBE_LINKS is 'x'");
	assert_int_equal(link_facts__tracefs_use(&facts), TRACEFS_USE_UNKNOWN);
	check_links__judge(&facts, &newest, &list);
	expect_line(&list, "links", CHECK_MISSING, "GPUPROBE_LINKS is 'x'", "unset");
	assert_false(has_topic(&list, "session") || has_topic(&list, "probes"));
	check_list__clear(&list);
}

static void judges_the_trial(void **state)
{
	struct link_facts facts = good_links();
	struct check_list list = {0};

	(void)state;
	facts.trial.hits = 130;
	expect_links(&facts, &newest, "probes", CHECK_MISSING,
		     "64 calls of a function of gpuprobe's own, and one without a return, ran 130 "
		     "probes, not 129",
		     "report it");
	facts = good_links();
	facts.trial.filtered = TRIAL_KILLED;
	expect_links(&facts, &newest, "probes", CHECK_OK, "64 calls", NULL);
	expect_links(&facts, &newest, "seccomp", CHECK_MISSING,
		     "kill processes with a seccomp filter", "6.12.14");
	facts.trial.filtered = TRIAL_NOT_MADE;
	expect_links(&facts, &newest, "seccomp", CHECK_DEGRADED, "could not test", "seccomp");
	facts.trial.plain = TRIAL_KILLED;
	check_links__judge(&facts, &newest, &list);
	expect_line(&list, "probes", CHECK_MISSING, "a probe killed", "do not use");
	assert_false(has_topic(&list, "seccomp"));
	check_list__clear(&list);
	facts = good_links();
	facts.trial.plain = TRIAL_NOT_MADE;
	expect_links(&facts, &newest, "probes", CHECK_MISSING, "ran 129 probes", "report it");
	facts = good_links();
	facts.probing.ret = -EOPNOTSUPP;
	strcpy(facts.probing.error.text, "cannot attach a probe");
	expect_links(&facts, &newest, "probes", CHECK_MISSING, "cannot attach a probe",
		     "CONFIG_UPROBES");
	facts.probing.made = false;
	expect_links(&facts, &newest, "probes", CHECK_MISSING, "not tried", "tracefs");
}

static void judges_what_is_loaded(void **state)
{
	struct link_facts facts = good_links();
	struct kernel_types older = newest;

	(void)state;
	facts.monitor.ret = -EINVAL;
	strcpy(facts.monitor.error.text, "the kernel refused the BPF programs");
	expect_links(&facts, &newest, "monitor", CHECK_MISSING, "the kernel refused", "-vv");
	expect_links(&facts, &newest, "tracer", CHECK_OK, "gpuprobe trace", NULL);
	facts.tracer = facts.monitor;
	expect_links(&facts, &newest, "tracer", CHECK_MISSING, "the kernel refused", "-vv");
	facts.threads = facts.monitor;
	expect_links(&facts, &newest, "threads", CHECK_DEGRADED,
		     "between their calls: the kernel refused", "-vv");
	facts.iterator.ret = -ENOENT;
	strcpy(facts.iterator.error.text, "own file is not found");
	expect_links(&facts, &newest, "iterator", CHECK_MISSING, "own file is not found", "-vv");
	older.one_process = false;
	expect_links(&facts, &older, "iterator", CHECK_MISSING, "own file is not found",
		     "pid namespace");
	facts.monitor.ret = facts.iterator.ret = -EMFILE;
	expect_links(&facts, &newest, "monitor", CHECK_MISSING, "the kernel refused", "ulimit -n");
	expect_links(&facts, &newest, "iterator", CHECK_MISSING, "own file is not found",
		     "ulimit -n");
	facts.iterator.ret = 0;
	expect_links(&facts, &older, "iterator", CHECK_DEGRADED, "all processes", "Linux 6.1");
	older.counts_mappings = false;
	expect_links(&facts, &older, "copies", CHECK_DEGRADED, "looks up its mapping again",
		     "Linux 6.13");
	facts.features.lazy_maps = false;
	expect_links(&facts, &older, "maps", CHECK_DEGRADED, "all their memory at the start",
		     "--max-allocations");
	expect_links(&facts, NULL, "untried", CHECK_DEGRADED, "not tried: maps, copies",
		     "check again");
}

/*
 * On this kernel, whatever it is and whoever runs the test: the results of the trials must be
 * consistent.
 */
static void tries_for_real(void **state)
{
	struct kernel_types types;
	struct link_facts facts;

	(void)state;
	not_under_valgrind();
	if (kernel_types__read(&types))
		skip();
	link_facts__try("no such kind", false, &types, &facts);
	if (facts.program)
		skip();
	assert_int_equal(facts.chosen, -EINVAL);
	assert_false(facts.probing.made || facts.monitor.made);
	link_facts__try("perf", false, &types, &facts);
	assert_int_equal(facts.chosen, 0);
	assert_true(facts.forced);
	assert_false(facts.probing.made); /* tracefs must not be mounted */
	link_facts__try(NULL, false, &types, &facts);
	assert_int_equal(facts.chosen, 0);
	if (facts.kind == LINKS_TRACEFS)
		skip();
	assert_true(facts.probing.made && facts.iterator.made && facts.monitor.made &&
		    facts.tracer.made && facts.threads.made);
	assert_int_equal(facts.probing.ret, 0);
	assert_int_equal(facts.trial.plain, TRIAL_RETURNED);
	assert_int_equal(facts.trial.hits, 2 * facts.trial.calls + 1);
	assert_int_equal(facts.monitor.ret | facts.tracer.ret | facts.iterator.ret, 0);
}

/* Kernels with session links also support the other kind: one link for entries, one for returns. */
static void tries_links_of_each_side(void **state)
{
	struct kernel_types types;
	struct link_facts facts;

	(void)state;
	not_under_valgrind();
	if (kernel_types__read(&types))
		skip();
	link_facts__try("multi", false, &types, &facts);
	if (facts.program || facts.chosen)
		skip();
	assert_int_equal(facts.kind, LINKS_MULTI);
	assert_int_equal(facts.probing.ret, 0);
	assert_int_equal(facts.trial.plain, TRIAL_RETURNED);
	assert_int_equal(facts.trial.hits, 2 * facts.trial.calls + 1);
}

/* --- stacks --- */

static void judges_stacks(void **state)
{
	struct stack_facts facts = {.asks_servers = false};
	struct link_facts links = good_links();
	struct check_list list = {0};

	(void)state;
	check_stacks__judge(&facts, &links, &list);
	expect_line(&list, "stacks", CHECK_OK, "--stack fp, dwarf, auto", NULL);
	expect_line(&list, "python", CHECK_OK, "CPython 3.8 to 3.14", NULL);
	expect_line(&list, "debuginfod", CHECK_OK, "no server is asked", NULL);
	check_list__clear(&list);
	links.stacks = STACK_OFF;
	facts.asks_servers = true;
	check_stacks__judge(&facts, &links, &list);
	expect_line(&list, "stacks", CHECK_DEGRADED, "without stacks", "-vv");
	expect_line(&list, "debuginfod", CHECK_OK, "asks the servers", NULL);
	assert_false(has_topic(&list, "python"));
	check_list__clear(&list);
	links.monitor.ret = -EINVAL;
	facts.library = -ENOENT;
	strcpy(facts.library_error.text, "no libdebuginfod.so.1");
	check_stacks__judge(&facts, &links, &list);
	expect_line(&list, "stacks", CHECK_MISSING, "not tried", "fix what");
	expect_line(&list, "debuginfod", CHECK_DEGRADED, "no libdebuginfod.so.1", "libdebuginfod1");
	check_list__clear(&list);
}

static void reads_debuginfod(void **state)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);
	struct stack_facts facts;

	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	stack_facts__read(&facts);
	assert_false(facts.asks_servers);
	setenv("DEBUGINFOD_URLS", "", 1);
	stack_facts__read(&facts);
	assert_false(facts.asks_servers);
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9", 1);
	stack_facts__read(&facts);
	assert_true(facts.asks_servers);
	assert_int_equal(facts.library, library ? 0 : -ENOENT);
	unsetenv("DEBUGINFOD_URLS");
	if (library)
		dlclose(library);
}

/* --- GPUs --- */

static void parses_the_module(void **state)
{
	static const char *const texts[][2] = {
		{"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release "
		 "Build  (dvs-builder@U22)\n"
		 "GCC version:  gcc version 12.3.0\n",
		 "580.65.06"},
		{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12\n",
		 "535.183.01"},
		{"NVRM version: x86_64 550.54\n", "550.54"},
		{"NVRM version: NVIDIA UNIX x86_64 Kernel Module\nGCC version:  gcc version "
		 "12.3.0\n",
		 ""},
		{"64 1.2x 3\n", ""},
		{"", ""},
	};
	char version[NVML_VERSION_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		gpu_facts__parse_module(texts[i][0], version);
		assert_string_equal(version, texts[i][1]);
	}
}

static void reads_the_module(void **state)
{
	struct gpu_facts facts = {.failure = 0};

	put_file(*state, "/proc/driver/nvidia/version", "NVRM version: x86_64 550.54\n");
	gpu_facts__read_module(*state, &facts);
	assert_string_equal(facts.module, "550.54");
	gpu_facts__read_module("/nowhere", &facts);
	assert_string_equal(facts.module, "");
}

static void expect_gpus(const struct gpu_facts *facts, const char *library, const char *topic,
			enum check_state state, const char *text, const char *advice)
{
	struct check_list list = {0};

	check_gpus__judge(facts, library, &list);
	expect_line(&list, topic, state, text, advice);
	check_list__clear(&list);
}

static void judges_the_driver(void **state)
{
	struct gpu_facts facts = {.module = "580.65.06"};

	(void)state;
	expect_gpus(&facts, "580.65.06", "driver", CHECK_OK, "580.65.06", NULL);
	expect_gpus(&facts, NULL, "driver", CHECK_OK, "580.65.06", NULL);
	expect_gpus(&facts, "575.1", "driver", CHECK_DEGRADED, "580.65.06, libcuda 575.1", "boot");
	facts.module[0] = '\0';
	expect_gpus(&facts, "575.1", "driver", CHECK_DEGRADED, "not loaded", "modprobe nvidia");
}

static void judges_nvml(void **state)
{
	struct gpu gpus[] = {
		{.index = 0,
		 .mig = GPU_NONE,
		 .uuid = "GPU-1",
		 .name = "NVIDIA H200",
		 .total_bytes = 141ull << 30},
		{.index = 0, .mig = 2, .uuid = "MIG-1", .total_bytes = GPU_UNKNOWN_BYTES},
		{.index = 1, .mig = GPU_NONE, .total_bytes = GPU_UNKNOWN_BYTES},
	};
	struct gpu_snapshot snapshot = {
		.driver = "580.65.06", .gpus = gpus, .gpu_count = 3, .uses_known = true};
	struct gpu_facts facts = {.snapshot = &snapshot};
	struct check_list list = {0};

	(void)state;
	check_gpus__judge(&facts, NULL, &list);
	expect_line(&list, "nvml", CHECK_OK, "driver 580.65.06, 3 GPUs", NULL);
	expect_fact(&list, "nvml", "", "version", "580.65.06");
	expect_line(&list, "gpu", CHECK_OK, "GPU 0: NVIDIA H200, GPU-1, 141.0 GiB of memory", NULL);
	expect_fact(&list, "gpu", "GPU-1", "uuid", "GPU-1");
	expect_line(&list, "gpu", CHECK_OK, "GPU 0, instance 2: name unknown, MIG-1", NULL);
	expect_line(&list, "gpu", CHECK_DEGRADED, "GPU 1: NVML does not report", "nvidia-smi");
	check_list__clear(&list);

	snapshot.uses_known = false;
	expect_gpus(&facts, NULL, "nvml", CHECK_DEGRADED, "does not report GPU memory by process",
		    "--pid=host");
	snapshot.gpu_count = 0;
	expect_gpus(&facts, NULL, "nvml", CHECK_DEGRADED, "finds no GPU", "container");
	facts.snapshot = NULL;
	expect_gpus(&facts, NULL, "nvml", CHECK_DEGRADED, "has not answered in 5 s", "nvidia-smi");
	facts.failure = -ENODEV;
	expect_gpus(&facts, NULL, "nvml", CHECK_DEGRADED, "no working driver", "nvidia-smi");
	facts.failure = -ENOENT;
	expect_gpus(&facts, NULL, "nvml", CHECK_DEGRADED, "finds no libnvidia-ml.so.1", "utility");
	facts.failure = -ENOMEM;
	expect_gpus(&facts, NULL, "nvml", CHECK_DEGRADED, "cannot use NVML", "memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_well),
		cmocka_unit_test(judges_programs),
		cmocka_unit_test(judges_kinds),
		cmocka_unit_test(judges_the_trial),
		cmocka_unit_test(judges_what_is_loaded),
		cmocka_unit_test(tries_for_real),
		cmocka_unit_test(tries_links_of_each_side),
		cmocka_unit_test(judges_stacks),
		cmocka_unit_test(reads_debuginfod),
		cmocka_unit_test(parses_the_module),
		cmocka_unit_test_setup_teardown(reads_the_module, make_root, remove_root),
		cmocka_unit_test(judges_the_driver),
		cmocka_unit_test(judges_nvml),
	};

	return cmocka_run_group_tests_name("check_links", tests, NULL, NULL);
}
