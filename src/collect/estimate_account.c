// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the account of a process has missed, by function and by thread: the same calls that
 * estimate.c has shared out among kernels and tallies, so that all sums are equal.
 *
 * Functions that tallies are kept of have what these have, launches what kernels have; threads what the
 * functions of a class of time have. A thread's estimated time lies within its life, and functions have the time of threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/estimate_counters.h"
#include "model/account.h"
#include "model/api.h"

/* A counter that is given a part of an amount. */
struct portion {
	struct counter *counter; /* NULL: nothing is estimated of it */
	struct tally now;	 /* what its calls and their time are told to be */
	bool shares;		 /* in the amount; if not it is given what is its own */
	uint64_t calls, ns;	 /* given in this reading */
};

/* What threads are given, each shared out by itself. */
enum thread_amount {
	AMOUNT_LAUNCH = 0, /* calls of classes of time */
	AMOUNT_COPY,
	AMOUNT_WAIT,
	AMOUNT_CLASSES,
	AMOUNT_LAUNCHES = AMOUNT_CLASSES, /* thread_account.launches */
	AMOUNTS,
};

_Static_assert(AMOUNTS == THREAD_AMOUNTS, "process_estimates has all of them");

static const enum time_class class_of_amount[AMOUNTS] = {TIME_LAUNCH, TIME_COPY, TIME_WAIT, TIME_LAUNCH};

/* Of an account in a reading. */
struct sharing {
	struct process_estimates *own;
	struct process *process;
	struct account *account;
	const struct account_span *span;
	struct portion *functions; /* as account->functions */
	struct portion *threads;   /* of one amount: as account->threads, at the end one for all that are not listed */
	uint64_t *room_ns;	   /* of these: time outside of calls that may have been inside */
	uint64_t ns[TIME_CLASSES]; /* given to threads, and not yet to functions */
};

/* Takes in what was told. Returns the weight of those that share. */
static double weigh(struct portion *portions, size_t count)
{
	struct missed_share share = {.fade = 1};
	double weight = 0;

	for (size_t i = 0; i < count; i++)
		if (portions[i].shares && counter__fresh(portions[i].counter, &portions[i].now).calls)
			share.fade = WEIGHT_FADE;
	for (size_t i = 0; i < count; i++) {
		if (!portions[i].shares)
			continue;
		counter__weigh(portions[i].counter, &portions[i].now, &share);
		weight += portions[i].counter->calls;
	}
	return weight;
}

static void give(struct portion *portion, uint64_t calls)
{
	portion->calls += calls;
	portion->counter->missed.calls += calls;
}

