// SPDX-License-Identifier: BSD-2-Clause
// Unwinds copies of stacks with libdwfl; see unwind.h.
//
// A file becomes a module of the process's Dwfl when the first address in it is met, so the
// hundreds of files that a process maps cost nothing. Its frame information belongs to the file in
// the cache and is shared by all processes.
//
// Without frame information libdwfl guesses by the frame pointer, and it does not distinguish the
// end of a stack from an error. So each frame's information is checked before libdwfl uses it.
#include "stack/unwind.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol_cache.h"
#include "target/elf_file.h"

/* Limits of one Dwfl: when they are reached it is ended, and the next unwinding begins another. */
#define MODULES_MAX 1024
#define BYTES_MAX (256u << 20)
/* Register numbers of DWARF. */
#define REGISTER_RETURN 16
#define REGISTERS 17

/* The result of the latest memory read. */
enum reading {
	READ_NOTHING = 0,
	READ_VALUE,
	READ_ZERO,
	READ_ABOVE, /* it is above the copy */
	READ_OUTSIDE,
};

/* The state of one unwinding. */
struct walk {
	const struct stack_record *record;
	uint64_t *addresses, *interrupted;
	size_t max, count;
	bool by_signal; /* a signal interrupted the next frame */
	bool begins;	/* the latest frame is the outermost one: it has no return address */
	bool stopped;	/* `end` is known */
	enum unwind_end end;
	enum reading reading;
};

struct unwinder {
	const struct process_map *map;
	struct symbol_cache *cache;
	Dwfl *dwfl; /* NULL: none yet */
	bool attached;
	size_t modules;
	uint64_t bytes; /* of frame information in use */
	struct walk *walk;
};

/* Markers for a module's userdata. */
static char with_frames[1], without_frames[1];

struct unwinder *unwinder__new(const struct process_map *map, struct symbol_cache *cache)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->map = map;
	unwinder->cache = cache;
	return unwinder;
}

void unwinder__changed(struct unwinder *unwinder)
{
	dwfl_end(unwinder->dwfl);
	unwinder->dwfl = NULL;
	unwinder->attached = false;
	unwinder->modules = 0;
	unwinder->bytes = 0;
}

void unwinder__free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	unwinder__changed(unwinder);
	free(unwinder);
}

/* report() has put the file into the module's userdata. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	(void)module;
	(void)name;
	(void)base;
	(void)file_name;
	*elf = *userdata;
	*userdata = NULL;
	return -1;
}

static int find_no_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			     Dwarf_Addr base, const char *file_name, const char *link,
			     GElf_Word crc, char **debug_name)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	(void)debug_name;
	return -1;
}

static const Dwfl_Callbacks file_callbacks = {.find_elf = find_elf,
					      .find_debuginfo = find_no_debuginfo};

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *arg)
{
	struct walk *walk = ((struct unwinder *)arg)->walk;
	const struct stack_record *record = walk->record;
	uint64_t at = address - record->registers.sp;

	(void)dwfl;
	for (unsigned int i = 0; i < record->callers && i < STACK_CALLERS; i++) {
		if (record->caller[i].stack_address != address)
			continue;
		*value = record->caller[i].address;
		walk->reading = *value ? READ_VALUE : READ_ZERO;
		return true;
	}
	if (address < record->registers.sp || record->copied < sizeof(*value) ||
	    at > record->copied - sizeof(*value)) {
		walk->reading = address >= record->registers.sp ? READ_ABOVE : READ_OUTSIDE;
		return false;
	}
	memcpy(value, record->copy + at, sizeof(*value));
	walk->reading = *value ? READ_VALUE : READ_ZERO;
	return true;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t thread, void *arg, void **thread_arg)
{
	(void)dwfl;
	*thread_arg = arg;
	return thread == 1;
}

/* The call is before the return address, which may be beyond the end of its function. */
static Dwarf_Word first_address(const struct stack_record *record)
{
	return record->flags & STACK_INTERRUPTED ? record->registers.ip : record->registers.ip - 1;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct stack_record *record = ((struct unwinder *)arg)->walk->record;
	const struct stack_registers *registers = &record->registers;
	const struct {
		int number;
		Dwarf_Word value;
	} known[] = {
		{3, registers->bx},   {6, registers->bp},
		{7, registers->sp},   {12, registers->r12},
		{13, registers->r13}, {14, registers->r14},
		{15, registers->r15}, {REGISTER_RETURN, first_address(record)},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!dwfl_thread_state_registers(thread, known[i].number, 1, &known[i].value))
			return false;
	}
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/*
 * The address at which libdwfl lets a file begin: its first segment, aligned. Returns false if it
 * has none.
 */
static bool first_vaddr(Elf *elf, uint64_t *vaddr)
{
	GElf_Phdr segment;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment))
			return false;
		if (segment.p_type != PT_LOAD)
			continue;
		*vaddr = segment.p_vaddr & -segment.p_align;
		return true;
	}
	return false;
}

/* Where a module is in memory. */
struct extent {
	uint64_t start, end, bias;
};

/*
 * Opens the file of a mapping. Returns NULL if it has no frame information, or if it would overlap
 * another mapping.
 */
static Elf *open_module(struct unwinder *unwinder, const struct mapped_object *object,
			uint64_t address, struct extent *extent)
{
	struct symbol_file *file = process_map__file(unwinder->map, object, unwinder->cache);
	uint64_t offset = address - object->start + object->file_offset, vaddr, first, size;
	Elf *elf = file ? symbol_file__frames(file, &size) : NULL;

	if (!elf || !elf_file__offset_to_vaddr(file->elf, offset, &vaddr) ||
	    !first_vaddr(elf, &first))
		return NULL;
	extent->bias = address - vaddr;
	extent->start = extent->bias + first;
	if (extent->start > object->start ||
	    !process_map__extent(unwinder->map, object, extent->start, &extent->end))
		return NULL;
	unwinder->bytes += size;
	return elf_begin(-1, ELF_C_READ, elf);
}

