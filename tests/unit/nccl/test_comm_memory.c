// SPDX-License-Identifier: BSD-2-Clause
// Communicators from before the attach: forms of NCCL's getters as compilers make them, and the
// simulated libnccl in this process, whose getters have the form of 2.28.9's.
#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nccl/comm_memory.h"
#include "nccl/getter_code.h"
#include "nccl/instruction.h"
#include "nccl/jobs.h"

static const char *tests_directory;

/* --- instructions --- */

static void lengths(void **state)
{
	static const struct {
		const char *bytes;
		uint8_t length;
	} cases[] = {
		{"\x90", 1},					  /* nop */
		{"\x55", 1},					  /* push */
		{"\x41\x56", 2},				  /* push %r14 */
		{"\x31\xdb", 2},				  /* xor */
		{"\x8b\x07", 2},				  /* mov (%rdi) */
		{"\x8b\x47\x08", 3},				  /* mov 8(%rdi) */
		{"\x8b\x44\x24\x08", 4},			  /* mov 8(%rsp) */
		{"\x8b\x04\x25\x01\x02\x03\x04", 7},		  /* mov of an absolute address */
		{"\x48\x8b\x05\x01\x02\x03\x04", 7},		  /* mov relative to %rip */
		{"\x48\x83\xec\x10", 4},			  /* sub */
		{"\x48\x81\xec\x01\x02\x03\x04", 7},		  /* sub, 32 bits */
		{"\xb8\x01\x02\x03\x04", 5},			  /* mov */
		{"\x48\xba\x01\x02\x03\x04\x05\x06\x07\x08", 10}, /* movabs */
		{"\x66\xb8\x01\x02", 4},			  /* mov, 16 bits */
		{"\xc6\x45\xdf\x01", 4},			  /* movb */
		{"\xe8\x01\x02\x03\x04", 5},			  /* call */
		{"\x66\x66\x48\xe8\x01\x02\x03\x04", 8},	  /* call to __tls_get_addr */
		{"\x67\xe8\x01\x02\x03\x04", 6},		  /* call, relaxed by the linker */
		{"\x0f\x84\x01\x02\x03\x04", 6},		  /* je */
		{"\x0f\xb6\x05\x01\x02\x03\x04", 7},		  /* movzbl */
		{"\x66\x0f\x6f\x05\x01\x02\x03\x04", 8},	  /* movdqa */
		{"\x66\x0f\x3a\x0f\xc1\x08", 6},		  /* palignr */
		{"\xf6\xc1\x01", 3},				  /* test: has an immediate */
		{"\xf6\xd1", 2},				  /* not: has none */
		{"\xf3\x0f\x1e\xfa", 4},			  /* endbr64 */
		{"\xc3", 1},					  /* ret */
		{"\x06", 0},					  /* none in 64-bit code */
		{"\xc5\xf8\x77", 0},				  /* vzeroupper: unknown here */
		{"\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 0},
	};
	struct instruction instruction;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *bytes = (const uint8_t *)cases[i].bytes;
		bool known = instruction__decode(bytes, 16, &instruction);

		assert_int_equal(known ? instruction.length : 0, cases[i].length);
		/* Cut anywhere, it is none. */
		for (size_t size = 0; size < cases[i].length; size++)
			assert_false(instruction__decode(bytes, size, &instruction));
	}
}

/* --- getters --- */

#define CODE(bytes) (const uint8_t *)(bytes), sizeof(bytes) - 1

static void forms_of_getters(void **state)
{
	uint32_t offset;

	(void)state;
	/* 2.28.9: mov 0x1044d0(%r13),%eax; xor %ebx,%ebx; mov %eax,(%r14); jmp */
	assert_true(getter_code__member(
		CODE("\x41\x8b\x85\xd0\x44\x10\x00\x31\xdb\x41\x89\x06\xe9\x86\xfd\xff\xff"),
		&offset));
	assert_int_equal(offset, 0x1044d0);
	/* A base with a SIB byte: mov 0x1044d0(%r12),%eax; mov %eax,(%r14) */
	assert_true(
		getter_code__member(CODE("\x41\x8b\x84\x24\xd0\x44\x10\x00\x41\x89\x06"), &offset));
	assert_int_equal(offset, 0x1044d0);
	/* A base that needs a displacement of 0: mov 0x800(%rdi),%ecx; mov %ecx,0(%r13) */
	assert_true(getter_code__member(CODE("\x8b\x8f\x00\x08\x00\x00\x41\x89\x4d\x00"), &offset));
	assert_int_equal(offset, 0x800);
	/* Without optimization: the caller's pointer is on the stack. */
	assert_true(getter_code__member(CODE("\x8b\x90\x40\x50\x10\x00\x48\x8b\x45\xe0\x89\x10"),
					&offset));
	assert_int_equal(offset, 0x105040);
	/* The stack is left before the store: add $8,%rsp; pop %rbx; mov %eax,(%rsi); ret */
	assert_true(getter_code__member(
		CODE("\x8b\x87\x00\x10\x00\x00\x48\x83\xc4\x08\x5b\x89\x06\xc3"), &offset));
}

