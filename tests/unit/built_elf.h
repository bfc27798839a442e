/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens ELF files made by elf_builder.h. Include after cmocka.h. */
#ifndef TESTS_BUILT_ELF_H
#define TESTS_BUILT_ELF_H

#include "elf_builder.h"
#include "target/elf_file.h"

static inline struct elf_file *open_image(const struct test_image *image)
{
	struct elf_file *file;
	struct error err = {""};

	if (elf_file__open_fd(image_fd(image, image->size), "image", &file, &err))
		fail_msg("%s", err.text);
	return file;
}

static inline struct elf_file *open_built(const struct test_elf *elf)
{
	struct test_image image = build_elf(elf);
	struct elf_file *file = open_image(&image);

	free(image.bytes);
	return file;
}

#endif
