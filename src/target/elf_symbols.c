// SPDX-License-Identifier: BSD-2-Clause
// The contents of an ELF file's symbol tables: iterates over them, finds a name, names an address.
// See elf_file.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf_internal.h"

#define CHUNK 4096
#define NAME_MAX_SIZE 16384
/*
 * Names may overlap, so a small file can hold millions of long ones. This many bytes of names are
 * read, far more than any real file has.
 */
#define NAME_BUDGET (1ull << 30)
#define INDEX_MAX (1u << 24)
/* A name's rank among those of one address is stored above its offset in the strings. */
#define RANK_SHIFT 30
#define NAME_MASK ((1u << RANK_SHIFT) - 1)
_Static_assert(ELF_STRINGS_MAX <= NAME_MASK, "offsets in strings leave room for the rank");
/* How many symbols that begin below an address are tried: small ones may be inside a larger one. */
#define BELOW_MAX 16
/*
 * How many names of one address are kept: each one that is larger than those of a better rank.
 * Files have one or two.
 */
#define SIZES_MAX 16

struct walk {
	struct elf_file *file;
	char *strings;
	uint64_t strings_size;
	uint64_t budget;
	const char *prefix;
	size_t prefix_size;
	bool objects; /* variables instead of functions */
	bool imports; /* undefined symbols; only their names are valid */
	elf_symbol_fn fn;
	void *arg;
};

static int read_strings(struct walk *walk, const struct symbol_table *table)
{
	int ret;

	walk->strings_size = table->strings_size;
	walk->strings = malloc(table->strings_size + 1);
	if (!walk->strings)
		return -ENOMEM;
	ret = elf_internal__read_all(walk->file, table->strings, walk->strings,
				     table->strings_size);
	/* Makes sure that no name runs past its strings, whatever the file says. */
	walk->strings[table->strings_size] = '\0';
	return ret;
}

/*
 * Returns the name at `offset` without @VERSION, cut in place: a name that shares its end with
 * another also shares the version. NULL for a name to skip.
 */
static const char *take_name(struct walk *walk, uint32_t offset)
{
	char *name, *end, *version;
	uint64_t room, length;

	if (offset >= walk->strings_size)
		return NULL;
	name = walk->strings + offset;
	if (strncmp(name, walk->prefix, walk->prefix_size) != 0)
		return NULL;
	room = walk->strings_size + 1 - offset;
	end = memchr(name, '\0', room < NAME_MAX_SIZE ? room : NAME_MAX_SIZE);
	length = end ? (uint64_t)(end - name) : NAME_MAX_SIZE;
	walk->budget -= walk->budget < length ? walk->budget : length;
	if (!end)
		return NULL;
	version = memchr(name, '@', length);
	if (version)
		*version = '\0';
	return *name ? name : NULL;
}

static int visit(struct walk *walk, const Elf64_Sym *entry)
{
	struct elf_symbol symbol = {0};

	/* An import need not be marked as a function. */
	if ((!walk->imports &&
	     ELF64_ST_TYPE(entry->st_info) != (walk->objects ? STT_OBJECT : STT_FUNC)) ||
	    (entry->st_shndx == SHN_UNDEF) != walk->imports)
		return 0;
	symbol.name = take_name(walk, entry->st_name);
	if (!walk->budget)
		return -EBADMSG;
	if (!symbol.name)
		return 0;
	if (walk->imports)
		return walk->fn(&symbol, walk->arg);
	/* A variable need not be in the file. */
	if (!walk->objects &&
	    !elf_internal__map(walk->file, entry->st_value, true, &symbol.file_offset))
		return 0;
	symbol.value = entry->st_value;
	symbol.size = entry->st_size;
	symbol.name_offset = entry->st_name;
	symbol.global = ELF64_ST_BIND(entry->st_info) != STB_LOCAL;
	symbol.weak = ELF64_ST_BIND(entry->st_info) == STB_WEAK;
	return walk->fn(&symbol, walk->arg);
}

