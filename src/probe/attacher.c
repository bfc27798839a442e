// SPDX-License-Identifier: BSD-2-Clause
// Attaches files, each once; see attacher.h. process_files.c finds the files of a process, and
// attach_file.c attaches one.
#include "probe/attacher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/threads.h"
#include "api/api.h"
#include "privilege/file_rights.h"
#include "probe/attacher_private.h"
#include "target/cuda_library.h"
#include "target/elf_file.h"
#include "target/proc_maps.h"
#include "target/root_file.h"

/*
 * Files with probes. Each takes descriptors, about 300 sites in the kernel, and time when gpuprobe
 * ends. A machine with a hundred containers has about three in each.
 */
#define FILES_MAX 1024
#define DESCRIPTORS_RESERVED 256 /* for maps, clients and temporarily open files */
#define DESCRIPTORS_OF_FILE 4
#define DESCRIPTORS_BY_FAMILY 12 /* if families have links of their own */
#define DESCRIPTORS_OF_ASKS 4	 /* in addition, if functions that ask for errors have links */
/*
 * Kinds of links: those apart, and last the others. The kernel takes its time to detach each link,
 * so all kinds are detached at once.
 */
#define ALL_KINDS (APART_KINDS + 1)

/* The number of files for which descriptors suffice. */
static size_t room_for_files(const struct selection *selection)
{
	rlim_t each = (selection->by_family ? DESCRIPTORS_BY_FAMILY : DESCRIPTORS_OF_FILE) +
		      (selection->asks ? DESCRIPTORS_OF_ASKS : 0);
	struct rlimit limit;
	rlim_t room;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return FILES_MAX;
	/* Try even if almost no descriptors are left; the attempt reports what is missing. */
	room = limit.rlim_cur > 2 * DESCRIPTORS_RESERVED ?
		       (limit.rlim_cur - DESCRIPTORS_RESERVED) / each :
		       limit.rlim_cur / each;
	return room < FILES_MAX ? room : FILES_MAX;
}

static int make_shares(struct attacher *attacher, struct error *err)
{
	attacher->shares = file_shares__new(room_for_files(&attacher->selection));
	return attacher->shares ? 0 : error__set(err, -ENOMEM, "out of memory");
}

static int make_hooks(struct attacher *attacher, struct error *err)
{
	enum hooks_reach reach =
		attacher->selection.of_machine ? HOOKS_OF_OWNER_ALONE : HOOKS_OF_ALL;

	attacher->hooks = hooks__new(attacher->identities, reach, attacher->log);
	return attacher->hooks ? 0 : error__set(err, -ENOMEM, "out of memory");
}

static enum rate_family rate_family(const struct function_desc *function)
{
	return rate_family_of(function->operation);
}

/* The functions that ask for errors are a family of their own. */
static enum rate_family ask_family(const struct function_desc *function)
{
	return function->operation == OP_ASK && function->kind == ASK_ERROR ? 0 : RATE_EXACT;
}

static int make_apart(struct attacher *attacher, enum link_kind links,
		      const struct probe_programs *programs, struct error *err)
{
	int ret = 0;

	if (attacher->selection.by_family)
		ret = family_links__new(links, programs, rate_family, RATE_EXACT,
					programs->unseen_until, &attacher->apart[APART_FAMILIES],
					err);
	if (!ret && attacher->selection.asks)
		ret = family_links__new(links, programs, ask_family, 1, programs->asks_unseen_until,
					&attacher->apart[APART_ASKS], err);
	return ret;
}

int attacher__new(const struct selection *selection, enum link_kind links,
		  const struct probe_programs *programs, const struct log *log,
		  struct attacher **out, struct error *err)
{
	struct attacher *attacher = calloc(1, sizeof(*attacher));
	int ret;

	if (!attacher)
		return error__set(err, -ENOMEM, "out of memory");
	attacher->selection = *selection;
	attacher->log = log;
	attacher->both_layers = programs->both_layers;
	attacher->several_drivers = programs->several_drivers;
	attacher->driver_counts = programs->driver_counts;
	attacher->points.map = programs->tensor_points;
	attacher->releases = links != LINKS_TRACEFS;
	attacher->confined_to = programs->confined_to;
	attacher->handing_over = programs->handing_over;
	attacher->handed_over_ns = programs->handed_over_ns;
	attacher->confines = links == LINKS_SESSION && !selection->of_machine;
	attacher->always_follows = links == LINKS_SESSION;
	/* Until a libcuda is found. */
	attacher->selection.no_driver = true;
	attacher->wanted = calloc(api_function_count, sizeof(*attacher->wanted));
	attacher->slow = calloc(api_function_count, sizeof(*attacher->slow));
	ret = attacher->wanted && attacher->slow ? 0 : error__set(err, -ENOMEM, "out of memory");
	if (!ret) {
		attacher__choose_rows(attacher);
		ret = links__new(links, programs, &attacher->links, err);
	}
	if (!ret && links != LINKS_TRACEFS)
		ret = make_apart(attacher, links, programs, err);
	if (!ret)
		ret = identity_reader__new(&programs->identity, &attacher->identities, err);
	if (!ret)
		ret = make_hooks(attacher, err);
	if (!ret)
		ret = make_shares(attacher, err);
	if (ret) {
		attacher__free(attacher);
		return ret;
	}
	*out = attacher;
	return 0;
}

