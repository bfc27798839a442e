// SPDX-License-Identifier: BSD-2-Clause
/*
 * Modules and libraries: an image of code, in a context or without one. The handles of its kernels
 * are freed with it and reused for the next image's.
 */
#include "cuda/image.h"
#include "cuda/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IMAGES (1u << 16)
#define BINARY_VARIABLE 256

struct variable {
	struct variable *next;
	struct CUctx_st *context;	/* that has it at the address; NULL if none has yet */
	uint64_t address;
	size_t size;
	char name[];
};

/* Behind CUmodule and CUlibrary; object.type says which. */
struct image {
	struct object object;
	uint64_t reserved;
	struct CUctx_st *context;	/* of a module */
	bool binary;			/* its contents are unknown: any name is found */
	struct kernel *kernels;		/* in the order of the text */
	struct kernel **last_kernel;
	uint32_t nr_kernels;
	struct kernel *found;		/* the latest: programs look them up in text order */
	struct variable *variables;
	struct image *library;		/* for a module that belongs to a library */
	struct image *module;		/* for a library: its module, once requested */
};

enum { IMAGE_MODULE = 1, IMAGE_LIBRARY };
enum { KERNEL_FUNCTION = 1, KERNEL_KERNEL };

static struct pool *images;

bool image__start(void)
{
	images = pool__new(sizeof(struct image), MAX_IMAGES);
	return images != NULL;
}

struct kernel *kernel__get(const void *handle)
{
	return pool__holds(driver.kernels, handle) ? (struct kernel *)handle : NULL;
}

uint32_t kernel__name_id(const void *handle)
{
	const struct kernel *kernel = kernel__get(handle);

	return kernel ? kernel->name_id : SIM_NO_KERNEL;
}

static struct kernel *new_kernel(struct image *image, uint32_t type, const char *name)
{
	uint32_t id = sim_names__intern(name);
	struct kernel *kernel = id == SIM_NO_KERNEL ? NULL : pool__take(driver.kernels);

	if (!kernel)
		return NULL;
	kernel->object.type = type;
	kernel->name = sim_names__get(id);
	kernel->name_id = id;
	kernel->image = image;
	kernel->block[0] = kernel->block[1] = kernel->block[2] = 1;
	kernel->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024;
	kernel->attributes[CU_FUNC_ATTRIBUTE_NUM_REGS] = 32;
	kernel->attributes[CU_FUNC_ATTRIBUTE_PTX_VERSION] = 90;
	kernel->attributes[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = 90;
	return kernel;
}

static bool add_kernel(void *context, const char *name)
{
	struct image *image = context;
	uint32_t type = image->object.type == IMAGE_LIBRARY ? KERNEL_KERNEL : KERNEL_FUNCTION;
	struct kernel *kernel = new_kernel(image, type, name);

	if (!kernel)
		return false;
	*image->last_kernel = kernel;
	image->last_kernel = &kernel->next;
	image->nr_kernels++;
	return true;
}

static bool add_variable(void *context, const char *name, size_t size)
{
	struct block like = { .kind = MEMORY_GLOBAL, .size = size };
	struct image *image = context;
	struct variable *variable = calloc(1, sizeof(*variable) + strlen(name) + 1);

	if (!variable)
		return false;
	strcpy(variable->name, name);
	variable->size = size;
	/* A library's variables are allocated in each context that requests them. */
	if (image->object.type == IMAGE_MODULE) {
		if (memory__allocate(&like, &variable->address)) {
			free(variable);
			return false;
		}
		variable->context = driver__context();
	}
	variable->next = image->variables;
	image->variables = variable;
	return true;
}

static void unload(struct image *image)
{
	struct variable *variable;
	struct kernel *kernel;

	if (image->module)
		unload(image->module);
	while ((kernel = image->kernels) != NULL) {
		image->kernels = kernel->next;
		if (kernel->function)
			pool__give(driver.kernels, kernel->function);
		pool__give(driver.kernels, kernel);
	}
	while ((variable = image->variables) != NULL) {
		image->variables = variable->next;
		if (variable->context)
			memory__free(variable->address, KIND(MEMORY_GLOBAL), NULL);
		free(variable);
	}
	pool__give(images, image);
}

static struct image *new_image(uint32_t type)
{
	struct image *image = pool__take(images);