static int walk_table(struct walk *walk, const struct symbol_table *table)
{
	Elf64_Sym *chunk = malloc(CHUNK * sizeof(*chunk));
	int ret = chunk ? 0 : -ENOMEM;

	for (uint64_t at = 0; !ret && at < table->count;) {
		uint64_t n = table->count - at < CHUNK ? table->count - at : CHUNK;

		ret = elf_internal__read_all(walk->file, table->symbols + at * sizeof(*chunk),
					     chunk, n * sizeof(*chunk));
		for (uint64_t i = 0; !ret && i < n; i++)
			ret = visit(walk, &chunk[i]);
		at += n;
	}
	free(chunk);
	return ret;
}

static int walk_file(struct walk *walk, enum elf_table table)
{
	const struct symbol_table *symbols = &walk->file->tables[table];
	int ret;

	if (!symbols->present)
		return 0;
	if (symbols->broken)
		return -EBADMSG;
	ret = read_strings(walk, symbols);
	if (!ret)
		ret = walk_table(walk, symbols);
	free(walk->strings);
	return ret;
}

int elf_file__each_function(struct elf_file *file, enum elf_table table, const char *prefix,
			    elf_symbol_fn fn, void *arg)
{
	struct walk walk = {
		.file = file,
		.budget = NAME_BUDGET,
		.prefix = prefix ? prefix : "",
		.prefix_size = prefix ? strlen(prefix) : 0,
		.fn = fn,
		.arg = arg,
	};

	return walk_file(&walk, table);
}

bool elf_file__has_more_symbols(const struct elf_file *file, uint64_t symbols, uint64_t name_bytes)
{
	for (size_t i = 0; i < sizeof(file->tables) / sizeof(*file->tables); i++) {
		const struct symbol_table *table = &file->tables[i];

		if (table->present && !table->broken &&
		    (table->count > symbols || table->strings_size > name_bytes))
			return true;
	}
	return false;
}

struct search {
	const char *name;
	struct elf_symbol *found;
};

static int match_name(const struct elf_symbol *symbol, void *arg)
{
	struct search *search = arg;

	if (strcmp(symbol->name, search->name) != 0)
		return 0;
	*search->found = *symbol;
	search->found->name = search->name;
	return 1;
}

int elf_file__find_function(struct elf_file *file, const char *name, struct elf_symbol *symbol)
{
	struct search search = {.name = name, .found = symbol};
	int ret = elf_file__each_function(file, ELF_TABLE_DYNAMIC, name, match_name, &search);

	if (ret <= 0)
		ret = elf_file__each_function(file, ELF_TABLE_FULL, name, match_name, &search);
	if (ret == 1)
		return 0;
	return ret < 0 ? ret : -ENOENT;
}

bool elf_file__imports(struct elf_file *file, const char *name)
{
	struct elf_symbol found = {0};
	struct search search = {.name = name, .found = &found};
	struct walk walk = {
		.file = file,
		.budget = NAME_BUDGET,
		.prefix = name,
		.prefix_size = strlen(name),
		.imports = true,
		.fn = match_name,
		.arg = &search,
	};

	return walk_file(&walk, ELF_TABLE_DYNAMIC) == 1;
}

static int find_object(struct elf_file *file, const char *name, struct elf_symbol *found)
{
	struct search search = {.name = name, .found = found};
	struct walk walk = {
		.file = file,
		.budget = NAME_BUDGET,
		.prefix = name,
		.prefix_size = strlen(name),
		.objects = true,
		.fn = match_name,
		.arg = &search,
	};
	int ret = walk_file(&walk, ELF_TABLE_DYNAMIC);

	if (ret <= 0)
		ret = walk_file(&walk, ELF_TABLE_FULL);
	if (ret == 1)
		return 0;
	return ret < 0 ? ret : -ENOENT;
}

int elf_file__find_object(struct elf_file *file, const char *name, uint64_t *value)
{
	struct elf_symbol found = {0};
	int ret = find_object(file, name, &found);

	if (!ret)
		*value = found.value;
	return ret;
}

uint64_t elf_file__object_size(struct elf_file *file, const char *name)
{
	struct elf_symbol found = {0};

	return find_object(file, name, &found) ? 0 : found.size;
}

static uint32_t rank_of(const struct elf_symbol *symbol)
{
	if (symbol->weak)
		return 2u << RANK_SHIFT;
	return symbol->global ? 0 : 1u << RANK_SHIFT;
}

