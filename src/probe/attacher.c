// SPDX-License-Identifier: BSD-2-Clause
// Attaches files, each once, see attacher.h.
#include "probe/attacher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "gen/gpuprobe.skel.h"
#include "model/api.h"
#include "probe/links.h"
#include "target/cuda_library.h"
#include "target/elf_file.h"
#include "target/identity.h"
#include "target/loader.h"
#include "target/proc_maps.h"
#include "target/process.h"

#define SEEN_MAX 65536 /* files remembered as looked at; then they are forgotten and looked at again */

/*
 * A file as /proc/PID/maps tells it, that needs no second look. The pair may
 * differ from the inode that is probed, but does not stand for two files at
 * once; the time of change guards against a number that was given anew.
 */
struct seen_key {
	uint64_t device;
	uint64_t inode;
	int64_t changed_s, changed_ns;
};

struct seen_file {
	struct seen_key key;
	UT_hash_handle hh;
};

struct attacher {
	struct selection selection;
	struct gpuprobe_bpf *skeleton;
	struct links *links;
	struct identity_reader *identities;
	const struct log *log;
	bool *wanted; /* by row */
	struct file_identity *files;
	size_t file_count;
	struct seen_file *seen;
	struct attacher_counts counts;
};

static void choose_rows(struct attacher *attacher)
{
	for (size_t row = 0; row < api_function_count; row++)
		attacher->wanted[row] = selection__wants(&attacher->selection, &api_functions[row].desc);
}

int attacher__new(const struct selection *selection, enum link_kind links, struct gpuprobe_bpf *skeleton,
		  const struct log *log, struct attacher **out, struct error *err)
{
	struct attacher *attacher = calloc(1, sizeof(*attacher));
	int ret;

	if (!attacher)
		return error__set(err, -ENOMEM, "out of memory");
	attacher->selection = *selection;
	attacher->log = log;
	attacher->skeleton = skeleton;
	/* Until a libcuda is met. */
	attacher->selection.no_driver = true;
	attacher->wanted = calloc(api_function_count, sizeof(*attacher->wanted));
	ret = attacher->wanted ? 0 : error__set(err, -ENOMEM, "out of memory");
	if (!ret) {
		choose_rows(attacher);
		ret = links__new(links, skeleton, &attacher->links, err);
	}
	if (!ret)
		ret = identity_reader__new(&attacher->identities, err);
	if (ret) {
		attacher__free(attacher);
		return ret;
	}
	*out = attacher;
	return 0;
}

static void forget_seen(struct attacher *attacher)
{
	struct seen_file *seen, *next;

	HASH_ITER(hh, attacher->seen, seen, next) {
		HASH_DEL(attacher->seen, seen);
		free(seen);
	}
}

void attacher__free(struct attacher *attacher)
{
	if (!attacher)
		return;
	links__free(attacher->links);
	identity_reader__free(attacher->identities);
	forget_seen(attacher);
	free(attacher->wanted);
	free(attacher->files);
	free(attacher);
}

static bool is_attached(const struct attacher *attacher, const struct file_identity *identity)
{
	for (size_t i = 0; i < attacher->file_count; i++)
		if (file_identity__equal(&attacher->files[i], identity))
			return true;
	return false;
}

static int remember_file(struct attacher *attacher, const struct file_identity *identity)
{
	struct file_identity *grown;

	grown = realloc(attacher->files, (attacher->file_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	attacher->files = grown;
	grown[attacher->file_count++] = *identity;
	return 0;
}

static void warn_of_slow_sites(const struct attacher *attacher, const char *name, const struct probe_site *sites,
			       size_t count)
{
	size_t slow = 0;
	const char *example = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!sites[i].slow)
			continue;
		if (!slow++)
			example = api_functions[sites[i].row].symbol;
	}
	if (slow)
		log__warn(attacher->log,
			  "%s: %zu of %zu functions (%s, …) begin with an instruction that the kernel must "
			  "single-step: probes there cost some 15 us a call",
			  name, slow, count, example);
}

