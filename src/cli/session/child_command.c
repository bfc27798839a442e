// SPDX-License-Identifier: BSD-2-Clause
// Starts, guards and follows COMMAND, see child_command.h.
#include "cli/session/child_command.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "privilege/invoker.h"
#include "privilege/sandbox.h"
#include "privilege/sigio_kill.h"
#include "target/proc.h"

#define STALL_MS 5000  /* longest hold while gpuprobe itself is blocked */
#define STALLED_MS 100 /* then the longest hold until gpuprobe runs again */
/* Longest hold while probes are attached, which on a busy machine takes seconds. */
#define ATTACH_MS 60000

/* What gpuprobe tells the guard. */
enum {
	BEAT_RUNS = 'r',
	BEAT_ATTACHES = 'a'
};

/* Shared memory between gpuprobe and the guard. */
struct shared {
	uint64_t let_go_ns; /* when the guard last resumed everybody; 0: never */
	uint64_t stall_ns;  /* when it first did so in the current stall */
	/* process removed from the map that may not have its SIGCONT yet; 0: none */
	int32_t going;
};

struct child_command {
	char **argv;
	pid_t pid;
	pid_t guard;
	int go;	     /* written to start COMMAND */
	int failure; /* carries errno if exec fails, closes if it succeeds */
	int life;    /* open while gpuprobe lives: the guard sees it close */
	struct shared *shared;
	struct sigio_kill sigio_kill;
	bool started;
	bool ended;
	bool beats; /* the guard looks for stalls */
};

/*
 * exec(2) resets the signals that gpuprobe catches to their defaults. Signals that were ignored
 * before stay ignored.
 */
