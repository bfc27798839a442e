// SPDX-License-Identifier: BSD-2-Clause
// Pseudonyms: equal names stay equal, and no name of a model gets into an anonymous recording.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random_model.h"
#include "record/model_codec.h"
#include "record/pseudonyms.h"

#define SECRET "SeCrEt"

static void test_equal_names(void **state)
{
	struct pseudonyms *names = pseudonyms__new();

	(void)state;
	assert_string_equal(pseudonyms__of(names, "user", "ann", SIZE_MAX).text, "user-1");
	assert_string_equal(pseudonyms__of(names, "user", "bob", SIZE_MAX).text, "user-2");
	assert_string_equal(pseudonyms__of(names, "file", "bob", SIZE_MAX).text, "file-1");
	assert_string_equal(pseudonyms__of(names, "user", "annabel", 3).text, "user-1");
	assert_string_equal(pseudonyms__of(names, "user", "", SIZE_MAX).text, "");
	assert_string_equal(pseudonyms__of_function(names, "cuMemAlloc_v2").text, "cuMemAlloc_v2");
	assert_string_equal(pseudonyms__of_function(names, "train").text, "function-1");
	pseudonyms__free(names);
}

static void test_bounds(void **state)
{
	struct pseudonyms *names = pseudonyms__new();
	char name[32];

	(void)state;
	for (unsigned int i = 0; i < PSEUDONYMS_MAX + 10; i++) {
		snprintf(name, sizeof(name), "kernel %u", i);
		pseudonyms__of(names, "kernel", name, SIZE_MAX);
	}
	assert_string_equal(pseudonyms__of(names, "kernel", name, SIZE_MAX).text, "kernel-other");
	assert_string_equal(pseudonyms__of(names, "kernel", "kernel 7", SIZE_MAX).text, "kernel-8");
	pseudonyms__free(names);
}

/* Texts that are no names: of CUDA's API, of the kernel, of gpuprobe, and models of GPUs. */
static bool is_public(const struct recorded_type *type, const struct recorded_field *field)
{
	return type == &recorded_failure || !strcmp(field->name, "call_name") ||
	       !strcmp(field->name, "lack") || !strcmp(field->name, "gpu") ||
	       !strcmp(field->name, "bus_id") ||
	       (type == &recorded_gpu && !strcmp(field->name, "name"));
}

static void hide_in(const struct recorded_type *type, char *object)
{
	for (size_t i = 0; i < type->field_count; i++) {
		const struct recorded_field *field = &type->fields[i];
		char *at = object + field->offset;

		if (field->kind == FIELD_TEXT)
			snprintf(at, field->size, is_public(type, field) ? "known" : SECRET);
		else if (field->kind == FIELD_STRING)
			*(const char **)at = is_public(type, field) ? "known" : SECRET;
		else if (field->kind == FIELD_STRUCTS)
			for (uint32_t j = 0; j < field->count; j++)
				hide_in(field->type, at + j * field->type->size);
		else if (field->kind == FIELD_LIST)
			for (size_t j = 0; j < *(size_t *)(object + field->count_offset); j++)
				hide_in(field->type, *(char **)at + j * field->type->size);
		else if (field->kind == FIELD_POINTER && *(void **)at)
			hide_in(field->type, *(char **)at);
	}
}

static bool has_secret(const struct recorded_reading *reading, bool hides)
{
	struct pseudonyms *pseudonyms = pseudonyms__new();
	struct model_writer *writer;
	const uint8_t *bytes;
	size_t length;
	bool found;

	assert_int_equal(model_writer__new(&writer), 0);
	if (hides)
		model_writer__hide_names(writer, pseudonyms);
	assert_int_equal(model_writer__write(writer, reading, &bytes, &length), 0);
	found = memmem(bytes, length, SECRET, strlen(SECRET)) ||
		memmem(bytes, length, "train.py", strlen("train.py"));
	model_writer__free(writer);
	pseudonyms__free(pseudonyms);
	return found;
}

static void test_no_name_is_written(void **state)
{
	unsigned int with = 0;

	(void)state;
	for (int i = 0; i < 30; i++) {
		struct arena memory = {0};
		struct recorded_reading reading = {.model = random_model(&memory)};

		hide_in(&recorded_model, (char *)reading.model);
		with += has_secret(&reading, false);
		assert_false(has_secret(&reading, true));
		arena__clear(&memory);
	}
	assert_true(with > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_names),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_no_name_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
