/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that use CUDA at one moment, as `gpuprobe ps` lists them, and the machine's GPUs.
 * Plain data: ps/ fills it, output/ps/ prints it. All texts come from processes and are raw: escape
 * them before printing.
 */
#ifndef MODEL_PS_H
#define MODEL_PS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/nvml_library.h"
#include "model/dump.h"
#include "model/model.h"

/*
 * Of processes by what they map. The rest is only counted, so that no user can fill gpuprobe's
 * memory with processes.
 */
#define PS_ROWS_MAX 4096
#define PS_COMMAND_SIZE 4096
#define PS_CALL_SIZE 80
#define PS_VERSION_SIZE 24
#define PS_NOTES_MAX 8
#define PS_NOTE_SIZE 256

enum ps_library_kind {
	PS_DRIVER = 0, /* libcuda */
	PS_CUDART,
	PS_NCCL,
	PS_CUDNN,
	PS_LIBRARY_KINDS
};

struct ps_library {
	bool mapped;
	bool inside; /* it is no file of its own: the runtime is linked into the program */
	/* of the file or its wheel: "13.0.48", "13" if the names have no more; empty: unknown */
	char version[PS_VERSION_SIZE];
};

/* By enum ps_library_kind. */
struct ps_libraries {
	bool known;	/* its mappings could be read */
	bool maps_cuda; /* it maps a file with the name of one of CUDA's libraries */
	struct ps_library list[PS_LIBRARY_KINDS];
};

enum ps_role {
	PS_PROGRAM = 0,
	PS_MPS_CONTROL, /* the daemon of NVIDIA's Multi-Process Service */
	PS_MPS_SERVER,	/* has the GPU's memory of all its clients' contexts */
};

enum ps_context {
	PS_CONTEXT_UNKNOWN = 0,
	PS_NO_CONTEXT, /* NVML lists it on no GPU */
	PS_HAS_CONTEXT
};

enum ps_state {
	PS_UNKNOWN = 0,
	PS_RUNNING, /* a thread is on a CPU, or could be */
	PS_WAITING, /* the thread in CUDA blocks there */
	/* the same, twice at the same location, while its GPUs have done nothing */
	PS_STUCK,
	PS_IDLE,    /* all threads sleep, none of them in CUDA */
	PS_STOPPED, /* by SIGSTOP, a debugger or its cgroup */
	PS_STATES
};

struct ps_row {
	/* its identity and GPUs; owned by the list's model */
	struct process *process;
	char *command; /* its command line; NULL: unknown */
	enum ps_role role;
	enum ps_context context;
	uint64_t on_gpus[NVML_MAX_GPUS / 64]; /* bit N: NVML lists it on GPU N of the model */
	struct ps_libraries libraries;

	bool looked_at; /* the next four are known */
	size_t threads, in_cuda;
	/* the call of the most important thread in CUDA, as in struct dump_thread; empty: none */
	char call[PS_CALL_SIZE], by[PS_CALL_SIZE];
	pid_t call_tid; /* that thread; 0: none */
	enum ps_state state;
	bool blocked; /* idle, but a thread sleeps in the kernel and no signal wakes it */
	/* of an idle process: how long no thread, and the main one, has run; 0: unknown */
	uint64_t idle_ns, main_thread_idle_ns;

	int32_t ancestor; /* the nearest one that is listed, too; 0: none */
	unsigned int depth;
};

struct ps {
	struct model model; /* .gpus come from NVML */
	struct ps_row *rows;
	size_t count;
	size_t left_out; /* processes beyond PS_ROWS_MAX */
	size_t unread;	 /* processes whose mappings gpuprobe may not read */
	size_t filtered; /* processes that use CUDA and that --comm and the like left out */
	char driver[NVML_VERSION_SIZE]; /* empty: unknown */
	uint64_t boot_ns;		/* CLOCK_BOOTTIME */
	/* what could not be found out, why, and what helps; a sentence each */
	char notes[PS_NOTES_MAX][PS_NOTE_SIZE];
	size_t note_count;
};

/* The memory of the process on all its GPUs by NVML; GPU_UNKNOWN_BYTES if that is unknown. */
uint64_t ps_row__bytes(const struct ps_row *row);

/* The call for people: that of the library which called CUDA, or else CUDA's; NULL: none. */
const char *ps_row__call(const struct ps_row *row);

/* Sorts by memory, most first, then by pid. */
void ps__sort(struct ps *ps);

/*
 * Sorts so that each process follows its ancestor, and sets `depth`. Siblings are in the order of
 * the memory of themselves and all their descendants. Returns 0 or -ENOMEM, and the order is
 * unchanged then.
 */
int ps__sort_as_tree(struct ps *ps);

/* Sets state, call and number of threads from a look at them. */
void ps_row__judge(struct ps_row *row, const struct dump_process *look);

/*
 * Whether the process waits in CUDA while none of its GPUs has done anything of late. A short wait
 * looks the same, so the caller looks twice.
 */
bool ps_row__seems_stuck(const struct ps *ps, const struct ps_row *row);

/* Adds a note; drops it if there are too many. */
void ps__note(struct ps *ps, const char *format, ...) __attribute__((format(printf, 2, 3)));

void ps__free(struct ps *ps); /* NULL ok */

#endif
