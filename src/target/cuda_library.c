// SPDX-License-Identifier: BSD-2-Clause
// The CUDA functions of a file; see cuda_library.h.
#include "target/cuda_library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "target/runtime_major.h"

/* Common prefix of the marker functions of both layers. */
#define MARK_PREFIX "cu"
/*
 * A file may have one name at a million addresses, and each probe takes kernel memory and time to
 * attach and detach. Real files have a name once, or once per version.
 */
#define SITES_MAX (4 * MAX_FUNCTIONS)
#define UNKNOWN_MAX 65536 /* unknown names that are passed on; cuBLAS may be inside, too */

/* Functions that every implementation of a layer has; whether they are in a table. */
struct marks {
	bool cu_init, cu_alloc, cuda_malloc, cuda_launch;
};

static int note_mark(const struct elf_symbol *symbol, void *arg)
{
	struct marks *marks = arg;

	if (strcmp(symbol->name, "cuInit") == 0)
		marks->cu_init = true;
	else if (strcmp(symbol->name, "cuMemAlloc_v2") == 0)
		marks->cu_alloc = true;
	else if (strcmp(symbol->name, "cudaMalloc") == 0)
		marks->cuda_malloc = true;
	else if (strcmp(symbol->name, "cudaLaunchKernel") == 0)
		marks->cuda_launch = true;
	return 0;
}

/*
 * The full table counts for the runtime only, and only with both its marker functions: no program
 * contains a driver, but it may have a cudaMalloc of its own.
 */
int cuda_library__layers(struct elf_file *file, unsigned int *layers)
{
	struct marks exported = {0}, inside = {0};
	int ret =
		elf_file__each_function(file, ELF_TABLE_DYNAMIC, MARK_PREFIX, note_mark, &exported);

	*layers = 0;
	if (ret == -ENOMEM)
		return ret;
	if (ret)
		exported = (struct marks){0};
	if (exported.cu_init && exported.cu_alloc)
		*layers |= LAYER_BIT(LAYER_DRIVER);
	if (exported.cuda_malloc)
		*layers |= LAYER_BIT(LAYER_RUNTIME);
	if (*layers)
		return 0;
	ret = elf_file__each_function(file, ELF_TABLE_FULL, MARK_PREFIX, note_mark, &inside);
	if (!ret && inside.cuda_malloc && inside.cuda_launch)
		*layers |= LAYER_BIT(LAYER_RUNTIME);
	return ret == -ENOMEM ? ret : 0;
}

struct collection {
	struct elf_file *file;
	const struct wanted_functions *wanted;
	unsigned int layers;
	const char *base; /* of a library above CUDA: its base name; NULL for files of CUDA */
	int major;	  /* of the runtime in it */
	bool *exported;	  /* by row: found in .dynsym, so .symtab adds nothing */
	bool *found;	  /* by row */
	struct probe_point *sites;
	size_t count;
	size_t unknown; /* number passed on */
	enum elf_table table;
};

static int add_site(struct collection *collection, uint64_t file_offset, uint16_t row,
		    enum layer layer)
{
	if (collection->count == SITES_MAX)
		return -E2BIG;
	return ARRAY_APPEND(
		collection->sites, collection->count,
		(struct probe_point){.file_offset = file_offset, .row = row, .layer = layer});
}

/* The layer of a function, by its name. */
static enum layer layer_of(const char *symbol)
{
	return strncmp(symbol, "cuda", 4) && strncmp(symbol, "__cuda", 6) ? LAYER_DRIVER :
									    LAYER_RUNTIME;
}

static int collect_unknown(struct collection *collection, const struct elf_symbol *symbol)
{
	const struct wanted_functions *wanted = collection->wanted;
	enum layer layer = layer_of(symbol->name);
	int row;

	if (!wanted->unknown || collection->table != ELF_TABLE_DYNAMIC ||
	    !(collection->layers & LAYER_BIT(layer)))
		return 0;
	/* If only other majors have the form, the function still counts as known. */
	if ((strncmp(symbol->name, "cu", 2) && strncmp(symbol->name, "__cuda", 6)) ||
	    api__find(symbol->name, API_NEWEST) >= 0)
		return 0;
	if (++collection->unknown > UNKNOWN_MAX)
		return -E2BIG;
	row = wanted->unknown(symbol->name, layer, wanted->arg);
	return row < 0 ? 0 : add_site(collection, symbol->file_offset, (uint16_t)row, layer);
}

