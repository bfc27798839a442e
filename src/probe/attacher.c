// SPDX-License-Identifier: BSD-2-Clause
// Attaches files, each once; see attacher.h. process_files.c finds the files of a process.
#include "probe/attacher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "api/api.h"
#include "privilege/file_rights.h"
#include "probe/attacher_private.h"
#include "probe/nop5.h"
#include "target/cuda_library.h"
#include "target/elf_file.h"
#include "target/proc_maps.h"
#include "target/root_file.h"

#define SLOW_TOLD_MAX 16
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
 * A file with larger tables than these gets no probes if processes on the machine map it. PyTorch's
 * largest library has smaller ones. The tables are traversed several times.
 */
#define SYMBOLS_MAX ((uint64_t)2 << 20)
#define NAME_BYTES_MAX ((uint64_t)64 << 20)

static void choose_rows(struct attacher *attacher)
{
	for (size_t row = 0; row < api_function_count; row++)
		attacher->wanted[row] = selection__wants(&attacher->selection, &api_functions[row]);
}

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
		choose_rows(attacher);
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

void attacher__free(struct attacher *attacher)
{
	if (!attacher)
		return;
	for (int kind = 0; kind < APART_KINDS; kind++)
		family_links__free(attacher->apart[kind]);
	links__free(attacher->links);
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
}