static void other_code_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {
#define REFUSED(bytes) {bytes, sizeof(bytes) - 1}
		REFUSED(""),
		REFUSED("\xc3"),
		/* the load is of 64 bits */
		REFUSED("\x48\x8b\x87\x00\x10\x00\x00\x89\x06"),
		/* the store is of 64 bits */
		REFUSED("\x8b\x87\x00\x10\x00\x00\x48\x89\x06"),
		/* a small displacement, a negative one, one with an index */
		REFUSED("\x8b\x47\x10\x89\x06"),
		REFUSED("\x8b\x87\x00\x10\x00\xf0\x89\x06"),
		REFUSED("\x8b\x84\x97\x00\x10\x00\x00\x89\x06"),
		/* another register is stored */
		REFUSED("\x8b\x87\x00\x10\x00\x00\x89\x0e"),
		/* the store is into a variable, or behind the pointer */
		REFUSED("\x8b\x87\x00\x10\x00\x00\x89\x05\x01\x02\x03\x04"),
		REFUSED("\x8b\x87\x00\x10\x00\x00\x89\x46\x04"),
		/* between: the register changes, a call, a branch */
		REFUSED("\x8b\x87\x00\x10\x00\x00\x31\xc0\x89\x06"),
		REFUSED("\x8b\x87\x00\x10\x00\x00\x8b\x07\x89\x06"),
		REFUSED("\x8b\x87\x00\x10\x00\x00\xe8\x01\x02\x03\x04\x89\x06"),
		REFUSED("\x8b\x87\x00\x10\x00\x00\x74\x02\x89\x06"),
		/* too far away */
		REFUSED("\x8b\x87\x00\x10\x00\x00\x90\x90\x90\x90\x90\x89\x06"),
		/* two members */
		REFUSED("\x8b\x87\x00\x10\x00\x00\x89\x06\x8b\x87\x04\x10\x00\x00\x89\x06"),
		/* what follows is no code */
		REFUSED("\x8b\x87\x00\x10\x00\x00\x89\x06\x06"),
		/* cut */
		REFUSED("\x8b\x87\x00\x10\x00\x00\x89"),
	};
	uint32_t offset;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_false(getter_code__member((const uint8_t *)cases[i].bytes, cases[i].size,
						 &offset));
}

static void magic_and_hash(void **state)
{
	/* movabs $MAGIC,%rdx; cmp %rdx,(%rdi); cmp %rdx,0x108650(%rdi), as in 2.28.9 */
	static const char check[] = "\x48\xba\x80\x02\x80\x02\x80\x02\x80\x02\x48\x39\x17\x75\x18"
				    "\x31\xc0\x48\x39\x97\x50\x86\x10\x00\xc3";
	/* mov 0x1044c8(%rax),%rax */
	static const char load[] = "\x48\x8b\x80\xc8\x44\x10\x00";
	/* call 0x15; rex.W call -1 */
	static const char calls[] = "\xe8\x10\x00\x00\x00\x66\x66\x48\xe8\xf2\xff\xff\xff";
	struct getter_calls found;
	uint32_t offset;

	(void)state;
	assert_true(getter_code__end_magic(CODE(check), &offset));
	assert_int_equal(offset, 0x108650);
	assert_false(getter_code__end_magic(CODE("\x48\x39\x97\x50\x86\x10\x00"), &offset));
	assert_true(getter_code__loads(CODE(load), 0x1044c8));
	assert_false(getter_code__loads(CODE(load), 0x1044c0));
	getter_code__calls(CODE(calls), &found);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.targets[0], 0x15);
	assert_int_equal(found.targets[1], -1);
}