/*
 * Makes the file that is mapped at `address` a module. Returns NULL if nothing is mapped there, or
 * if out of memory.
 */
static Dwfl_Module *report(struct unwinder *unwinder, uint64_t address)
{
	const struct mapped_object *object = process_map__find(unwinder->map, address);
	struct extent extent;
	GElf_Addr bias;
	Dwfl_Module *module;
	void **userdata;
	bool found;
	Elf *elf;

	if (!object || unwinder->modules == MODULES_MAX)
		return NULL;
	elf = open_module(unwinder, object, address, &extent);
	if (!elf)
		extent = (struct extent){.start = object->start, .end = object->end};
	module = dwfl_report_module(unwinder->dwfl, object->name, extent.start, extent.end);
	if (!module) {
		elf_end(elf);
		return NULL;
	}
	unwinder->modules++;
	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = elf;
	found = dwfl_module_getelf(module, &bias) && bias == extent.bias;
	*userdata = found ? with_frames : without_frames;
	return module;
}

static Dwfl_Module *find_module(struct unwinder *unwinder, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, address);
	Dwarf_Addr start, end;
	void **userdata;

	if (module) {
		dwfl_module_info(module, NULL, &start, &end, NULL, NULL, NULL, NULL);
		if (address >= end)
			module = NULL;
	}
	if (!module)
		module = report(unwinder, address);
	if (!module)
		return NULL;
	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	return *userdata == with_frames ? module : NULL;
}

/*
 * Checks what libdwfl is going to do at `address`. Returns false if there is no frame information
 * to use.
 */
static bool look_ahead(struct unwinder *unwinder, uint64_t address, bool *by_signal, bool *begins)
{
	Dwfl_Module *module = find_module(unwinder, address);
	Dwarf_Op locations[3], *operations;
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	size_t count;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;

	if (!cfi || dwarf_cfi_addrframe(cfi, address - bias, &frame))
		return false;
	dwarf_frame_info(frame, NULL, NULL, by_signal);
	*begins = !dwarf_frame_register(frame, REGISTER_RETURN, locations, &operations, &count) &&
		  !count && operations == locations;
	free(frame);
	return true;
}

static int stop(struct walk *walk, enum unwind_end end)
{
	walk->stopped = true;
	walk->end = end;
	return DWARF_CB_ABORT;
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwinder *unwinder = arg;
	struct walk *walk = unwinder->walk;
	bool was_interrupted = walk->by_signal;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return stop(walk, UNWIND_BROKEN);
	if (walk->count == walk->max)
		return stop(walk, UNWIND_FULL);
	walk->addresses[walk->count] = walk->count || was_interrupted ? pc : pc + 1;
	if (was_interrupted)
		walk->interrupted[walk->count / 64] |= 1ull << walk->count % 64;
	walk->count++;
	if (walk->count > 1 && !was_interrupted)
		pc--;
	if (!look_ahead(unwinder, pc, &walk->by_signal, &walk->begins))
		return stop(walk, UNWIND_BROKEN);
	/*
	 * The same holds for the address to which a signal handler returns: no call is before it.
	 */
	if (walk->by_signal)
		walk->interrupted[(walk->count - 1) / 64] |= 1ull << (walk->count - 1) % 64;
	walk->reading = READ_NOTHING;
	return DWARF_CB_OK;
}

/* The last thing that libdwfl reads of a frame is the return address. */
static enum unwind_end end_of(const struct walk *walk)
{
	if (walk->stopped)
		return walk->end;
	if (walk->begins || walk->reading == READ_ZERO)
		return UNWIND_WHOLE;
	return walk->reading == READ_ABOVE ? UNWIND_TRUNCATED : UNWIND_BROKEN;
}

/* Returns false if the first frame cannot be unwound. */
static bool attach(struct unwinder *unwinder, uint64_t address)
{
	Dwfl_Module *module;
	GElf_Addr bias;

	if (unwinder->attached)
		return true;
	module = find_module(unwinder, address);
	unwinder->attached =
		module && dwfl_attach_state(unwinder->dwfl, dwfl_module_getelf(module, &bias), 1,
					    &thread_callbacks, unwinder);
	return unwinder->attached;
}

int unwinder__run(struct unwinder *unwinder, const struct stack_record *record, uint64_t *addresses,
		  uint64_t *interrupted, size_t max, enum unwind_end *end)
{
	struct walk walk = {
		.record = record,
		.addresses = addresses,
		.interrupted = interrupted,
		.max = max,
		.by_signal = record->flags & STACK_INTERRUPTED,
	};

	if (!unwinder->dwfl)
		unwinder->dwfl = dwfl_begin(&file_callbacks);
	if (!unwinder->dwfl)
		return -ENOMEM;
	memset(interrupted, 0, (max + 63) / 64 * sizeof(*interrupted));
	unwinder->walk = &walk;
	if (attach(unwinder, first_address(record)))
		dwfl_getthread_frames(unwinder->dwfl, 1, take_frame, unwinder);
	unwinder->walk = NULL;
	if (!walk.count) {
		addresses[walk.count++] = record->registers.ip;
		stop(&walk, UNWIND_BROKEN);
	}
	*end = end_of(&walk);
	if (unwinder->modules == MODULES_MAX || unwinder->bytes > BYTES_MAX)
		unwinder__changed(unwinder);
	return (int)walk.count;
}
