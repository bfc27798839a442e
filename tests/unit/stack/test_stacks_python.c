// SPDX-License-Identifier: BSD-2-Clause
// Python frames in stacks: code objects of a running interpreter, in place of its own frames.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_clock.h"
#include "stack/stacks.h"
#include "symbol/python_process.h"
#include "target/proc.h"
#include "target/process_memory.h"

static const char script[] = "import time\n"
			     "def forward(): pass\n"
			     "\n"
			     "def größe(): pass\n"
			     "print(id(forward.__code__), id(größe.__code__), flush=True)\n"
			     "time.sleep(60)\n";

struct fixture {
	pid_t pid;
	uint64_t code[2];
	struct python_process python;
	struct stacks *stacks;
	struct stack_record record;
	unsigned int reported, untold;
	int error; /* returned by note_python */
};

static int note_python(void *arg, pid_t pid, const struct python_target *target)
{
	struct fixture *fixture = arg;

	assert_int_equal(pid, fixture->pid);
	if (target)
		fixture->reported++;
	else
		fixture->untold++;
	return fixture->error;
}

static void start(struct fixture *fixture)
{
	unsigned long long code[2];
	int ends[2];
	FILE *in;

	assert_int_equal(pipe(ends), 0);
	fixture->pid = fork();
	if (!fixture->pid) {
		dup2(ends[1], 1);
		setenv("PYTHONUTF8", "1", 1); /* whatever the locale is */
		execl("/usr/bin/python3", "python3", "-c", script, (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	in = fdopen(ends[0], "r");
	assert_int_equal(fscanf(in, "%llu %llu", &code[0], &code[1]), 2);
	fclose(in);
	fixture->code[0] = code[0];
	fixture->code[1] = code[1];
}

static void set_up(struct fixture *fixture)
{
	struct stacks_options options = {.mode = STACK_FP,
					 .max = 10,
					 .ring_fd = -1,
					 .hooks = {.set_python = note_python, .arg = fixture}};
	struct process_info info;

	memset(fixture, 0, sizeof(*fixture));
	start(fixture);
	assert_int_equal(python_process__find(NULL, fixture->pid, &fixture->python, NULL), 0);
	assert_int_equal(proc__info(fixture->pid, &info), 0);
	fixture->record =
		(struct stack_record){.id = 1, .pid = fixture->pid, .start_ns = info.start_ns};
	assert_int_equal(stacks__new(&options, NULL, &fixture->stacks, NULL), 0);
	assert_non_null(fixture->stacks);
	stacks__look_at(fixture->stacks, fixture->pid, false);
	assert_int_equal(fixture->reported, 1);
}

static void tear_down(struct fixture *fixture)
{
	if (fixture->pid) {
		kill(fixture->pid, SIGKILL);
		waitpid(fixture->pid, NULL, 0);
	}
	stacks__free(fixture->stacks);
}

static void must_read(const struct fixture *fixture, uint64_t address, void *buffer, size_t size)
{
	assert_int_equal(process_memory__read(fixture->pid, address, buffer, size), 0);
}

/* Computes it as bpf/stack/python.bpf.h does. */
static uint32_t checksum_of(const struct fixture *fixture, uint64_t code)
{
	const struct python_target *target = &fixture->python.offsets.target;
	struct python_identity identity = {0};
	uint64_t name, table, size;

	must_read(fixture, code + PYTHON_OB_TYPE, identity.code, target->code_words * 8u);
	name = identity.code[target->code_words - 2];
	table = identity.code[target->code_words - 1];
	must_read(fixture, name + PYTHON_TEXT_HASH, &identity.name_hash, 8);
	must_read(fixture, table + PYTHON_BYTES_SIZE, &identity.table_size, 8);
	size = identity.table_size < sizeof(identity.table) ? identity.table_size :
							      sizeof(identity.table);
	must_read(fixture, table + PYTHON_BYTES_DATA, identity.table, size);
	if (target->code_changing < PYTHON_CODE_WORDS)
		identity.code[target->code_changing] = 0;
	return python_checksum(&identity);
}

static void add_python(struct fixture *fixture, unsigned int which, bool entry)
{
	fixture->record.python[fixture->record.pythons++] = (struct python_frame){
		.code = fixture->code[which],
		.checksum = checksum_of(fixture, fixture->code[which]),
		.instruction = entry ? PYTHON_ENTRY : 0,
	};
}

static const struct stack *take(struct fixture *fixture)
{
	assert_int_equal(stacks__take(fixture->stacks, &fixture->record, sizeof(fixture->record)),
			 0);
	stacks__catch_up(fixture->stacks);
	return stacks__find(fixture->stacks, fixture->record.id++);
}

static void assert_python(const struct stack_frame *frame, const char *function, uint32_t line)
{
	assert_int_equal(frame->kind, FRAME_PYTHON);
	assert_non_null(frame->function);
	assert_string_equal(frame->function, function);
	assert_string_equal(frame->file, "<string>");
	assert_int_equal(frame->line, line);
	assert_null(frame->object);
}

/* Native, the interpreter with two calls, native. */
static void add_natives(struct fixture *fixture)
{
	const struct python_process *python = &fixture->python;
	const uint64_t addresses[] = {0x11000, python->eval_start + 8,	python->object_start + 8,
				      0x12000, python->eval_start + 16, 0x13000};

	assert_int_not_equal(python->eval_start, 0);
	memcpy(fixture->record.native, addresses, sizeof(addresses));
	fixture->record.natives = sizeof(addresses) / 8;
}

static void stand_in_place_of_the_interpreter(void **state)
{
	struct fixture fixture;
	const struct stack *stack;

	(void)state;
	set_up(&fixture);
	add_natives(&fixture);
	add_python(&fixture, 0, true);
	add_python(&fixture, 1, false);
	add_python(&fixture, 0, true);
	stack = take(&fixture);
	assert_int_equal(stack->count, 7);
	assert_int_equal(stack->frames[0].offset, 0x11000);
	assert_python(&stack->frames[1], "forward", 2);
	assert_int_equal(stack->frames[2].offset, 0x12000);
	assert_python(&stack->frames[3], "größe", 4);
	assert_python(&stack->frames[4], "forward", 2);
	assert_int_equal(stack->frames[5].offset, 0x13000);
	assert_string_equal(stack->frames[6].function, "[callers not found]");
	/* A thread without Python frames keeps its native frames. */
	fixture.record.pythons = 0;
	stack = take(&fixture);
	assert_int_equal(stack->count, 7);
	assert_int_equal(stack->frames[1].kind, FRAME_NATIVE);
	tear_down(&fixture);
}

static void say_what_is_missing(void **state)
{
	struct fixture fixture;
	const struct stack *stack;

	(void)state;
	set_up(&fixture);
	add_python(&fixture, 0, false);
	add_python(&fixture, 1, false);
	fixture.record.python[1].checksum++; /* another code object is now at this address */
	fixture.record.pythons++;	     /* not a code object: a mark */
	fixture.record.flags = STACK_CUT;
	stack = take(&fixture);
	assert_int_equal(stack->count, 4);
	assert_python(&stack->frames[0], "forward", 2);
	assert_int_equal(stack->frames[1].kind, FRAME_PYTHON);
	assert_null(stack->frames[1].function);
	assert_int_equal(stack->frames[1].offset, fixture.code[1]);
	assert_int_equal(stack->frames[2].kind, FRAME_MARK);
	assert_string_equal(stack->frames[2].function, "[more Python frames]");
	assert_string_equal(stack->frames[3].function, "[truncated]");
	tear_down(&fixture);
}

static void stay_known_when_the_process_has_ended(void **state)
{
	struct fixture fixture;
	const struct stack *stack;

	(void)state;
	set_up(&fixture);
	add_python(&fixture, 0, true);
	take(&fixture);
	add_python(&fixture, 1, true);
	kill(fixture.pid, SIGKILL);
	waitpid(fixture.pid, NULL, 0);
	fixture.pid = 0;
	stack = take(&fixture);
	assert_int_equal(stack->count, 3);
	assert_python(&stack->frames[0], "forward", 2);
	assert_null(stack->frames[1].function); /* was never read */
	tear_down(&fixture);
}

static void are_another_programs_after_exec(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	stacks__look_at(fixture.stacks, fixture.pid, false);
	stacks__announce(fixture.stacks, fixture.pid);
	assert_int_equal(fixture.reported, 1);
	stacks__look_at(fixture.stacks, fixture.pid, true);
	assert_int_equal(fixture.untold, 1);
	assert_int_equal(fixture.reported, 2);
	tear_down(&fixture);
}

static void announce(struct fixture *fixture)
{
	stacks__announce(fixture->stacks, fixture->pid);
}

static void look_at(struct fixture *fixture)
{
	stacks__look_at(fixture->stacks, fixture->pid, false);
}

/* Checks the output to stderr. */
static void assert_said(struct fixture *fixture, void (*step)(struct fixture *fixture),
			const char *expected)
{
	char text[256] = "";
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO);

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	step(fixture);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	if (*expected)
		assert_non_null(strstr(text, expected));
	else
		assert_string_equal(text, "");
}

/* Once, and not before the process makes CUDA calls. */
static void are_said_to_be_unavailable(void **state)
{
	const struct log log = {.level = LOG_WARN};
	struct fixture fixture = {.error = -E2BIG};
	struct stacks_options options = {.mode = STACK_FP,
					 .max = 1,
					 .ring_fd = -1,
					 .hooks = {.set_python = note_python, .arg = &fixture}};

	(void)state;
	start(&fixture);
	assert_int_equal(stacks__new(&options, &log, &fixture.stacks, NULL), 0);
	assert_said(&fixture, look_at, "");
	assert_said(&fixture, announce,
		    "Python frames unavailable: cannot pass its addresses to the BPF programs");
	assert_said(&fixture, announce, "");
	assert_said(&fixture, look_at, "");
	assert_int_equal(fixture.reported, 3);
	/* There is room later. */
	fixture.error = 0;
	look_at(&fixture);
	look_at(&fixture);
	assert_int_equal(fixture.reported, 4);
	tear_down(&fixture);
	/* There is nothing to report about a process without an interpreter. */
	assert_int_equal(stacks__new(&options, &log, &fixture.stacks, NULL), 0);
	fixture.pid = getpid();
	assert_said(&fixture, announce, "");
	fixture.pid = 0;
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stand_in_place_of_the_interpreter),
		cmocka_unit_test(say_what_is_missing),
		cmocka_unit_test(stay_known_when_the_process_has_ended),
		cmocka_unit_test(are_another_programs_after_exec),
		cmocka_unit_test(are_said_to_be_unavailable),
	};

	fake_thread_ns = 1; /* nothing takes long */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