void attacher__tell_nccl(struct attacher *attacher, attacher_nccl_fn fn, void *arg)
{
	attacher->nccl = fn;
	attacher->nccl_arg = arg;
}

void attacher__set_beside(struct attacher *attacher, struct attacher *beside)
{
	attacher->beside = beside;
}

void attacher__count_beside(const struct attacher *attacher, struct attacher_counts *counts)
{
	*counts = (struct attacher_counts){0};
	if (attacher->beside)
		attacher__count(attacher->beside, counts);
}

bool attacher__wants_tensors(const struct attacher *attacher)
{
	return attacher->selection.tensors || attacher->selection.exhaustion;
}

bool attacher__wants_handles(const struct attacher *attacher)
{
	return attacher->wants_handles || (attacher->beside && attacher->beside->wants_handles);
}

static void free_links(void *arg, unsigned int kind)
{
	struct attacher *attacher = arg;

	if (kind < APART_KINDS)
		family_links__free(attacher->apart[kind]);
	else
		links__free(attacher->links);
}

void attacher__free(struct attacher *attacher)
{
	if (!attacher)
		return;
	attacher__free(attacher->beside);
	threads__each(free_links, attacher, ALL_KINDS);
	hooks__free(attacher->hooks);
	identity_reader__free(attacher->identities);
	file_shares__free(attacher->shares);
	attacher__forget_seen(attacher);
	for (size_t i = 0; i < attacher->file_count; i++)
		attacher__forget_sites(&attacher->files[i]);
	allocator_points__clear(&attacher->points);
	for (size_t i = 0; i < DRIVERS_TOLD; i++)
		free(attacher->driver_paths[i]);
	free(attacher->wanted);
	free(attacher->slow);
	free(attacher->files);
	free(attacher);
}

void attacher__expect_process(struct attacher *attacher, pid_t pid)
{
	attacher->confines &= !attacher->expects || attacher->expected == pid;
	attacher->expects = true;
	attacher->expected = pid;
	attacher->expected_has_cuda = hooks__note_process(attacher->hooks, pid);
	if (attacher->beside)
		attacher__expect_process(attacher->beside, pid);
}

void attacher__forget_expected(struct attacher *attacher)
{
	attacher->expects = false;
	hooks__forget(attacher->hooks);
	if (attacher->beside)
		attacher__forget_expected(attacher->beside);
}

struct attached_file *attacher__find_inode(const struct attacher *attacher,
					   const struct file_identity *identity)
{
	for (size_t i = 0; i < attacher->file_count; i++)
		if (file_identity__equal(&attacher->files[i].identity, identity))
			return &attacher->files[i];
	return NULL;
}

struct attached_file *attacher__find_file(const struct attacher *attacher, uint64_t number)
{
	for (size_t i = 0; i < attacher->file_count; i++)
		if (attacher->files[i].number == number)
			return &attacher->files[i];
	return NULL;
}

void attacher__name_driver(struct attacher *attacher, const struct attached_file *file,
			   const char *path)
{
	if (!file || !file->driver)
		return;
	free(attacher->driver_paths[file->driver]);
	attacher->driver_paths[file->driver] = strdup(path);
}

const char *attacher__driver_path(const struct attacher *attacher, unsigned int driver)
{
	return driver < DRIVERS_TOLD ? attacher->driver_paths[driver] : NULL;
}

int attacher__link(struct attacher *attacher, const struct linked_file *file,
		   struct link_point *sites, size_t count, struct error *err)
{
	size_t staying = count, end;
	int ret = 0;

	for (int kind = 0; kind < APART_KINDS && !ret; kind++) {
		if (!attacher->apart[kind])
			continue;
		end = staying;
		staying = family_links__divide(attacher->apart[kind], sites, end);
		ret = family_links__add(attacher->apart[kind], file, sites + staying, end - staying,
					err);
	}
	if (!ret)
		ret = links__attach(attacher->links, file, sites, staying, err);
	if (ret)
		attacher__unlink(attacher, file->number);
	return ret;
}

struct unlinking {
	struct attacher *attacher;
	uint64_t file;
};

