// SPDX-License-Identifier: BSD-2-Clause
// Judges CUDA libraries; see libraries.h.
#include "check/libraries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "api/api.h"
#include "model/model.h"
#include "probe/nop5.h"
#include "probe/selection.h"
#include "target/cuda_library.h"

#define NAMED 5 /* functions named in a line; the facts list all */

/* --- the list of them --- */

static const struct checked_library *find(const struct checked_libraries *libraries,
					  const struct elf_file *elf)
{
	const struct stat *wanted = elf_file__stat(elf);

	for (size_t i = 0; i < libraries->count; i++) {
		const struct stat *stat = elf_file__stat(libraries->libraries[i].elf);

		if (stat->st_dev == wanted->st_dev && stat->st_ino == wanted->st_ino)
			return &libraries->libraries[i];
	}
	return NULL;
}

static int append(struct checked_libraries *libraries, struct elf_file *elf, const char *path,
		  pid_t pid, unsigned int layers)
{
	struct checked_library library = {
		.path = strdup(path),
		.pid = pid,
		.elf = elf,
		.layers = layers,
		.inside = elf_file__interpreter(elf),
	};

	if (library.path && !ARRAY_APPEND(libraries->libraries, libraries->count, library))
		return 0;
	free(library.path);
	return -ENOMEM;
}

int checked_libraries__add(struct checked_libraries *libraries, struct elf_file *elf,
			   const char *path, pid_t pid, unsigned int *layers)
{
	const struct checked_library *known = find(libraries, elf);
	int ret = 0;

	*layers = known ? known->layers : 0;
	if (!known)
		ret = cuda_library__layers(elf, layers);
	if (!ret && !known && *layers) {
		ret = append(libraries, elf, path, pid, *layers);
		if (!ret)
			return 0;
	}
	elf_file__free(elf);
	return ret;
}

void checked_libraries__clear(struct checked_libraries *libraries)
{
	for (size_t i = 0; i < libraries->count; i++) {
		free(libraries->libraries[i].path);
		elf_file__free(libraries->libraries[i].elf);
	}
	free(libraries->libraries);
	*libraries = (struct checked_libraries){0};
}

const char *library_version__of(const char *path)
{
	const char *name = strrchr(path, '/'), *version;

	version = strstr(name ? name : path, ".so.");
	if (!version)
		return NULL;
	version += strlen(".so.");
	return strchr(version, '.') && version[strspn(version, "0123456789.")] == '\0' ? version :
											 NULL;
}

/* --- judging --- */

/* A list of names of which the line shows the first: "a, b and 3 more". */
struct names {
	char text[512];
	size_t count;
};

static void add_name(struct names *names, const char *name)
{
	size_t length = strlen(names->text);

	if (names->count++ < NAMED)
		snprintf(names->text + length, sizeof(names->text) - length, "%s%.90s",
			 length ? ", " : "", name);
}

static const char *end_names(struct names *names)
{
	size_t length = strlen(names->text);

	if (names->count > NAMED)
		snprintf(names->text + length, sizeof(names->text) - length, " and %zu more",
			 names->count - NAMED);
	return names->text;
}

/* The inspection of one file. */
struct inspection {
	const struct checked_library *library;
	enum row_presence *rows;
	bool *probed;	       /* by row: whether gpuprobe probes the function */
	size_t present, known; /* functions of the table for the file's layers and majors */
	struct names absent;   /* functions to probe that the file does not export */
	struct names unknown;  /* exported, but not in the table */
	struct names slow;
	struct names nop5;
	char *unknown_names; /* "a\0b\0\0", malloc */
	size_t unknown_length;
	struct probe_point *sites;
	size_t site_count;
};

static int note_unknown(const char *symbol, enum layer layer, void *arg)
{
	struct inspection *inspection = arg;
	size_t size = strlen(symbol) + 1;

	(void)layer;
	if (ARRAY_RESERVE(inspection->unknown_names, inspection->unknown_length, size))
		return -1;
	memcpy(inspection->unknown_names + inspection->unknown_length, symbol, size);
	inspection->unknown_length += size;
	add_name(&inspection->unknown, symbol);
	return -1; /* no probe is wanted */
}

static void choose_probed(struct inspection *inspection)
{
	const struct selection selection = {.sections = SECTION_ALL, .api = API_BOTH};

	for (size_t row = 0; row < api_function_count; row++)
		inspection->probed[row] = selection__wants(&selection, &api_functions[row]);
}

static void count_rows(struct inspection *inspection)
{
	for (size_t row = 0; row < api_function_count; row++) {
		inspection->known += inspection->rows[row] != ROW_FOREIGN;
		inspection->present += inspection->rows[row] == ROW_PRESENT;
		if (inspection->rows[row] == ROW_ABSENT && inspection->probed[row])
			add_name(&inspection->absent, api_functions[row].symbol);
	}
}

