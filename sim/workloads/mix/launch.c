// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launches in each form: of kernels that all actors share, and of those of modules and libraries
 * that come and go, so that handles are reused under other names.
 */
#include "mix.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMES 40

static void nothing(void *argument)
{
	(void)argument;
}

static int by_driver(struct actor *actor, void *kernel, unsigned int block, CUstream stream)
{
	CUlaunchConfig config = {
		.gridDimX = 1 + actor__below(actor, 100), .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = block, .blockDimY = 1, .blockDimZ = 1, .hStream = stream,
	};

	switch (actor__below(actor, 6)) {
	case 0:
		return (int)cuLaunchKernel_ptsz(kernel, 1, 2, 3, block, 1, 1, 0, stream, NULL,
						NULL);
	case 1:
		return (int)cuLaunchKernelEx(&config, kernel, NULL, NULL);
	case 2:
		return (int)cuLaunchKernelEx_ptsz(&config, kernel, NULL, NULL);
	case 3:
		return (int)cuLaunchCooperativeKernel(kernel, 4, 1, 1, block, 1, 1, 0, stream,
						      NULL);
	case 4:
		return (int)cuLaunchCooperativeKernel_ptsz(kernel, 4, 1, 1, block, 1, 1, 0, stream,
							   NULL);
	default:
		return (int)cuLaunchKernel(kernel, 5, 1, 1, block, 1, 1, 16, stream, NULL, NULL);
	}
}

static int by_runtime(struct actor *actor, void *kernel, unsigned int block, cudaStream_t stream)
{
	dim3 grid = { 1 + actor__below(actor, 9), 2, 1 }, blocks = { block, 1, 1 };
	cudaLaunchConfig_t config = { .gridDim = grid, .blockDim = blocks, .stream = stream };

	switch (actor__below(actor, 7)) {
	case 0:
		return (int)cudaLaunchKernel_ptsz(kernel, grid, blocks, NULL, 0, stream);
	case 1:
		return (int)cudaLaunchKernelExC(&config, kernel, NULL);
	case 2:
		return (int)cudaLaunchKernelExC_ptsz(&config, kernel, NULL);
	case 3:
		return (int)cudaLaunchCooperativeKernel(kernel, grid, blocks, NULL, 0, stream);
	case 4:
		return (int)cudaLaunchCooperativeKernel_ptsz(kernel, grid, blocks, NULL, 0, stream);
	case 5:
		return (int)__cudaLaunchKernel(kernel, grid, blocks, NULL, 0, stream);
	default:
		return (int)cudaLaunchKernel(kernel, grid, blocks, NULL, 0, stream);
	}
}

static void *pick_kernel(struct actor *actor)
{
	const struct module_slot *slot = &PICK(actor, actor->modules);

	if (slot->count && home__is_here(actor, &slot->home))
		return slot->kernels[actor__below(actor, slot->count)];
	return PICK(actor, actor->mix->kernels);
}

void launch__enqueue(struct actor *actor, CUstream stream)
{
	unsigned int block = actor__chance(actor, 40) ? 0 : 1 + actor__below(actor, 512);
	void *kernel = pick_kernel(actor);

	if (!kernel)
		return;
	(void)(actor__at_runtime(actor) ? by_runtime(actor, kernel, block, (cudaStream_t)stream) :
					  by_driver(actor, kernel, block, stream));
}

void launch__act(struct actor *actor)
{
	CUstream stream = stream__pick(actor);

	if (actor__chance(actor, 20)) {
		(void)(actor__at_runtime(actor) ?
			       (int)cudaLaunchHostFunc((cudaStream_t)stream, nothing, NULL) :
			       (int)cuLaunchHostFunc(stream, nothing, NULL));
		return;
	}
	for (uint32_t i = 1 + actor__below(actor, 4); i; i--)
		launch__enqueue(actor, stream);
}

/* PTX with kernels whose names are drawn from a few; the caller frees it. */
static char *random_text(struct actor *actor, char names[][32])
{
	uint32_t first = actor__below(actor, NAMES);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		give_up("no memory for the kernels");
	fputs(".version 7.0\n.target sm_75\n.address_size 64\n", out);
	for (uint32_t i = 0; i < MIX_KERNELS; i++) {
		snprintf(names[i], 32, "mix_%u", (first + i * 7) % NAMES);
		fprintf(out, ".visible .entry %s()\n{\n\tret;\n}\n", names[i]);
	}
	if (fclose(out))
		give_up("no memory for the kernels");
	return text;
}

static void load(struct actor *actor, struct module_slot *slot)
{
	char names[MIX_KERNELS][32];
	char *text = random_text(actor, names);
	bool as_library = actor__chance(actor, 2);
	int result;

	*slot = (struct module_slot){ 0 };
	if (!as_library)
		result = (int)cuModuleLoadData(&slot->module, text);
	else if (actor__at_runtime(actor))
		result = (int)cudaLibraryLoadData((cudaLibrary_t *)&slot->library, text, NULL, NULL,
						  0, NULL, NULL, 0);
	else
		result = (int)cuLibraryLoadData(&slot->library, text, NULL, NULL, 0, NULL, NULL, 0);
	free(text);
	if (result)
		return;
	if (actor->here.device < 0)
		actor__find_here(actor);
	slot->home = actor->here;
	for (uint32_t i = 0; i < MIX_KERNELS; i++) {
		void **out = &slot->kernels[slot->count];

		if (slot->module)
			result =
				(int)cuModuleGetFunction((CUfunction *)out, slot->module, names[i]);
		else if (actor__at_runtime(actor))
			result = (int)cudaLibraryGetKernel((cudaKernel_t *)out,
							   (cudaLibrary_t)slot->library, names[i]);
		else
			result = (int)cuLibraryGetKernel((CUkernel *)out, slot->library, names[i]);
		slot->count += !result;
	}
}

static void unload(struct actor *actor, struct module_slot *slot)
{
	int result;

	if (slot->module)
		result = (int)cuModuleUnload(slot->module);
	else if (actor__at_runtime(actor))
		result = (int)cudaLibraryUnload((cudaLibrary_t)slot->library);
	else
		result = (int)cuLibraryUnload(slot->library);
	if (!result)
		*slot = (struct module_slot){ 0 };
}

void module__act(struct actor *actor)
{
	struct module_slot *slot = &PICK(actor, actor->modules);

	if (!slot->module && !slot->library)
		load(actor, slot);
	else
		unload(actor, slot);
}

void launch__prepare(struct mix *mix)
{
	char *text = kernels_text("mix_shared", MIX_KERNELS, 0);

	RETRY(cuLibraryLoadData(&mix->library, text, NULL, NULL, 0, NULL, NULL, 0));
	free(text);
	for (uint32_t i = 0; i < MIX_KERNELS; i++) {
		char *name = kernel_name("mix_shared", i, 0);

		RETRY(cuLibraryGetKernel((CUkernel *)&mix->kernels[i], mix->library, name));
		free(name);
	}
}
