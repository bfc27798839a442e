// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of the runtime's errors and the last error of each thread. The text of an error is its name
 * in plain words.
 */
#include "cudart/runtime.h"
#include "record/errors.h"

#define PREFIX "cudaError"

static const struct error_name names[] = {
	{ 0, "cudaSuccess" },
	{ 1, PREFIX "InvalidValue" },
	{ 2, PREFIX "MemoryAllocation" },
	{ 3, PREFIX "InitializationError" },
	{ 4, PREFIX "CudartUnloading" },
	{ 5, PREFIX "ProfilerDisabled" },
	{ 6, PREFIX "ProfilerNotInitialized" },
	{ 7, PREFIX "ProfilerAlreadyStarted" },
	{ 8, PREFIX "ProfilerAlreadyStopped" },
	{ 9, PREFIX "InvalidConfiguration" },
	{ 12, PREFIX "InvalidPitchValue" },
	{ 13, PREFIX "InvalidSymbol" },
	{ 16, PREFIX "InvalidHostPointer" },
	{ 17, PREFIX "InvalidDevicePointer" },
	{ 18, PREFIX "InvalidTexture" },
	{ 19, PREFIX "InvalidTextureBinding" },
	{ 20, PREFIX "InvalidChannelDescriptor" },
	{ 21, PREFIX "InvalidMemcpyDirection" },
	{ 22, PREFIX "AddressOfConstant" },
	{ 23, PREFIX "TextureFetchFailed" },
	{ 24, PREFIX "TextureNotBound" },
	{ 25, PREFIX "SynchronizationError" },
	{ 26, PREFIX "InvalidFilterSetting" },
	{ 27, PREFIX "InvalidNormSetting" },
	{ 28, PREFIX "MixedDeviceExecution" },
	{ 31, PREFIX "NotYetImplemented" },
	{ 32, PREFIX "MemoryValueTooLarge" },
	{ 34, PREFIX "StubLibrary" },
	{ 35, PREFIX "InsufficientDriver" },
	{ 36, PREFIX "CallRequiresNewerDriver" },
	{ 37, PREFIX "InvalidSurface" },
	{ 43, PREFIX "DuplicateVariableName" },
	{ 44, PREFIX "DuplicateTextureName" },
	{ 45, PREFIX "DuplicateSurfaceName" },
	{ 46, PREFIX "DevicesUnavailable" },
	{ 49, PREFIX "IncompatibleDriverContext" },
	{ 52, PREFIX "MissingConfiguration" },
	{ 53, PREFIX "PriorLaunchFailure" },
	{ 65, PREFIX "LaunchMaxDepthExceeded" },
	{ 66, PREFIX "LaunchFileScopedTex" },
	{ 67, PREFIX "LaunchFileScopedSurf" },
	{ 68, PREFIX "SyncDepthExceeded" },
	{ 69, PREFIX "LaunchPendingCountExceeded" },
	{ 98, PREFIX "InvalidDeviceFunction" },
	{ 100, PREFIX "NoDevice" },
	{ 101, PREFIX "InvalidDevice" },
	{ 102, PREFIX "DeviceNotLicensed" },
	{ 103, PREFIX "SoftwareValidityNotEstablished" },
	{ 127, PREFIX "StartupFailure" },
	{ 200, PREFIX "InvalidKernelImage" },
	{ 201, PREFIX "DeviceUninitialized" },
	{ 205, PREFIX "MapBufferObjectFailed" },
	{ 206, PREFIX "UnmapBufferObjectFailed" },
	{ 207, PREFIX "ArrayIsMapped" },
	{ 208, PREFIX "AlreadyMapped" },
	{ 209, PREFIX "NoKernelImageForDevice" },
	{ 210, PREFIX "AlreadyAcquired" },
	{ 211, PREFIX "NotMapped" },
	{ 212, PREFIX "NotMappedAsArray" },
	{ 213, PREFIX "NotMappedAsPointer" },
	{ 214, PREFIX "ECCUncorrectable" },
	{ 215, PREFIX "UnsupportedLimit" },
	{ 216, PREFIX "DeviceAlreadyInUse" },
	{ 217, PREFIX "PeerAccessUnsupported" },
	{ 218, PREFIX "InvalidPtx" },
	{ 219, PREFIX "InvalidGraphicsContext" },
	{ 220, PREFIX "NvlinkUncorrectable" },
	{ 221, PREFIX "JitCompilerNotFound" },
	{ 222, PREFIX "UnsupportedPtxVersion" },
	{ 223, PREFIX "JitCompilationDisabled" },
	{ 224, PREFIX "UnsupportedExecAffinity" },
	{ 225, PREFIX "UnsupportedDevSideSync" },
	{ 226, PREFIX "Contained" },
	{ 300, PREFIX "InvalidSource" },
	{ 301, PREFIX "FileNotFound" },
	{ 302, PREFIX "SharedObjectSymbolNotFound" },
	{ 303, PREFIX "SharedObjectInitFailed" },
	{ 304, PREFIX "OperatingSystem" },
	{ 400, PREFIX "InvalidResourceHandle" },
	{ 401, PREFIX "IllegalState" },
	{ 402, PREFIX "LossyQuery" },
	{ 500, PREFIX "SymbolNotFound" },
	{ 600, PREFIX "NotReady" },
	{ 700, PREFIX "IllegalAddress" },
	{ 701, PREFIX "LaunchOutOfResources" },
	{ 702, PREFIX "LaunchTimeout" },
	{ 703, PREFIX "LaunchIncompatibleTexturing" },
	{ 704, PREFIX "PeerAccessAlreadyEnabled" },
	{ 705, PREFIX "PeerAccessNotEnabled" },
	{ 708, PREFIX "SetOnActiveProcess" },
	{ 709, PREFIX "ContextIsDestroyed" },
	{ 710, PREFIX "Assert" },
	{ 711, PREFIX "TooManyPeers" },
	{ 712, PREFIX "HostMemoryAlreadyRegistered" },
	{ 713, PREFIX "HostMemoryNotRegistered" },
	{ 714, PREFIX "HardwareStackError" },
	{ 715, PREFIX "IllegalInstruction" },
	{ 716, PREFIX "MisalignedAddress" },
	{ 717, PREFIX "InvalidAddressSpace" },
	{ 718, PREFIX "InvalidPc" },
	{ 719, PREFIX "LaunchFailure" },
	{ 720, PREFIX "CooperativeLaunchTooLarge" },
	{ 721, PREFIX "TensorMemoryLeak" },
	{ 800, PREFIX "NotPermitted" },
	{ 801, PREFIX "NotSupported" },
	{ 802, PREFIX "SystemNotReady" },
	{ 803, PREFIX "SystemDriverMismatch" },
	{ 804, PREFIX "CompatNotSupportedOnDevice" },
	{ 805, PREFIX "MpsConnectionFailed" },
	{ 806, PREFIX "MpsRpcFailure" },
	{ 807, PREFIX "MpsServerNotReady" },
	{ 808, PREFIX "MpsMaxClientsReached" },
	{ 809, PREFIX "MpsMaxConnectionsReached" },
	{ 810, PREFIX "MpsClientTerminated" },
	{ 811, PREFIX "CdpNotSupported" },
	{ 812, PREFIX "CdpVersionMismatch" },
	{ 900, PREFIX "StreamCaptureUnsupported" },
	{ 901, PREFIX "StreamCaptureInvalidated" },
	{ 902, PREFIX "StreamCaptureMerge" },
	{ 903, PREFIX "StreamCaptureUnmatched" },
	{ 904, PREFIX "StreamCaptureUnjoined" },
	{ 905, PREFIX "StreamCaptureIsolation" },
	{ 906, PREFIX "StreamCaptureImplicit" },
	{ 907, PREFIX "CapturedEvent" },
	{ 908, PREFIX "StreamCaptureWrongThread" },
	{ 909, PREFIX "Timeout" },
	{ 910, PREFIX "GraphExecUpdateFailure" },
	{ 911, PREFIX "ExternalDevice" },
	{ 912, PREFIX "InvalidClusterSize" },
	{ 913, PREFIX "FunctionNotLoaded" },
	{ 914, PREFIX "InvalidResourceType" },
	{ 915, PREFIX "InvalidResourceConfiguration" },
	{ 999, PREFIX "Unknown" },
};

