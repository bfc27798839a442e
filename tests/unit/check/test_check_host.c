// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe check: its lines about the kernel and about what the machine permits gpuprobe.
#include <errno.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "check/host.h"
#include "check/kernel.h"
#include "target/text_file.h"
#include "check_lines.h"

#define BIT(n) (UINT64_C(1) << (n))
#define ALL_CAPABILITIES \
	(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | \
	 BIT(CAP_CHECKPOINT_RESTORE))

/* --- texts of /proc and /sys --- */

static void reads_short_texts(void **state)
{
	const char *root = *state;
	char text[8];
	long number;

	put_file(root, "/sys/one", "12\n");
	put_file(root, "/sys/word", "12x\n");
	put_file(root, "/sys/long", "123456789\n");
	put_file(root, "/sys/empty", "");
	put_file(root, "/sys/huge", "99999999999999999999\n");
	assert_int_equal(text_file__read(root, "/sys/one", text, sizeof(text)), 0);
	assert_string_equal(text, "12");
	assert_int_equal(text_file__read(root, "/sys/long", text, sizeof(text)), 0);
	assert_string_equal(text, "1234567");
	assert_int_equal(text_file__read(root, "/sys/none", text, sizeof(text)), -ENOENT);
	assert_string_equal(text, "");
	assert_int_equal(text_file__read(root, "/sys", text, sizeof(text)), -EISDIR);
	assert_int_equal(text_file__number(root, "/sys/one", &number), 0);
	assert_int_equal(number, 12);
	assert_int_equal(text_file__number(root, "/sys/word", &number), -EBADMSG);
	assert_int_equal(text_file__number(root, "/sys/empty", &number), -EBADMSG);
	assert_int_equal(text_file__number(root, "/sys/huge", &number), -EBADMSG);
	assert_int_equal(text_file__access(root, "/sys/one", R_OK), 0);
	assert_int_equal(text_file__access(root, "/sys/none", R_OK), -ENOENT);
	assert_true(text_file__namespace("", "/proc/self/ns/pid") > 4000000000);
	assert_int_equal(text_file__namespace(root, "/proc/self/ns/pid"), 0);
}

/* --- the kernel --- */

static struct kernel_facts good_kernel(void)
{
	return (struct kernel_facts){
		.release = "6.18.2-amd64",
		.machine = "x86_64",
		.types = {.loops = true,
			  .finds_mappings = true,
			  .one_process = true,
			  .counts_mappings = true},
		.lockdown = "none",
		.jit = 1,
	};
}

static void expect_kernel(const struct kernel_facts *facts, const char *topic,
			  enum check_state state, const char *text, const char *advice)
{
	struct check_list list = {0};

	check_kernel__judge(facts, &list);
	expect_line(&list, topic, state, text, advice);
	check_list__clear(&list);
}

static void judges_versions(void **state)
{
	struct kernel_facts facts = good_kernel();
	struct check_list list = {0};

	(void)state;
	check_kernel__judge(&facts, &list);
	assert_int_equal(check_list__in_state(&list, CHECK_OK), list.count);
	expect_fact(&list, "kernel", "Linux", "release", "6.18.2-amd64");
	check_list__clear(&list);

	strcpy(facts.release, "5.15.0-1");
	expect_kernel(&facts, "kernel", CHECK_OK, "Linux 5.15.0-1",
		      NULL); /* backported by a distribution */
	facts.types.loops = false;
	expect_kernel(&facts, "kernel", CHECK_MISSING, "Linux 5.15.0-1 is too old", "5.17");
	expect_kernel(&facts, "helpers", CHECK_MISSING, "no bpf_loop: it refuses", "5.17");
	strcpy(facts.release, "4.19.0");
	expect_kernel(&facts, "kernel", CHECK_MISSING, "too old", "5.17");
	strcpy(facts.release, "strange");
	expect_kernel(&facts, "kernel", CHECK_OK, "Linux strange", NULL);
	facts = good_kernel();
	facts.types.finds_mappings = false;
	expect_kernel(&facts, "helpers", CHECK_MISSING, "no bpf_find_vma: it refuses", "5.17");
	facts = good_kernel();
	strcpy(facts.machine, "aarch64");
	expect_kernel(&facts, "kernel", CHECK_MISSING, "on aarch64", "x86-64");
}

