// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hooks cuMemAlloc_v2 as hooking libraries do: its first instructions are moved elsewhere and
 * replaced by a jump. With -DHOOKER this is the library that does so. The program loads the library
 * named by its first argument and has it write the kind of jump named by the second over as many
 * bytes as the third says, which are whole instructions. It then waits for a line, allocates nine
 * times, and prints "right" if each call reached the hook and succeeded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda_api.h"

#ifdef HOOKER
#define PAGE 4096ul

int hooks_met;
static CUresult (*original)(CUdeviceptr *memory, size_t size);

static CUresult in_its_stead(CUdeviceptr *memory, size_t size)
{
	hooks_met++;
	return original(memory, size);
}

/* movabs $to, %r11; jmp *%r11 */
static size_t write_far(uint8_t *at, const void *to)
{
	memcpy(at, "\x49\xbb", 2);
	memcpy(at + 2, &to, 8);
	memcpy(at + 10, "\x41\xff\xe3", 3);
	return 13;
}

/* jmp *(%rip), followed by the address */
static size_t write_indirect(uint8_t *at, const void *to)
{
	memcpy(at, "\xff\x25\0\0\0\0", 6);
	memcpy(at + 6, &to, 8);
	return 14;
}

/* jmp rel32 to code near by, which jumps on */
static size_t write_near(uint8_t *at, const void *to)
{
	uint8_t *near =
		mmap((void *)(((uintptr_t)at & ~(PAGE - 1)) + (64ul << 20)), PAGE,
		     PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int32_t distance = (int32_t)(near - (at + 5));

	write_far(near, to);
	at[0] = 0xe9;
	memcpy(at + 1, &distance, 4);
	return 5;
}

void hook(void *function, size_t instructions, const char *form)
{
	uint8_t *code = function, *moved;
	uintptr_t page = (uintptr_t)code & ~(PAGE - 1);

	moved = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	memcpy(moved, code, instructions);
	write_far(moved + instructions, code + instructions);
	original = (CUresult(*)(CUdeviceptr *, size_t))moved;
	mprotect((void *)page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (!strcmp(form, "far"))
		write_far(code, in_its_stead);
	else if (!strcmp(form, "indirect"))
		write_indirect(code, in_its_stead);
	else
		write_near(code, in_its_stead);
	mprotect((void *)page, 2 * PAGE, PROT_READ | PROT_EXEC);
}
#else
int main(int argc, char **argv)
{
	void *hooker = argc > 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*hook)(void *, size_t, const char *) =
		hooker ? (void (*)(void *, size_t, const char *))dlsym(hooker, "hook") : NULL;
	const int *met = hooker ? dlsym(hooker, "hooks_met") : NULL;
	size_t instructions = 0;
	CUcontext context;
	CUdeviceptr memory;
	CUdevice device;
	int bad = 0;

	if (!hook || !met || sscanf(argv[3], "%zu", &instructions) != 1)
		return 2;
	bad += cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	       cuCtxSetCurrent(context);
	hook(dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"), instructions, argv[2]);
	puts("hooked");
	fflush(stdout);
	getchar();
	for (int i = 0; i < 9; i++)
		bad += cuMemAlloc_v2(&memory, 1000) || cuMemFree_v2(memory);
	puts(bad || *met != 9 ? "wrong" : "right");
	return bad || *met != 9;
}
#endif