void attacher__forget_expected(struct attacher *attacher)
{
	attacher->expects = false;
	hooks__forget(attacher->hooks);
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

/*
 * Records the slow rows. Warns about the first files only, because a library whose probes were
 * removed is attached again and again.
 */
static void warn_of_slow_sites(struct attacher *attacher, const char *name,
			       const struct probe_point *sites, size_t count)
{
	size_t slow = 0;
	const char *example = "names unknown to gpuprobe";

	for (size_t i = 0; i < count; i++) {
		if (!sites[i].slow)
			continue;
		slow++;
		if (sites[i].row >= api_function_count)
			continue;
		attacher->slow[sites[i].row] = true;
		if (slow == 1)
			example = api_functions[sites[i].row].symbol;
	}
	if (slow && attacher->slow_reported++ < SLOW_TOLD_MAX)
		log__warn(attacher->log,
			  "%s: %zu of %zu functions (%s, …) begin with an instruction that the "
			  "kernel must "
			  "single-step: probes there cost some 15 us a call",
			  name, slow, count, example);
}

/* Drops sites where a probe would do harm. Returns how many are left. */
static size_t leave_out_harmful(const struct attacher *attacher, const char *name,
				struct probe_point *sites, size_t count)
{
	const char *example = "a name unknown to gpuprobe";
	size_t kept = 0;

	if (!nop5__is_harmful())
		return count;
	for (size_t i = 0; i < count; i++) {
		if (!sites[i].nop5)
			sites[kept++] = sites[i];
		else if (sites[i].row < api_function_count)
			example = api_functions[sites[i].row].symbol;
	}
	if (kept < count)
		log__warn(attacher->log,
			  "%s: %zu of %zu functions (%s, …) begin with a five-byte nop, where "
			  "probes kill forked "
			  "children on this kernel: their calls are not seen",
			  name, count - kept, count, example);
	return kept;
}

/*
 * With the first libcuda the driver layer takes over. If launches of the runtime layer are probed
 * as well (by a libcudart that came before it, or by choice), nested launches are told apart from
 * then on.
 */
static void note_layers(struct attacher *attacher, unsigned int layers)
{
	if (attacher->selection.no_driver && layers & LAYER_BIT(LAYER_DRIVER)) {
		attacher->selection.no_driver = false;
		choose_rows(attacher);
	}
	if (attacher->both_layers && layers & LAYER_BIT(LAYER_RUNTIME) &&
	    selection__both_layers(&attacher->selection))
		*attacher->both_layers = 1;
}

/*
 * Gives a driver library its number. If there are several, calls may from then on pass from one to
 * another.
 */
static uint8_t number_driver(struct attacher *attacher)
{
	attacher->drivers++;
	if (attacher->several_drivers && attacher->drivers > 1)
		*attacher->several_drivers = 1;
	return (attacher->drivers - 1) % (DRIVERS_TOLD - 1) + 1;
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

/* Called when the driver's probes are attached: the runtime's probes saw all earlier calls. */
static void note_driver(const struct attacher *attacher, unsigned int layers)
{
	if (attacher->driver_counts && attacher->selection.api == API_AUTO &&
	    layers & LAYER_BIT(LAYER_DRIVER))
		*attacher->driver_counts = 1;
}

static bool wants_return(const struct attacher *attacher, uint16_t row)
{
	return row >= api_function_count ||
	       selection__wants_return(&attacher->selection, &api_functions[row].desc);
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

void attacher__unlink(struct attacher *attacher, uint64_t number)
{
	for (int kind = 0; kind < APART_KINDS; kind++)
		if (attacher->apart[kind])
			family_links__remove(attacher->apart[kind], number);
	links__detach(attacher->links, number);
}

/* Attaches for the one process to which probes are confined, or for all. */
static int link_new(struct attacher *attacher, int fd, struct attached_file *attached,
		    struct link_point *sites, size_t count, struct error *err)
{
	const struct linked_file linked = {
		.number = attached->links, .fd = fd, .only = attacher->owner};
	int ret = count && linked.only ? attacher__keep_sites(attached, fd, sites, count, err) : 0;

	if (ret)
		return ret;
	ret = attacher__link(attacher, &linked, sites, count, err);
	if (ret)
		attacher__forget_sites(attached);
	return ret;
}

/*
 * Probes the wanted functions of a CUDA library; `attached` has a new number. Returns 1, 0 if it
 * has none of them, or a negative errno.
 */
static int attach_library(struct attacher *attacher, int fd, struct elf_file *file,
			  struct attached_file *attached, struct error *err)
{
	const struct function_choice *choice = attacher->selection.choice;
	struct wanted_functions wanted = {.rows = attacher->wanted};
	struct probe_point *sites = NULL;
	struct link_point *link_points = NULL;
	size_t count = 0;
	int ret;

	if (choice) {
		wanted.unknown = choice->row_of_unknown;
		wanted.arg = choice->arg;
	}
	ret = cuda_library__sites(file, &wanted, &sites, &count, &attached->missing);
	if (ret)
		return error__set(err, ret, "%s: cannot read its symbols: %s", elf_file__name(file),
				  cuda_library__why(ret));
	count = leave_out_harmful(attacher, elf_file__name(file), sites, count);
	count = hooks__leave_out(attacher->hooks, file, &attached->identity, sites, count);
	link_points = calloc(count ? count : 1, sizeof(*link_points));
	if (!link_points) {
		ret = error__set(err, -ENOMEM, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < count; i++) {
		link_points[i].row = sites[i].row;
		link_points[i].driver = sites[i].layer == LAYER_DRIVER ? attached->driver : 0;
		link_points[i].file_offset = sites[i].file_offset;
		link_points[i].unfollowed = !attached->is_followed;
		link_points[i].wants_return =
			!link_points[i].unfollowed && wants_return(attacher, sites[i].row);
	}
	ret = link_new(attacher, fd, attached, link_points, count, err);
	if (ret) {
		error__prefix(err, ret, "%s", elf_file__name(file));
		goto out;
	}
	for (size_t i = 0; i < count; i++)
		attached->sites[sites[i].layer]++;
	warn_of_slow_sites(attacher, elf_file__name(file), sites, count);
	log__info(attacher->log, "%s: %zu functions probed, %zu not in this library",
		  elf_file__name(file), count, attached->missing);
	ret = count > 0;
out:
	free(link_points);
	free(sites);
	return ret;
}

/* Probes the points of an allocator. Returns 1 or a negative errno. */
static int attach_allocator(struct attacher *attacher, const struct open_file *open,
			    struct elf_file *file, struct attached_file *attached,
			    struct error *err)
{
	struct link_point *sites = NULL;
	size_t count = 0;
	int ret = allocator_points__find(&attacher->points, file, open->base, &sites, &count, err);

	if (ret)
		return ret;
	ret = link_new(attacher, open->fd, attached, sites, count, err);
	if (ret)
		error__prefix(err, ret, "%s", elf_file__name(file));
	else
		log__info(attacher->log, "%s: %zu probe points of an allocator",
			  elf_file__name(file), count);
	free(sites);
	return ret ? ret : 1;
}

void attacher__count_file(struct attacher *attacher, const struct attached_file *file, int sign)
{
	struct attacher_counts *counts = &attacher->counts;

	for (int layer = 0; layer < LAYER_COUNT; layer++)
		counts->sites[layer] += sign * (int64_t)file->sites[layer];
	counts->missing += sign * (int64_t)file->missing;
	counts->libraries += sign;
	file_shares__count(attacher->shares, file->user, sign);
}

static struct attached_file *remember(struct attacher *attacher, const struct attached_file *file)
{
	struct attached_file *kept = &attacher->files[attacher->file_count++];

	*kept = *file;
	kept->probed_ns = clock__boot_ns();
	attacher__count_file(attacher, kept, 1);
	return kept;
}

/*
 * Whether a library that was given by its path is only for the one process that runs already, which
 * may itself call CUDA. If that process has no CUDA library, its children are expected to, and must
 * be seen from their first call.
 */
static bool is_for_expected(const struct attacher *attacher, const struct file_identity *identity)
{
	return attacher->expected_has_cuda || attacher->owner ||
	       hooks__map(attacher->hooks, identity);
}

/* Attaches an open file; see attacher__add_open_file. */
static int attach_file(struct attacher *attacher, const struct open_file *open,
		       struct elf_file *file, enum file_role role, struct attached_file **attached,
		       struct error *err)
{
	struct attached_file new = {.fd = -1,
				    .user = attacher->user,
				    .is_followed = !attacher->selection.no_returns &&
						   !attacher->unfollows};
	unsigned int layers = 0;
	int ret = 0;

	if (role == ROLE_OF_ALLOCATOR)
		new.is_followed = false;
	if (attacher->is_patient && attacher->selection.of_machine &&
	    elf_file__has_more_symbols(file, SYMBOLS_MAX, NAME_BYTES_MAX))
		return error__set(err, -EFBIG,
				  "%s: too many symbols: it gets no probes unless --libcudart-path "
				  "or --libcuda-path "
				  "names it",
				  elf_file__name(file));
	if (role != ROLE_OF_ALLOCATOR)
		ret = cuda_library__layers(file, &layers);
	if (ret)
		return error__set(err, ret, "%s: out of memory", elf_file__name(file));
	if (!layers && role != ROLE_OF_ALLOCATOR) {
		if (role == ROLE_OF_PROGRAM)
			return 0;
		return error__set(
			err, -ENOEXEC,
			"%s: not a CUDA library: it has no functions of libcuda or libcudart",
			elf_file__name(file));
	}
	ret = identity_reader__of_fd(attacher->identities, open->fd, &new.identity);
	if (ret)
		return error__set(err, ret, "%s: cannot tell which file the kernel would probe: %s",
				  elf_file__name(file), strerror(-ret));
	if (open->expected && open->expected->inode &&
	    !file_identity__equal(open->expected, &new.identity))
		return error__set(err, -ESTALE, "%s: the file has been replaced meanwhile",
				  elf_file__name(file));
	if (!attacher->scanned && is_for_expected(attacher, &new.identity))
		attacher->scanned = attacher->expected;
	attacher__claim(attacher);
	*attached = attacher__find_inode(attacher, &new.identity);
	if (*attached)
		return 0;
	/* Before it has probes: one that is not remembered would get them twice. */
	if (ARRAY_RESERVE(attacher->files, attacher->file_count, 1))
		return error__set(err, -ENOMEM, "out of memory");
	note_layers(attacher, layers);
	new.number = new.links = ++attacher->last_number;
	if (layers & LAYER_BIT(LAYER_DRIVER))
		new.driver = number_driver(attacher);
	if (role == ROLE_OF_ALLOCATOR)
		ret = attach_allocator(attacher, open, file, &new, err);
	else
		ret = attach_library(attacher, open->fd, file, &new, err);
	if (ret > 0)
		note_driver(attacher, layers);
	/*
	 * A file without probes is not remembered: nothing pins its inode, and another inode might
	 * get its address.
	 */
	if (ret > 0)
		*attached = remember(attacher, &new);
	return ret;
}

int attacher__add_open_file(struct attacher *attacher, const struct open_file *open,
			    enum file_role role, struct attached_file **attached, struct error *err)
{
	struct elf_file *file = NULL;
	int copy = fcntl(open->fd, F_DUPFD_CLOEXEC, 3), ret;

	*attached = NULL;
	if (copy < 0) {
		ret = error__set(err, -errno, "%s: %s", open->name, strerror(errno));
		goto out;
	}
	ret = elf_file__open_fd(copy, open->name, &file, err);
	if (!ret)
		ret = attach_file(attacher, open, file, role, attached, err);
	elf_file__free(file);
out:
	close(open->fd);
	return ret;
}

int attacher__open(const char *path, struct error *err)
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
	ret = attacher__open(path, err);
	file_rights__give_back(&rights);
	return ret;
}

/* Keeps the file's probes, so that the next process to map it is seen from its first call. */
int attacher__add_library(struct attacher *attacher, const char *path, struct error *err)
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
	if (!cuda_library__layers(file, &layers) && layers & LAYER_BIT(LAYER_DRIVER))
		note_layers(attacher, LAYER_BIT(LAYER_DRIVER));
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
	*ready_ns = file_shares__ready_ns(attacher->shares, attacher->user, clock__boot_ns());
	return attacher->is_unfinished;
}

void attacher__hurry(struct attacher *attacher, bool waits)
{
	attacher->hurries = waits;
}

uint64_t attacher__reading_ns(const struct attacher *attacher)
{
	return attacher->reading_ns;
}

void attacher__count(const struct attacher *attacher, struct attacher_counts *counts)
{
	*counts = attacher->counts;
	counts->slow = attacher->slow;
}
