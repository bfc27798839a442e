// SPDX-License-Identifier: BSD-2-Clause
// The system call filter and the capabilities that are kept: each test in its own process.
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "privilege/capabilities.h"
#include "privilege/sandbox.h"
#include "privilege/sigio_kill.h"

/* cmocka's asserts only work in the original process: here a failed check ends the child. */
#define HOLDS(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: " #condition "\n", __LINE__); \
			_exit(1); \
		} \
	} while (0)

#define FAILS(call, error) HOLDS((errno = 0, (call) == -1 && errno == (error)))

static void in_child(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* With GPUPROBE_NO_FILTER there is no filter. */
static void enter(bool tracefs, bool network)
{
	const struct sandbox_options options = {.tracefs = tracefs, .network = network};
	struct error err = {""};

	HOLDS(!sandbox__enter(&options, &err));
	if (prctl(PR_GET_SECCOMP) != 2)
		_exit(0);
}

static void try_other_programs(void)
{
	char *const argv[] = {"true", NULL};
	pid_t parent = getpid(), child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The parent may have ended before that. */
		if (getppid() == parent)
			pause();
		_exit(0);
	}
	HOLDS(child > 0);
	enter(true, true);
	FAILS(execv("/bin/true", argv), EPERM);
	FAILS(syscall(SYS_execveat, AT_FDCWD, "/bin/true", argv, NULL, 0), EPERM);
	FAILS(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL), ENOSYS);
	FAILS(syscall(SYS_clone, CLONE_VM | SIGCHLD, NULL, NULL, NULL, NULL), ENOSYS);
	FAILS(syscall(SYS_fork), EPERM);
	FAILS(syscall(SYS_vfork), EPERM);
	FAILS(syscall(SYS_clone3, NULL, 0), ENOSYS);
	FAILS(ptrace(PTRACE_ATTACH, child, NULL, NULL), EPERM);
	HOLDS(system("true") != 0);
	kill(child, SIGKILL);
}

/* A child forked by target/memory_reader.h is still gpuprobe, behind the same filter. */
static void try_copy(void)
{
	char *const argv[] = {"true", NULL};
	int status;
	pid_t child;

	enter(false, false);
	child = fork();
	if (!child) {
		FAILS(execv("/bin/true", argv), EPERM);
		_exit(0);
	}
	HOLDS(child > 0 && waitpid(child, &status, 0) == child && !status);
}

static void has_copies_of_itself(void **state)
{
	(void)state;
	in_child(try_copy);
}

static void runs_no_other_program(void **state)
{
	(void)state;
	in_child(try_other_programs);
}

static void try_changes(void)
{
	enter(true, true);
	FAILS(mount("none", "/tmp", "tmpfs", 0, NULL), EPERM);
	FAILS(setuid(0), EPERM);
	FAILS(mknod("/tmp/gpuprobe-node", S_IFCHR, 0), EPERM);
	FAILS(syscall(SYS_process_vm_writev, getpid(), NULL, 0, NULL, 0, 0), EPERM);
	FAILS(syscall(SYS_init_module, NULL, 0, ""), EPERM);
	FAILS(syscall(SYS_quotactl, 0, NULL, 0, NULL), ENOSYS);
	FAILS(listen(-1, 1), EPERM);
}

static void changes_nothing_of_the_machine(void **state)
{
	(void)state;
	in_child(try_changes);
}

static void *wait_for_ever(void *arg)
{
	pause();
	return arg;
}

static void __attribute__((noreturn)) call_as_x32(void)
{
	pthread_t other;

	alarm(60); /* it continues there without its first thread */
	enter(false, false);
	HOLDS(!pthread_create(&other, NULL, wait_for_ever, NULL));
	syscall(0x40000000 | SYS_getpid); /* __X32_SYSCALL_BIT of asm/unistd.h */
	_exit(1);
}

/*
 * No real program does that. But after a failed allocation libseccomp may load a filter that treats
 * every call as such.
 */
static void other_architectures_end_all_threads(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		call_as_x32();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		skip(); /* this build has no filter */
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

static void try_without_network(void)
{
	enter(false, false);
	HOLDS(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	FAILS(socket(AF_INET, SOCK_STREAM, 0), ENOSYS);
	FAILS(socket(AF_INET6, SOCK_DGRAM, 0), ENOSYS);
	FAILS(socket(AF_PACKET, SOCK_RAW, 0), ENOSYS);
	FAILS(syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0), ENOSYS);
	FAILS(mkdir("/tmp/gpuprobe-directory", 0777), ENOSYS);
}

static void try_with_network(void)
{
	enter(true, true);
	HOLDS(socket(AF_INET, SOCK_STREAM, 0) >= 0);
	FAILS(socket(AF_PACKET, SOCK_RAW, 0), ENOSYS);
	FAILS(syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0), EFAULT);
}

