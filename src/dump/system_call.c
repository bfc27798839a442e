// SPDX-License-Identifier: BSD-2-Clause
// System calls by number; see system_call.h.
#include "dump/system_call.h"

#include <asm/unistd_64.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Some headers are older than these calls. */
#ifndef __NR_futex_wait
#define __NR_futex_wait 455
#endif

#define CALL(name, form) [__NR_##name] = {#name, CALL_##form}

/* clang-format off */
static const struct system_call calls[] = {
	CALL(futex, LOCK), CALL(futex_waitv, LOCK), CALL(futex_wait, LOCK), CALL(semop, LOCK), CALL(semtimedop, LOCK),
	CALL(poll, POLL), CALL(ppoll, POLL), CALL(select, SELECT), CALL(pselect6, SELECT),
	CALL(epoll_wait, EPOLL), CALL(epoll_pwait, EPOLL), CALL(epoll_pwait2, EPOLL),
	CALL(read, READ), CALL(readv, READ), CALL(pread64, READ), CALL(preadv, READ), CALL(preadv2, READ),
	CALL(write, READ), CALL(writev, READ), CALL(pwrite64, READ), CALL(pwritev, READ), CALL(pwritev2, READ),
	CALL(sendfile, READ), CALL(splice, READ), CALL(tee, READ), CALL(vmsplice, READ), CALL(copy_file_range, READ),
	CALL(fsync, READ), CALL(fdatasync, READ), CALL(sync_file_range, READ), CALL(getdents64, READ),
	CALL(recvfrom, SOCKET), CALL(recvmsg, SOCKET), CALL(recvmmsg, SOCKET),
	CALL(sendto, SOCKET), CALL(sendmsg, SOCKET), CALL(sendmmsg, SOCKET),
	CALL(accept, SOCKET), CALL(accept4, SOCKET), CALL(connect, SOCKET), CALL(shutdown, SOCKET),
	CALL(ioctl, ON_FILE), CALL(flock, ON_FILE), CALL(fcntl, ON_FILE), CALL(ftruncate, ON_FILE),
	CALL(fallocate, ON_FILE), CALL(syncfs, ON_FILE), CALL(fstat, ON_FILE), CALL(close, ON_FILE),
	CALL(io_uring_enter, ON_FILE), CALL(mq_timedreceive, ON_FILE), CALL(mq_timedsend, ON_FILE),
	CALL(wait4, WAIT4), CALL(waitid, WAITID),
	CALL(vfork, VFORK), CALL(clone, VFORK), CALL(clone3, VFORK),
	CALL(nanosleep, SLEEP), CALL(clock_nanosleep, SLEEP),
	CALL(pause, SIGNAL), CALL(rt_sigsuspend, SIGNAL), CALL(rt_sigtimedwait, SIGNAL),
	CALL(open, OTHER), CALL(openat, OTHER), CALL(openat2, OTHER), CALL(creat, OTHER), CALL(stat, OTHER),
	CALL(lstat, OTHER), CALL(newfstatat, OTHER), CALL(statx, OTHER), CALL(statfs, OTHER), CALL(access, OTHER),
	CALL(faccessat, OTHER), CALL(faccessat2, OTHER), CALL(readlink, OTHER), CALL(readlinkat, OTHER),
	CALL(rename, OTHER), CALL(renameat, OTHER), CALL(renameat2, OTHER), CALL(mkdir, OTHER), CALL(mkdirat, OTHER),
	CALL(rmdir, OTHER), CALL(unlink, OTHER), CALL(unlinkat, OTHER), CALL(link, OTHER), CALL(symlink, OTHER),
	CALL(truncate, OTHER), CALL(chdir, OTHER), CALL(chroot, OTHER), CALL(getcwd, OTHER), CALL(sync, OTHER),
	CALL(mount, OTHER), CALL(umount2, OTHER), CALL(pivot_root, OTHER), CALL(setns, OTHER), CALL(unshare, OTHER),
	CALL(mmap, OTHER), CALL(munmap, OTHER), CALL(mremap, OTHER), CALL(mprotect, OTHER), CALL(madvise, OTHER),
	CALL(brk, OTHER), CALL(msync, OTHER), CALL(mlock, OTHER), CALL(mlock2, OTHER), CALL(mlockall, OTHER),
	CALL(munlock, OTHER), CALL(mbind, OTHER), CALL(move_pages, OTHER), CALL(migrate_pages, OTHER),
	CALL(process_vm_readv, OTHER), CALL(process_vm_writev, OTHER), CALL(process_madvise, OTHER),
	CALL(membarrier, OTHER), CALL(rseq, OTHER), CALL(userfaultfd, OTHER),
	CALL(fork, OTHER), CALL(execve, OTHER), CALL(execveat, OTHER), CALL(exit, OTHER), CALL(exit_group, OTHER),
	CALL(kill, OTHER), CALL(tgkill, OTHER), CALL(ptrace, OTHER), CALL(sched_yield, OTHER), CALL(getrandom, OTHER),
	CALL(sched_setaffinity, OTHER), CALL(setuid, OTHER), CALL(setresuid, OTHER), CALL(prctl, OTHER),
	CALL(seccomp, OTHER), CALL(bpf, OTHER), CALL(perf_event_open, OTHER), CALL(socket, OTHER),
	CALL(msgrcv, OTHER), CALL(msgsnd, OTHER), CALL(shmat, OTHER), CALL(shmdt, OTHER), CALL(shmctl, OTHER),
	CALL(io_getevents, OTHER), CALL(io_pgetevents, OTHER), CALL(io_submit, OTHER), CALL(io_destroy, OTHER),
	CALL(keyctl, OTHER), CALL(request_key, OTHER), CALL(init_module, OTHER), CALL(finit_module, OTHER),
	CALL(delete_module, OTHER), CALL(reboot, OTHER), CALL(swapoff, OTHER), CALL(syslog, OTHER),
	CALL(restart_syscall, OTHER)
};
/* clang-format on */

