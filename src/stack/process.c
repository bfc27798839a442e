// SPDX-License-Identifier: BSD-2-Clause
// The processes of the stacks; see process.h.
#include "stack/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "stack/code_map.h"
#include "stack/intake.h"
#include "target/proc.h"

#define PROCESSES_MAX 1024 /* at the limit, the least recently used process is dropped */
/*
 * Limit of mappings and JIT names. Above it, those of the least recently used process are dropped,
 * and read again when needed.
 */
#define BYTES_MAX (256u << 20)
#define START_PRECISION_NS 20000000 /* /proc gives a start in clock ticks */
#define REREAD_NS NS_PER_S	    /* maximum pause before reading again for an address */
/* The initial pause. It doubles after each reading that did not help, up to REREAD_NS. */
#define REREAD_FIRST_NS (10 * NS_PER_MS)
/*
 * A program may map tens of thousands of files, list a million JIT functions, and have many
 * processes. Readings take at most a tenth of the time for each process, and for all expensive ones
 * together.
 */
#define READING_LONG_NS (20 * NS_PER_MS)
#define READING_PAUSE 10
#define DEBT_MAX_NS (20 * NS_PER_MS) /* below this debt a change of code is followed at once */
#define SEARCH_NS (100 * NS_PER_MS)  /* between searches for an interpreter that is being loaded */

struct stack_processes {
	enum stack_mode mode;
	const struct stack_hooks *hooks;
	struct stack_intake *intake;
	struct memory_reader *memory;
	const struct log *log;
	struct native_frames *frames;
	struct stack_process *list; /* in order of last use */
	size_t bytes;		    /* of all processes */
	uint64_t rests_until_ns;    /* no expensive reading of mappings before this time */
	uint32_t numbers;
};

struct stack_processes *stack_processes__new(enum stack_mode mode, const struct stack_hooks *hooks,
					     struct stack_intake *intake,
					     struct memory_reader *memory, const struct log *log)
{
	struct stack_processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return NULL;
	processes->mode = mode;
	processes->hooks = hooks;
	processes->intake = intake;
	processes->memory = memory;
	processes->log = log;
	processes->frames = native_frames__new(true, log);
	if (processes->frames)
		return processes;
	free(processes);
	return NULL;
}

static struct python_owner owner_of(const struct stack_process *process)
{
	return (struct python_owner){
		.start_ns = process->start_ns, .pid = process->pid, .number = process->number};
}

/* The process has no Python frames any more. */
static void forget_python(struct stack_processes *processes, struct stack_process *process)
{
	const struct python_owner owner = owner_of(process);

	if (process->search != PYTHON_FOUND)
		return;
	if (processes->hooks->set_python)
		processes->hooks->set_python(processes->hooks->arg, process->pid, NULL);
	stack_intake__set_python(processes->intake, &owner, NULL);
	process->search = PYTHON_NOT_FOUND;
}

static void free_process(struct stack_processes *processes, struct stack_process *process)
{
	processes->bytes -= process->bytes;
	unwinder__free(process->unwinder);
	native_process__free(process->native);
	free(process);
}

static void release(struct stack_processes *processes, struct stack_process *process)
{
	HASH_DEL(processes->list, process);
	free_process(processes, process);
}

static bool reports_code(const struct stack_processes *processes)
{
	bool copies = processes->mode == STACK_DWARF || processes->mode == STACK_AUTO;

	return (copies || processes->hooks->always_code) && processes->hooks->set_code;
}

/* The map has no room for the code of all processes that ever existed. */
static void forget_code(struct stack_processes *processes, struct stack_process *process)
{
	if (reports_code(processes))
		processes->hooks->set_code(processes->hooks->arg, process->pid, NULL);
	process->code_reported = false;
}

static void drop(struct stack_processes *processes, struct stack_process *process)
{
	forget_python(processes, process);
	forget_code(processes, process);
	release(processes, process);
}

void stack_processes__free(struct stack_processes *processes)
{
	struct stack_process *process, *next;

	if (!processes)
		return;
	HASH_ITER (hh, processes->list, process, next) {
		release(processes, process);
	}
	native_frames__free(processes->frames);
	free(processes);
}

struct native_frames *stack_processes__frames(struct stack_processes *processes)
{
	return processes->frames;
}

struct memory_reader *stack_processes__memory(struct stack_processes *processes)
{
	return processes->memory;
}

bool stack_process__is_same_start(uint64_t a, uint64_t b)
{
	return a + START_PRECISION_NS > b && b + START_PRECISION_NS > a;
}

bool stack_process__is_there(pid_t pid, uint64_t start_ns)
{
	struct process_info info;

	return !proc__info(pid, &info) && stack_process__is_same_start(start_ns, info.start_ns);
}

static void report_code(struct stack_processes *processes, struct stack_process *process)
{
	struct code_map map;
	unsigned int hash;

	if (!reports_code(processes))
		return;
	code_map__make(native_process__map(process->native), &map);
	hash = hash__of(&map, sizeof(map));
	if (process->code_reported && hash == process->code_hash)
		return;
	process->code_hash = hash;
	process->code_reported =
		!processes->hooks->set_code(processes->hooks->arg, process->pid, &map);
}