static void judges_types(void **state)
{
	struct kernel_facts facts = good_kernel();
	struct check_list list = {0};

	(void)state;
	facts.btf = facts.types_read = -ENOENT;
	memset(&facts.types, 0, sizeof(facts.types));
	check_kernel__judge(&facts, &list);
	expect_line(&list, "btf", CHECK_MISSING, "there is no /sys/kernel/btf/vmlinux",
		    "CONFIG_DEBUG_INFO_BTF");
	assert_false(has_topic(&list, "helpers")); /* not reported twice */
	check_list__clear(&list);
	facts.btf = -EACCES;
	expect_kernel(&facts, "btf", CHECK_MISSING,
		      "cannot read /sys/kernel/btf/vmlinux: Permission denied", "read that file");
	facts.btf = 0;
	facts.types_read = -EINVAL;
	expect_kernel(&facts, "btf", CHECK_MISSING,
		      "cannot read /sys/kernel/btf/vmlinux: Invalid argument", "read that file");
}

static void judges_lockdown_and_jit(void **state)
{
	struct kernel_facts facts = good_kernel();
	struct check_list list = {0};

	(void)state;
	strcpy(facts.lockdown, "integrity");
	expect_kernel(&facts, "lockdown", CHECK_OK, "integrity", NULL);
	strcpy(facts.lockdown, "confidentiality");
	expect_kernel(&facts, "lockdown", CHECK_MISSING, "may not read the kernel's memory",
		      "lockdown=integrity");
	facts.lockdown[0] = '\0';
	expect_kernel(&facts, "lockdown", CHECK_OK, "unknown: the kernel", NULL);
	facts.jit = 0;
	expect_kernel(&facts, "jit", CHECK_DEGRADED, "interpreted", "bpf_jit_enable=1");
	facts.jit = 2;
	expect_kernel(&facts, "jit", CHECK_OK, "compiled", NULL);
	facts.jit = -1;
	check_kernel__judge(&facts, &list);
	assert_false(has_topic(&list, "jit"));
	check_list__clear(&list);
}

static void parses_lockdown(void **state)
{
	char word[32];

	(void)state;
	kernel_facts__parse_lockdown("none [integrity] confidentiality", word);
	assert_string_equal(word, "integrity");
	kernel_facts__parse_lockdown("[none] integrity confidentiality\n", word);
	assert_string_equal(word, "none");
	kernel_facts__parse_lockdown("none [", word);
	assert_string_equal(word, "");
	kernel_facts__parse_lockdown("]none[", word);
	assert_string_equal(word, "");
	kernel_facts__parse_lockdown("[0123456789012345678901234567890123456789]", word);
	assert_string_equal(word, "");
	kernel_facts__parse_lockdown("", word);
	assert_string_equal(word, "");
}

static void reads_the_kernel(void **state)
{
	struct kernel_facts facts;

	put_file(*state, "/sys/kernel/btf/vmlinux", "");
	put_file(*state, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	put_file(*state, "/proc/sys/net/core/bpf_jit_enable", "0\n");
	kernel_facts__read(*state, &facts);
	assert_int_equal(facts.btf, 0);
	assert_string_equal(facts.lockdown, "integrity");
	assert_int_equal(facts.jit, 0);
	kernel_facts__read("/nowhere", &facts);
	assert_int_equal(facts.btf, -ENOENT);
	assert_string_equal(facts.lockdown, "");
	assert_int_equal(facts.jit, -1);
	assert_string_equal(facts.machine, "x86_64");
}

/* mm_lock_seq in an unnamed member, as since Linux 6.13, or a plain number, as before. */
static struct btf *make_types(bool newer)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "unsigned int", 4, 0), seq, alias, inner;

	btf__add_enum(btf, "bpf_func_id", 4);
	btf__add_enum_value(btf, "BPF_FUNC_unspec", 0);
	if (newer) {
		btf__add_enum_value(btf, "BPF_FUNC_find_vma", 180);
		btf__add_enum_value(btf, "BPF_FUNC_loop", 181);
	}
	seq = btf__add_struct(btf, "seqcount", 4);
	btf__add_field(btf, "sequence", number, 0, 0);
	alias = btf__add_typedef(btf, "seqcount_t", seq);
	inner = btf__add_struct(btf, "", 8);
	btf__add_field(btf, "map_count", number, 0, 0);
	btf__add_field(btf, "mm_lock_seq", newer ? alias : number, 32, 0);
	btf__add_struct(btf, "mm_struct", 8);
	btf__add_field(btf, "", inner, 0, 0);
	btf__add_union(btf, "bpf_iter_link_info", 4);
	btf__add_field(btf, "map", number, 0, 0);
	if (newer)
		btf__add_field(btf, "task", number, 0, 0);
	return btf;
}