/*
 * With the first libcuda the driver layer takes over; with launches of the
 * runtime layer probed as well (a libcudart that came before it, or by
 * choice), nested ones are told apart from then on.
 */
static void note_layers(struct attacher *attacher, unsigned int layers)
{
	if (attacher->selection.no_driver && layers & LAYER_BIT(LAYER_DRIVER)) {
		attacher->selection.no_driver = false;
		choose_rows(attacher);
	}
	if (layers & LAYER_BIT(LAYER_RUNTIME) && selection__both_layers(&attacher->selection))
		attacher->skeleton->bss->both_layers = 1;
}

/* Probes the wanted functions of a CUDA library. */
static int attach_library(struct attacher *attacher, int fd, struct elf_file *file, struct error *err)
{
	struct probe_site *sites = NULL;
	struct link_site *link_sites = NULL;
	size_t count = 0, missing = 0;
	int ret;

	ret = cuda_library__sites(file, attacher->wanted, &sites, &count, &missing);
	if (ret)
		return error__set(err, ret, "%s: cannot read its symbols: %s", elf_file__name(file), strerror(-ret));
	link_sites = calloc(count ? count : 1, sizeof(*link_sites));
	if (!link_sites) {
		ret = error__set(err, -ENOMEM, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < count; i++) {
		const struct function_desc *function = &api_functions[sites[i].row].desc;

		link_sites[i].row = sites[i].row;
		link_sites[i].file_offset = sites[i].file_offset;
		link_sites[i].wants_return = selection__wants_return(&attacher->selection, function);
	}
	ret = links__attach(attacher->links, fd, link_sites, count, err);
	if (ret) {
		error__prefix(err, ret, "%s", elf_file__name(file));
		goto out;
	}
	for (size_t i = 0; i < count; i++)
		attacher->counts.sites[api_functions[sites[i].row].desc.layer]++;
	attacher->counts.missing += missing;
	attacher->counts.libraries += count > 0;
	warn_of_slow_sites(attacher, elf_file__name(file), sites, count);
	log__info(attacher->log, "%s: %zu functions probed, %zu it does not have", elf_file__name(file), count,
		  missing);
	ret = count > 0;
out:
	free(link_sites);
	free(sites);
	return ret;
}

static int attach_loader(struct attacher *attacher, int fd, struct elf_file *file, struct error *err)
{
	struct loader_site site;
	int ret = loader__find_site(file, &site);

	if (ret)
		return error__set(err, ret, "%s: no _dl_debug_state: libraries loaded by it later are not noticed",
				  elf_file__name(file));
	ret = links__attach_loader(attacher->links, fd, site.file_offset, site.to_r_debug, err);
	if (ret)
		return error__prefix(err, ret, "%s", elf_file__name(file));
	attacher->counts.loaders++;
	log__debug(attacher->log, "%s: told of new libraries", elf_file__name(file));
	return 0;
}

/* In the order in which they are attached: what the driver layer covers, the runtime's need not. */
enum file_role { ROLE_OF_LOADER, ROLE_OF_DRIVER, ROLE_OF_LIBRARY, ROLE_OF_PROGRAM, FILE_ROLES };

/*
 * Attaches an open file, unless its inode has probes. Returns 1 for a library
 * with new probes, 0 if there was nothing to do, or a negative errno.
 */
static int attach_file(struct attacher *attacher, int fd, struct elf_file *file, enum file_role role,
		       struct error *err)
{
	unsigned int layers = role == ROLE_OF_LOADER ? 0 : cuda_library__layers(file);
	struct file_identity identity;
	int ret;

	if (role != ROLE_OF_LOADER && !layers) {
		if (role == ROLE_OF_PROGRAM)
			return 0;
		return error__set(err, -ENOEXEC, "%s: not a CUDA library: it has no functions of libcuda or libcudart",
				  elf_file__name(file));
	}
	ret = identity_reader__of_fd(attacher->identities, fd, &identity);
	if (ret)
		return error__set(err, ret, "%s: cannot tell which file the kernel would probe: %s",
				  elf_file__name(file), strerror(-ret));
	if (is_attached(attacher, &identity))
		return 0;
	note_layers(attacher, layers);
	if (role == ROLE_OF_LOADER)
		ret = attach_loader(attacher, fd, file, err);
	else
		ret = attach_library(attacher, fd, file, err);
	if (ret >= 0 && remember_file(attacher, &identity))
		return error__set(err, -ENOMEM, "out of memory");
	return ret;
}

/* Takes over `fd`. */
static int attach_fd(struct attacher *attacher, int fd, const char *name, enum file_role role, struct error *err)
{
	struct elf_file *file = NULL;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), ret;

	if (copy < 0) {
		ret = error__set(err, -errno, "%s: %s", name, strerror(errno));
		goto out;
	}
	ret = elf_file__open_fd(copy, name, &file, err);
	if (!ret)
		ret = attach_file(attacher, fd, file, role, err);
	elf_file__free(file);
out:
	close(fd);
	return ret;
}

