// SPDX-License-Identifier: BSD-2-Clause
// Images of containers in the files of their runtimes: found, of another container, damaged,
// hostile.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <stdlib.h>
#include <string.h>

#include "target/image_name.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define IMAGE "nvcr.io/nvidia/pytorch:26.10-py3"

static void expect(enum image_file file, const char *text, const char *image)
{
	char *copy = strdup(text), name[IMAGE_NAME_SIZE] = "before";
	bool found = image_name__parse(file, copy, strlen(copy), ID, name);

	free(copy);
	assert_string_equal(name, image);
	assert_int_equal(found, image[0] != '\0');
}

static void test_each_runtime(void **state)
{
	(void)state;
	expect(IMAGE_CONTAINERD,
	       "{\"ociVersion\":\"1.2.0\",\"process\":{\"args\":[\"python\"]},\"annotations\":{"
	       "\"io.kubernetes.cri.container-name\":\"trainer\","
	       "\"io.kubernetes.cri.image-name\":\"" IMAGE "\"}}",
	       IMAGE);
	expect(IMAGE_CRIO,
	       "{\"annotations\":{\"io.kubernetes.cri-o.Image\":\"0123\","
	       "\"io.kubernetes.cri-o.ImageName\":\"" IMAGE "\"}}",
	       IMAGE);
	expect(IMAGE_DOCKER,
	       "{\"ID\":\"" ID "\",\"Image\":\"sha256:0123\",\"Config\":{\"Image\":\"" IMAGE "\"}}",
	       IMAGE);
	expect(IMAGE_STORAGE,
	       "[{\"id\":\"" ID2 "\",\"metadata\":\"{\\\"image-name\\\":\\\"other\\\"}\"},"
	       "{\"id\":\"" ID "\",\"image\":\"0123\",\"metadata\":"
	       "\"{\\\"image-name\\\":\\\"" IMAGE "\\\",\\\"name\\\":\\\"eager_bell\\\"}\"}]",
	       IMAGE);
}

static void test_nothing_there(void **state)
{
	static const char *const texts[] = {
		"",
		"{}",
		"[]",
		"7",
		"{\"annotations\":7}",
		"{\"annotations\":{\"io.kubernetes.cri.image-name\":7,"
		"\"io.kubernetes.cri-o.ImageName\":[]}}",
		"{\"Config\":\"x\"}",
		"{\"Config\":{\"Image\":null}}",
		"[{\"id\":\"" ID2 "\",\"metadata\":\"{\\\"image-name\\\":\\\"other\\\"}\"}]",
		"[{\"id\":\"" ID "\"}]",
		"[{\"id\":\"" ID "\",\"metadata\":7}]",
		"[{\"id\":\"" ID "\",\"metadata\":\"{\"}]",
		"[7,[],{\"id\":{}}]",
		"{\"Config\":{\"Image\":\"" IMAGE "\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		for (int file = 0; file < IMAGE_FILES; file++)
			expect((enum image_file)file, texts[i], "");
}

static void test_names_that_are_none(void **state)
{
	char text[IMAGE_NAME_SIZE + 64], longest[IMAGE_NAME_SIZE], *at;

	(void)state;
	expect(IMAGE_DOCKER, "{\"Config\":{\"Image\":\"\"}}", "");
	expect(IMAGE_DOCKER, "{\"Config\":{\"Image\":\"a b\"}}", "");
	expect(IMAGE_DOCKER, "{\"Config\":{\"Image\":\"a\\u001b[31m\"}}", "");
	expect(IMAGE_DOCKER, "{\"Config\":{\"Image\":\"\\u00e9\"}}", "");
	at = stpcpy(text, "{\"Config\":{\"Image\":\"");
	memset(at, 'x', IMAGE_NAME_SIZE - 1);
	strcpy(at + IMAGE_NAME_SIZE - 1, "\"}}");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	expect(IMAGE_DOCKER, text, longest);
	strcpy(at + IMAGE_NAME_SIZE - 1, "x\"}}");
	expect(IMAGE_DOCKER, text, "");
}

static void test_an_unknown_container(void **state)
{
	struct image_names *names = image_names__new();

	(void)state;
	assert_non_null(names);
	for (int i = 0; i < 200; i++) {
		char id[65];

		memset(id, "0123456789abcdef"[i % 16], 64);
		id[64] = '\0';
		id[i / 16] = 'f';
		assert_string_equal(image_names__find(names, id), "");
	}
	image_names__free(names);
	image_names__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_runtime),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_names_that_are_none),
		cmocka_unit_test(test_an_unknown_container),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
