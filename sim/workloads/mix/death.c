// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ends in the middle of a call: the thread jumps out of it, exits, is cancelled or disappears; it
 * stays in the call until the process is killed; or the process exits or executes another program
 * from inside the call.
 */
#define _GNU_SOURCE
#include "mix.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Exported by the simulated libcuda. */
void cuda_sim_interrupt(unsigned int skip, void (*run)(void *), void *argument);
void cuda_sim_write_truth(void);

/* Notifies main that the thread is about to end; an ordinary program could not do that. */
static void take_leave(struct actor *actor)
{
	if (actor->in_action)
		pthread_rwlock_unlock(&actor->mix->quiet);
	actor->in_action = false;
	if (write(actor->mix->ended[1], &actor->index, sizeof(actor->index)) < 0)
		give_up("the pipe is gone");
}

static void jump(void *argument)
{
	struct actor *actor = argument;

	siglongjmp(actor->way_out, 1);
}

static void leave_thread(void *argument)
{
	take_leave(argument);
	pthread_exit(NULL);
}

static void leave_barely(void *argument)
{
	take_leave(argument);
	syscall(SYS_exit, 0);
}

static void be_cancelled(void *argument)
{
	int old;

	take_leave(argument);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_cancel(pthread_self());
	for (;;)
		;
}

static void stay(void *argument)
{
	struct actor *actor = argument;

	__atomic_add_fetch(&actor->mix->inside, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

/* The other threads have ended or stay in their calls. */
static void execute(void *argument)
{
	struct actor *actor = argument;
	char *const arguments[] = { "true", NULL };

	cuda_sim_write_truth();
	execve("/bin/true", arguments, actor->mix->environment);
	give_up("/bin/true cannot be executed");
}

static void leave_process(void *argument)
{
	(void)argument;
	exit(0);
}

static void leave_process_now(void *argument)
{
	(void)argument;
	cuda_sim_write_truth();
	_exit(0);
}

void death__arm(struct actor *actor, enum end end)
{
	static void (*const ways[])(void *) = {
		[END_JUMP] = jump, [END_EXIT] = leave_thread, [END_BARE] = leave_barely,
		[END_CANCEL] = be_cancelled, [END_STAY] = stay, [END_EXEC] = execute,
		[END_PROCESS_EXIT] = leave_process, [END_PROCESS_EXIT_NOW] = leave_process_now,
	};

	cuda_sim_interrupt(actor__below(actor, 4), ways[end], actor);
}

void death__disarm(void)
{
	cuda_sim_interrupt(0, NULL, NULL);
}