struct system_call system_call__of(uint64_t number)
{
	if (number >= sizeof(calls) / sizeof(*calls))
		return (struct system_call){0};
	return calls[number];
}

static bool restarts(uint64_t number)
{
	return number == __NR_nanosleep || number == __NR_clock_nanosleep || number == __NR_poll ||
	       number == __NR_futex;
}

/*
 * Finds "mov $NUMBER,%eax" shortly before the "syscall" that ends the code. Returns 0 if there is
 * none.
 */
static uint64_t number_in_code(const uint8_t *code)
{
	static const uint8_t system_call[] = {0x0f, 0x05};
	size_t end = SYSTEM_CALL_CODE_SIZE - sizeof(system_call);
	uint32_t number;

	if (memcmp(code + end, system_call, sizeof(system_call)) != 0)
		return 0;
	for (size_t at = end - sizeof(number); at > 0; at--) {
		memcpy(&number, code + at, sizeof(number));
		if (code[at - 1] == 0xb8 && restarts(number))
			return number;
	}
	return 0;
}

static bool is_futex_wait(uint64_t operation)
{
	uint32_t command = (uint32_t)operation & FUTEX_CMD_MASK;

	return operation >= FUTEX_PRIVATE_FLAG && operation <= UINT32_MAX &&
	       (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

/*
 * A clock's number is small, and the other calls begin with an address; poll's count of descriptors
 * is smaller than an address.
 */
static uint64_t guess_number(const uint64_t *arguments)
{
	const uint64_t first_page = 4096;

	if (arguments[0] < first_page && arguments[2] >= first_page)
		return __NR_clock_nanosleep;
	if (is_futex_wait(arguments[1]))
		return __NR_futex;
	if (arguments[1] == 0 || arguments[1] >= first_page)
		return __NR_nanosleep;
	return __NR_poll;
}

uint64_t system_call__restarted(const uint8_t code[SYSTEM_CALL_CODE_SIZE],
				const uint64_t *arguments)
{
	uint64_t number = number_in_code(code);

	return number ? number : guess_number(arguments);
}