	if (!image)
		return NULL;
	image->object.type = type;
	image->last_kernel = &image->kernels;
	image->context = type == IMAGE_MODULE ? driver__context() : NULL;
	return image;
}

static int load(struct image **out, const void *code, uint32_t type)
{
	struct ptx_visitor visitor = { add_kernel, add_variable, NULL };
	struct image *image;
	int result = CUDA_SUCCESS;

	if (!out || !code)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	image = new_image(type);
	if (!image) {
		result = CUDA_ERROR_OUT_OF_MEMORY;
		goto out;
	}
	visitor.context = image;
	image->binary = !image__is_text(code);
	if (!image->binary && !ptx__parse(code, &visitor)) {
		unload(image);
		result = CUDA_ERROR_INVALID_PTX;
		goto out;
	}
	driver__created(type == IMAGE_MODULE ? SIM_MODULE : SIM_LIBRARY);
	*out = image;
out:
	pthread_mutex_unlock(&driver.lock);
	return result;
}

static int load_file(struct image **out, const char *path, uint32_t type)
{
	FILE *in = path ? fopen(path, "re") : NULL;
	char *text = NULL;
	size_t size = 0;
	int result;

	if (!in)
		return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
	if (getdelim(&text, &size, '\0', in) < 4)
		result = CUDA_ERROR_INVALID_IMAGE;
	else
		result = load(out, text, type);
	free(text);
	fclose(in);
	return result;
}

static struct image *checked(const void *handle, uint32_t type)
{
	struct image *image = (struct image *)handle;

	return pool__holds(images, image) && image->object.type == type ? image : NULL;
}

static int unload_handle(const void *handle, uint32_t type)
{
	int result = CUDA_ERROR_INVALID_HANDLE;
	struct image *image;

	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&driver.lock);
	image = checked(handle, type);
	if (image && !image->library) {
		unload(image);
		driver__destroyed(type == IMAGE_MODULE ? SIM_MODULE : SIM_LIBRARY);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&driver.lock);
	return result;
}

/* Their memory was freed with the context. */
static void forget_variables(struct image *image, const struct CUctx_st *context)
{
	for (struct variable *variable = image->variables; variable; variable = variable->next)
		if (variable->context == context)
			variable->context = NULL;
}

void image__release_all(struct CUctx_st *context)
{
	struct image *image = NULL;

	while ((image = pool__next(images, image)) != NULL) {
		forget_variables(image, context);
		if (image->context != context || image->library)
			continue;
		unload(image);
		driver__went(SIM_MODULE);
	}
}

static struct kernel *find_kernel(struct image *image, const char *name)
{
	struct kernel *kernel = image->found ? image->found->next : NULL;

	for (uint32_t i = 0; i < image->nr_kernels; i++, kernel = kernel->next) {
		if (!kernel)
			kernel = image->kernels;
		if (!strcmp(kernel->name, name)) {
			image->found = kernel;
			return kernel;
		}
	}
	return NULL;
}

static int get_kernel(void **out, const void *handle, uint32_t type, const char *name)
{
	int result = CUDA_ERROR_INVALID_HANDLE;
	struct kernel *kernel;
	struct image *image;

	if (!out || !name)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	image = checked(handle, type);
	if (image) {
		kernel = find_kernel(image, name);
		if (!kernel && image->binary && *name && add_kernel(image, name))
			kernel = find_kernel(image, name);
		result = kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
		if (kernel)
			*out = kernel;
	}
	pthread_mutex_unlock(&driver.lock);
	return result;
}

/* The CUfunction of a CUkernel: another handle with the same name. */
static int get_function(CUfunction *out, CUkernel handle)
{
	struct kernel *kernel = kernel__get(handle);

	if (!out || !kernel)
		return kernel ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&driver.lock);
	if (!kernel->function)
		kernel->function = new_kernel(kernel->image, KERNEL_FUNCTION, kernel->name);
	*out = (CUfunction)kernel->function;
	pthread_mutex_unlock(&driver.lock);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The variable in the current context, or one that no context has yet. */
static struct variable *find_variable(const struct image *image, const char *name)
{
	struct variable *unused = NULL;

