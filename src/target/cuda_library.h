/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions of the CUDA API a file contains, and where.
 *
 * The driver layer is recognised by its exports in .dynsym, and so is the runtime layer. A program
 * may also have the runtime linked in (nvcc's default): then its functions are hidden and only in
 * .symtab, unless that was stripped.
 *
 * Libraries above CUDA (LAYER_LIBRARY: cuBLAS, NCCL) are recognised by their names. A file with a
 * CUDA layer may have them linked in.
 */
#ifndef TARGET_CUDA_LIBRARY_H
#define TARGET_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "api/api.h"
#include "target/elf_file.h"
#include "target/probe_point.h"

/* A set of layers has bit LAYER_BIT(layer) for each layer. */
#define LAYER_BIT(layer) (1u << (layer))

/*
 * Sets *layers to the layers of CUDA that `file` implements; 0 if it is not a CUDA library, or
 * damaged. Returns 0, or -ENOMEM if that is unknown.
 */
int cuda_library__layers(struct elf_file *file, unsigned int *layers);

/* The relation of a row of api_functions[] to a file. */
enum row_presence {
	ROW_FOREIGN = 0, /* for a layer that the file lacks, or a form for other majors */
	ROW_PRESENT,
	ROW_ABSENT, /* the library is older or newer than the row, or stripped */
};

/*
 * Fills `rows`, with one entry for each row of api_functions[]. Returns 0 or a negative errno, as
 * cuda_library__sites does.
 */
int cuda_library__rows(struct elf_file *file, enum row_presence *rows);

struct wanted_functions {
	const bool *rows; /* a flag for each row of api_functions[] */
	/*
	 * Called for each exported function of the API (cu*, __cuda*) that the table does not know.
	 * Returns the row for its site, or a negative number if it is not wanted. NULL: none is
	 * wanted.
	 */
	int (*unknown)(const char *symbol, enum layer layer, void *arg);
	void *arg;
};

/*
 * Finds the sites of the wanted functions in `file`. Skips rows of layers that the file does not
 * implement, and rows for other majors than that of the runtime in it (target/runtime_major.h).
 * *sites (malloc, sorted by file_offset, NULL if empty) has *count entries. *missing counts the
 * wanted rows of the file's layers that it does not have, which is normal for a library older or
 * newer than the table.
 *
 * No file offset appears twice. If several wanted names lead to one function, the site gets a row
 * that BPF handles (it has an operation) before one that it does not, then the plain name before
 * its _ptds or _ptsz form, then the later version (_v2 before the unversioned name, because its
 * arguments are the wider ones). One name at two addresses (symbol versions) gives two sites.
 *
 * Returns 0, -ENOMEM, -EIO, -EBADMSG, or -E2BIG for a file with more sites than any real one.
 */
int cuda_library__sites(struct elf_file *file, const struct wanted_functions *wanted,
			struct probe_point **sites, size_t *count, size_t *missing);

/*
 * The same for the functions of LAYER_LIBRARY in a file of that base name. CUDA functions that are
 * linked into it do not count.
 */
int cuda_library__handle_sites(struct elf_file *file, const char *base,
			       const struct wanted_functions *wanted, struct probe_point **sites,
			       size_t *count, size_t *missing);

/* Explains a failure of these functions. */
const char *cuda_library__why(int code);

#endif