static int inspect(struct inspection *inspection)
{
	const struct wanted_functions wanted = {inspection->probed, note_unknown, inspection};
	struct elf_file *elf = inspection->library->elf;
	size_t missing;
	int ret = cuda_library__rows(elf, inspection->rows);

	if (ret)
		return ret;
	choose_probed(inspection);
	count_rows(inspection);
	ret = cuda_library__sites(elf, &wanted, &inspection->sites, &inspection->site_count,
				  &missing);
	for (size_t i = 0; !ret && i < inspection->site_count; i++) {
		const struct probe_point *site = &inspection->sites[i];

		if (site->slow)
			add_name(&inspection->slow, api_functions[site->row].symbol);
		if (site->nop5)
			add_name(&inspection->nop5, api_functions[site->row].symbol);
	}
	return ret;
}

/* "/usr/lib/libcuda.so.580.65.06 (version 580.65.06, libcuda.so.1)". */
struct description {
	char text[768];
};

static struct description describe(const struct checked_library *library)
{
	const char *version = library_version__of(library->path),
		   *soname = elf_file__soname(library->elf);
	struct description what;
	char of[32] = "";

	if (library->pid)
		snprintf(of, sizeof(of), " of process %d", (int)library->pid);
	if (library->inside)
		snprintf(what.text, sizeof(what.text),
			 "%.512s%s (a program with the runtime inside)", library->path, of);
	else
		snprintf(what.text, sizeof(what.text), "%.512s%s (%s%s%s%.64s)", library->path, of,
			 version ? "version " : "", version ? version : "",
			 version && soname ? ", " : "",
			 soname	 ? soname :
			 version ? "" :
				   "without a soname");
	return what;
}

static void add_facts(const struct inspection *inspection, struct check_list *list)
{
	const struct checked_library *library = inspection->library;

	check_list__text(list, "path", library->path);
	if (library->pid)
		check_list__number(list, "pid", (uint64_t)library->pid);
	check_list__text(list, "soname", elf_file__soname(library->elf));
	check_list__text(list, "version",
			 library->inside ? NULL : library_version__of(library->path));
	if (library->layers & LAYER_BIT(LAYER_DRIVER))
		check_list__text(list, "layers", "driver");
	if (library->layers & LAYER_BIT(LAYER_RUNTIME))
		check_list__text(list, "layers", "runtime");
	check_list__number(list, "functions_of_table", inspection->known);
	check_list__number(list, "functions_found", inspection->present);
	check_list__number(list, "functions_probed", inspection->site_count);
	for (size_t row = 0; row < api_function_count; row++)
		if (inspection->rows[row] == ROW_ABSENT && inspection->probed[row])
			check_list__text(list, "probed_functions_missing",
					 api_functions[row].symbol);
	for (size_t at = 0; at < inspection->unknown_length;
	     at += strlen(inspection->unknown_names + at) + 1)
		check_list__text(list, "functions_not_in_table", inspection->unknown_names + at);
}

/*
 * What the library lacks and has beyond the table: "; missing among those that gpuprobe probes:
 * a, b", "; not in the table: c".
 */
static void describe_rest(struct inspection *inspection, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	/*
	 * With a static runtime the linker only takes the functions that the program uses, so
	 * absence means nothing.
	 */
	if (inspection->absent.count && !inspection->library->inside)
		length = (size_t)snprintf(text, size,
					  "; missing among those that gpuprobe probes: %s",
					  end_names(&inspection->absent));
	if (inspection->unknown.count && length < size)
		snprintf(text + length, size - length, "; not in the table: %s",
			 end_names(&inspection->unknown));
}

static void judge_functions(struct inspection *inspection, struct check_list *list)
{
	const struct checked_library *library = inspection->library;
	const struct description what = describe(library);
	char rest[1200];

	describe_rest(inspection, rest, sizeof(rest));
	if (inspection->unknown.count && library->layers & LAYER_BIT(LAYER_DRIVER))
		check_list__lacks(
			list, "library", CHECK_DEGRADED,
			"a newer gpuprobe may know them; gpuprobe trace -e NAME shows calls of one",
			"%s: %zu of the table's %zu functions%s (calls not counted)", what.text,
			inspection->present, inspection->known, rest);
	else /* unknown functions of a runtime are still seen where they call the driver */
		check_list__ok(list, "library", "%s: %zu of the table's %zu functions%s", what.text,
			       inspection->present, inspection->known, rest);
	add_facts(inspection, list);
}

