// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of every shape, kind and form between what the actor holds and its pageable memory. Some
 * exceed their source or destination, and fail.
 */
#include "mix.h"

#define MOST 8192u
#define BATCH 3
#define DEVICES (1u << HOLD_DEVICE | 1u << HOLD_POOL | 1u << HOLD_MANAGED)
#define HOSTS (1u << HOLD_PINNED | 1u << HOLD_REGISTERED)

/* One end of a copy. */
struct end_point {
	uint64_t address;
	size_t room;
};

/* Without device memory, uses pageable host memory; sometimes claims more room than there is. */
static struct end_point device_end(struct actor *actor)
{
	const struct holding *holding = memory__pick(actor, DEVICES);

	if (!holding)
		return (struct end_point){ (uintptr_t)actor->buffer, MIX_BUFFER };
	if (actor__chance(actor, 100))
		return (struct end_point){ holding->address, holding->size + MOST };
	return (struct end_point){ holding->address, holding->size };
}

static struct end_point host_end(struct actor *actor)
{
	const struct holding *holding = actor__chance(actor, 2) ? NULL :
					memory__pick(actor, HOSTS);

	if (holding)
		return (struct end_point){ holding->address, holding->size };
	return (struct end_point){ (uintptr_t)actor->buffer, MIX_BUFFER };
}

static size_t size_within(struct actor *actor, const struct end_point *to,
			  const struct end_point *from)
{
	size_t most = to->room < from->room ? to->room : from->room;

	if (most > MOST)
		most = MOST;
	return actor__chance(actor, 50) ? 0 : 1 + actor__below(actor, (uint32_t)most);
}

struct copy {
	struct end_point to, from;
	size_t size;
	enum cudaMemcpyKind kind;
	CUstream stream;
};

static struct copy random_copy(struct actor *actor, CUstream stream)
{
	struct copy copy = { .kind = actor__below(actor, 4), .stream = stream };

	copy.to = copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice ?
			  device_end(actor) : host_end(actor);
	copy.from = copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice ?
			    device_end(actor) : host_end(actor);
	copy.size = size_within(actor, &copy.to, &copy.from);
	return copy;
}

#define TO ((void *)(uintptr_t)copy->to.address)
#define FROM ((const void *)(uintptr_t)copy->from.address)

static void linear_by_driver(struct actor *actor, const struct copy *copy)
{
	bool per_thread = actor__chance(actor, 3);
	uint64_t to = copy->to.address, from = copy->from.address;

	if (actor__chance(actor, 4) || copy->kind == cudaMemcpyHostToHost)
		(void)(per_thread ? cuMemcpy_ptds(to, from, copy->size) :
				    cuMemcpy(to, from, copy->size));
	else if (copy->kind == cudaMemcpyHostToDevice)
		(void)(per_thread ? cuMemcpyHtoD_v2_ptds(to, FROM, copy->size) :
				    cuMemcpyHtoD(to, FROM, copy->size));
	else if (copy->kind == cudaMemcpyDeviceToHost)
		(void)(per_thread ? cuMemcpyDtoH_v2_ptds(TO, from, copy->size) :
				    cuMemcpyDtoH(TO, from, copy->size));
	else
		(void)(per_thread ? cuMemcpyDtoD_v2_ptds(to, from, copy->size) :
				    cuMemcpyDtoD(to, from, copy->size));
}

static void enqueue_by_driver(struct actor *actor, const struct copy *copy)
{
	bool per_thread = actor__chance(actor, 3);
	uint64_t to = copy->to.address, from = copy->from.address;
	CUstream stream = copy->stream;

	if (actor__chance(actor, 4) || copy->kind == cudaMemcpyHostToHost)
		(void)(per_thread ? cuMemcpyAsync_ptsz(to, from, copy->size, stream) :
				    cuMemcpyAsync(to, from, copy->size, stream));
	else if (copy->kind == cudaMemcpyHostToDevice)
		(void)(per_thread ? cuMemcpyHtoDAsync_v2_ptsz(to, FROM, copy->size, stream) :
				    cuMemcpyHtoDAsync(to, FROM, copy->size, stream));
	else if (copy->kind == cudaMemcpyDeviceToHost)
		(void)(per_thread ? cuMemcpyDtoHAsync_v2_ptsz(TO, from, copy->size, stream) :
				    cuMemcpyDtoHAsync(TO, from, copy->size, stream));
	else
		(void)(per_thread ? cuMemcpyDtoDAsync_v2_ptsz(to, from, copy->size, stream) :
				    cuMemcpyDtoDAsync(to, from, copy->size, stream));
}