/* Drops all mappings. */
static void forget_mappings(struct stack_processes *processes, struct stack_process *process)
{
	struct native_process *native = native_process__new(process->pid);

	if (!native)
		return;
	unwinder__free(process->unwinder);
	process->unwinder = NULL;
	native_process__free(process->native);
	process->native = native;
	processes->bytes -= process->bytes;
	process->bytes = 0;
}

/*
 * Keeps everything of the process that was just read. Other processes may be dropped, and are read
 * again when a record needs them.
 */
static void count_bytes(struct stack_processes *processes, struct stack_process *process)
{
	struct stack_process *other = processes->list;

	processes->bytes -= process->bytes;
	process->bytes = native_process__bytes(process->native);
	processes->bytes += process->bytes;
	for (; other && processes->bytes > BYTES_MAX; other = other->hh.next) {
		if (other == process || !other->bytes)
			continue;
		forget_mappings(processes, other);
		other->changed = true;
	}
}

/*
 * CPU time of readings that later pauses have not compensated: a program may map and unmap code
 * endlessly.
 */
static uint64_t debt(const struct stack_process *process, uint64_t now)
{
	uint64_t made_up = (now - process->read_ns) / READING_PAUSE;

	return process->debt_ns > made_up ? process->debt_ns - made_up : 0;
}

/* If the process is gone, the previous data stays. */
static void read_mappings(struct stack_processes *processes, struct stack_process *process,
			  uint64_t now)
{
	uint64_t begin = clock__thread_ns(), owed = debt(process, now), took;

	process->read_ns = now;
	process->debt_ns = owed;
	process->changed = false;
	if (!stack_process__is_there(process->pid, process->start_ns))
		return;
	native_frames__read(processes->frames, process->native);
	if (process->unwinder)
		unwinder__changed(process->unwinder);
	report_code(processes, process);
	count_bytes(processes, process);
	took = clock__thread_ns() - begin;
	process->takes_ns = took < process->took_ns ? took : process->took_ns;
	process->debt_ns += process->takes_ns;
	process->took_ns = took;
	if (process->takes_ns >= READING_LONG_NS)
		processes->rests_until_ns = now + READING_PAUSE * process->takes_ns;
}

static bool may_read(const struct stack_processes *processes, const struct stack_process *process,
		     uint64_t now)
{
	return process->takes_ns < READING_LONG_NS ||
	       (now >= process->read_ns + READING_PAUSE * process->takes_ns &&
		now >= processes->rests_until_ns);
}

static struct stack_process *add(struct stack_processes *processes, pid_t pid, uint64_t start_ns)
{
	struct stack_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->native = native_process__new(pid);
	if (!process->native) {
		free(process);
		return NULL;
	}
	if (HASH_COUNT(processes->list) >= PROCESSES_MAX)
		drop(processes, processes->list);
	process->pid = pid;
	process->start_ns = start_ns;
	process->number = processes->numbers++;
	process->changed = true;
	if (!TABLE_ADD(processes->list, pid, process))
		return process;
	free_process(processes, process);
	return NULL;
}

/* Returns NULL if out of memory; the process is dropped then. */
static struct stack_process *make_youngest(struct stack_processes *processes,
					   struct stack_process *process)
{
	if (!process->hh.next)
		return process;
	HASH_DEL(processes->list, process);
	if (!TABLE_ADD(processes->list, pid, process))
		return process;
	forget_python(processes, process);
	free_process(processes, process);
	return NULL;
}

/* Returns the process if it is known. Drops an earlier process with the same pid. */
static struct stack_process *find(struct stack_processes *processes, pid_t pid, uint64_t start_ns)
{
	struct stack_process *process = TABLE_FIND(processes->list, pid, &pid);

	if (!process)
		return NULL;
	if (stack_process__is_same_start(process->start_ns, start_ns))
		return make_youngest(processes, process);
	if (process->start_ns < start_ns)
		drop(processes, process);
	return NULL;
}

/* Returns the process that has the pid now; a new one's mappings are not read yet. */
static struct stack_process *see(struct stack_processes *processes, pid_t pid)
{
	struct stack_process *process;
	struct process_info info;

	if (pid <= 0 || proc__info(pid, &info))
		return NULL;
	process = find(processes, pid, info.start_ns);
	return process ? process : add(processes, pid, info.start_ns);
}

/* Informs the intake first: it must be able to name what the BPF programs will send. */
static int report_python(struct stack_processes *processes, const struct stack_process *process)
{
	const struct python_owner owner = owner_of(process);
	int ret = stack_intake__set_python(processes->intake, &owner, &process->python.offsets);

	if (ret || !processes->hooks->set_python)
		return ret;
	return processes->hooks->set_python(processes->hooks->arg, process->pid,
					    &process->python.offsets.target);
}

/* Sets *err if the frames cannot be read. */
static void search_python(struct stack_processes *processes, struct stack_process *process,
			  struct error *err, uint64_t now)
{
	uint64_t begin = clock__thread_ns();
	int ret = python_process__find(processes->memory, process->pid, &process->python, err);

