/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls of x86-64 in which a thread can sleep: their names, and what their arguments are. */
#ifndef DUMP_SYSTEM_CALL_H
#define DUMP_SYSTEM_CALL_H

#include <stdint.h>

enum call_form {
	CALL_OTHER = 0,
	CALL_LOCK,    /* argument 0 is the lock */
	CALL_POLL,    /* argument 0: an array of struct pollfd, 1: its length */
	CALL_SELECT,  /* argument 0: the number of bits, 1 to 3: sets of descriptors */
	CALL_EPOLL,   /* argument 0 is the epoll descriptor */
	CALL_READ,    /* argument 0 is a descriptor of any type */
	CALL_SOCKET,  /* argument 0 is a socket */
	CALL_ON_FILE, /* argument 0 is a descriptor; the call neither reads nor writes it */
	CALL_WAIT4,   /* argument 0 is a pid, or not above 0 */
	CALL_WAITID,  /* argument 0: the type of argument 1 */
	CALL_VFORK,   /* the new process runs in the thread's memory until it executes a program */
	CALL_SLEEP,
	CALL_SIGNAL
};

struct system_call {
	const char *name; /* NULL: not known */
	enum call_form form;
};

#define SYSTEM_CALL_CODE_SIZE 16 /* bytes of code that are looked at */

/* The call with this number. All other calls have no name and are CALL_OTHER. */
struct system_call system_call__of(uint64_t number);

/*
 * The number of a call that the kernel restarts by restart_syscall(2), which hides it. `code` is what precedes the
 * thread's instruction pointer, `arguments` are the 6 of the first call. The number is taken from the code where that
 * loads it, and else guessed from the arguments. Only nanosleep, clock_nanosleep, poll and futex are restarted so.
 */
uint64_t system_call__restarted(const uint8_t code[SYSTEM_CALL_CODE_SIZE], const uint64_t *arguments);

#endif
