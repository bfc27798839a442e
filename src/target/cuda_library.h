/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions of the CUDA API a file holds, and where.
 *
 * The driver layer is known by what .dynsym exports. So is the runtime
 * layer; but a program may carry it inside (nvcc's default), and then its
 * functions are hidden and stand only in .symtab, if that was not stripped.
 */
#ifndef TARGET_CUDA_LIBRARY_H
#define TARGET_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "api/api.h"
#include "target/elf_file.h"
#include "target/probe_site.h"

/* A set of layers has bit LAYER_BIT(layer) for each. */
#define LAYER_BIT(layer) (1u << (layer))

/*
 * The layers that `file` implements; 0 when it is no CUDA library, or damaged.
 * Returns 0 or -ENOMEM: then it is not known.
 */
int cuda_library__layers(struct elf_file *file, unsigned int *layers);

/* How a row of api_functions[] stands to a file. */
enum row_presence {
	ROW_FOREIGN = 0, /* of a layer that the file does not implement, or a form for other majors */
	ROW_PRESENT,
	ROW_ABSENT, /* a library older or newer than the row, or stripped */
};

/*
 * Fills `rows`, one for each of api_functions[]. Returns 0 or a negative errno, as
 * cuda_library__sites.
 */
int cuda_library__rows(struct elf_file *file, enum row_presence *rows);

struct wanted_functions {
	const bool *rows; /* a flag for each row of api_functions[] */
	/*
	 * Asked for each exported function of the API (cu*, __cuda*) that the table does not
	 * know: the row to put its site under, or negative where it is not wanted. NULL: none is.
	 */
	int (*unknown)(const char *symbol, enum layer layer, void *arg);
	void *arg;
};

/*
 * The places of the wanted functions in `file`. Rows of layers that the file
 * does not implement are left alone, and so are those for other majors of the
 * runtime than the one in it (target/runtime_major.h). *sites (malloc, sorted
 * by file_offset, NULL when empty) has *count entries; *missing counts the wanted rows of the file's layers that
 * it does not have, which is normal for a library older or newer than the
 * table.
 *
 * No file offset appears twice. Where several wanted names lead to one
 * function, the site gets the row that BPF serves (it has an operation)
 * before one that it does not, then the plain name before its _ptds or
 * _ptsz form, then the later version (_v2 before the name without: its
 * arguments are the wider ones). One name at two places (symbol versions)
 * is two sites.
 *
 * Returns 0, -ENOMEM, -EIO, -EBADMSG, or -E2BIG for a file with more places than any real one.
 */
int cuda_library__sites(struct elf_file *file, const struct wanted_functions *wanted, struct probe_point **sites,
			size_t *count, size_t *missing);

/* Why that failed. */
const char *cuda_library__why(int code);

#endif
