/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the recorder's own files share: the one struct that holds its state,
 * and the parsing of the environment.
 */
#ifndef SIM_RECORD_INTERNAL_H
#define SIM_RECORD_INTERNAL_H

#include "record/record.h"

#include <pthread.h>
#include <sys/types.h>

/* How often a function returned a result that is not success. */
struct sim_error {
	uint32_t function;
	bool nested;
	int result;
	uint64_t count;
};

struct sim_state {
	pthread_mutex_t lock;		/* guards all below, and growth of counters */
	pthread_key_t key;
	struct sim_thread *threads;
	struct sim_thread retired;	/* the counters of threads that ended */
	struct sim_function *functions[SIM_MAX_FUNCTIONS];
	uint32_t nr_functions;
	struct sim_error *errors;
	size_t nr_errors;
	bool timed;
	bool muted;			/* a forked child that shares its parent's file name */
	void (*describe)(FILE *out);
	unsigned int (*schedule)(void);	/* the flags of the current context; NULL without the driver */
};

extern struct sim_state sim_state;

/* Sets up the faults and latencies that the environment asks of this function. */
void sim_faults__arm(struct sim_function *function);
/* Ends the process if a setting names no function of the layer that was attached. */
void sim_faults__check(enum sim_layer layer);
/* hang.c: the same for hangs, and the hang of a call that has one; `call` counts them from 1. */
void sim_hang__arm(struct sim_function *function);
void sim_hang__wait(const struct sim_function *function, uint64_t call);
/* lock.c: what the function does with the driver's lock; to take it where it needs or holds it; to give it back. */
void sim_lock__arm(struct sim_function *function);
void sim_lock__take(const struct sim_function *function);
void sim_lock__give_back(const struct sim_function *function);
/* hang_ioctl.c: hangs until the descriptor can be read from. */
void sim_hang__ioctl(int release);
/* See struct sim_recorder. */
int sim_faults__inject(struct sim_call *call);

/* Writes the truth file, if one is asked for. */
void sim_truth__write(void);
/* Whether a file per process is asked for: its name contains %p or %u. */
bool sim_truth__per_process(void);
bool sim_truth__wanted(void);

/* The calling thread's part of cuda_sim_interrupt(). */
void sim_faults__interrupt(uint32_t skip, void (*run)(void *), void *argument);

/* How often calls of the function were begun in the thread and never ended. */
uint64_t sim_recorder__abandoned(const struct sim_thread *thread, uint32_t function, bool nested);

uint64_t sim_now(void);

/*
 * Parse "400us", "1.5ms", "0.1ns": to nanoseconds; "80G", "512M", "4096": to
 * bytes. `end` is set behind what was parsed. Return false if there is no number.
 */
bool sim_parse__duration(const char *text, double *ns, const char **end);
/* "1ms+0.1ns/B": a time, one for each byte, or both. */
struct sim_latency {
	double fixed_ns;
	double byte_ns;
};
bool sim_parse__latency(const char *text, struct sim_latency *latency, const char **end);
bool sim_parse__size(const char *text, uint64_t *bytes);

/* What follows "NAME" and `separator` in a list with commas, one after the other; NULL: nothing (more). */
const char *sim_parse__next_setting(const char *list, const char *name, char separator);

/* Whether the list with commas has that name. */
bool sim_parse__is_listed(const char *list, const char *name);

/* Tells on stderr that a setting cannot be understood, and ends the process. */
_Noreturn void sim_parse__refuse(const char *variable, const char *text, const char *why);

#endif