	process->searched_ns = now;
	process->search_takes_ns = clock__thread_ns() - begin;
	if (!ret) {
		ret = report_python(processes, process);
		if (ret)
			error__set(err, ret, "cannot pass its addresses to the BPF programs: %s",
				   strerror(-ret));
	}
	if (!ret)
		process->search = PYTHON_FOUND;
	else if (ret == -ENOENT || ret == -ESRCH)
		process->search = PYTHON_NOT_FOUND;
	else
		process->search = ret == -EAGAIN ? PYTHON_NOT_YET : PYTHON_REFUSED;
}

static bool may_search(const struct stack_process *process, uint64_t now)
{
	return process->search_takes_ns < READING_LONG_NS ||
	       now >= process->searched_ns + READING_PAUSE * process->search_takes_ns;
}

/* Says nothing until an interpreter is there: a libpython that is loaded later is found later. */
static void look_for_python(struct stack_processes *processes, struct stack_process *process,
			    uint64_t now)
{
	struct error err = {0};

	if (!may_search(process, now)) {
		process->search = PYTHON_NOT_YET;
		return;
	}
	search_python(processes, process, &err, now);
	if (process->search != PYTHON_REFUSED || !process->announced || process->warned)
		return;
	process->warned = true;
	log__warn(processes->log, "process %d: Python frames unavailable: %s", (int)process->pid,
		  err.text);
}

static void begin_program(struct stack_processes *processes, struct stack_process *process)
{
	forget_mappings(processes, process);
	forget_python(processes, process);
	process->search = PYTHON_NOT_FOUND;
	process->number = processes->numbers++;
	process->announced = process->warned = false;
	process->code_reported = false;
	process->wait_ns = process->took_ns = process->takes_ns = process->search_takes_ns = 0;
}

void stack_processes__look_at(struct stack_processes *processes, pid_t pid, bool exec, uint64_t now)
{
	struct stack_process *process = see(processes, pid);

	if (!process)
		return;
	if (exec)
		begin_program(processes, process);
	/* Before the slower work: from now on records contain Python frames. */
	if (process->search != PYTHON_FOUND)
		look_for_python(processes, process, now);
	if (may_read(processes, process, now))
		read_mappings(processes, process, now);
	/* The loader may still be mapping libraries. */
	process->changed = true;
}

void stack_processes__announce(struct stack_processes *processes, pid_t pid, uint64_t now)
{
	struct stack_process *process = see(processes, pid);

	if (!process || process->announced)
		return;
	process->announced = true;
	if (process->search != PYTHON_FOUND)
		look_for_python(processes, process, now);
}

static bool knows(const struct stack_process *process, uint64_t address)
{
	struct native_frame frame;

	return !address || !native_process__locate(process->native, address, &frame);
}

static bool knows_all(const struct stack_process *process, const struct stack_record *record)
{
	if (!knows(process, record->function))
		return false;
	/*
	 * For code without frame pointers native[] is no list of addresses, so reading again would
	 * never help.
	 */
	if (record->copied)
		return knows(process, record->registers.ip);
	for (uint32_t i = 0; i < record->natives; i++) {
		if (!knows(process, record->native[i]))
			return false;
	}
	return true;
}

static bool wait_is_over(const struct stack_processes *processes,
			 const struct stack_process *process, uint64_t now)
{
	return now >= process->read_ns + process->wait_ns && may_read(processes, process, now);
}

/*
 * After a reading that helped, the next may follow at once: libraries are loaded one after another.
 */
static void wait_longer(struct stack_process *process, bool helped)
{
	if (helped)
		process->wait_ns = 0;
	else if (!process->wait_ns)
		process->wait_ns = REREAD_FIRST_NS;
	else if (process->wait_ns < REREAD_NS)
		process->wait_ns *= 2;
}

void stack_processes__refresh(struct stack_processes *processes, struct stack_process *process,
			      const struct stack_record *record, uint64_t now)
{
	bool other_version = record->code_version && record->code_version != process->code_version;

	if ((process->changed || (other_version && debt(process, now) < DEBT_MAX_NS)) &&
	    may_read(processes, process, now)) {
		process->code_version = record->code_version;
		read_mappings(processes, process, now);
	}
	if (knows_all(process, record) || !wait_is_over(processes, process, now))
		return;
	process->code_version = record->code_version;
	read_mappings(processes, process, now);
	wait_longer(process, knows_all(process, record));
}

struct stack_process *stack_processes__of(struct stack_processes *processes,
					  const struct stack_record *record, uint64_t now)
{
	struct stack_process *process = find(processes, record->pid, record->start_ns);

	if (!process) {
		process = see(processes, record->pid);
		if (!process || !stack_process__is_same_start(process->start_ns, record->start_ns))
			return NULL;
	}
	if (process->search == PYTHON_NOT_YET && now >= process->searched_ns + SEARCH_NS)
		look_for_python(processes, process, now);
	return process;
}

bool stack_processes__retry(struct stack_processes *processes, struct stack_process *process,
			    uint64_t now)
{
	if (!wait_is_over(processes, process, now))
		return false;
	read_mappings(processes, process, now);
	wait_longer(process, false);
	return true;
}
