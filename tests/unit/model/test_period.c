// SPDX-License-Identifier: BSD-2-Clause
/*
 * The period of what threads submit, and its anchor. The sequences in steps/ come from real
 * programs (tests/unit/model/steps/README.md), whose own loops give the true number of steps.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/period.h"
#include "failing_memory.h"

#define FOLDER "tests/unit/model/steps/"
#define SYMBOLS 128

struct sequence {
	uint64_t *codes;
	size_t count;
};

static void add(struct sequence *sequence, uint64_t code)
{
	size_t count = sequence->count;

	/* At each power of two: under sanitizers every realloc is a copy. */
	if (!(count & (count - 1))) {
		sequence->codes = realloc(sequence->codes,
					  2 * (count ? count : 1) * sizeof(*sequence->codes));
		assert_non_null(sequence->codes);
	}
	sequence->codes[sequence->count++] = code;
}

/*
 * Lower-case letters are launches, 'H' copies to the device, 'D' to the host, 'W' waits, 'S' sets.
 */
static uint64_t code_of(char letter)
{
	switch (letter) {
	case 'H': return step_code(OP_COPY, COPY_H2D);
	case 'D': return step_code(OP_COPY, COPY_D2H);
	case 'W': return step_code(OP_WAIT, WAIT_STREAM);
	case 'S': return step_code(OP_SET, COPY_SET);
	default: return 0x7f0000000000 + (uint64_t)(unsigned char)letter * 0x140;
	}
}

static void rounds(struct sequence *sequence, const char *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (const char *at = text; *at; at++)
			add(sequence, code_of(*at));
}

static struct period find(struct sequence *sequence)
{
	size_t from = sequence->count > STEP_HISTORY ? sequence->count - STEP_HISTORY : 0;
	const uint64_t *codes = from ? sequence->codes + from : sequence->codes;
	struct period period;

	assert_int_equal(period__find(codes, sequence->count - from, NULL, 0, &period), 0);
	return period;
}

/* How often the anchor appears in the whole sequence. */
static size_t count_anchors(const struct sequence *sequence, const struct step_anchor *anchor)
{
	uint64_t context = 0;
	size_t count = 0;

	for (size_t i = 0; i < sequence->count; i++) {
		count += (size_t)step_anchor__is_at(anchor, sequence->codes[i], context);
		context = step_context(context, sequence->codes[i]);
	}
	return count;
}

static void check(struct sequence *sequence, uint32_t launches, size_t anchors)
{
	struct period period = find(sequence);

	assert_int_equal(period.launches, launches);
	if (launches)
		assert_int_equal(count_anchors(sequence, &period.anchor), anchors);
	free(sequence->codes);
	*sequence = (struct sequence){0};
}

static void equal_rounds(void **state)
{
	struct sequence sequence = {0};

	(void)state;
	check(&sequence, 0, 0);
	rounds(&sequence, "abcd", 2);
	check(&sequence, 0, 0);
	rounds(&sequence, "abcd", 3);
	check(&sequence, 4, 3);
	rounds(&sequence, "abcdefgh", 3000);
	check(&sequence, 8, 3000);
	/* Mostly one kernel, but the period is the whole round. */
	rounds(&sequence, "aaaaaaaaaaaaaaaaaaab", 30);
	check(&sequence, 20, 30);
	/* One kernel, but a wait separates the rounds. */
	rounds(&sequence, "aaaaaaaaaaaaaaaW", 30);
	check(&sequence, 15, 30);
	/* One graph per step. */
	rounds(&sequence, "HgW", 30);
	check(&sequence, 1, 30);
}

/* No repetition in a program that never submits the same sequence twice. */
static void nothing_repeats(void **state)
{
	struct sequence sequence = {0};
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		add(&sequence, code_of((char)('a' + (random >> 33) % 26)));
	}
	check(&sequence, 0, 0);
	for (uint64_t i = 0; i < 4000; i++)
		add(&sequence, 0x1000 + i);
	check(&sequence, 0, 0);
}

static void layers_are_no_steps(void **state)
{
	struct sequence sequence = {0};

	(void)state;
	for (int step = 0; step < 20; step++) {
		rounds(&sequence, "eH", 1);
		rounds(&sequence, "abcdefghij", 24);
		rounds(&sequence, "zyx", 1);
		rounds(&sequence, "qrstuvw", 24);
		rounds(&sequence, "mno", 1);
	}
	check(&sequence, 1 + 240 + 3 + 168 + 3, 20);
	/* One pass, as in decoding, and a wait for the token. */
	for (int step = 0; step < 60; step++) {
		rounds(&sequence, "e", 1);
		rounds(&sequence, "abcdefghij", 24);
		rounds(&sequence, "zyxwvutsDW", 1);
	}
	check(&sequence, 249, 60);
}

