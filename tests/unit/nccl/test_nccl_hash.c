// SPDX-License-Identifier: BSD-2-Clause
// commHash: values computed twice by hand from NCCL's sources, and one from NCCL's log.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nccl/hash.h"

static void mixer_of_an_id(void **state)
{
	uint8_t id[NCCL_ID_SIZE] = {0};

	(void)state;
	assert_true(nccl_hash__id(NCCL_HASHING_MIXER, id) == 0xcc976ec6c24bb53c);
	for (unsigned int i = 0; i < NCCL_ID_SIZE; i++)
		id[i] = (uint8_t)i;
	assert_true(nccl_hash__id(NCCL_HASHING_MIXER, id) == 0x6afe1cc17717e1f4);
}

/* The naive form: 33 and xor, byte by byte. */
static uint64_t djb2a(const char *text)
{
	uint64_t hash = 5381;

	for (size_t i = 0; i < NCCL_ID_SIZE; i++) {
		hash = hash * 33 ^ (uint8_t)*text;
		text += *text ? 1 : 0;
	}
	return hash;
}

static void djb2a_of_an_id(void **state)
{
	uint8_t id[NCCL_ID_SIZE] = {'a', 'b', 0xff};

	(void)state;
	assert_true(nccl_hash__id(NCCL_HASHING_DJB2, id) == djb2a("ab\xff"));
	assert_true(nccl_hash__id(NCCL_HASHING_DJB2, id) != nccl_hash__id(NCCL_HASHING_MIXER, id));
}

static void older_splits_are_text(void **state)
{
	(void)state;
	assert_true(nccl_hash__split(NCCL_HASHING_DJB2, 0x9f3ac1, 1, 7) ==
		    djb2a("00000000009f3ac1-7"));
	/* The same for each split of a colour. */
	assert_true(nccl_hash__split(NCCL_HASHING_DJB2, 0x9f3ac1, 2, 7) ==
		    djb2a("00000000009f3ac1-7"));
}

static void newer_splits_have_a_number(void **state)
{
	uint64_t parent = 0x1122334455667788;

	(void)state;
	/* Three feeds: parent, number, colour. Computed by a second program from the formula. */
	assert_true(nccl_hash__split(NCCL_HASHING_MIXER, parent, 1, 0) == 0x4bf196382bbbecf8);
	assert_true(nccl_hash__split(NCCL_HASHING_MIXER, parent, 2, 0) == 0x3ff2d93b1c0558fd);
	assert_true(nccl_hash__split(NCCL_HASHING_MIXER, parent, 1, 1) == 0x96130880b83e61d9);
}

/* Computed by a second program from NCCL's sources, 2.27.3 to 2.30.7. */
static void shrinks_and_grows(void **state)
{
	const uint8_t id[NCCL_ID_SIZE] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 9};
	uint64_t magic;

	(void)state;
	assert_true(nccl_hash__shrink(0x1122334455667788) == 0x597b8a2f18402044);
	assert_true(nccl_hash__magic(id) == 0x1122334455667788);
	magic = nccl_hash__grown_magic(0x1122334455667788, 3);
	assert_true(magic == 0xfa78e07be76dac14);
	assert_true(nccl_hash__grow(magic, 8) == 0x4d7929e03cd34e59);
}

static void versions(void **state)
{
	(void)state;
	assert_int_equal(nccl_hashing__of_version(22501), NCCL_HASHING_DJB2);
	assert_int_equal(nccl_hashing__of_version(22602), NCCL_HASHING_MIXER);
	assert_int_equal(nccl_hashing__of_version(2804), NCCL_HASHING_DJB2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mixer_of_an_id),
		cmocka_unit_test(djb2a_of_an_id),
		cmocka_unit_test(older_splits_are_text),
		cmocka_unit_test(newer_splits_have_a_number),
		cmocka_unit_test(shrinks_and_grows),
		cmocka_unit_test(versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