static void judge_slow(struct inspection *inspection, struct check_list *list)
{
	const struct description what = describe(inspection->library);

	if (inspection->slow.count)
		check_list__lacks(list, "slow-probes", CHECK_DEGRADED,
				  "if a program makes many such calls, use --max-overhead, or "
				  "leave them out (--memleak, trace -e)",
				  "%s: %zu of the %zu functions that the monitor probes begin with "
				  "an instruction that the kernel must single-step, "
				  "some 15 us a call: %s",
				  what.text, inspection->slow.count, inspection->site_count,
				  end_names(&inspection->slow));
	else
		check_list__ok(list, "slow-probes",
			       "%s: none; each of the %zu functions that the monitor probes begins "
			       "with an "
			       "instruction that the kernel emulates",
			       what.text, inspection->site_count);
	check_list__text(list, "path", inspection->library->path);
	if (inspection->library->pid)
		check_list__number(list, "pid", (uint64_t)inspection->library->pid);
	for (size_t i = 0; i < inspection->site_count; i++)
		if (inspection->sites[i].slow)
			check_list__text(list, "slow_functions",
					 api_functions[inspection->sites[i].row].symbol);
}

/* Reports functions that get no probe on this kernel. The line is there on other kernels too. */
static void judge_harmful(struct inspection *inspection, struct check_list *list)
{
	const struct description what = describe(inspection->library);

	if (inspection->nop5.count && nop5__is_harmful())
		check_list__lacks(
			list, "unsafe-probes", CHECK_DEGRADED,
			"use another kernel (before 6.18), or another version of the library",
			"%s: %zu functions begin with a five-byte nop, where probes kill forked "
			"children "
			"on this kernel (SIGSEGV): they get none, and their calls are not seen: %s",
			what.text, inspection->nop5.count, end_names(&inspection->nop5));
	else
		check_list__ok(list, "unsafe-probes",
			       "%s: probes are safe in every function that the monitor probes",
			       what.text);
	check_list__text(list, "path", inspection->library->path);
	if (inspection->library->pid)
		check_list__number(list, "pid", (uint64_t)inspection->library->pid);
}

static int judge_library(const struct checked_library *library, struct check_list *list)
{
	struct inspection inspection = {
		.library = library,
		.rows = calloc(api_function_count, sizeof(enum row_presence)),
		.probed = calloc(api_function_count, sizeof(bool)),
	};
	int ret = inspection.rows && inspection.probed ? inspect(&inspection) : -ENOMEM;

	/* The file had functions when it was opened, so it is being changed. */
	if (!ret && !inspection.site_count)
		ret = -EBADMSG;
	if (!ret) {
		judge_functions(&inspection, list);
		judge_slow(&inspection, list);
		judge_harmful(&inspection, list);
	} else if (ret != -ENOMEM) {
		check_list__lacks(list, "library", CHECK_MISSING,
				  "reinstall it: the file is damaged, or was just being written",
				  "%s: cannot read its symbols: %s", describe(library).text,
				  cuda_library__why(ret));
	}
	free(inspection.sites);
	free(inspection.unknown_names);
	free(inspection.rows);
	free(inspection.probed);
	return ret;
}

static bool has_driver(const struct checked_libraries *libraries)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (libraries->libraries[i].layers & LAYER_BIT(LAYER_DRIVER))
			return true;
	return false;
}

/* Says that no driver was found; a process that could not be inspected may still map one. */
static void say_no_driver(const struct looked_at *looked, struct check_list *list)
{
	if (looked->unread)
		check_list__lacks(list, "library", CHECK_MISSING, "see the lines on processes",
				  "no libcuda can be read: the loader has none, and that of %zu "
				  "process%s cannot be read",
				  looked->unread, looked->unread == 1 ? "" : "es");
	else if (looked->refused)
		check_list__lacks(list, "library", CHECK_MISSING,
				  "name the file by --libcuda-path, and see the lines on processes",
				  "no libcuda found: the loader has none, and %zu process%s could "
				  "not be inspected",
				  looked->refused, looked->refused == 1 ? "" : "es");
	else
		check_list__lacks(list, "library", CHECK_MISSING,
				  "install NVIDIA's driver, or name the file by --libcuda-path; "
				  "containers may bring their own: "
				  "check again while one runs",
				  "no libcuda: neither the loader nor %s has one",
				  looked->given ? "any of these processes" : "a running process");
}

int check_libraries__judge(const struct checked_libraries *libraries,
			   const struct looked_at *looked, struct check_list *list)
{
	int ret = 0;

	if (!has_driver(libraries))
		say_no_driver(looked, list);
	for (size_t i = 0; i < libraries->count && ret != -ENOMEM; i++)
		ret = judge_library(&libraries->libraries[i], list);
	return ret == -ENOMEM ? ret : 0;
}