static int add_to_index(const struct elf_symbol *symbol, void *arg)
{
	struct symbol_index *index = arg;

	if (index->count == index->capacity) {
		size_t capacity = index->capacity ? index->capacity * 2 : 1024;
		void *grown;

		if (capacity > INDEX_MAX)
			return -EBADMSG;
		grown = realloc(index->symbols, capacity * sizeof(*index->symbols));
		if (!grown)
			return -ENOMEM;
		index->symbols = grown;
		index->capacity = capacity;
	}
	index->symbols[index->count++] = (struct indexed_symbol){
		.value = symbol->value,
		.size = symbol->size < UINT32_MAX ? (uint32_t)symbol->size : UINT32_MAX,
		.name = symbol->name_offset | rank_of(symbol),
	};
	return 0;
}

/*
 * By the rank in the name's top bits, then by the name's offset, so that the result does not depend
 * on the order of the table.
 */
static int compare_symbols(const void *a, const void *b)
{
	const struct indexed_symbol *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/*
 * A look-up takes the first symbol at an address that is large enough, so one that is no larger
 * than an earlier one is never used.
 */
static void drop_covered(struct symbol_index *index)
{
	size_t kept = 0, same = 0; /* kept ones of this address */

	for (size_t i = 0; i < index->count; i++) {
		const struct indexed_symbol *symbol = &index->symbols[i];

		if (same && symbol->value == index->symbols[kept - 1].value) {
			if (same == SIZES_MAX || symbol->size <= index->symbols[kept - 1].size)
				continue;
			same++;
		} else {
			same = 1;
		}
		index->symbols[kept++] = *symbol;
	}
	index->count = kept;
}

/* .symtab, if there is one, includes the dynamic symbols. */
static int build_index(struct elf_file *file)
{
	struct symbol_index *index = &file->index;
	int ret;

	if (index->built)
		return 0;
	index->table = ELF_TABLE_FULL;
	ret = elf_file__each_function(file, index->table, NULL, add_to_index, index);
	if (ret == -EBADMSG || (!ret && !index->count)) {
		index->count = 0;
		index->table = ELF_TABLE_DYNAMIC;
		ret = elf_file__each_function(file, index->table, NULL, add_to_index, index);
	}
	if (ret) {
		index->count = 0;
		return ret;
	}
	if (index->count)
		qsort(index->symbols, index->count, sizeof(*index->symbols), compare_symbols);
	drop_covered(index);
	index->built = true;
	return 0;
}

static bool covers(const struct indexed_symbol *symbol, uint64_t vaddr)
{
	return vaddr - symbol->value < (symbol->size ? symbol->size : 1);
}

/*
 * Among the symbols that cover `vaddr`, the one that begins last; among those that begin there, the
 * first. NULL if there is none.
 */
static const struct indexed_symbol *search_index(const struct symbol_index *index, uint64_t vaddr)
{
	const struct indexed_symbol *symbols = index->symbols, *found = NULL;
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols[middle].value <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; low > 0 && (i < BELOW_MAX || found); i++) {
		const struct indexed_symbol *symbol = &symbols[--low];

		if (found && symbol->value != found->value)
			break;
		if (covers(symbol, vaddr))
			found = symbol;
	}
	return found;
}

int elf_file__symbol_at(struct elf_file *file, uint64_t vaddr, char **name, uint64_t *offset)
{
	const struct indexed_symbol *symbol;
	const struct symbol_table *table;
	int ret = build_index(file);

	*name = NULL;
	if (ret)
		return ret;
	symbol = search_index(&file->index, vaddr);
	if (!symbol)
		return -ENOENT;
	table = &file->tables[file->index.table];
	*name = elf_internal__string(file, table->strings + (symbol->name & NAME_MASK),
				     NAME_MAX_SIZE);
	if (!*name)
		return -ENOENT;
	(*name)[strcspn(*name, "@")] = '\0';
	*offset = vaddr - symbol->value;
	return 0;
}

size_t elf_file__index_size(const struct elf_file *file)
{
	return file->index.capacity * sizeof(*file->index.symbols);
}