/* Nothing but layers: the input tells where a step begins. */
static void equal_layers_with_an_input(void **state)
{
	struct sequence sequence = {0};

	(void)state;
	for (int step = 0; step < 60; step++) {
		rounds(&sequence, "H", 1);
		rounds(&sequence, "abcdefghij", 24);
		rounds(&sequence, "DW", 1);
	}
	check(&sequence, 240, 60);
	/* Two more launches among as many as these do not show that it is a step. */
	for (int step = 0; step < 40; step++) {
		rounds(&sequence, "Hy", 1);
		rounds(&sequence, "abcdefghijklmnopqrst", 32);
		rounds(&sequence, "zW", 1);
	}
	check(&sequence, 642, 40);
	/* Steps with a log line after every ten of them look like layers with a wait. */
	for (int step = 0; step < 40; step++) {
		rounds(&sequence, "abcdefghijklmnopqrst", 10);
		rounds(&sequence, "DW", 1);
	}
	check(&sequence, 20, 400);
	/* Copies at irregular times begin no step. */
	for (int step = 0; step < 60; step++) {
		rounds(&sequence, "H", 1);
		rounds(&sequence, "abcdefghij", 20 + (size_t)step * 7 % 13);
	}
	assert_int_equal(find(&sequence).launches, 10);
	free(sequence.codes);
}

/*
 * Logging every few steps does not join these into one step, and an occasional event is not a step
 * by itself.
 */
static void things_in_between(void **state)
{
	struct sequence sequence = {0};

	(void)state;
	for (int i = 0; i < 40; i++) {
		rounds(&sequence, "Habcdefghijklmnopqrstuvw", 10);
		rounds(&sequence, "DW", 1);
	}
	check(&sequence, 23, 400);
	for (int i = 0; i < 10; i++) {
		rounds(&sequence, "Habcdefghijklmnopqrstuvw", 50);
		rounds(&sequence, "Habcdefgz", 8);
	}
	check(&sequence, 23, 500);
	for (int i = 0; i < 40; i++) {
		rounds(&sequence, "abcdefghijklmnop", 7);
		add(&sequence, 0x2000 + (uint64_t)i);
	}
	check(&sequence, 16, 280);
}

/*
 * Micro-batches of irregular content and number: by chance something recurs at equal distances a
 * few times. Only the micro-batches repeat.
 */
static void chance_is_no_period(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 40; seed++) {
		struct sequence sequence = {0};

		srandom(seed);
		for (int step = 0; step < 320; step++) {
			for (long batches = 2 + random() % 5; batches; batches--)
				rounds(&sequence, random() % 10 < 3 ? "abcd" : "abc", 1);
			rounds(&sequence, "efW", 1);
		}
		assert_true(find(&sequence).launches <= 4);
		free(sequence.codes);
	}
}

/* Three long rounds with extra work in each are not chance. */
static void few_rounds(void **state)
{
	struct sequence sequence = {0};

	(void)state;
	for (uint64_t step = 0; step < 4; step++) {
		for (uint64_t i = 0; i < 3000; i++) {
			add(&sequence, 0x10000 + i * i % 1021);
			if (i == 900 + 50 * step)
				add(&sequence, 0x100);
		}
		add(&sequence, code_of('W'));
	}
	check(&sequence, 3001, 4);
}

static void long_period(void **state)
{
	struct sequence sequence = {0};

	(void)state;
	for (int step = 0; step < 6; step++)
		for (uint64_t i = 0; i < 4000; i++)
			add(&sequence, 0x10000 + (i < 3000 ? i % 150 : i));
	check(&sequence, 4000, 6);
}

static void known_anchor(void **state)
{
	struct sequence sequence = {0};
	struct step_anchor known = {.code = code_of('f')};
	struct period period;

	(void)state;
	rounds(&sequence, "abcdefgh", 30);
	assert_int_equal(period__find(sequence.codes, sequence.count, &known, 1, &period), 0);
	assert_int_equal(period.anchor.code, known.code);
	free(sequence.codes);
}

/* --- the latest round --- */

