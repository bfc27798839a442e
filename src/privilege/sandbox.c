// SPDX-License-Identifier: BSD-2-Clause
// The system call filter; see sandbox.h.
#include "privilege/sandbox.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

/*
 * For test builds in which other code than gpuprobe makes system calls: LeakSanitizer starts a
 * process that traces this one, the coverage runtime writes files at the end, and valgrind makes
 * calls for the program it runs.
 */
#ifdef GPUPROBE_NO_FILTER
#define FILTERS false
#else
#define FILTERS true
#endif

#define LOAD_SECONDS 3

#define ALLOW(...) ((const int[]){__VA_ARGS__}), sizeof((const int[]){__VA_ARGS__}) / sizeof(int)
#define S(name) SCMP_SYS(name)

struct call_set {
	const int *calls;
	size_t count;
};

/*
 * Allowed at any time, for gpuprobe, the C library, libbpf, libevent, elfutils, and NVML or its
 * replacement.
 */
static const struct call_set always[] = {
	/* Files, most of them read; the output and NVML's devices are written. */
	{ALLOW(S(read), S(readv), S(pread64), S(preadv), S(preadv2), S(write), S(writev),
	       S(pwrite64), S(pwritev), S(pwritev2), S(open), S(openat), S(openat2), S(close),
	       S(close_range), S(creat), S(lseek), S(ftruncate), S(fallocate), S(fsync),
	       S(fdatasync), S(fadvise64), S(readahead), S(sendfile), S(splice), S(copy_file_range),
	       S(rename), S(renameat), S(renameat2), S(unlink), S(unlinkat), S(flock), S(fcntl),
	       S(ioctl), S(dup), S(dup2), S(dup3), S(pipe), S(pipe2), S(umask))},
	{ALLOW(S(stat), S(fstat), S(lstat), S(newfstatat), S(statx), S(statfs), S(fstatfs),
	       S(access), S(faccessat), S(faccessat2), S(readlink), S(readlinkat), S(getdents),
	       S(getdents64), S(getcwd), S(getxattr), S(lgetxattr), S(fgetxattr),
	       S(name_to_handle_at), S(inotify_init1), S(inotify_add_watch), S(inotify_rm_watch))},
	/* Memory. */
	{ALLOW(S(brk), S(mmap), S(munmap), S(mremap), S(mprotect), S(madvise), S(mincore), S(msync),
	       S(mlock), S(mlock2), S(munlock), S(memfd_create), S(pkey_alloc), S(pkey_free),
	       S(pkey_mprotect), S(membarrier), S(mbind), S(get_mempolicy), S(set_mempolicy),
	       S(process_vm_readv), S(map_shadow_stack))},
	/* Threads; clone has its own rule. */
	{ALLOW(S(futex), S(futex_waitv), S(set_robust_list), S(get_robust_list), S(set_tid_address),
	       S(rseq), S(gettid), S(getpid), S(getppid), S(getpgid), S(getpgrp), S(getsid),
	       S(exit), S(exit_group), S(wait4), S(waitid), S(sched_yield), S(sched_getaffinity),
	       S(sched_setaffinity), S(sched_getparam), S(sched_setparam), S(sched_getscheduler),
	       S(sched_setscheduler), S(sched_getattr), S(sched_setattr), S(sched_get_priority_max),
	       S(sched_get_priority_min), S(sched_rr_get_interval), S(getpriority), S(setpriority),
	       S(ioprio_get), S(ioprio_set), S(getcpu), S(arch_prctl), S(prctl), S(restart_syscall),
	       S(pidfd_open), S(pidfd_send_signal), S(kcmp))},
	/* Time. */
	{ALLOW(S(clock_gettime), S(clock_getres), S(clock_nanosleep), S(gettimeofday), S(time),
	       S(times), S(nanosleep), S(timer_create), S(timer_settime), S(timer_gettime),
	       S(timer_getoverrun), S(timer_delete), S(setitimer), S(getitimer), S(alarm), S(pause),
	       S(timerfd_create), S(timerfd_settime), S(timerfd_gettime), S(adjtimex),
	       S(clock_adjtime))},
	/* Signals. */
	{ALLOW(S(kill), S(tkill), S(tgkill), S(rt_sigaction), S(rt_sigprocmask), S(rt_sigreturn),
	       S(rt_sigsuspend), S(rt_sigpending), S(rt_sigtimedwait), S(rt_sigqueueinfo),
	       S(rt_tgsigqueueinfo), S(sigaltstack), S(signalfd), S(signalfd4))},
	/* The event loop and its connections; socket has its own rules. */
	{ALLOW(S(epoll_create), S(epoll_create1), S(epoll_ctl), S(epoll_wait), S(epoll_pwait),
	       S(epoll_pwait2), S(poll), S(ppoll), S(select), S(pselect6), S(eventfd), S(eventfd2),
	       S(accept), S(accept4), S(connect), S(shutdown), S(recvfrom), S(recvmsg), S(recvmmsg),
	       S(sendto), S(sendmsg), S(sendmmsg), S(getsockname), S(getpeername), S(getsockopt),
	       S(setsockopt), S(socketpair))},
	/* Identity and limits of the process. */
	{ALLOW(S(uname), S(sysinfo), S(getrandom), S(getrusage), S(getrlimit), S(setrlimit),
	       S(prlimit64), S(getuid), S(geteuid), S(getgid), S(getegid), S(getresuid),
	       S(getresgid), S(getgroups), S(capget), S(capset), S(setfsuid), S(setfsgid),
	       S(get_thread_area), S(seccomp))},
	/* Probes. */
	{ALLOW(S(bpf))},
};

/* Names are looked up with help of a netlink socket. */
static const struct call_set with_network[] = {
	{ALLOW(S(bind))},
};