	for (struct variable *variable = image->variables; variable; variable = variable->next) {
		if (strcmp(variable->name, name))
			continue;
		if (variable->context == driver__context() ||
		    image->object.type == IMAGE_MODULE)
			return variable;
		if (!variable->context)
			unused = variable;
	}
	return unused;
}

/* The size of the variable; in an unknown binary any name has one. 0 if there is none. */
static size_t variable_size(const struct image *image, const char *name)
{
	for (struct variable *variable = image->variables; variable; variable = variable->next)
		if (!strcmp(variable->name, name))
			return variable->size;
	return image->binary ? BINARY_VARIABLE : 0;
}

/* The variable in the current context, allocated there if necessary. */
static int place_variable(struct image *image, const char *name, struct variable **out)
{
	size_t size = variable_size(image, name);
	struct block like = { .kind = MEMORY_GLOBAL, .size = size };
	struct variable *variable = find_variable(image, name);
	int result = CUDA_SUCCESS;

	if (!size)
		return CUDA_ERROR_NOT_FOUND;
	if (!variable) {
		if (!add_variable(image, name, size))
			return CUDA_ERROR_OUT_OF_MEMORY;
		variable = image->variables;
	}
	if (!variable->context)
		result = memory__allocate(&like, &variable->address);
	if (!result)
		variable->context = driver__context();
	*out = variable;
	return result;
}

static int get_global(CUdeviceptr *out, size_t *size, const void *handle, uint32_t type,
		      const char *name)
{
	struct variable *variable = NULL;
	int result = CUDA_ERROR_INVALID_HANDLE;
	struct image *image;

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	image = checked(handle, type);
	if (image)
		result = place_variable(image, name, &variable);
	pthread_mutex_unlock(&driver.lock);
	if (result)
		return result;
	if (out)
		*out = variable->address;
	if (size)
		*size = variable->size;
	return CUDA_SUCCESS;
}

static int get_low_global(CUdeviceptr_v1 *out, unsigned int *size, CUmodule module,
			  const char *name)
{
	CUdeviceptr address;
	size_t wide;
	int result = get_global(&address, &wide, module, IMAGE_MODULE, name);

	if (result)
		return result;
	if (out)
		*out = (CUdeviceptr_v1)address;
	if (size)
		*size = (unsigned int)wide;
	return CUDA_SUCCESS;
}

static int count(unsigned int *out, const void *handle, uint32_t type)
{
	struct image *image = checked(handle, type);

	if (!out || !image)
		return image ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = image->nr_kernels;
	return CUDA_SUCCESS;
}

static int enumerate(void **out, unsigned int room, const void *handle, uint32_t type)
{
	struct image *image = checked(handle, type);

	if (!out || !image)
		return image ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&driver.lock);
	for (struct kernel *kernel = image->kernels; kernel && room; kernel = kernel->next) {
		*out++ = kernel;
		room--;
	}
	pthread_mutex_unlock(&driver.lock);
	return CUDA_SUCCESS;
}

/* The module of a library in the current context: the same kernels under other handles. */
static int get_module(CUmodule *out, CUlibrary handle)
{
	int result = CUDA_ERROR_INVALID_HANDLE;
	struct image *library, *module;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	library = checked(handle, IMAGE_LIBRARY);
	if (!library)
		goto out;
	module = library->module;
	if (!module)
		module = library->module = new_image(IMAGE_MODULE);
	result = module ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	if (module && !module->library) {
		module->library = library;
		module->binary = library->binary;
		for (struct kernel *kernel = library->kernels; kernel; kernel = kernel->next)
			add_kernel(module, kernel->name);
	}
	*out = (CUmodule)module;
out:
	pthread_mutex_unlock(&driver.lock);
	return result;
}

static int loading_mode(CUmoduleLoadingMode *out)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = CU_MODULE_EAGER_LOADING;
	return CUDA_SUCCESS;
}

#define JIT_PARAMS unsigned int nr_options, CUjit_option *options, void **values
#define LIBRARY_PARAMS CUjit_option *jit_options, void **jit_values,			\
		       unsigned int nr_jit_options, CUlibraryOption *options,		\
		       void **values, unsigned int nr_options
#define IGNORE_JIT (void)nr_options, (void)options, (void)values
#define IGNORE_LIBRARY IGNORE_JIT, (void)jit_options, (void)jit_values, (void)nr_jit_options
#define MODULE_OUT ((struct image **)out)