static int open_path(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? error__set(err, -errno, "%s: %s", path, strerror(errno)) : fd;
}

int attacher__add_library(struct attacher *attacher, const char *path, struct error *err)
{
	int fd = open_path(path, err);

	return fd < 0 ? fd : attach_fd(attacher, fd, path, ROLE_OF_LIBRARY, err);
}

int attacher__add_own_loader(struct attacher *attacher, struct error *err)
{
	struct elf_file *self;
	int ret = elf_file__open("/proc/self/exe", &self, err), fd;

	if (ret)
		return ret;
	fd = elf_file__interpreter(self) ? open_path(elf_file__interpreter(self), err)
					 : error__set(err, -ENOENT, "gpuprobe has no dynamic loader");
	ret = fd < 0 ? fd : attach_fd(attacher, fd, elf_file__interpreter(self), ROLE_OF_LOADER, err);
	elf_file__free(self);
	return ret;
}

/* --- the files of a process --- */

/* A mapped file that may be attached. */
struct candidate {
	struct mapping mapping; /* its path is a copy */
	enum file_role role;
};

struct scan {
	struct attacher *attacher;
	pid_t pid;
	char program[PATH_MAX]; /* as maps shows it */
	struct candidate *candidates;
	size_t count;
	bool maps_cuda; /* the process has a file named like a CUDA library */
	int attached;
};

/* The role of a mapped file, if any is to be attached. */
static bool has_role(const struct scan *scan, const struct mapping *mapping, enum file_role *role)
{
	const char *slash = strrchr(mapping->path, '/');

	if (!mapping->executable || !mapping__is_file(mapping) || !slash)
		return false;
	if (loader__is_path(mapping->path))
		*role = ROLE_OF_LOADER;
	else if (!strncmp(slash + 1, "libcuda.so", 10))
		*role = ROLE_OF_DRIVER;
	else if (!strncmp(slash + 1, "libcuda", 7))
		*role = ROLE_OF_LIBRARY;
	else if (!strcmp(scan->program, mapping->path))
		*role = ROLE_OF_PROGRAM;
	else
		return false;
	return true;
}