/* Shares out the whole amount. Returns whether there was any that could take it. */
static bool hand_out(struct portion *portions, size_t count, uint64_t amount)
{
	double weight = weigh(portions, count), rest = 0;
	struct missed_share share = {.ratio = weight > 0 ? (double)amount / weight : 0};
	struct portion *last = NULL;

	for (size_t i = 0; i < count; i++) {
		uint64_t calls;

		if (!portions[i].shares || portions[i].counter->calls <= 0)
			continue;
		last = &portions[i];
		calls = missed_share__of(&share, last->counter->calls, &rest);
		calls = calls < amount ? calls : amount;
		give(last, calls);
		amount -= calls;
	}
	/* What rounding has left. */
	if (last)
		give(last, amount);
	return last;
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* --- functions --- */

static enum operation operation_of(const struct account_function *function)
{
	return api_functions[function->row].desc.operation;
}

static enum time_class class_of(const struct account_function *function)
{
	switch (rate_family_of((uint8_t)operation_of(function))) {
	case RATE_LAUNCH:
		return TIME_LAUNCH;
	case RATE_COPY:
		return TIME_COPY;
	default:
		return operation_of(function) == OP_WAIT ? TIME_WAIT : TIME_OTHER;
	}
}

static int begin_functions(struct sharing *sharing)
{
	for (size_t i = 0; i < sharing->account->function_count; i++) {
		const struct account_function *function = &sharing->account->functions[i];
		const struct counter_key key = {.row = function->row, .of = COUNTER_DURATION};
		struct portion *portion = &sharing->functions[i];

		portion->now = (struct tally){.calls = function->time.calls, .ns = function->time.ns};
		if (rate_family_of((uint8_t)operation_of(function)) == RATE_EXACT)
			continue;
		portion->counter = counter__of(sharing->own, &key);
		if (!portion->counter)
			return -ENOMEM;
		portion->shares = api__tally_family(function->row) == RATE_EXACT;
	}
	return 0;
}

static uint64_t missed_of_tallies(const struct process_estimates *own, uint16_t row)
{
	const struct counter *counter;
	uint64_t missed = 0;

	for (counter = own->counters; counter; counter = counter->hh.next)
		if (counter->key.of == COUNTER_TALLY && counter->key.row == row)
			missed += counter->missed.calls + counter->missed.failures;
	return missed;
}

static void take_in(struct portion *portion)
{
	bool fresh = counter__fresh(portion->counter, &portion->now).calls;
	const struct missed_share share = {.fade = fresh ? WEIGHT_FADE : 1};

	counter__weigh(portion->counter, &portion->now, &share);
}

/* Functions that tallies are kept of. */
static void give_as_tallies(struct sharing *sharing)
{
	for (size_t i = 0; i < sharing->account->function_count; i++) {
		struct portion *portion = &sharing->functions[i];
		uint64_t missed;

		if (!portion->counter || portion->shares)
			continue;
		missed = missed_of_tallies(sharing->own, sharing->account->functions[i].row);
		take_in(portion);
		give(portion, above(missed, portion->counter->missed.calls));
	}
}

/*
 * Launches whose entry was seen and whose return was not, since the probes were taken out meanwhile: kernels have
 * them, functions and threads not. Told once no more calls come: until then one may only not have returned yet.
 */
static uint64_t cut_launches(const struct sharing *sharing, uint64_t missed)
{
	const struct process *process = sharing->process;
	uint64_t returned = missed, cut;

	if (!sharing->span->over)
		return 0;
	for (size_t i = 0; i < sharing->account->function_count; i++) {
		const struct account_function *function = &sharing->account->functions[i];

		/* One call of these is several launches. */
		if (operation_of(function) == OP_LAUNCH_LIST)
			return 0;
		if (operation_of(function) == OP_LAUNCH)
			returned += function->time.calls;
	}
	cut = above(process->launches + process->captured_launches, returned);
	/* Calls are missed after each of them. */
	return cut < missed ? cut : missed;
}

/* Functions that launch kernels. */
static void give_as_kernels(struct sharing *sharing)
{
	struct process_estimates *own = sharing->own;
	uint64_t missed = own->missed_launches[0] + own->missed_launches[1], given = 0;

	own->cut_launches = cut_launches(sharing, missed);
	for (size_t i = 0; i < sharing->account->function_count; i++)
		if (sharing->functions[i].shares)
			given += sharing->functions[i].counter->missed.calls;
	hand_out(sharing->functions, sharing->account->function_count, above(missed + own->cut_launches, given));
}

/* As it is by the function's own times. */
static uint64_t usual_ns(const struct portion *portion)
{
	return portion->counter ? counter__ns(portion->counter, portion->calls) : 0;
}

static uint64_t usual_of_class(const struct sharing *sharing, enum time_class class)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < sharing->account->function_count; i++)
		if (class_of(&sharing->account->functions[i]) == class)
			ns += usual_ns(&sharing->functions[i]);
	return ns;
}

/* Functions have what threads were given, in proportion to what they usually take. */
static void give_time(struct sharing *sharing, enum time_class class)
{
	uint64_t usual = usual_of_class(sharing, class), ns = sharing->ns[class];
	struct portion *last = NULL;

	for (size_t i = 0; i < sharing->account->function_count; i++) {
		struct portion *portion = &sharing->functions[i];

		if (class_of(&sharing->account->functions[i]) != class || !usual_ns(portion))
			continue;
		last = portion;
		portion->ns = (uint64_t)((double)usual_ns(portion) * ((double)sharing->ns[class] / (double)usual));
		portion->ns = portion->ns < ns ? portion->ns : ns;
		ns -= portion->ns;
	}
	if (last)
		last->ns += ns;
}

static void end_functions(struct sharing *sharing)
{
	for (enum time_class class = 0; class < TIME_CLASSES; class ++)
		give_time(sharing, class);
	for (size_t i = 0; i < sharing->account->function_count; i++) {
		struct account_function *function = &sharing->account->functions[i];
		struct portion *portion = &sharing->functions[i];

		function->missed = function->missed_ns = 0;
		if (!portion->counter)
			continue;
		portion->counter->missed.ns += portion->ns;
		function->missed = portion->counter->missed.calls;
		function->missed_ns = portion->counter->missed.ns;
	}
}

/* --- threads --- */

/* What it has counted of the amount. */
static struct tally told_by(const struct thread_account *thread, enum thread_amount amount)
{
	const struct time_totals *time = &thread->time[class_of_amount[amount]];

