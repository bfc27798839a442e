/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the recorder's files: the one struct that holds its state, and the parsing of the
 * environment.
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
	pthread_mutex_t lock;		/* guards everything below, and the growth of counters */
	pthread_key_t key;
	struct sim_thread *threads;
	struct sim_thread retired;	/* the counters of ended threads */
	struct sim_function *functions[SIM_MAX_FUNCTIONS];
	uint32_t nr_functions;
	struct sim_error *errors;
	size_t nr_errors;
	bool timed;
	bool muted;			/* a forked child that shares its parent's file name */
	void (*describe)(FILE *out);
	unsigned int (*schedule)(void);	/* flags of the current context; NULL without driver */
};

extern struct sim_state sim_state;

/* Sets up the faults and latencies that the environment requests for this function. */
void sim_faults__arm(struct sim_function *function);
/* Ends the process if a setting names no function of the layer that was attached. */
void sim_faults__check(enum sim_layer layer);
/* hang.c: the same for hangs; and hangs the call if requested. `call` counts from 1. */
void sim_hang__arm(struct sim_function *function);
void sim_hang__wait(const struct sim_function *function, uint64_t call);
/*
 * lock.c: reads what the function does with the driver's lock; takes the lock if the function needs
 * or holds it; releases it.
 */
void sim_lock__arm(struct sim_function *function);
void sim_lock__take(const struct sim_function *function);
void sim_lock__give_back(const struct sim_function *function);
/* hang_ioctl.c: hangs until the descriptor is readable. */
void sim_hang__ioctl(int release);
/* See struct sim_recorder. */
int sim_faults__inject(struct sim_call *call);

/* Writes the truth file, if one was requested. */
void sim_truth__write(void);
/* Whether each process writes its own file: the name contains %p or %u. */
bool sim_truth__per_process(void);
bool sim_truth__wanted(void);

/* The calling thread's part of cuda_sim_interrupt(). */
void sim_faults__interrupt(uint32_t skip, void (*run)(void *), void *argument);

/* How many calls of the function were begun in the thread and never ended. */
uint64_t sim_recorder__abandoned(const struct sim_thread *thread, uint32_t function, bool nested);

uint64_t sim_now(void);

/*
 * Parse "400us", "1.5ms", "0.1ns" into nanoseconds; "80G", "512M", "4096" into bytes. Set `end` to
 * the rest of the text. Return false if there is no number.
 */
bool sim_parse__duration(const char *text, double *ns, const char **end);
/* "1ms+0.1ns/B": a fixed time, a time per byte, or both. */
struct sim_latency {
	double fixed_ns;
	double byte_ns;
};
bool sim_parse__latency(const char *text, struct sim_latency *latency, const char **end);
bool sim_parse__size(const char *text, uint64_t *bytes);

/*
 * Iterates over the text after "NAME" and `separator` in a comma-separated list; NULL if there is
 * none, or no more.
 */
const char *sim_parse__next_setting(const char *list, const char *name, char separator);

/* Whether the comma-separated list has that name. */
bool sim_parse__is_listed(const char *list, const char *name);

/* Prints on stderr that a setting is not understood, and ends the process. */
_Noreturn void sim_parse__refuse(const char *variable, const char *text, const char *why);

#endif
