/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The x86-64 system calls in which a thread can sleep: their names and the meaning of their
 * arguments.
 */
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
	CALL_WAIT4,   /* argument 0 is a pid if above 0 */
	CALL_WAITID,  /* argument 0 is the type of argument 1 */
	CALL_VFORK,   /* the child runs in the thread's memory until it executes a program */
	CALL_SLEEP,
	CALL_SIGNAL
};

struct system_call {
	const char *name; /* NULL if unknown */
	enum call_form form;
};

#define SYSTEM_CALL_CODE_SIZE 16 /* bytes of code that are read */

/* The call with this number. An unlisted call has no name and is CALL_OTHER. */
struct system_call system_call__of(uint64_t number);

/*
 * The number of a call that the kernel restarts by restart_syscall(2), which hides it. `code` holds
 * the bytes before the thread's instruction pointer, `arguments` the 6 arguments of the original
 * call. The number comes from the code if the code loads it as a constant, otherwise it is guessed
 * from the arguments. Only nanosleep, clock_nanosleep, poll and futex are restarted like this.
 */
uint64_t system_call__restarted(const uint8_t code[SYSTEM_CALL_CODE_SIZE],
				const uint64_t *arguments);

#endif