static void version_of_code(void **state)
{
	int version = 0;

	(void)state;
	/* test %rdi,%rdi; je; movl $22105,(%rdi); xor %eax,%eax; ret; mov $4,%eax; ret */
	assert_true(getter_code__version(CODE("\x48\x85\xff\x74\x09\xc7\x07\x59\x56\x00\x00\x31"
					      "\xc0\xc3\xb8\x04\x00\x00\x00\xc3"),
					 &version));
	assert_int_equal(version, 22105);
	/* movl $0,(%rdi); movl $22105,4(%rdi); two versions; nothing */
	assert_false(getter_code__version(CODE("\xc7\x07\x00\x00\x00\x00\xc3"), &version));
	assert_false(getter_code__version(CODE("\xc7\x47\x04\x59\x56\x00\x00\xc3"), &version));
	assert_false(getter_code__version(
		CODE("\xc7\x07\x59\x56\x00\x00\xc7\x07\x5a\x56\x00\x00\xc3"), &version));
	assert_false(getter_code__version(CODE("\xc3"), &version));
}

static void any_bytes_end(void **state)
{
	uint8_t bytes[4096];
	uint64_t random = 1;
	struct getter_calls calls;
	uint32_t offset;
	int version;

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		for (size_t at = 0; at < sizeof(bytes); at++) {
			random = random * 6364136223846793005 + 1442695040888963407;
			bytes[at] = (uint8_t)(random >> 40);
		}
		getter_code__member(bytes, sizeof(bytes), &offset);
		getter_code__end_magic(bytes, sizeof(bytes), &offset);
		if (getter_code__version(bytes, sizeof(bytes), &version))
			assert_true(version >= 2000 && version <= 99999);
		getter_code__calls(bytes, sizeof(bytes), &calls);
		assert_true(calls.count <= GETTER_CALLS);
	}
}

/* --- memory --- */

struct fake_comm {
	uint64_t magic;
	char unused[0x200 - 8];
	uint64_t hash;
	int32_t rank, size, device, nvml_device;
	uint64_t end_magic;
};

static const struct comm_layout fake_layout = {
	.rank = offsetof(struct fake_comm, rank),
	.size = offsetof(struct fake_comm, size),
	.device = offsetof(struct fake_comm, device),
	.hash = offsetof(struct fake_comm, hash),
	.end_magic = offsetof(struct fake_comm, end_magic),
	.has_hash = true,
	.has_end_magic = true,
};

static int read_fake(const struct fake_comm *comm, const struct comm_layout *layout,
		     struct comm_facts *facts)
{
	return comm_memory__read(NULL, getpid(), (uintptr_t)comm, layout, facts);
}

static void checked_for_sense(void **state)
{
	const struct fake_comm sound = {.magic = NCCL_MAGIC,
					.end_magic = NCCL_MAGIC,
					.hash = 7,
					.rank = 3,
					.size = 8,
					.device = 2};
	struct comm_layout layout = fake_layout;
	struct fake_comm comm = sound;
	struct comm_facts facts;

	(void)state;
	assert_int_equal(read_fake(&comm, &layout, &facts), 0);
	assert_true(facts.hash == 7 && facts.rank == 3 && facts.size == 8 && facts.device == 2);
	layout.has_hash = false;
	assert_int_equal(read_fake(&comm, &layout, &facts), 0);
	assert_int_equal(facts.hash, 0);
	comm.magic++;
	assert_int_equal(read_fake(&comm, &fake_layout, &facts), -EINVAL);
	comm = sound;
	comm.end_magic = 0;
	assert_int_equal(read_fake(&comm, &fake_layout, &facts), -EINVAL);
	comm = sound;
	comm.rank = 8;
	assert_int_equal(read_fake(&comm, &fake_layout, &facts), -EINVAL);
	comm.rank = -1;
	assert_int_equal(read_fake(&comm, &fake_layout, &facts), -EINVAL);
	comm = sound;
	comm.size = INT32_MAX;
	assert_int_equal(read_fake(&comm, &fake_layout, &facts), -EINVAL);
	comm = sound;
	comm.device = -5;
	assert_int_equal(read_fake(&comm, &fake_layout, &facts), 0);
	assert_int_equal(facts.device, NCCL_DEVICE_UNKNOWN);
	/* Nothing is there. */
	assert_int_equal(comm_memory__read(NULL, getpid(), 0x10, &fake_layout, &facts), -EINVAL);
	assert_int_equal(comm_memory__read(NULL, getpid(), UINT64_MAX - 4, &fake_layout, &facts),
			 -EINVAL);
}

/* The plain build's: this program is in build/tests or build/sanitized/tests. */
static void find_simulation(char path[4096])
{
	snprintf(path, 4096, "%s/../sim/nccl/libnccl.so.2", tests_directory);
	if (access(path, R_OK))
		snprintf(path, 4096, "%s/../../sim/nccl/libnccl.so.2", tests_directory);
}

