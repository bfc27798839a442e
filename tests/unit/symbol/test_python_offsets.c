// SPDX-License-Identifier: BSD-2-Clause
// Wrong offsets: an interpreter's frames then have no name, or their own, never another's. Each
// offset is moved in turn. The interpreters are Debian's, and those that PYTHON_OF_3_8 to
// PYTHON_OF_3_14 name.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "growth_of_time.h"
#include "python_walk.h"
#include "symbol/python_code.h"
#include "symbol/python_layout.h"
#include "symbol/python_process.h"
#include "target/proc.h"

#define DEPTH_MAX 16
#define TEXT_ROOM 128

/* Prints each frame as Python reports it, the innermost first, and then sleeps on the same line. */
static const char script[] =
	"source = '''\n"
	"import sys, time\n"
	"def report():\n"
	"    frame = sys._getframe(1)\n"
	"    while frame:\n"
	"        code = frame.f_code\n"
	"        print(getattr(code, 'co_qualname', code.co_name), code.co_filename, "
	"frame.f_lineno, sep=chr(9))\n"
	"        frame = frame.f_back\n"
	"    print('end', flush=True)\n"
	"class Model:\n"
	"    def forward(self, depth):\n"
	"        if depth:\n"
	"            return self.forward(\n"
	"                depth - 1)\n"
	"        report(); time.sleep(60)\n"
	"    def gr\\u00f6\\u00dfe(self):\n"
	"        for i in (lambda: (yield self.forward(2)))():\n"
	"            pass\n"
	"def main(model):\n"
	"    max([1, 2], key=lambda x:\n"
	"        model.gr\\u00f6\\u00dfe())\n"
	"main(Model())\n"
	"'''\n"
	"exec(compile(source, '/a/\\u043c\\u043e\\u0434\\u0435\\u043b\\u044c.py', 'exec'))\n";

/*
 * A code object that another one replaces at its address, once a line has come in; each prints its
 * frames as above.
 */
static const char replacing_script[] =
	"import sys\n"
	"def report():\n"
	"    frame = sys._getframe(1)\n"
	"    while frame:\n"
	"        print(getattr(frame.f_code, 'co_qualname', frame.f_code.co_name),\n"
	"              frame.f_code.co_filename, frame.f_lineno, sep=chr(9))\n"
	"        frame = frame.f_back\n"
	"    print('end', flush=True)\n"
	"def run(name, address):\n"
	"    others = []\n"
	"    while True:\n"
	"        code = compile('report(); sys.stdin.readline()', name, 'exec')\n"
	"        if address in (None, id(code)): break\n"
	"        others.append(code)\n"
	"    exec(code)\n"
	"    return id(code)\n"
	"def deeper(depth, *of):\n"
	"    return deeper(depth - 1, *of) if depth else run(*of)\n"
	"deeper(4, '/second.py', deeper(4, '/first.py', None))\n";

struct truth {
	FILE *in;
	int to; /* its standard input */
	pid_t pid;
	uint64_t fsbase, runtime;
	struct python_process python;
	size_t depth;
	struct true_frame {
		char function[TEXT_ROOM], file[TEXT_ROOM];
		int line;
	} frames[DEPTH_MAX];
};

static void read_truth(FILE *in, struct truth *truth)
{
	char line[2 * TEXT_ROOM + 16];

	truth->depth = 0;
	while (fgets(line, sizeof(line), in) && strcmp(line, "end\n") != 0) {
		struct true_frame *frame = &truth->frames[truth->depth++];

		assert_true(truth->depth < DEPTH_MAX);
		assert_int_equal(sscanf(line, "%127[^\t]\t%127[^\t]\t%d", frame->function,
					frame->file, &frame->line),
				 3);
	}
	assert_true(truth->depth >= 7);
}