/* Whether the file may have the function, by its layer and by its name. */
static bool may_have(const struct collection *collection, const struct api_function *function)
{
	if (!(collection->layers & LAYER_BIT(function->desc.layer)))
		return false;
	return !collection->base || api__is_in_library(function, collection->base);
}

static int collect(const struct elf_symbol *symbol, void *arg)
{
	struct collection *collection = arg;
	bool dynamic = collection->table == ELF_TABLE_DYNAMIC;
	int row, ret;

	/*
	 * Names begin with "cu", "__cuda" or "nccl": skip all others quickly in a table of a
	 * million.
	 */
	if (symbol->name[0] != 'c' && symbol->name[0] != '_' && symbol->name[0] != 'n')
		return 0;
	row = api__find(symbol->name, collection->major);
	if (row < 0)
		return collect_unknown(collection, symbol);
	if (!collection->wanted->rows[row] || !may_have(collection, &api_functions[row]))
		return 0;
	if (!dynamic &&
	    (collection->exported[row] || api_functions[row].desc.layer == LAYER_DRIVER))
		return 0;
	ret = add_site(collection, symbol->file_offset, (uint16_t)row,
		       api_functions[row].desc.layer);
	if (ret)
		return ret;
	collection->found[row] = true;
	if (dynamic)
		collection->exported[row] = true;
	return 0;
}

static int collect_table(struct collection *collection, enum elf_table table)
{
	collection->table = table;
	return elf_file__each_function(collection->file, table, NULL, collect, collection);
}

/* A query counts as unwatched when names compete for a site. */
static bool is_watched(const struct api_function *function)
{
	return function->desc.operation != OP_NONE && function->desc.operation != OP_ASK;
}

/* Sorts the name to keep first if one function has two; see the header for the order. */
static int compare_rows(uint16_t x, uint16_t y)
{
	const struct api_function *a = &api_functions[x], *b = &api_functions[y];
	bool a_plain, b_plain;

	if (x >= api_function_count || y >= api_function_count)
		return x - y;
	a_plain = strcmp(a->symbol, a->base) == 0;
	b_plain = strcmp(b->symbol, b->base) == 0;
	if (is_watched(a) != is_watched(b))
		return is_watched(a) ? -1 : 1;
	if (a_plain != b_plain)
		return a_plain ? -1 : 1;
	return -strcmp(a->symbol, b->symbol);
}

static int compare_sites(const void *a, const void *b)
{
	const struct probe_point *x = a, *y = b;

	if (x->file_offset != y->file_offset)
		return x->file_offset < y->file_offset ? -1 : 1;
	return compare_rows(x->row, y->row);
}

static void keep_one_per_offset(struct collection *collection)
{
	size_t kept = 0;

	if (!collection->count)
		return;
	qsort(collection->sites, collection->count, sizeof(*collection->sites), compare_sites);
	for (size_t i = 1; i < collection->count; i++) {
		if (collection->sites[i].file_offset != collection->sites[kept].file_offset)
			collection->sites[++kept] = collection->sites[i];
	}
	collection->count = kept + 1;
}

static int look_at_code(struct collection *collection)
{
	uint8_t code[ELF_CODE_SIZE];

	for (size_t i = 0; i < collection->count; i++) {
		struct probe_point *site = &collection->sites[i];
		long n = elf_file__read(collection->file, site->file_offset, code, sizeof(code));

		if (n < 0)
			return (int)n;
		site->slow = !probe_point__is_fast(code, (size_t)n);
		site->nop5 = probe_point__is_nop5(code, (size_t)n);
	}
	return 0;
}

/* Whether the row is the form of its function for this file. */
static bool is_form(const struct collection *collection, size_t row)
{
	return api__find(api_functions[row].symbol, collection->major) == (int)row;
}

