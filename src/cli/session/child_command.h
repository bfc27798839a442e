/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * COMMAND: gpuprobe starts it as the user that called gpuprobe (privilege/invoker.h), once the
 * probes are attached. It is held by SIGSTOP wherever it may have loaded new libraries, and resumed
 * even if gpuprobe is killed.
 */
#ifndef CLI_CHILD_COMMAND_H
#define CLI_CHILD_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct child_command;

/*
 * Forks the process that will become COMMAND; it waits. Its pid is known from here on. `argv` must
 * outlive the command.
 */
int child_command__new(char **argv, struct child_command **out, struct error *err);

/* Ends a process that still waits. A running COMMAND goes on. */
void child_command__free(struct child_command *command);

pid_t child_command__pid(const struct child_command *command);

/*
 * Starts the guard, a process that outlives gpuprobe briefly: if gpuprobe is killed, it wakes the
 * processes in the BPF map `held_fd`. Must be called before any probe is attached.
 */
int child_command__guard(struct child_command *command, int held_fd, struct error *err);

/*
 * Tells the guard that gpuprobe is running. After the first call, call it every second: if gpuprobe
 * stalls for longer, because nobody reads its output, the guard wakes the processes in the map.
 */
void child_command__beat(struct child_command *command);

/*
 * Brackets work that attaches probes. It may take longer than a stall, but for a minute it is none.
 * `command` may be NULL.
 */
void child_command__attaches(const struct child_command *command, bool attaches);

/*
 * Whether the guard has woken processes since `stopped_ns` (CLOCK_BOOTTIME), when a process was
 * stopped.
 */
bool child_command__was_let_go(const struct child_command *command, uint64_t stopped_ns);

/*
 * The end of a process's hold: now_ns, unless the guard resumed the process before. The process was
 * stopped at `stopped_ns` and is being resumed now.
 */
uint64_t child_command__held_until(const struct child_command *command, uint64_t stopped_ns,
				   uint64_t now_ns);

/*
 * Removes the process, which gpuprobe has stopped, from the map `held_fd` and resumes it. The guard
 * must have been started.
 */
void child_command__let_go(const struct child_command *command, int held_fd, pid_t pid);

/* Resumes the processes in the BPF map `held_fd`, which gpuprobe has stopped. */
void child_command__wake_held(const struct child_command *command, int held_fd);

/* Sends a signal to COMMAND's process or a descendant, whichever user it has become. */
void child_command__send(const struct child_command *command, pid_t pid, int number);

/*
 * Lets the process become COMMAND. Returns once exec(2) has succeeded or failed; on failure it
 * returns a negative errno with the reason in `err`, and the process is gone. COMMAND may be
 * stopped before its first instruction.
 */
int child_command__start(struct child_command *command, struct error *err);

/*
 * Whether COMMAND has ended; called after SIGCHLD. *status is then gpuprobe's exit status:
 * COMMAND's own, or 128 + the signal that killed it.
 */
bool child_command__ended(struct child_command *command, int *status);

/* Passes a signal on if COMMAND still runs. */
void child_command__signal(const struct child_command *command, int signal);

#endif