DRIVER(cuModuleLoadData, SIM_OTHER, (CUmodule *out, const void *code), 0,
       load(MODULE_OUT, code, IMAGE_MODULE));
DRIVER(cuModuleLoadDataEx, SIM_OTHER, (CUmodule *out, const void *code, JIT_PARAMS), 0,
       (IGNORE_JIT, load(MODULE_OUT, code, IMAGE_MODULE)));
DRIVER(cuModuleLoadFatBinary, SIM_OTHER, (CUmodule *out, const void *code), 0,
       load(MODULE_OUT, code, IMAGE_MODULE));
DRIVER(cuModuleLoad, SIM_OTHER, (CUmodule *out, const char *path), 0,
       load_file(MODULE_OUT, path, IMAGE_MODULE));
DRIVER(cuModuleUnload, SIM_OTHER, (CUmodule module), 0, unload_handle(module, IMAGE_MODULE));
DRIVER(cuModuleGetFunction, SIM_OTHER, (CUfunction *out, CUmodule module, const char *name), 0,
       get_kernel((void **)out, module, IMAGE_MODULE, name));
DRIVER(cuModuleGetFunctionCount, SIM_OTHER, (unsigned int *out, CUmodule module), 0,
       count(out, module, IMAGE_MODULE));
DRIVER(cuModuleEnumerateFunctions, SIM_OTHER, (CUfunction *out, unsigned int room,
					       CUmodule module), 0,
       enumerate((void **)out, room, module, IMAGE_MODULE));
DRIVER(cuModuleGetGlobal_v2, SIM_OTHER, (CUdeviceptr *out, size_t *size, CUmodule module,
					 const char *name), 0,
       get_global(out, size, module, IMAGE_MODULE, name));
DRIVER(cuModuleGetGlobal, SIM_OTHER, (CUdeviceptr_v1 *out, unsigned int *size, CUmodule module,
				      const char *name), 0,
       get_low_global(out, size, module, name));
DRIVER_PLAIN(cuModuleGetLoadingMode, (CUmoduleLoadingMode *out), loading_mode(out));

DRIVER_PLAIN(cuLibraryLoadData, (CUlibrary *out, const void *code, LIBRARY_PARAMS),
	     (IGNORE_LIBRARY, !driver.initialized ? CUDA_ERROR_NOT_INITIALIZED :
	      load(MODULE_OUT, code, IMAGE_LIBRARY)));
DRIVER_PLAIN(cuLibraryLoadFromFile, (CUlibrary *out, const char *path, LIBRARY_PARAMS),
	     (IGNORE_LIBRARY, !driver.initialized ? CUDA_ERROR_NOT_INITIALIZED :
	      load_file(MODULE_OUT, path, IMAGE_LIBRARY)));
DRIVER_PLAIN(cuLibraryUnload, (CUlibrary library), unload_handle(library, IMAGE_LIBRARY));
DRIVER_PLAIN(cuLibraryGetKernel, (CUkernel *out, CUlibrary library, const char *name),
	     get_kernel((void **)out, library, IMAGE_LIBRARY, name));
DRIVER_PLAIN(cuLibraryGetKernelCount, (unsigned int *out, CUlibrary library),
	     count(out, library, IMAGE_LIBRARY));
DRIVER_PLAIN(cuLibraryEnumerateKernels, (CUkernel *out, unsigned int room, CUlibrary library),
	     enumerate((void **)out, room, library, IMAGE_LIBRARY));
DRIVER(cuLibraryGetModule, SIM_OTHER, (CUmodule *out, CUlibrary library), 0,
       get_module(out, library));
DRIVER(cuLibraryGetGlobal, SIM_OTHER, (CUdeviceptr *out, size_t *size, CUlibrary library,
				       const char *name), 0,
       get_global(out, size, library, IMAGE_LIBRARY, name));
DRIVER(cuLibraryGetManaged, SIM_OTHER, (CUdeviceptr *out, size_t *size, CUlibrary library,
					const char *name), 0,
       get_global(out, size, library, IMAGE_LIBRARY, name));
DRIVER(cuKernelGetFunction, SIM_OTHER, (CUfunction *out, CUkernel kernel), 0,
       get_function(out, kernel));