static void unblock_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn)) run_child(char **argv, int go, int failure)
{
	char byte;
	int code;

	/* gpuprobe died: its child must not start COMMAND. */
	if (read(go, &byte, 1) != 1)
		_exit(1);
	unblock_signals();
	code = -invoker__become();
	if (!code) {
		execvp(argv[0], argv);
		code = errno;
	}
	if (write(failure, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

int child_command__new(char **argv, struct child_command **out, struct error *err)
{
	struct child_command *command = calloc(1, sizeof(*command));
	int go[2] = {-1, -1}, failure[2] = {-1, -1};

	if (!command)
		return error__set(err, -ENOMEM, "out of memory");
	command->argv = argv;
	command->life = -1;
	command->sigio_kill = (struct sigio_kill)SIGNALLER_NONE;
	errno = -sigio_kill__open(&command->sigio_kill);
	if (errno || pipe2(go, O_CLOEXEC) || pipe2(failure, O_CLOEXEC))
		goto fail;
	command->pid = fork();
	if (command->pid < 0)
		goto fail;
	if (!command->pid) {
		close(go[1]);
		close(failure[0]);
		run_child(argv, go[0], failure[1]);
	}
	close(go[0]);
	close(failure[1]);
	command->go = go[1];
	command->failure = failure[0];
	*out = command;
	return 0;
fail:
	error__set(err, -errno, "cannot start '%s': %s", argv[0], strerror(errno));
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (failure[i] >= 0)
			close(failure[i]);
	}
	sigio_kill__close(&command->sigio_kill);
	free(command);
	return -EAGAIN;
}

void child_command__free(struct child_command *command)
{
	if (!command)
		return;
	close(command->go); /* a process that still waits ends when this closes */
	close(command->failure);
	if (!command->started)
		waitpid(command->pid, NULL, 0);
	if (command->guard > 0) {
		kill(command->guard, SIGKILL);
		waitpid(command->guard, NULL, 0);
	}
	if (command->life >= 0)
		close(command->life);
	if (command->shared)
		munmap(command->shared, sizeof(*command->shared));
	sigio_kill__close(&command->sigio_kill);
	free(command);
}

pid_t child_command__pid(const struct child_command *command)
{
	return command->pid;
}

void child_command__send(const struct child_command *command, pid_t pid, int number)
{
	sigio_kill__send(&command->sigio_kill, pid, number);
}

static void wake_held(const struct sigio_kill *sigio_kill, int held_fd)
{
	int32_t pid, *previous = NULL, key;

	/* Sent whatever their state: the SIGSTOP may still be pending, and SIGCONT cancels it. */
	while (!bpf_map_get_next_key(held_fd, previous, &pid)) {
		sigio_kill__send(sigio_kill, pid, SIGCONT);
		key = pid;
		previous = &key;
	}
}

void child_command__wake_held(const struct child_command *command, int held_fd)
{
	wake_held(&command->sigio_kill, held_fd);
}

static void close_all_but(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	close_range(3, (unsigned int)low - 1, 0);
	if (high > low + 1)
		close_range((unsigned int)low + 1, (unsigned int)high - 1, 0);
	close_range((unsigned int)high + 1, ~0u, 0);
}

static void wake_all(const struct sigio_kill *sigio_kill, int held_fd, const struct shared *shared)
{
	int32_t going = __atomic_load_n(&shared->going, __ATOMIC_ACQUIRE);

	wake_held(sigio_kill, held_fd);
	if (going)
		sigio_kill__send(sigio_kill, going, SIGCONT);
}

/*
 * Returns when gpuprobe has ended. If gpuprobe's loop stalls, resumes the processes that it should
 * have woken, and records that for gpuprobe.
 */
static void watch_over(int life, int held_fd, const struct sigio_kill *sigio_kill,
		       struct shared *shared)
{
	struct pollfd poller = {.fd = life, .events = POLLIN};
	int patience = -1; /* until the first beat */
	char beats[64];
	uint64_t now;
	ssize_t n;

	for (;;) {
		if (!poll(&poller, 1, patience)) {
			now = clock__boot_ns();
			if (patience != STALLED_MS)
				__atomic_store_n(&shared->stall_ns, now, __ATOMIC_RELEASE);
			__atomic_store_n(&shared->let_go_ns, now, __ATOMIC_RELEASE);
			wake_all(sigio_kill, held_fd, shared);
			patience = STALLED_MS;
			continue;
		}
		n = read(life, beats, sizeof(beats));
		if (n > 0)
			patience = beats[n - 1] == BEAT_ATTACHES ? ATTACH_MS : STALL_MS;
		else if (!n || errno != EINTR)
			return;
	}
}

static void __attribute__((noreturn)) run_guard(int life, int held_fd, struct shared *shared)
{
	struct sigio_kill sigio_kill = SIGNALLER_NONE;
	const struct sandbox_options nothing_more = {0};

	setsid(); /* out of reach of the terminal's Ctrl-C */
	prctl(PR_SET_NAME, "gpuprobe-guard");
	clock__find_kernels();
	close_all_but(life, held_fd);
	/* Readers of gpuprobe's output must see its end. */
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	sigio_kill__open(&sigio_kill); /* all descriptors are unused; without it kill(2) is used */
	/* If the filter is unavailable here, gpuprobe cannot set it either, and ends. */
	sandbox__enter(&nothing_more, NULL);
	watch_over(life, held_fd, &sigio_kill, shared);
	/*
	 * The probes of a killed gpuprobe vanish within moments. Processes that they stop until
	 * then are woken too.
	 */
	for (int i = 0; i < 10; i++) {
		wake_all(&sigio_kill, held_fd, shared);
		usleep(50000);
	}
	_exit(0);
}

int child_command__guard(struct child_command *command, int held_fd, struct error *err)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int life[2];

	if (shared == MAP_FAILED)
		return error__set(err, -errno, "cannot share memory with the guard: %s",
				  strerror(errno));
	command->shared = shared;
	if (pipe2(life, O_CLOEXEC))
		return error__set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	command->guard = fork();
	if (command->guard < 0) {
		close(life[0]);
		close(life[1]);
		return error__set(err, -errno, "cannot fork: %s", strerror(errno));
	}
	if (!command->guard) {
		close(life[1]);
		run_guard(life[0], held_fd, shared);
	}
	close(life[0]);
	command->life = life[1];
	fcntl(command->life, F_SETFL, O_NONBLOCK); /* beats that do not fit are dropped */
	return 0;
}

bool child_command__was_let_go(const struct child_command *command, uint64_t stopped_ns)
{
	return __atomic_load_n(&command->shared->let_go_ns, __ATOMIC_ACQUIRE) >= stopped_ns;
}

uint64_t child_command__held_until(const struct child_command *command, uint64_t stopped_ns,
				   uint64_t now_ns)
{
	uint64_t stall_ns = __atomic_load_n(&command->shared->stall_ns, __ATOMIC_ACQUIRE);

	if (!child_command__was_let_go(command, stopped_ns))
		return now_ns;
	/* A process stopped after the stall began was resumed within STALLED_MS. */
	return stall_ns > stopped_ns ? stall_ns : stopped_ns;
}

/*
 * Removes the process from the map first: once resumed it may be stopped again and be put into the
 * map again. Meanwhile the guard knows it by `going`.
 */
void child_command__let_go(const struct child_command *command, int held_fd, pid_t pid)
{
	__atomic_store_n(&command->shared->going, pid, __ATOMIC_RELEASE);
	bpf_map_delete_elem(held_fd, &pid);
	sigio_kill__send(&command->sigio_kill, pid, SIGCONT);
	__atomic_store_n(&command->shared->going, 0, __ATOMIC_RELEASE);
}

static void tell_guard(const struct child_command *command, char beat)
{
	if (command->life >= 0 && write(command->life, &beat, 1) < 0)
		return; /* the guard has unread beats, or is gone */
}

void child_command__beat(struct child_command *command)
{
	command->beats = true;
	tell_guard(command, BEAT_RUNS);
}

void child_command__attaches(const struct child_command *command, bool attaches)
{
	if (command && command->beats)
		tell_guard(command, attaches ? BEAT_ATTACHES : BEAT_RUNS);
}

int child_command__start(struct child_command *command, struct error *err)
{
	int code = 0;
	ssize_t n;

	if (write(command->go, "", 1) != 1)
		return error__set(err, -EPIPE, "cannot start '%s': its process is gone",
				  command->argv[0]);
	command->started = true;
	do {
		n = read(command->failure, &code, sizeof(code));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(code))
		return 0;
	waitpid(command->pid, NULL, 0);
	command->ended = true;
	if (code == ENOENT)
		return error__set(err, -code,
				  "cannot run '%s': no such command; give a path or a name in PATH",
				  command->argv[0]);
	return error__set(err, -code, "cannot run '%s': %s; give a program that may be executed",
			  command->argv[0], strerror(code));
}

bool child_command__ended(struct child_command *command, int *status)
{
	int raw;

	if (command->ended || waitpid(command->pid, &raw, WNOHANG) != command->pid)
		return false;
	command->ended = true;
	*status = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
	return true;
}

void child_command__signal(const struct child_command *command, int number)
{
	if (command->started && !command->ended)
		child_command__send(command, command->pid, number);
}