static int gather(const struct mapping *mapping, void *arg)
{
	struct scan *scan = arg;
	struct candidate *grown;
	enum file_role role;

	if (!has_role(scan, mapping, &role))
		return 0;
	scan->maps_cuda |= role == ROLE_OF_DRIVER || role == ROLE_OF_LIBRARY;
	grown = realloc(scan->candidates, (scan->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	scan->candidates = grown;
	grown[scan->count].mapping = *mapping;
	grown[scan->count].role = role;
	grown[scan->count].mapping.path = strdup(mapping->path);
	return grown[scan->count++].mapping.path ? 0 : -ENOMEM;
}

/* The mapped file itself, even if its name is gone or leads elsewhere by now. */
static int open_mapping(const struct scan *scan, const struct mapping *mapping, struct error *err)
{
	char *path = mapping__map_files_path(mapping, scan->pid);
	int fd = path ? open_path(path, err) : -ENOMEM;

	free(path);
	if (fd >= 0 || mapping->deleted)
		return fd;
	/* map_files takes a capability more than reading through the process's root does. */
	path = mapping__root_path(mapping, scan->pid);
	fd = path ? open_path(path, err) : -ENOMEM;
	free(path);
	return fd;
}

static struct seen_key key_of(const struct mapping *mapping, int fd)
{
	struct seen_key key = {.device = mapping->device, .inode = mapping->inode};
	struct stat status;

	if (!fstat(fd, &status)) {
		key.changed_s = status.st_ctim.tv_sec;
		key.changed_ns = status.st_ctim.tv_nsec;
	}
	return key;
}

static bool was_seen(const struct attacher *attacher, const struct seen_key *key)
{
	struct seen_file *seen;

	HASH_FIND(hh, attacher->seen, key, sizeof(*key), seen);
	return seen;
}

static void remember_seen(struct attacher *attacher, const struct seen_key *key)
{
	struct seen_file *seen;

	if (HASH_COUNT(attacher->seen) >= SEEN_MAX)
		forget_seen(attacher);
	seen = calloc(1, sizeof(*seen));
	if (!seen)
		return; /* it is looked at again */
	seen->key = *key;
	HASH_ADD(hh, attacher->seen, key, sizeof(seen->key), seen);
}

static void attach_candidate(struct scan *scan, const struct candidate *candidate)
{
	struct attacher *attacher = scan->attacher;
	struct error error = {""};
	char name[PATH_MAX + 32];
	struct seen_key key;
	int fd = open_mapping(scan, &candidate->mapping, &error), ret;

	if (fd < 0) {
		log__debug(attacher->log, "process %d: %s", scan->pid, error.text);
		return;
	}
	key = key_of(&candidate->mapping, fd);
	if (was_seen(attacher, &key)) {
		close(fd);
		return;
	}
	snprintf(name, sizeof(name), "%s (process %d)", candidate->mapping.path, scan->pid);
	ret = attach_fd(attacher, fd, name, candidate->role, &error);
	remember_seen(attacher, &key);
	if (ret > 0)
		scan->attached++;
	else if (ret == -ENOEXEC)
		log__debug(attacher->log, "%s", error.text);
	else if (ret < 0)
		log__warn(attacher->log, "%s", error.text);
}

static void find_program(struct scan *scan)
{
	char link[64];
	ssize_t n;

	process__exe_path(scan->pid, link, sizeof(link));
	n = readlink(link, scan->program, sizeof(scan->program) - 1);
	if (n > 10 && !strncmp(scan->program + n - 10, " (deleted)", 10))
		n -= 10;
	scan->program[n > 0 ? n : 0] = '\0';
}

int attacher__add_process(struct attacher *attacher, pid_t pid, enum process_scan what)
{
	struct scan scan = {.attacher = attacher, .pid = pid};
	int ret;

	find_program(&scan);
	ret = proc_maps__each(pid, gather, &scan);
	for (int role = 0; role < FILE_ROLES; role++) {
		if (role == ROLE_OF_PROGRAM && what != SCAN_PROGRAM && !scan.maps_cuda)
			break;
		for (size_t i = 0; i < scan.count && !ret; i++)
			if (scan.candidates[i].role == (enum file_role)role)
				attach_candidate(&scan, &scan.candidates[i]);
	}
	for (size_t i = 0; i < scan.count; i++)
		free((char *)scan.candidates[i].mapping.path);
	free(scan.candidates);
	return ret ? ret : scan.attached;
}

void attacher__count(const struct attacher *attacher, struct attacher_counts *counts)
{
	*counts = attacher->counts;
}