static uint64_t fsbase_of(pid_t pid)
{
	struct user_regs_struct registers;

	assert_int_equal(ptrace(PTRACE_ATTACH, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &registers), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	return registers.fs_base;
}

/*
 * It has printed everything and waits for nothing else: it is then on the line that it has printed.
 */
static void wait_until_asleep(pid_t pid)
{
	struct process_info info;

	do {
		usleep(1000);
		assert_int_equal(proc__info(pid, &info), 0);
		assert_int_not_equal(info.state, 'Z');
	} while (info.state != 'S');
}

static void start(const char *python, const char *text, struct truth *truth)
{
	struct error err = {0};
	int ends[2], to[2];

	memset(truth, 0, sizeof(*truth));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(to), 0);
	truth->pid = fork();
	if (!truth->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(to[0], 0);
		dup2(ends[1], 1);
		setenv("PYTHONIOENCODING", "utf-8", 1);
		execl(python, python, "-c", text, (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	close(to[0]);
	truth->in = fdopen(ends[0], "r");
	truth->to = to[1];
	read_truth(truth->in, truth);
	wait_until_asleep(truth->pid);
	truth->fsbase = fsbase_of(truth->pid);
	if (python_process__find(NULL, truth->pid, &truth->python, &err))
		fail_msg("%s: %s", python, err.text);
	truth->runtime = truth->python.offsets.target.key_address - truth->python.offsets.key;
}

static void end(const struct truth *truth)
{
	kill(truth->pid, SIGKILL);
	waitpid(truth->pid, NULL, 0);
	fclose(truth->in);
	close(truth->to);
}

static bool is_true(const struct true_frame *frame, const struct python_code *code, int line)
{
	return !strcmp(frame->function, code->function) && !strcmp(frame->file, code->file) &&
	       (!line || line == frame->line);
}

/* Number of named frames; those with a name are in the order of the truth. */
static size_t walk_again(const struct truth *truth, const struct python_offsets *offsets,
			 const char *field, int by, struct python_scratch *scratch)
{
	struct python_frame frames[PYTHON_FRAMES_MAX + 1];
	struct python_codes *codes = python_codes__new(1 << 20, NULL);
	size_t named = 0, next = 0;
	uint32_t count;

	walked_pid = truth->pid;
	walked_fsbase = truth->fsbase;
	count = walk_python(&(struct memory_of){}, &offsets->target, scratch, frames,
			    PYTHON_FRAMES_MAX, 1);
	assert_true(count <= PYTHON_FRAMES_MAX + 1);
	for (uint32_t i = 0; i < count; i++) {
		const struct python_code *code = NULL;
		int line;

		if (frames[i].code)
			code = python_codes__find(codes, 1, truth->pid, offsets, &frames[i]);
		if (!code)
			continue;
		line = python_code__line(code, &frames[i]);
		while (next < truth->depth && !is_true(&truth->frames[next], code, line))
			next++;
		if (next == truth->depth)
			fail_msg("3.%u, %s%+d: frame %u is %s (%s:%d)", offsets->minor, field, by,
				 i, code->function, code->file, line);
		next++;
		named += line != 0;
	}
	python_codes__free(codes);
	return named;
}

static size_t walk(const struct truth *truth, const struct python_offsets *offsets,
		   const char *field, int by)
{
	struct python_scratch scratch = {0};

	return walk_again(truth, offsets, field, by, &scratch);
}

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
/* clang-format off */
#define FIELD(member) {#member, offsetof(struct python_offsets, member)}
	/* clang-format on */
	FIELD(code_argcount),	   FIELD(code_file),	       FIELD(code_name),
	FIELD(code_table),	   FIELD(code_first_line),     FIELD(code_qualname),
	FIELD(text_ascii),	   FIELD(text_other),	       FIELD(target.specific),
	FIELD(target.value_size),  FIELD(target.value_data),   FIELD(target.state_frame),
	FIELD(target.state_id),	   FIELD(target.cframe_frame), FIELD(target.frame_size),
	FIELD(target.frame_back),  FIELD(target.frame_code),   FIELD(target.frame_instruction),
	FIELD(target.frame_owner), FIELD(target.code_bytes),   FIELD(target.key_address),
	FIELD(target.code_type),
};

static void move_each(const struct truth *truth)
{
	static const int distances[] = {-16, -8, -4, 4, 8, 16};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		for (size_t j = 0; j < sizeof(distances) / sizeof(*distances); j++) {
			struct python_offsets moved = truth->python.offsets;
			uint16_t *field = (void *)((char *)&moved + fields[i].offset);

			*field = (uint16_t)(*field + distances[j]);
			if (python_layout__check(NULL, truth->pid, truth->runtime, &moved, NULL))
				continue;
			walk(truth, &moved, fields[i].name, distances[j]);
		}
	}
}

static void check(const char *python)
{
	struct truth truth;

	start(python, script, &truth);
	assert_int_equal(walk(&truth, &truth.python.offsets, "none", 0), truth.depth);
	move_each(&truth);
	end(&truth);
}

/* What a thread remembers of code objects is not taken for that of a later one. */
static void check_replaced(const char *python)
{
	struct python_scratch scratch = {0};
	struct truth truth;

	start(python, replacing_script, &truth);
	for (int i = 0; i < 2; i++)
		assert_int_equal(walk_again(&truth, &truth.python.offsets, "none", 0, &scratch),
				 truth.depth);
	assert_string_equal(truth.frames[0].file, "/first.py");
	assert_int_equal(write(truth.to, "\n", 1), 1);
	read_truth(truth.in, &truth);
	wait_until_asleep(truth.pid);
	assert_string_equal(truth.frames[0].file, "/second.py");
	assert_int_equal(walk_again(&truth, &truth.python.offsets, "none", 0, &scratch),
			 truth.depth);
	end(&truth);
}

static void debian(void **state)
{
	(void)state;
	check("/usr/bin/python3");
	check_replaced("/usr/bin/python3");
}

static void others(void **state)
{
	bool any = false;

	(void)state;
	for (int minor = 8; minor <= 14; minor++) {
		const char *python;
		char variable[32];

		snprintf(variable, sizeof(variable), "PYTHON_OF_3_%d", minor);
		python = getenv(variable);
		if (python) {
			check(python);
			check_replaced(python);
		}
		any |= python != NULL;
	}
	if (!any)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debian),
		cmocka_unit_test(others),
	};

	end_after_running_s(60);
	return cmocka_run_group_tests_name("python_wrong", tests, NULL, NULL);
}