RUNTIME_EXPORT const char *cudaGetErrorName(cudaError_t error);
RUNTIME_EXPORT const char *cudaGetErrorString(cudaError_t error);
SIM_FUNCTION(cudaGetErrorName, SIM_RUNTIME, SIM_OTHER);
SIM_FUNCTION(cudaGetErrorString, SIM_RUNTIME, SIM_OTHER);

const char *cudaGetErrorName(cudaError_t error)
{
	const char *name = error_name__find(names, sizeof(names) / sizeof(*names), (int)error);
	struct sim_call call;

	SIM_FRAME();
	sim_enter(&call, &function_cudaGetErrorName, SIM_RUNTIME, 0, false);
	sim_leave(&call, SIM_RUNTIME, cudaSuccess);
	return name ? name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	const char *name = error_name__find(names, sizeof(names) / sizeof(*names), (int)error);
	struct sim_call call;

	SIM_FRAME();
	sim_enter(&call, &function_cudaGetErrorString, SIM_RUNTIME, 0, false);
	sim_leave(&call, SIM_RUNTIME, cudaSuccess);
	return name ? error_name__text(name, sizeof(PREFIX) - 1) : "unrecognized error code";
}

/* These return an error without failing themselves. */
static int last_error(struct sim_call *call, bool clear)
{
	int error = runtime_thread.last_error;

	if (clear)
		runtime_thread.last_error = cudaSuccess;
	sim_leave(call, SIM_RUNTIME, cudaSuccess);
	return error;
}

RUNTIME_EXPORT cudaError_t cudaGetLastError(void);
RUNTIME_EXPORT cudaError_t cudaPeekAtLastError(void);
SIM_FUNCTION(cudaGetLastError, SIM_RUNTIME, SIM_OTHER);
SIM_FUNCTION(cudaPeekAtLastError, SIM_RUNTIME, SIM_OTHER);

cudaError_t cudaGetLastError(void)
{
	struct sim_call call;

	SIM_FRAME();
	sim_enter(&call, &function_cudaGetLastError, SIM_RUNTIME, 0, false);
	return (cudaError_t)last_error(&call, true);
}

cudaError_t cudaPeekAtLastError(void)
{
	struct sim_call call;

	SIM_FRAME();
	sim_enter(&call, &function_cudaPeekAtLastError, SIM_RUNTIME, 0, false);
	return (cudaError_t)last_error(&call, false);
}