static void lets_through_what_was_asked_for(void **state)
{
	(void)state;
	in_child(try_without_network);
	in_child(try_with_network);
}

static int go, done;

static void *wait_and_try(void *arg)
{
	char byte;

	HOLDS(read(go, &byte, 1) == 1);
	*(bool *)arg = prctl(PR_GET_SECCOMP) == 2 && execl("/bin/true", "true", NULL) == -1 &&
		       errno == EPERM;
	return NULL;
}

/* A thread from before has the filter as well, and new ones can be started. */
static void try_threads(void)
{
	pthread_t before, after;
	bool first = false, second = false;
	int ends[2];

	HOLDS(!pipe(ends));
	go = ends[0];
	done = ends[1];
	HOLDS(!pthread_create(&before, NULL, wait_and_try, &first));
	HOLDS(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	enter(false, false);
	HOLDS(!pthread_create(&after, NULL, wait_and_try, &second));
	HOLDS(write(done, "xx", 2) == 2);
	HOLDS(!pthread_join(before, NULL) && !pthread_join(after, NULL));
	HOLDS(first && second);
}

static void holds_for_all_threads(void **state)
{
	(void)state;
	in_child(try_threads);
}

/* --- capabilities --- */

#define BIT(capability) (UINT64_C(1) << (capability))
#define FIVE \
	(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | \
	 BIT(CAP_CHECKPOINT_RESTORE))

static void check_kept(bool perf, uint64_t expected)
{
	struct error err = {""};
	struct capabilities before, now;

	HOLDS(!capabilities__read(&before, &err));
	HOLDS(!capabilities__keep_needed(perf, &err));
	HOLDS(!capabilities__read(&now, &err));
	HOLDS(now.permitted == (expected & before.permitted));
	HOLDS(now.effective == now.permitted);
	HOLDS(now.inheritable == 0 && now.ambient == 0);
	if (before.effective & BIT(CAP_SETPCAP))
		HOLDS(now.bounding == (expected & before.bounding));
	HOLDS(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	/* For good: nothing can be regained. */
	HOLDS(capabilities__keep_needed(true, &err) == 0);
	HOLDS(!capabilities__read(&before, &err) && before.permitted == now.permitted);
}

static void keep_five(void)
{
	check_kept(false, FIVE);
}

static void keep_six(void)
{
	check_kept(true, FIVE | BIT(CAP_SYS_ADMIN));
}

static void keeps_what_it_needs(void **state)
{
	(void)state;
	in_child(keep_five);
	in_child(keep_six);
}

static void names_what_is_lacking(void **state)
{
	char text[256], tiny[8];

	(void)state;
	assert_string_equal(capabilities__lacking(FIVE, false, text, sizeof(text)), "");
	assert_string_equal(capabilities__lacking(FIVE, true, text, sizeof(text)), "CAP_SYS_ADMIN");
	assert_string_equal(
		capabilities__lacking(FIVE & ~BIT(CAP_PERFMON), false, text, sizeof(text)),
		"CAP_PERFMON");
	/* The kernel accepts CAP_SYS_ADMIN in place of some, not all. */
	assert_string_equal(capabilities__lacking(BIT(CAP_SYS_ADMIN), true, text, sizeof(text)),
			    "CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH");
	assert_string_equal(capabilities__lacking(0, true, tiny, sizeof(tiny)), "CAP_BPF");
}

/* --- signals --- */

/*
 * Another user's process in another session, which neither CAP_KILL nor its user nor SIGCONT's
 * exception reaches.
 */
static void try_signals(void)
{
	struct sigio_kill sigio_kill = SIGNALLER_NONE;
	struct error err = {""};
	int ready[2], status;
	pid_t child;
	char byte;

	if (geteuid())
		_exit(0);
	HOLDS(!pipe(ready) && !sigio_kill__open(&sigio_kill));
	child = fork();
	if (!child) {
		/* Comes last, since changing the user resets it. */
		if (setsid() < 0 || setresuid(65534, 65534, 65534) ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	HOLDS(read(ready[0], &byte, 1) == 1);
	HOLDS(!capabilities__keep_needed(false, &err));
	FAILS(kill(child, SIGSTOP), EPERM);
	HOLDS(sigio_kill__reaches_all());
	HOLDS(!sigio_kill__send(&sigio_kill, child, SIGSTOP));
	HOLDS(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
	for (int i = 0; i < 3; i++) {
		HOLDS(!sigio_kill__send(&sigio_kill, child, SIGCONT));
		HOLDS(waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status));
		HOLDS(!sigio_kill__send(&sigio_kill, child, SIGSTOP));
		HOLDS(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
	}
	HOLDS(!sigio_kill__send(&sigio_kill, child, SIGCONT) &&
	      !sigio_kill__send(&sigio_kill, child, SIGTERM));
	HOLDS(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGTERM);
	HOLDS(sigio_kill__send(&sigio_kill, child, SIGTERM) == -ESRCH);
	sigio_kill__close(&sigio_kill);
}

static void reaches_who_became_another_user(void **state)
{
	(void)state;
	in_child(try_signals);
}

/* --- memory of other processes --- */

/*
 * A process of that user, which lives as long as this one, although this one's signals would not
 * reach it. `dumpable` is prctl(2)'s: if it is 0, the process's files in /proc belong to root.
 */
static pid_t start_waiting(uid_t user, int dumpable)
{
	int ready[2], life[2];
	char byte;
	pid_t child;

	HOLDS(!pipe(ready) && !pipe(life));
	child = fork();
	if (!child) {
		close(life[1]);
		if (setresgid(user, user, user) || setresuid(user, user, user) ||
		    prctl(PR_SET_DUMPABLE, dumpable) || write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(read(life[0], &byte, 1) != 0);
	}
	HOLDS(child > 0 && read(ready[0], &byte, 1) == 1);
	close(life[0]);
	return child;
}

static int open_memory(pid_t pid, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return open(path, flags);
}

static char place[] = "as it was";

/*
 * As docs/engineering/reliability.md says: neither the capabilities nor the filter keep user 0 from
 * root's own files.
 */
static void try_memory(void)
{
	struct error err = {""};
	pid_t users, hidden, roots;
	int memory;

	if (geteuid())
		_exit(0);
	users = start_waiting(65534, 1);
	hidden = start_waiting(65534, 0);
	roots = start_waiting(0, 1);
	HOLDS(!capabilities__keep_needed(false, &err));
	enter(false, false);
	HOLDS(open_memory(users, O_RDONLY) >= 0 && open_memory(hidden, O_RDONLY) >= 0);
	FAILS(open_memory(users, O_RDWR), EACCES);
	FAILS(open_memory(users, O_WRONLY), EACCES);
	HOLDS(open_memory(hidden, O_RDWR) >= 0);
	memory = open_memory(roots, O_RDWR);
	HOLDS(memory >= 0 && pwrite(memory, "A", 1, (off_t)(uintptr_t)place) == 1);
}

static void writes_no_memory_of_other_users(void **state)
{
	(void)state;
	in_child(try_memory);
}

/*
 * gpuprobe run by a normal user with the five capabilities: it reaches only that user's own
 * processes.
 */
static void try_memory_as_user(void)
{
	struct error err = {""};
	pid_t others, hidden;

	if (geteuid())
		_exit(0);
	others = start_waiting(65533, 1);
	hidden = start_waiting(65533, 0);
	HOLDS(!prctl(PR_SET_KEEPCAPS, 1) && !setresgid(65534, 65534, 65534) &&
	      !setresuid(65534, 65534, 65534));
	HOLDS(!capabilities__keep_needed(false, &err));
	enter(false, false);
	HOLDS(open_memory(others, O_RDONLY) >= 0);
	FAILS(open_memory(others, O_RDWR), EACCES);
	FAILS(open_memory(hidden, O_RDWR), EACCES);
	FAILS(open_memory(1, O_RDWR), EACCES);
}

static void a_user_writes_his_own_memory_alone(void **state)
{
	(void)state;
	in_child(try_memory_as_user);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_no_other_program),
		cmocka_unit_test(has_copies_of_itself),
		cmocka_unit_test(changes_nothing_of_the_machine),
		cmocka_unit_test(lets_through_what_was_asked_for),
		cmocka_unit_test(holds_for_all_threads),
		cmocka_unit_test(other_architectures_end_all_threads),
		cmocka_unit_test(keeps_what_it_needs),
		cmocka_unit_test(names_what_is_lacking),
		cmocka_unit_test(reaches_who_became_another_user),
		cmocka_unit_test(writes_no_memory_of_other_users),
		cmocka_unit_test(a_user_writes_his_own_memory_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