/* The members lie where those of 2.28.9 do. */
static void layout_of_the_simulated_library(void **state)
{
	struct comm_layout layout;
	struct elf_file *file;
	char path[4096];

	(void)state;
	find_simulation(path);
	assert_int_equal(elf_file__open(path, &file, NULL), 0);
	assert_int_equal(comm_layout__read(file, &layout), 0);
	elf_file__free(file);
	assert_int_equal(layout.rank, 0x1044d0);
	assert_int_equal(layout.size, 0x1044d4);
	assert_int_equal(layout.device, 0x1044d8);
	assert_true(layout.has_hash);
	assert_int_equal(layout.hash, 0x1044c8);
	assert_true(layout.has_end_magic);
	assert_true(layout.end_magic > layout.device);
	/* This program has no getters. */
	assert_int_equal(elf_file__open("/proc/self/exe", &file, NULL), 0);
	assert_int_equal(comm_layout__read(file, &layout), -ENOENT);
	elf_file__free(file);
}

static void simulated_library(void **state)
{
	struct nccl_process_key key = {.pid = getpid(), .start_ns = 1};
	static void *comms[2]; /* the library does not free them */
	int (*init_all)(void **comms, int count, const int *devices);
	int (*destroy)(void *comm);
	void *library;
	struct comm_memory *memory = comm_memory__new(NULL);
	struct nccl_jobs *jobs = nccl_jobs__new(NULL);
	const int devices[] = {0, 0};
	const struct nccl_comm *comm;
	struct comm_facts facts;
	char path[4096];

	(void)state;
	find_simulation(path);
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	*(void **)&init_all = dlsym(library, "ncclCommInitAll");
	*(void **)&destroy = dlsym(library, "ncclCommDestroy");
	assert_int_equal(init_all(comms, 2, devices), 0);
	for (int i = 0; i < 2; i++) {
		struct nccl_event event;

		assert_int_equal(comm_memory__look(memory, getpid(), (uintptr_t)comms[i], &facts),
				 0);
		assert_int_equal(facts.rank, i);
		assert_int_equal(facts.size, 2);
		assert_int_equal(facts.device, 0);
		assert_true(facts.hash);
		event = comm_facts__event(&facts, &key, (uintptr_t)comms[i], 1000);
		nccl_jobs__feed(jobs, &event);
	}
	comm = nccl_jobs__next(jobs, NULL);
	assert_true(comm->hash == facts.hash && comm->size == 2 && comm->seen == 2);
	assert_null(nccl_jobs__next(jobs, comm));
	assert_int_equal(comm_memory__look(memory, getpid(), (uintptr_t)&facts, &facts), -EINVAL);
	for (int i = 0; i < 2; i++)
		assert_int_equal(destroy(comms[i]), 0);
	/* Nothing is there any more. */
	assert_int_equal(comm_memory__look(memory, getpid(), (uintptr_t)comms[0], &facts), -EINVAL);
	nccl_jobs__free(jobs);
	comm_memory__free(memory);
}

static void without_a_library(void **state)
{
	struct comm_memory *memory = comm_memory__new(NULL);
	struct comm_facts facts;

	(void)state;
	/* Before the simulated library is loaded. */
	assert_int_equal(comm_memory__look(memory, getpid(), 0x1000, &facts), -ENOENT);
	comm_memory__free(memory);
}

/* The rank is known, and nothing brings it together with others. */
static void rank_without_a_hash(void **state)
{
	const struct comm_facts facts = {.rank = 3, .size = 8, .device = 1};
	struct nccl_process_key key = {.pid = 7, .start_ns = 1};
	struct nccl_jobs *jobs = nccl_jobs__new(NULL);
	struct nccl_event event = comm_facts__event(&facts, &key, 0x1000, 1000);
	const struct nccl_comm *comm;

	(void)state;
	nccl_jobs__feed(jobs, &event);
	comm = nccl_jobs__next(jobs, NULL);
	assert_false(comm->known);
	assert_int_equal(comm->size, 8);
	assert_int_equal(nccl_comm__rank(comm, 0)->rank, 3);
	assert_int_equal(nccl_comm__rank(comm, 0)->device, 1);
	nccl_jobs__free(jobs);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(forms_of_getters),
		cmocka_unit_test(other_code_is_refused),
		cmocka_unit_test(magic_and_hash),
		cmocka_unit_test(version_of_code),
		cmocka_unit_test(any_bytes_end),
		cmocka_unit_test(checked_for_sense),
		cmocka_unit_test(without_a_library),
		cmocka_unit_test(layout_of_the_simulated_library),
		cmocka_unit_test(simulated_library),
		cmocka_unit_test(rank_without_a_hash),
	};

	tests_directory = argc ? dirname(argv[0]) : "build/tests";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