static void latest_round(void **state)
{
	struct sequence sequence = {0};
	struct period period;
	size_t length = 1;
	uint64_t *round;

	(void)state;
	rounds(&sequence, "Habc", 19);
	rounds(&sequence, "Haxc", 1);
	rounds(&sequence, "H", 1);
	period = find(&sequence);
	assert_int_equal(period.anchor.code, code_of('H'));
	round = period__latest_round(sequence.codes, sequence.count, &period, &length);
	assert_non_null(round);
	assert_int_equal(length, 3);
	assert_int_equal(round[0], code_of('a'));
	assert_int_equal(round[1], code_of('x'));
	assert_int_equal(round[2], code_of('c'));
	free(round);
	free(sequence.codes);
}

#ifdef FAILING_MEMORY
/* Each allocation fails in turn: no result is better than a wrong or an outdated one. */
static void no_memory(void **state)
{
	struct sequence sequence = {0};
	struct period period;
	size_t length = 1, tries = 0;
	uint64_t *round;
	int ret;

	(void)state;
	rounds(&sequence, "abcdefgh", 30);
	do {
		allocations_left = ++tries;
		ret = period__find(sequence.codes, sequence.count, NULL, 0, &period);
		allocations_left = SIZE_MAX;
		assert_int_equal(period.launches, ret ? 0 : 8);
		assert_true(!ret || ret == -ENOMEM);
	} while (ret);
	assert_true(tries > 1);
	allocations_left = 0;
	round = period__latest_round(sequence.codes, sequence.count, &period, &length);
	allocations_left = SIZE_MAX;
	assert_null(round);
	assert_int_equal(length, 0);
	free(sequence.codes);
}
#endif

/* --- real programs --- */

static uint64_t code_of_kind(const char *kind, const char *name, char symbol)
{
	if (!strcmp(kind, "copy"))
		return step_code(OP_COPY, !strcmp(name, "H2D") ? COPY_H2D :
					  !strcmp(name, "D2H") ? COPY_D2H :
								 COPY_D2D);
	if (!strcmp(kind, "wait"))
		return step_code(OP_WAIT, WAIT_STREAM);
	return !strcmp(kind, "set") ? step_code(OP_SET, COPY_SET) : code_of(symbol) << 8;
}

/* The sequence that the `thread`th thread of the program submitted. */
static void read_program(const char *name, int thread, struct sequence *sequence)
{
	uint64_t codes[SYMBOLS] = {0};
	char path[256], line[256], kind[16], what[128], symbol;
	FILE *file;

	snprintf(path, sizeof(path), FOLDER "%s.txt", name);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) && *line != '\n') {
		assert_int_equal(sscanf(line, "%c %15s %127s", &symbol, kind, what), 3);
		codes[symbol & 0x7f] = code_of_kind(kind, what, symbol);
	}
	for (int number = -1; fgets(line, sizeof(line), file);) {
		if (!strcmp(line, "thread\n"))
			number++;
		else if (number == thread)
			for (char *at = line; *at && *at != '\n'; at++)
				add(sequence, codes[*at & 0x7f]);
	}
	fclose(file);
}

static void check_program(const char *name, int thread, uint32_t launches, size_t steps)
{
	struct sequence sequence = {0};

	read_program(name, thread, &sequence);
	assert_true(sequence.count > 1000);
	check(&sequence, launches, steps);
}

/* 30 steps of vision training, 50 and 40 of GPT-2; the second thread makes the backward passes. */
static void real_programs(void **state)
{
	(void)state;
	check_program("eager_sync_loop", 0, 147, 30);
	check_program("eager_sync_loop", 1, 230, 30);
	check_program("launch_bound_training", 0, 249, 50);
	check_program("launch_bound_training", 1, 335, 50);
	check_program("gpu_bound_training", 0, 437, 40);
	check_program("gpu_bound_training", 1, 672, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_rounds),	       cmocka_unit_test(nothing_repeats),
		cmocka_unit_test(layers_are_no_steps), cmocka_unit_test(equal_layers_with_an_input),
		cmocka_unit_test(things_in_between),   cmocka_unit_test(chance_is_no_period),
		cmocka_unit_test(few_rounds),	       cmocka_unit_test(long_period),
		cmocka_unit_test(known_anchor),	       cmocka_unit_test(latest_round),
#ifdef FAILING_MEMORY
		cmocka_unit_test(no_memory),
#endif
		cmocka_unit_test(real_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
