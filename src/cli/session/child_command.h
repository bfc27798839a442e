/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * COMMAND: started by gpuprobe, as the user that called it (privilege/invoker.h),
 * once the probes are in; held by SIGSTOP wherever it may have brought new libraries, and set
 * free again whatever becomes of gpuprobe.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct child_command;

/*
 * Forks the process that is to become COMMAND; it waits. Its pid is known
 * from here on. `argv` must outlive the command.
 */
int child_command__new(char **argv, struct child_command **out, struct error *err);

/* Ends a process that still waits; a COMMAND that runs goes on running. */
void child_command__free(struct child_command *command);

pid_t child_command__pid(const struct child_command *command);

/*
 * Starts a process that outlives gpuprobe by a moment: should gpuprobe be
 * killed, it wakes the processes in the BPF map `held_fd`. To be called before any probe is attached.
 */
int child_command__guard(struct child_command *command, int held_fd, struct error *err);

/*
 * Says to the guard that gpuprobe goes on. Once this was called it must be
 * called every second: should gpuprobe stand still for longer, since nobody
 * reads what it writes, the guard wakes those in the map.
 */
void child_command__beat(const struct child_command *command);

/* Whether the guard has done so since that time (CLOCK_BOOTTIME), at which a process was stopped. */
bool child_command__was_let_go(const struct child_command *command, uint64_t stopped_ns);

/* Until when a process that was stopped at `stopped_ns` is held that goes on now, where the guard has not let it go before. */
uint64_t child_command__held_until(const struct child_command *command, uint64_t stopped_ns, uint64_t now_ns);

/* Takes the process, which gpuprobe has stopped, out of the map `held_fd` and lets it go on. The guard is to be there. */
void child_command__let_go(const struct child_command *command, int held_fd, pid_t pid);

/* Lets the processes in the BPF map `held_fd` go on: those that gpuprobe has stopped. */
void child_command__wake_held(const struct child_command *command, int held_fd);

/* Sends a signal to COMMAND's process or to a descendant, whoever it has become. */
void child_command__send(const struct child_command *command, pid_t pid, int number);

/*
 * Lets it become COMMAND. Returns when exec(2) has been done or has failed:
 * then a negative errno with the reason in `err`, and the process is gone.
 * COMMAND may be stopped before its first instruction.
 */
int child_command__start(struct child_command *command, struct error *err);

/*
 * After SIGCHLD: whether COMMAND has ended; *status is then what gpuprobe is
 * to exit with: COMMAND's own, or 128 + the signal that killed it.
 */
bool child_command__ended(struct child_command *command, int *status);

/* Passes a signal on, if COMMAND still runs. */
void child_command__signal(const struct child_command *command, int signal);

#endif