static void unlink_kind(void *arg, unsigned int kind)
{
	const struct unlinking *unlinking = arg;
	struct attacher *attacher = unlinking->attacher;

	if (kind == APART_KINDS)
		links__detach(attacher->links, unlinking->file);
	else if (attacher->apart[kind])
		family_links__remove(attacher->apart[kind], unlinking->file);
}

void attacher__unlink(struct attacher *attacher, uint64_t number)
{
	struct unlinking unlinking = {.attacher = attacher, .file = number};

	threads__each(unlink_kind, &unlinking, ALL_KINDS);
}

/* Opens a file to attach. Returns its descriptor or a negative errno with the reason in `err`. */
static int open_library(const char *path, struct error *err)
{
	int fd = regular_file__open(path);

	if (fd >= 0)
		return fd;
	return error__set(err, fd == -EINVAL ? -ENOEXEC : fd, "%s: %s", path, root_file__why(fd));
}

/* The caller of gpuprobe may have named the path, so their permissions apply. */
static int open_as_invoker(const char *path, struct error *err)
{
	struct file_rights rights;
	int ret = file_rights__take_invokers(&rights);

	if (ret)
		return error__set(err, ret, "%s: %s", path, strerror(-ret));
	ret = open_library(path, err);
	file_rights__give_back(&rights);
	return ret;
}

/* Keeps the file's probes, so that the next process to map it is seen from its first call. */
static int add_library(struct attacher *attacher, const char *path, struct error *err)
{
	int fd = open_as_invoker(path, err), ret;
	struct attached_file *attached;

	if (fd < 0)
		return fd;
	attacher->scanned = 0;
	attacher->claimed = false;
	attacher->user = 0;
	attacher->is_patient = false;
	ret = attacher__add_open_file(attacher, &(struct open_file){.fd = fd, .name = path},
				      ROLE_OF_LIBRARY, &attached, err);
	attacher__name_driver(attacher, attached, path);
	if (attached)
		attached->is_kept = true;
	attacher->has_unlisted |= attached && !mapping__is_named_like_cuda(path);
	return ret;
}

int attacher__add_library(struct attacher *attacher, const char *path, struct error *err)
{
	int ret = add_library(attacher, path, err);
	struct error same = {""};

	if (attacher->beside)
		add_library(attacher->beside, path, &same);
	return ret;
}

int attacher__meet_library(struct attacher *attacher, const char *path, struct error *err)
{
	struct elf_file *file = NULL;
	unsigned int layers = 0;
	int fd = open_as_invoker(path, err), ret;

	if (fd < 0)
		return fd;
	ret = elf_file__open_fd(fd, path, &file, err);
	if (ret)
		return ret;
	if (!cuda_library__layers(file, &layers) && layers & LAYER_BIT(LAYER_DRIVER)) {
		attacher__note_layers(attacher, LAYER_BIT(LAYER_DRIVER));
		if (attacher->beside)
			attacher__note_layers(attacher->beside, LAYER_BIT(LAYER_DRIVER));
	}
	elf_file__free(file);
	return 0;
}

static int watch(struct attacher *attacher, enum apart_kind kind, unsigned int families,
		 struct error *err)
{
	struct family_links *links = attacher->apart[kind];
	size_t before;
	int ret;

	if (!links)
		return error__set(err, -EOPNOTSUPP, "these probes cannot be removed separately");
	before = family_links__left_out(links);
	ret = family_links__watch(links, families, err);
	if (family_links__left_out(links) == before)
		return ret;
	attacher->counts.skipped += family_links__left_out(links) - before;
	log__warn(attacher->log,
		  "a library was changed while in use: some of its calls are no longer watched");
	return ret;
}

int attacher__watch(struct attacher *attacher, unsigned int families, struct error *err)
{
	return watch(attacher, APART_FAMILIES, families, err);
}

int attacher__watch_asks(struct attacher *attacher, bool in, struct error *err)
{
	return watch(attacher, APART_ASKS, in ? 1 : 0, err);
}

pid_t attacher__only_process(const struct attacher *attacher)
{
	return attacher->owner;
}

bool attacher__is_unfinished(const struct attacher *attacher, uint64_t *ready_ns)
{
	if (!attacher->is_unfinished && attacher->beside)
		return attacher__is_unfinished(attacher->beside, ready_ns);
	*ready_ns = file_shares__ready_ns(attacher->shares, attacher->user, clock__boot_ns());
	return attacher->is_unfinished;
}

void attacher__hurry(struct attacher *attacher, bool waits)
{
	attacher->hurries = waits;
	if (attacher->beside)
		attacher->beside->hurries = waits;
}

uint64_t attacher__reading_ns(const struct attacher *attacher)
{
	return attacher->reading_ns + (attacher->beside ? attacher->beside->reading_ns : 0);
}

void attacher__count(const struct attacher *attacher, struct attacher_counts *counts)
{
	*counts = attacher->counts;
	counts->slow = attacher->slow;
}