	if (amount == AMOUNT_LAUNCHES)
		return (struct tally){.calls = thread->launches};
	return (struct tally){.calls = time->calls, .ns = time->ns};
}

static struct counter *thread_counter(struct process_estimates *own, const struct thread_account *thread,
				      enum thread_amount amount)
{
	struct counter_key key = {.of = COUNTER_THREAD, .what = (uint8_t)amount};
	struct counter *counter;

	if (thread) {
		key.kernels = thread->start_ns;
		key.tid = thread->tid;
	}
	counter = counter__of(own, &key);
	if (counter)
		counter->reading = own->reading;
	return counter;
}

/* A thread that is not listed any more takes along what it had told: what came since is told by the sum of all. */
static void tell_unlisted(struct sharing *sharing, enum thread_amount amount, struct portion *unlisted)
{
	const struct account *account = sharing->account;
	const struct time_totals *time = &account->unlisted_time[class_of_amount[amount]];
	struct tally all = {.calls = time->calls, .ns = time->ns}, listed = {0};
	struct tally *before = &sharing->own->told[amount];

	for (size_t i = 0; i < account->thread_count; i++) {
		const struct tally now = told_by(&account->threads[i], amount);
		const struct tally fresh = counter__fresh(sharing->threads[i].counter, &now);

		all.calls += now.calls;
		all.ns += now.ns;
		listed.calls += fresh.calls;
		listed.ns += fresh.ns;
	}
	unlisted->now.calls = unlisted->counter->weighed.calls + above(all.calls, before->calls + listed.calls);
	unlisted->now.ns = unlisted->counter->weighed.ns + above(all.ns, before->ns + listed.ns);
	*before = all;
}

static int begin_amount(struct sharing *sharing, enum thread_amount amount)
{
	size_t count = sharing->account->thread_count;

	for (size_t i = 0; i <= count; i++) {
		const struct thread_account *thread = i < count ? &sharing->account->threads[i] : NULL;
		struct portion *portion = &sharing->threads[i];

		*portion = (struct portion){.shares = true};
		portion->counter = thread_counter(sharing->own, thread, amount);
		if (!portion->counter)
			return -ENOMEM;
		if (thread)
			portion->now = told_by(thread, amount);
	}
	tell_unlisted(sharing, amount, &sharing->threads[count]);
	return 0;
}

/* All that threads are to have of it so far. */
static uint64_t amount_of(const struct sharing *sharing, enum thread_amount amount)
{
	const struct process_estimates *own = sharing->own;
	const struct counter *counter;
	uint64_t calls = 0;

	if (amount == AMOUNT_LAUNCHES) {
		for (counter = own->counters; counter; counter = counter->hh.next)
			if (counter->key.of == COUNTER_TALLY && !(counter->key.flags & TALLY_CAPTURED) &&
			    api_functions[counter->key.row].desc.operation == OP_GRAPH_LAUNCH)
				calls += counter->missed.calls + counter->missed.failures;
		return calls + own->missed_launches[0] + own->cut_launches;
	}
	for (size_t i = 0; i < sharing->account->function_count; i++)
		if (sharing->functions[i].counter &&
		    class_of(&sharing->account->functions[i]) == class_of_amount[amount])
			calls += sharing->functions[i].counter->missed.calls;
	return calls;
}

/* The time of what was given in this reading lies within their lives. */
static void take_time(struct sharing *sharing, enum thread_amount amount)
{
	for (size_t i = 0; i <= sharing->account->thread_count; i++) {
		struct portion *portion = &sharing->threads[i];

		portion->ns = counter__ns(portion->counter, portion->calls);
		portion->ns = portion->ns < sharing->room_ns[i] ? portion->ns : sharing->room_ns[i];
		portion->counter->missed.ns += portion->ns;
		sharing->room_ns[i] -= portion->ns;
		sharing->ns[class_of_amount[amount]] += portion->ns;
		sharing->own->given[amount].ns += portion->ns;
	}
}

static int share_amount(struct sharing *sharing, enum thread_amount amount)
{
	uint64_t calls = above(amount_of(sharing, amount), sharing->own->given[amount].calls);
	int ret = begin_amount(sharing, amount);
	bool shared;

	if (ret)
		return ret;
	shared = hand_out(sharing->threads, sharing->account->thread_count + 1, calls);
	sharing->own->given[amount].calls += calls;
	if (amount >= AMOUNT_CLASSES)
		return 0;
	if (shared)
		take_time(sharing, amount);
	else /* Their threads are not known. */
		sharing->ns[class_of_amount[amount]] = usual_of_class(sharing, class_of_amount[amount]);
	return 0;
}