/* debuginfod's client keeps a cache of what it fetches. */
static const struct call_set with_cache[] = {
	{ALLOW(S(mkdir), S(mkdirat), S(rmdir), S(link), S(linkat), S(chmod), S(fchmod), S(fchmodat),
	       S(utimensat), S(utimes), S(futimesat), S(truncate))},
};

static const struct call_set with_perf_events[] = {
	{ALLOW(S(perf_event_open))},
};

/* For these calls "not permitted" is a better answer than "not implemented". */
static const struct call_set refused[] = {
	{ALLOW(S(execve), S(execveat), S(fork), S(vfork), S(ptrace), S(process_vm_writev), S(mount),
	       S(umount2), S(pivot_root), S(chroot), S(unshare), S(setns), S(mknod), S(mknodat),
	       S(chown), S(fchown), S(lchown), S(fchownat), S(setuid), S(setgid), S(setreuid),
	       S(setregid), S(setresuid), S(setresgid), S(setgroups), S(init_module),
	       S(finit_module), S(delete_module), S(kexec_load), S(kexec_file_load), S(reboot),
	       S(swapon), S(swapoff), S(settimeofday), S(clock_settime), S(keyctl), S(add_key),
	       S(request_key), S(io_uring_setup), S(userfaultfd), S(open_by_handle_at),
	       S(personality), S(listen))},
};

static int add_set(scmp_filter_ctx filter, uint32_t action, const struct call_set *sets,
		   size_t count)
{
	int ret = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < sets[i].count && !ret; n++)
			ret = seccomp_rule_add(filter, action, sets[i].calls[n], 0);
	return ret;
}

#define ADD_SET(filter, action, sets) add_set(filter, action, sets, sizeof(sets) / sizeof(*(sets)))

/* Allows a call whose first argument has these bits within `mask`. */
static int allow_first(scmp_filter_ctx filter, int call, uint32_t mask, uint32_t bits)
{
	const struct scmp_arg_cmp first = {
		.arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = bits};

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &first);
}

/*
 * Allows new threads. The only new processes are those of base/sigkill_safe.h, which share memory
 * and descriptors, and the plain copy (fork) of target/memory_reader.h, which starts another one
 * if one hangs forever. The copy has no namespace of its own, has this same filter, and cannot
 * execute another program.
 */
static int add_threads(scmp_filter_ctx filter)
{
	const uint32_t shared = CLONE_VM | CLONE_FS | CLONE_FILES;
	const uint32_t copy = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
	int ret = allow_first(filter, S(clone), CLONE_THREAD, CLONE_THREAD);

	if (!ret)
		ret = allow_first(filter, S(clone), shared | CLONE_THREAD, shared);
	if (!ret)
		ret = allow_first(filter, S(clone), UINT32_MAX, copy);

	/* see load_quiet */
	return ret ? ret : seccomp_rule_add(filter, SCMP_ACT_ALLOW, S(clone3), 0);
}

/* Look-ups of user names may use a daemon on a local socket. */
static int add_sockets(scmp_filter_ctx filter, bool network)
{
	static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
	size_t count = network ? sizeof(families) / sizeof(*families) : 1;
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = allow_first(filter, S(socket), UINT32_MAX, (uint32_t)families[i]);
	return ret;
}

/*
 * If one of its own allocations fails, libseccomp 2.5.4 may loop forever; SIGVTALRM then ends this
 * process. Normally it takes 10 ms of CPU time.
 */
static void limit_time(time_t seconds)
{
	const struct itimerval limit = {.it_value.tv_sec = seconds};

	setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

/* Loads and frees the filter. All threads get it, or none. */
static int load(scmp_filter_ctx filter, bool logged)
{
	int ret = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);

	/*
	 * The action for calls of another architecture, which no code here makes. If an allocation
	 * failed, libseccomp 2.5.4 may load a filter that takes every call for one. Its default
	 * kills only the calling thread, and the others would stay forever.
	 */
	if (!ret)
		ret = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!ret)
		ret = seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, logged);
	if (!ret)
		ret = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!ret)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	return ret;
}

/*
 * Refuses clone3 without a line in the kernel's log. It is a filter of its own because logging
 * applies to a whole filter. The flags of clone3 cannot be inspected, and the C library tries it
 * first for each thread.
 */
static int load_quiet(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int ret;

	if (!filter)
		return -ENOMEM;
	ret = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), S(clone3), 0);
	if (!ret)
		return load(filter, false);
	seccomp_release(filter);
	return ret;
}

static int load_list(const struct sandbox_options *options)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int ret;

	if (!filter)
		return -ENOMEM;
	ret = ADD_SET(filter, SCMP_ACT_ALLOW, always);
	if (!ret)
		ret = add_threads(filter);
	if (!ret)
		ret = add_sockets(filter, options->network);
	if (!ret && options->network)
		ret = ADD_SET(filter, SCMP_ACT_ALLOW, with_network);
	if (!ret && options->cache)
		ret = ADD_SET(filter, SCMP_ACT_ALLOW, with_cache);
	if (!ret && (options->tracefs || options->samples))
		ret = ADD_SET(filter, SCMP_ACT_ALLOW, with_perf_events);
	if (!ret)
		ret = ADD_SET(filter, SCMP_ACT_ERRNO(EPERM), refused);
	if (!ret)
		return load(filter, true);
	seccomp_release(filter);
	return ret;
}

int sandbox__enter(const struct sandbox_options *options, struct error *err)
{
	int ret;

	if (!FILTERS)
		return 0;
	limit_time(LOAD_SECONDS);
	ret = load_list(options);
	if (!ret)
		ret = load_quiet();
	limit_time(0);
	return ret ? error__set(err, ret, "cannot filter the system calls: %s", strerror(-ret)) : 0;
}