/* The kind passed to the runtime may be less specific than the truth, and is sometimes invalid. */
static enum cudaMemcpyKind told(struct actor *actor, const struct copy *copy)
{
	if (actor__chance(actor, 200))
		return (enum cudaMemcpyKind)9;
	return actor__chance(actor, 4) ? cudaMemcpyDefault : copy->kind;
}

static void linear_by_runtime(struct actor *actor, const struct copy *copy)
{
	enum cudaMemcpyKind kind = told(actor, copy);

	(void)(actor__chance(actor, 3) ? cudaMemcpy_ptds(TO, FROM, copy->size, kind) :
					 cudaMemcpy(TO, FROM, copy->size, kind));
}

static void enqueue_by_runtime(struct actor *actor, const struct copy *copy)
{
	enum cudaMemcpyKind kind = told(actor, copy);
	cudaStream_t stream = (cudaStream_t)copy->stream;

	(void)(actor__chance(actor, 3) ?
		       cudaMemcpyAsync_ptsz(TO, FROM, copy->size, kind, stream) :
		       cudaMemcpyAsync(TO, FROM, copy->size, kind, stream));
}

void copy__enqueue(struct actor *actor, CUstream stream)
{
	struct copy copy = random_copy(actor, stream);

	copy.size += !copy.size;	/* the runtime captures nothing for zero bytes */
	if (actor__at_runtime(actor))
		enqueue_by_runtime(actor, &copy);
	else
		enqueue_by_driver(actor, &copy);
}

static void linear(struct actor *actor)
{
	struct copy copy = random_copy(actor, NULL);

	if (actor__at_runtime(actor))
		linear_by_runtime(actor, &copy);
	else
		linear_by_driver(actor, &copy);
}

static void peer(struct actor *actor)
{
	uint32_t devices = (uint32_t)actor->mix->nr_devices;
	struct copy peers = { .to = device_end(actor), .from = device_end(actor) }, *copy = &peers;
	int to = (int)actor__below(actor, devices), from = (int)actor__below(actor, devices);
	CUcontext *primary = actor->mix->primary;
	CUstream stream = stream__pick(actor);
	size_t size = size_within(actor, &copy->to, &copy->from);

	switch (actor__below(actor, 4)) {
	case 0:
		(void)cuMemcpyPeer(copy->to.address, primary[to], copy->from.address,
				   primary[from], size);
		return;
	case 1:
		(void)cuMemcpyPeerAsync(copy->to.address, primary[to], copy->from.address,
					primary[from], size, stream);
		return;
	case 2:
		if (actor->mix->layers != LAYERS_DRIVER)
			(void)cudaMemcpyPeer(TO, to, FROM, from, size);
		return;
	default:
		if (actor->mix->layers != LAYERS_DRIVER)
			(void)cudaMemcpyPeerAsync(TO, to, FROM, from, size, (cudaStream_t)stream);
	}
}

/* A shape with rows of `pitch` bytes that fits into both ends. */
struct shape {
	size_t pitch, width, height, depth;
};

static struct shape random_shape(struct actor *actor, const struct copy *copy, bool solid)
{
	size_t most = copy->to.room < copy->from.room ? copy->to.room : copy->from.room;
	struct shape shape = { .depth = solid ? 1 + actor__below(actor, 3) : 1 };