/* Adds up what has been given of the amount in all readings, and in how much time. */
static int add_missed(struct sharing *sharing, enum thread_amount amount, size_t i, struct thread_missed *missed)
{
	const struct counter *counter = thread_counter(sharing->own, &sharing->account->threads[i], amount);

	if (!counter)
		return -ENOMEM;
	if (amount == AMOUNT_LAUNCHES)
		missed->launches = counter->missed.calls;
	else
		missed->time[class_of_amount[amount]] =
			(struct time_totals){.calls = counter->missed.calls, .ns = counter->missed.ns};
	return 0;
}

static int list_missed(struct sharing *sharing)
{
	struct account *account = sharing->account;
	int ret = 0;

	memset(account->missed, 0, account->thread_count * sizeof(*account->missed));
	for (size_t i = 0; i < account->thread_count; i++)
		for (enum thread_amount amount = 0; amount < AMOUNTS && !ret; amount++)
			ret = add_missed(sharing, amount, i, &account->missed[i]);
	for (enum thread_amount amount = 0; amount < AMOUNT_CLASSES; amount++)
		account->all_missed.time[class_of_amount[amount]] = sharing->own->given[amount];
	account->all_missed.launches = sharing->own->given[AMOUNT_LAUNCHES].calls;
	return ret;
}

static uint64_t time_ns(const struct time_totals time[TIME_CLASSES])
{
	uint64_t ns = 0;

	for (int class = 0; class < TIME_CLASSES; class ++)
		ns += time[class].ns;
	return ns;
}

/* Of each thread and of those that are not listed. */
static void find_room(struct sharing *sharing)
{
	const struct account *account = sharing->account;
	uint64_t unlisted_ns = time_ns(account->unlisted_time) + time_ns(account->all_missed.time);

	for (size_t i = 0; i < account->thread_count; i++) {
		const struct thread_account *thread = &account->threads[i];
		uint64_t missed_ns = time_ns(account->missed[i].time);
		uint64_t wall_ns = account__wall_ns(thread, sharing->span->began_ns, sharing->span->now_ns);

		sharing->room_ns[i] = above(wall_ns, account__inside_ns(thread) + missed_ns);
		unlisted_ns -= missed_ns;
	}
	sharing->room_ns[account->thread_count] = above(account->unlisted_wall_ns, unlisted_ns);
}

/* Of threads that are not listed any more; what they were given is among all. */
static void drop_gone(struct process_estimates *own)
{
	struct counter *counter, *next;

	HASH_ITER (hh, own->counters, counter, next) {
		if (counter->key.of != COUNTER_THREAD || counter->reading == own->reading)
			continue;
		HASH_DEL(own->counters, counter);
		free(counter);
	}
}

static int share_among_threads(struct sharing *sharing)
{
	int ret = list_missed(sharing);

	if (!ret)
		find_room(sharing);
	for (enum thread_amount amount = 0; amount < AMOUNTS && !ret; amount++)
		ret = share_amount(sharing, amount);
	sharing->ns[TIME_OTHER] = usual_of_class(sharing, TIME_OTHER);
	if (!ret)
		ret = list_missed(sharing);
	drop_gone(sharing->own);
	return ret;
}

/* --- both --- */

static int begin(struct sharing *sharing)
{
	struct account *account = sharing->account;
	struct thread_missed *missed = realloc(account->missed, (account->thread_count + 1) * sizeof(*missed));

	if (!missed)
		return -ENOMEM;
	account->missed = missed;
	sharing->own->reading++;
	sharing->functions = calloc(account->function_count + 1, sizeof(*sharing->functions));
	sharing->threads = calloc(account->thread_count + 1, sizeof(*sharing->threads));
	sharing->room_ns = calloc(account->thread_count + 1, sizeof(*sharing->room_ns));
	return sharing->functions && sharing->threads && sharing->room_ns ? begin_functions(sharing) : -ENOMEM;
}

static void end(struct sharing *sharing)
{
	free(sharing->functions);
	free(sharing->threads);
	free(sharing->room_ns);
}

int estimates__apply_account(struct estimates *estimates, struct process *process, const struct account_span *span)
{
	struct sharing sharing = {
		.own = estimates->of[process->slot], .process = process, .account = process->account, .span = span};
	int ret;

	if (!sharing.own)
		return 0;
	ret = begin(&sharing);
	if (!ret) {
		give_as_tallies(&sharing);
		give_as_kernels(&sharing);
		ret = share_among_threads(&sharing);
		end_functions(&sharing);
	}
	end(&sharing);
	return ret;
}