static void finds_types(void **state)
{
	struct btf *newer = make_types(true), *older = make_types(false), *none = btf__new_empty();
	const struct kernel_types nothing = {false, false, false, false};
	struct kernel_types types;

	(void)state;
	kernel_types__of(newer, &types);
	assert_true(types.loops && types.finds_mappings && types.one_process &&
		    types.counts_mappings);
	kernel_types__of(older, &types);
	assert_memory_equal(&types, &nothing, sizeof(types));
	kernel_types__of(none, &types);
	assert_memory_equal(&types, &nothing, sizeof(types));
	btf__free(newer);
	btf__free(older);
	btf__free(none);
}

/* --- the machine --- */

static struct host_facts good_host(void)
{
	return (struct host_facts){
		.effective = ALL_CAPABILITIES,
		.memlock = UNLIMITED,
		.has_paranoid = true,
		.paranoid = 2,
		.ptrace_scope = -1,
	};
}

static void expect_host(const struct host_facts *facts, enum tracefs_use use, const char *topic,
			enum check_state state, const char *text, const char *advice)
{
	struct check_list list = {0};

	check_host__judge(facts, use, &list);
	expect_line(&list, topic, state, text, advice);
	check_list__clear(&list);
}

static void judges_capabilities(void **state)
{
	struct host_facts facts = good_host();
	struct check_list list = {0};

	(void)state;
	check_host__judge(&facts, TRACEFS_UNUSED, &list);
	assert_int_equal(check_list__in_state(&list, CHECK_OK), list.count);
	check_list__clear(&list);

	expect_host(&facts, TRACEFS_UNUSED, "capabilities", CHECK_OK, "CAP_CHECKPOINT_RESTORE",
		    NULL);
	expect_host(&facts, TRACEFS_USED, "capabilities", CHECK_MISSING, "no CAP_SYS_ADMIN",
		    "--cap-add SYS_ADMIN");
	facts.effective = BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH);
	/* CAP_SYS_ADMIN includes three others. */
	expect_host(&facts, TRACEFS_USED, "capabilities", CHECK_OK, "CAP_SYS_ADMIN", NULL);
	facts = good_host();
	facts.effective &= ~BIT(CAP_CHECKPOINT_RESTORE);
	expect_host(&facts, TRACEFS_UNUSED, "capabilities", CHECK_DEGRADED,
		    "no CAP_CHECKPOINT_RESTORE", "--cap-add CHECKPOINT_RESTORE");
	facts.effective = 0;
	expect_host(&facts, TRACEFS_UNUSED, "capabilities", CHECK_MISSING, "no CAP_BPF", "sudo");
	expect_host(&facts, TRACEFS_UNUSED, "capabilities", CHECK_MISSING, "no CAP_PERFMON",
		    "sudo");
	expect_host(&facts, TRACEFS_UNUSED, "capabilities", CHECK_DEGRADED, "no CAP_SYS_PTRACE",
		    "sudo");
	facts.capabilities = -EPERM;
	expect_host(&facts, TRACEFS_UNUSED, "capabilities", CHECK_MISSING, "cannot read them",
		    "capget");
}

