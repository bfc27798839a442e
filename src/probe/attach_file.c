// SPDX-License-Identifier: BSD-2-Clause
// Attaches one open file: chooses its functions and links their probes; see attacher_private.h.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/array.h"
#include "base/clock.h"
#include "probe/attacher_private.h"
#include "probe/nop5.h"
#include "target/cuda_library.h"
#include "target/elf_file.h"

#define SLOW_TOLD_MAX 16
/*
 * A file with larger tables than these gets no probes if processes on the machine map it. PyTorch's
 * largest library has smaller ones. The tables are traversed several times.
 */
#define SYMBOLS_MAX ((uint64_t)2 << 20)
#define NAME_BYTES_MAX ((uint64_t)64 << 20)

void attacher__choose_rows(struct attacher *attacher)
{
	attacher->wants_handles = false;
	for (size_t row = 0; row < api_function_count; row++) {
		attacher->wanted[row] = selection__wants(&attacher->selection, &api_functions[row]);
		attacher->wants_handles |=
			attacher->wanted[row] && api_functions[row].desc.layer == LAYER_LIBRARY;
	}
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
		/* Of libraries above CUDA few calls are watched, which take long. */
		if (!sites[i].slow || sites[i].layer == LAYER_LIBRARY)
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

void attacher__note_layers(struct attacher *attacher, unsigned int layers)
{
	if (attacher->selection.no_driver && layers & LAYER_BIT(LAYER_DRIVER)) {
		attacher->selection.no_driver = false;
		attacher__choose_rows(attacher);
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

static bool has_nccl(const struct probe_point *sites, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sites[i].layer == LAYER_LIBRARY && sites[i].row < api_function_count &&
		    !strncmp(api_functions[sites[i].row].symbol, "nccl", 4))
			return true;
	return false;
}

/*
 * Probes the wanted functions of a library, of CUDA or above; `attached` has a new number. Returns
 * 1, 0 if it has none of them, or a negative errno.
 */
static int attach_library(struct attacher *attacher, const struct open_file *open,
			  struct elf_file *file, enum file_role role,
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
	ret = role == ROLE_OF_HANDLES ?
		      cuda_library__handle_sites(file, open->base, &wanted, &sites, &count,
						 &attached->missing) :
		      cuda_library__sites(file, &wanted, &sites, &count, &attached->missing);
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
	ret = link_new(attacher, open->fd, attached, link_points, count, err);
	if (ret) {
		error__prefix(err, ret, "%s", elf_file__name(file));
		goto out;
	}
	for (size_t i = 0; i < count; i++)
		attached->sites[sites[i].layer]++;
	attached->has_nccl = has_nccl(sites, count);
	warn_of_slow_sites(attacher, elf_file__name(file), sites, count);
	log__info(attacher->log, "%s: %zu functions probed, %zu not in this library",
		  elf_file__name(file), count, attached->missing);
	ret = count > 0;
out:
	free(link_points);
	free(sites);
	return ret;
}

static bool has_exhaustion(const struct attacher *attacher, const struct link_point *sites,
			   size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (attacher->points.points[sites[i].row - TENSOR_ROW].action == TENSOR_EXHAUSTED)
			return true;
	return false;
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
	attached->says_exhaustion = has_exhaustion(attacher, sites, count);
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

/* Whether files of this role are none of CUDA's own. */
static bool is_chosen_by_name(enum file_role role)
{
	return role == ROLE_OF_ALLOCATOR || role == ROLE_OF_HANDLES;
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
	if (!is_chosen_by_name(role))
		ret = cuda_library__layers(file, &layers);
	if (ret)
		return error__set(err, ret, "%s: out of memory", elf_file__name(file));
	if (!layers && !is_chosen_by_name(role)) {
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
	attacher__note_layers(attacher, layers);
	new.number = new.links = ++attacher->last_number;
	if (layers & LAYER_BIT(LAYER_DRIVER))
		new.driver = number_driver(attacher);
	if (role == ROLE_OF_ALLOCATOR)
		ret = attach_allocator(attacher, open, file, &new, err);
	else
		ret = attach_library(attacher, open, file, role, &new, err);
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