static bool is_missing(const struct collection *collection, size_t row)
{
	/* A file of CUDA need not have a library linked in. */
	if (api_functions[row].desc.layer == LAYER_LIBRARY && !collection->base)
		return false;
	return !collection->found[row] && may_have(collection, &api_functions[row]) &&
	       is_form(collection, row);
}

static size_t count_missing(const struct collection *collection)
{
	size_t missing = 0;

	for (size_t row = 0; row < api_function_count; row++)
		missing += collection->wanted->rows[row] && is_missing(collection, row);
	return missing;
}

static void release(struct collection *collection)
{
	free(collection->sites);
	free(collection->exported);
	free(collection->found);
}

/*
 * Finds the sites of wanted functions in a file that implements a layer. The caller releases
 * `collection` in any case.
 */
static int collect_file(struct collection *collection, struct elf_file *file,
			const struct wanted_functions *wanted)
{
	int ret;

	collection->file = file;
	collection->wanted = wanted;
	collection->major = collection->layers & LAYER_BIT(LAYER_RUNTIME) ?
				    runtime_major__of(file) :
				    API_NEWEST;
	collection->exported = calloc(api_function_count, sizeof(bool));
	collection->found = calloc(api_function_count, sizeof(bool));
	if (!collection->exported || !collection->found)
		return -ENOMEM;
	ret = collect_table(collection, ELF_TABLE_DYNAMIC);
	if (!ret && (collection->layers & LAYER_BIT(LAYER_RUNTIME) || collection->base))
		ret = collect_table(collection, ELF_TABLE_FULL);
	/* A damaged .symtab does not invalidate the exports. */
	return ret == -EBADMSG && collection->count ? 0 : ret;
}

const char *cuda_library__why(int code)
{
	return code == -E2BIG ? "more functions with CUDA's names than any library has" :
				strerror(-code);
}

int cuda_library__rows(struct elf_file *file, enum row_presence *rows)
{
	struct collection collection = {0};
	bool *all = calloc(api_function_count, sizeof(*all));
	const struct wanted_functions wanted = {.rows = all};
	int ret = all ? cuda_library__layers(file, &collection.layers) : -ENOMEM;

	memset(rows, 0, api_function_count * sizeof(*rows));
	if (!ret && collection.layers) {
		memset(all, true, api_function_count * sizeof(*all));
		ret = collect_file(&collection, file, &wanted);
		for (size_t row = 0; !ret && row < api_function_count; row++)
			rows[row] =
				collection.found[row] ?
					ROW_PRESENT :
					(is_missing(&collection, row) ? ROW_ABSENT : ROW_FOREIGN);
	}
	release(&collection);
	free(all);
	return ret;
}

/* Fills the results from a collection whose layers and base name are set. */
static int find_sites(struct collection *collection, struct elf_file *file,
		      const struct wanted_functions *wanted, struct probe_point **sites,
		      size_t *count, size_t *missing)
{
	int ret = collect_file(collection, file, wanted);

	keep_one_per_offset(collection);
	if (!ret)
		ret = look_at_code(collection);
	if (!ret) {
		*missing = count_missing(collection);
		*sites = collection->sites;
		*count = collection->count;
		collection->sites = NULL;
	}
	release(collection);
	return ret;
}

int cuda_library__sites(struct elf_file *file, const struct wanted_functions *wanted,
			struct probe_point **sites, size_t *count, size_t *missing)
{
	struct collection collection = {0};
	int ret = cuda_library__layers(file, &collection.layers);

	*sites = NULL;
	*count = *missing = 0;
	if (ret || !collection.layers)
		return ret;
	collection.layers |= LAYER_BIT(LAYER_LIBRARY);
	return find_sites(&collection, file, wanted, sites, count, missing);
}

int cuda_library__handle_sites(struct elf_file *file, const char *base,
			       const struct wanted_functions *wanted, struct probe_point **sites,
			       size_t *count, size_t *missing)
{
	struct collection collection = {.layers = LAYER_BIT(LAYER_LIBRARY), .base = base};

	*sites = NULL;
	*count = *missing = 0;
	return find_sites(&collection, file, wanted, sites, count, missing);
}