static void judges_namespaces(void **state)
{
	struct host_facts facts = good_host();
	struct check_list list = {0};

	(void)state;
	expect_host(&facts, TRACEFS_UNUSED, "user-namespace", CHECK_OK, "own", NULL);
	expect_host(&facts, TRACEFS_UNUSED, "pid-namespace", CHECK_OK, "own", NULL);
	facts.user_namespace = true;
	facts.pid_namespace = true;
	expect_host(&facts, TRACEFS_UNUSED, "user-namespace", CHECK_MISSING, "do not allow BPF",
		    "rootless");
	expect_host(&facts, TRACEFS_UNUSED, "pid-namespace", CHECK_DEGRADED, "processes outside",
		    "hostPID: true");
	facts.no_proc = true;
	expect_host(&facts, TRACEFS_UNUSED, "pid-namespace", CHECK_MISSING, "there is no /proc",
		    "mount");
	check_host__judge(&facts, TRACEFS_UNUSED, &list);
	assert_false(has_topic(&list, "user-namespace") || has_topic(&list, "ptrace_scope"));
	check_list__clear(&list);
	assert_true(host_facts__is_initial_map("         0          0 4294967295"));
	assert_false(host_facts__is_initial_map("         0       1000          1"));
	assert_false(host_facts__is_initial_map("         0          0      65536"));
	assert_false(host_facts__is_initial_map("         1          0 4294967295"));
	assert_false(host_facts__is_initial_map(""));
}

static void judges_tracefs(void **state)
{
	struct host_facts facts = good_host();

	(void)state;
	facts.tracefs = TRACEFS_ABSENT;
	expect_host(&facts, TRACEFS_UNUSED, "tracefs", CHECK_OK, "not needed", NULL);
	expect_host(&facts, TRACEFS_USED, "tracefs", CHECK_MISSING, "there is no",
		    "mount -t tracefs");
	facts.tracefs = TRACEFS_DENIED;
	expect_host(&facts, TRACEFS_USED, "tracefs", CHECK_MISSING, "cannot write", "root");
	facts.tracefs = TRACEFS_WRITABLE;
	expect_host(&facts, TRACEFS_USED, "tracefs", CHECK_OK, "accepts probes", NULL);
	expect_host(&facts, TRACEFS_USE_UNKNOWN, "tracefs", CHECK_OK,
		    "unknown whether it is needed", NULL);
	expect_host(&facts, TRACEFS_USE_UNKNOWN, "perf_event_paranoid", CHECK_OK,
		    "2, which does not restrict processes", NULL);
}

static void judges_limits(void **state)
{
	struct host_facts facts = good_host();

	(void)state;
	facts.memlock = 8 << 20;
	expect_host(&facts, TRACEFS_UNUSED, "memlock", CHECK_OK,
		    "8.0 MiB, which does not limit BPF", NULL);
	facts.memlock_counts = true;
	expect_host(&facts, TRACEFS_UNUSED, "memlock", CHECK_DEGRADED,
		    "limits memory for BPF to 8.0 MiB", "ulimit -l unlimited");
	facts.memlock = UNLIMITED;
	expect_host(&facts, TRACEFS_UNUSED, "memlock", CHECK_OK, "unlimited", NULL);

	expect_host(&facts, TRACEFS_USED, "perf_event_paranoid", CHECK_OK,
		    "2, which does not restrict processes", NULL);
	expect_host(&facts, TRACEFS_UNUSED, "perf_event_paranoid", CHECK_OK,
		    "2, which does not restrict these links", NULL);
	facts.effective = 0;
	expect_host(&facts, TRACEFS_USED, "perf_event_paranoid", CHECK_MISSING, "2: tracefs events",
		    "CAP_PERFMON");
	facts.paranoid = -1;
	expect_host(&facts, TRACEFS_USED, "perf_event_paranoid", CHECK_OK, "-1", NULL);
	facts.has_paranoid = false;
	expect_host(&facts, TRACEFS_USED, "perf_event_paranoid", CHECK_OK, "unknown", NULL);
}