	if (most > MOST)
		most = MOST;
	shape.height = 1 + actor__below(actor, 4);
	shape.pitch = most / (shape.height * shape.depth);
	if (!shape.pitch) {
		shape.height = shape.depth = 1;
		shape.pitch = most;
	}
	shape.width = 1 + actor__below(actor, (uint32_t)shape.pitch);
	return shape;
}

static CUmemorytype type_of(struct actor *actor, bool device)
{
	if (actor__chance(actor, 4))
		return CU_MEMORYTYPE_UNIFIED;
	return device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

/* Fills in the ends in any of the driver's copy structures. */
#define SET_ENDS(actor, copy, shape, out)							\
	do {											\
		bool to_device = (copy)->kind & 1, from_device = (copy)->kind & 2;		\
												\
		(out)->dstMemoryType = type_of(actor, to_device);				\
		(out)->srcMemoryType = type_of(actor, from_device);				\
		(out)->dstDevice = (copy)->to.address;						\
		(out)->srcDevice = (copy)->from.address;					\
		(out)->dstHost = (void *)(uintptr_t)(copy)->to.address;				\
		(out)->srcHost = (const void *)(uintptr_t)(copy)->from.address;			\
		(out)->dstPitch = (out)->srcPitch = (shape)->pitch;				\
		(out)->WidthInBytes = (shape)->width;						\
		(out)->Height = (shape)->height;						\
	} while (0)

static void flat_by_driver(struct actor *actor, const struct copy *copy)
{
	struct shape shape = random_shape(actor, copy, false);
	CUDA_MEMCPY2D out = { 0 };

	SET_ENDS(actor, copy, &shape, &out);
	switch (actor__below(actor, 6)) {
	case 0:
		(void)cuMemcpy2D(&out);
		return;
	case 1:
		(void)cuMemcpy2D_v2_ptds(&out);
		return;
	case 2:
		(void)cuMemcpy2DUnaligned(&out);
		return;
	case 3:
		(void)cuMemcpy2DUnaligned_v2_ptds(&out);
		return;
	case 4:
		(void)cuMemcpy2DAsync(&out, copy->stream);
		return;
	default:
		(void)cuMemcpy2DAsync_v2_ptsz(&out, copy->stream);
	}
}

static void solid_by_driver(struct actor *actor, const struct copy *copy)
{
	struct shape shape = random_shape(actor, copy, true);
	CUDA_MEMCPY3D out = { .dstHeight = shape.height, .srcHeight = shape.height,
			      .Depth = shape.depth };

	SET_ENDS(actor, copy, &shape, &out);
	switch (actor__below(actor, 4)) {
	case 0:
		(void)cuMemcpy3D(&out);
		return;
	case 1:
		(void)cuMemcpy3D_v2_ptds(&out);
		return;
	case 2:
		(void)cuMemcpy3DAsync(&out, copy->stream);
		return;
	default:
		(void)cuMemcpy3DAsync_v2_ptsz(&out, copy->stream);
	}
}

/* From device to device, as the function's name says; the structure could say otherwise. */
static void solid_to_peer(struct actor *actor, CUstream stream)
{
	struct copy copy = { .to = device_end(actor), .from = device_end(actor),
			     .kind = cudaMemcpyDeviceToDevice };
	struct shape shape = random_shape(actor, &copy, true);
	CUDA_MEMCPY3D_PEER out = { .dstHeight = shape.height, .srcHeight = shape.height,
				   .Depth = shape.depth,
				   .dstContext = actor->mix->primary[0],
				   .srcContext = actor->mix->primary[0] };

	SET_ENDS(actor, &copy, &shape, &out);
	out.dstMemoryType = out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	(void)(actor__chance(actor, 2) ? cuMemcpy3DPeer(&out) : cuMemcpy3DPeerAsync(&out, stream));
}

static void shaped_by_runtime(struct actor *actor, const struct copy *copy)
{
	struct shape shape = random_shape(actor, copy, true);
	enum cudaMemcpyKind kind = told(actor, copy);
	cudaStream_t stream = (cudaStream_t)copy->stream;
	struct cudaMemcpy3DParms out = {
		.srcPtr = { (void *)(uintptr_t)copy->from.address, shape.pitch, shape.pitch,
			    shape.height },
		.dstPtr = { TO, shape.pitch, shape.pitch, shape.height },
		.extent = { shape.width, shape.height, shape.depth }, .kind = kind,
	};

	switch (actor__below(actor, 5)) {
	case 0:
		(void)cudaMemcpy2D(TO, shape.pitch, FROM, shape.pitch, shape.width, shape.height,
				   kind);
		return;
	case 1:
		(void)cudaMemcpy2DAsync(TO, shape.pitch, FROM, shape.pitch, shape.width,
					shape.height, kind, stream);
		return;
	case 2:
		(void)cudaMemcpy2DAsync_ptsz(TO, shape.pitch, FROM, shape.pitch, shape.width,
					     shape.height, kind, stream);
		return;
	case 3:
		(void)cudaMemcpy3D(&out);
		return;
	default:
		(void)cudaMemcpy3DAsync(&out, stream);
	}
}

/* Host memory that a structure calls the device's could count as either. */
static void shaped(struct actor *actor)
{
	struct copy copy;

	if (!memory__pick(actor, DEVICES))
		return;
	copy = random_copy(actor, stream__pick(actor));
	if (actor__at_runtime(actor))
		shaped_by_runtime(actor, &copy);
	else if (actor__chance(actor, 2))
		flat_by_driver(actor, &copy);
	else if (actor__chance(actor, 4))
		solid_to_peer(actor, copy.stream);
	else
		solid_by_driver(actor, &copy);
}

static void array(struct actor *actor)
{
	const struct holding *holding = memory__pick(actor, 1u << HOLD_ARRAY);
	struct end_point device = device_end(actor), host = host_end(actor);
	size_t size = 1 + actor__below(actor, 64);
	void *pointer = (void *)(uintptr_t)host.address;
	CUstream stream = stream__pick(actor);
	CUarray handle;

	if (!holding || size > device.room || size > host.room)
		return;
	handle = (CUarray)(uintptr_t)holding->address;
	switch (actor__below(actor, 7)) {
	case 0:
		(void)cuMemcpyHtoA(handle, 0, pointer, size);
		return;
	case 1:
		(void)cuMemcpyAtoH(pointer, handle, 0, size);
		return;
	case 2:
		(void)cuMemcpyDtoA(handle, 0, device.address, size);
		return;
	case 3:
		(void)cuMemcpyAtoD(device.address, handle, 0, size);
		return;
	case 4:
		(void)cuMemcpyAtoA(handle, 0, handle, 0, size);
		return;
	case 5:
		(void)cuMemcpyHtoAAsync(handle, 0, pointer, size, stream);
		return;
	default:
		(void)cuMemcpyAtoHAsync(pointer, handle, 0, size, stream);
	}
}

static void batch(struct actor *actor)
{
	CUdeviceptr to[BATCH], from[BATCH];
	size_t sizes[BATCH];
	uint32_t count = 1 + actor__below(actor, BATCH);
	CUstream stream = stream__pick(actor);

	for (uint32_t i = 0; i < count; i++) {
		struct copy copy = random_copy(actor, stream);

		to[i] = copy.to.address;
		from[i] = copy.from.address;
		sizes[i] = copy.size;
	}
	if (actor__at_runtime(actor))
		(void)cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, sizes,
					   count, NULL, NULL, 0, (cudaStream_t)stream);
	else
		(void)cuMemcpyBatchAsync(to, from, sizes, count, NULL, NULL, 0, stream);
}

void copy__act(struct actor *actor)
{
	uint32_t what = actor__below(actor, 100);

	if (what < 40)
		linear(actor);
	else if (what < 65)
		copy__enqueue(actor, stream__pick(actor));
	else if (what < 80)
		shaped(actor);
	else if (what < 87)
		peer(actor);
	else if (what < 95)
		array(actor);
	else
		batch(actor);
}