static void knows_which_kernels_count_memlock(void **state)
{
	static const char *const counting[] = {"4.19.0", "4.99.1", "5.4.0-42-generic", "5.10.223"};
	static const char *const others[] = {
		"5.11.0", "5.17.0", "6.1.0-13-amd64", "6.18.2", "strange", "5", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(counting) / sizeof(*counting); i++)
		assert_true(host_facts__counts_memlock(counting[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(host_facts__counts_memlock(others[i]));
}

static void judges_yama(void **state)
{
	struct host_facts facts = good_host();

	(void)state;
	expect_host(&facts, TRACEFS_UNUSED, "ptrace_scope", CHECK_OK, "no Yama", NULL);
	facts.ptrace_scope = 2;
	expect_host(&facts, TRACEFS_UNUSED, "ptrace_scope", CHECK_OK, "2, which does not restrict",
		    NULL);
	facts.ptrace_scope = 3;
	expect_host(&facts, TRACEFS_UNUSED, "ptrace_scope", CHECK_DEGRADED, "3: no program",
		    "ptrace_scope=3");
	facts.effective = 0;
	facts.ptrace_scope = 0;
	expect_host(&facts, TRACEFS_UNUSED, "ptrace_scope", CHECK_OK, "0, which does not restrict",
		    NULL);
	facts.ptrace_scope = 1;
	expect_host(&facts, TRACEFS_UNUSED, "ptrace_scope", CHECK_DEGRADED, "own descendants only",
		    "CAP_SYS_PTRACE");
	facts.ptrace_scope = 2;
	expect_host(&facts, TRACEFS_UNUSED, "ptrace_scope", CHECK_DEGRADED, "no process",
		    "CAP_SYS_PTRACE");
}

static void reads_memlock(void **state)
{
	struct rlimit before, limit;
	struct host_facts facts;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	limit = (struct rlimit){.rlim_cur = before.rlim_max < 65536 ? before.rlim_max : 65536,
				.rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	host_facts__read("", &facts);
	assert_int_equal(facts.memlock, limit.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
	host_facts__read("", &facts);
	assert_true(before.rlim_cur == RLIM_INFINITY ? facts.memlock == UNLIMITED :
						       facts.memlock == before.rlim_cur);
}

static void reads_the_machine(void **state)
{
	struct host_facts facts;
	char link[128];

	put_file(*state, "/proc/self/uid_map", "         0       1000          1\n");
	put_file(*state, "/proc/sys/kernel/perf_event_paranoid", "3\n");
	put_file(*state, "/proc/sys/kernel/yama/ptrace_scope", "1\n");
	put_file(*state, "/sys/kernel/tracing/uprobe_events", "");
	put_file(*state, "/proc/self/ns/other", "");
	snprintf(link, sizeof(link), "%s/proc/self/ns/pid", (char *)*state);
	assert_int_equal(symlink("pid:[4026532999]", link), 0);
	host_facts__read(*state, &facts);
	assert_int_equal(facts.capabilities, 0);
	assert_true(facts.user_namespace && facts.pid_namespace);
	assert_true(facts.has_paranoid);
	assert_int_equal(facts.paranoid, 3);
	assert_int_equal(facts.ptrace_scope, 1);
	assert_int_equal(facts.tracefs, TRACEFS_WRITABLE);
	assert_false(facts.memlock_counts);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("pid:[4026531836]", link), 0);
	host_facts__read(*state, &facts);
	assert_false(facts.pid_namespace);
	host_facts__read("/nowhere", &facts);
	assert_false(facts.user_namespace || facts.pid_namespace || facts.has_paranoid);
	assert_int_equal(facts.ptrace_scope, -1);
	assert_int_equal(facts.tracefs, TRACEFS_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_short_texts, make_root, remove_root),
		cmocka_unit_test(judges_versions),
		cmocka_unit_test(judges_types),
		cmocka_unit_test(judges_lockdown_and_jit),
		cmocka_unit_test(parses_lockdown),
		cmocka_unit_test_setup_teardown(reads_the_kernel, make_root, remove_root),
		cmocka_unit_test(finds_types),
		cmocka_unit_test(judges_capabilities),
		cmocka_unit_test(judges_namespaces),
		cmocka_unit_test(judges_tracefs),
		cmocka_unit_test(judges_limits),
		cmocka_unit_test(knows_which_kernels_count_memlock),
		cmocka_unit_test(judges_yama),
		cmocka_unit_test(reads_memlock),
		cmocka_unit_test_setup_teardown(reads_the_machine, make_root, remove_root),
	};

	return cmocka_run_group_tests_name("check_system", tests, NULL, NULL);
}
