# SPDX-License-Identifier: BSD-2-Clause
"""The structures that CUDA functions take, by value or by pointer; the offsets are CUDA 13's.

LAYOUT has what a compiler says of NVIDIA's headers; check() compares,
and test_decoded_arguments.py calls it.
"""
import ctypes
from ctypes import Structure, c_int, c_ubyte, c_uint, c_uint64, c_ushort

POINTER = c_uint64  # addresses and handles are numbers here


class FatBinaryWrapper(Structure):
    """What nvcc puts around code, and __cudaRegisterFatBinary takes."""
    _fields_ = [("magic", c_int), ("version", c_int), ("data", POINTER), ("unused", POINTER)]


class Dim3(Structure):
    _fields_ = [("x", c_uint), ("y", c_uint), ("z", c_uint)]


class Extent(Structure):
    _fields_ = [("width", c_uint64), ("height", c_uint64), ("depth", c_uint64)]


class Position(Structure):
    _fields_ = [("x", c_uint64), ("y", c_uint64), ("z", c_uint64)]


class PitchedPtr(Structure):
    _fields_ = [("ptr", POINTER), ("pitch", c_uint64), ("xsize", c_uint64), ("ysize", c_uint64)]


class Location(Structure):
    _fields_ = [("type", c_uint), ("id", c_int)]


class IpcHandle(Structure):
    _fields_ = [("reserved", c_ubyte * 64)]


class Memcpy2D(Structure):
    """CUDA_MEMCPY2D"""
    _fields_ = [("srcXInBytes", c_uint64), ("srcY", c_uint64), ("srcMemoryType", c_uint),
                ("srcHost", POINTER), ("srcDevice", POINTER), ("srcArray", POINTER),
                ("srcPitch", c_uint64), ("dstXInBytes", c_uint64), ("dstY", c_uint64),
                ("dstMemoryType", c_uint), ("dstHost", POINTER), ("dstDevice", POINTER),
                ("dstArray", POINTER), ("dstPitch", c_uint64), ("WidthInBytes", c_uint64),
                ("Height", c_uint64)]


class Memcpy3D(Structure):
    """CUDA_MEMCPY3D; CUDA_MEMCPY3D_PEER has contexts where this one has reserved words."""
    _fields_ = [("srcXInBytes", c_uint64), ("srcY", c_uint64), ("srcZ", c_uint64),
                ("srcLOD", c_uint64), ("srcMemoryType", c_uint), ("srcHost", POINTER),
                ("srcDevice", POINTER), ("srcArray", POINTER), ("srcContext", POINTER),
                ("srcPitch", c_uint64), ("srcHeight", c_uint64), ("dstXInBytes", c_uint64),
                ("dstY", c_uint64), ("dstZ", c_uint64), ("dstLOD", c_uint64),
                ("dstMemoryType", c_uint), ("dstHost", POINTER), ("dstDevice", POINTER),
                ("dstArray", POINTER), ("dstContext", POINTER), ("dstPitch", c_uint64),
                ("dstHeight", c_uint64), ("WidthInBytes", c_uint64), ("Height", c_uint64),
                ("Depth", c_uint64)]


class Memcpy2DV1(Structure):
    """CUDA_MEMCPY2D_v1: of CUDA 3.1, with sizes and device addresses of 32 bits"""
    _fields_ = [("srcXInBytes", c_uint), ("srcY", c_uint), ("srcMemoryType", c_uint),
                ("srcHost", POINTER), ("srcDevice", c_uint), ("srcArray", POINTER),
                ("srcPitch", c_uint), ("dstXInBytes", c_uint), ("dstY", c_uint),
                ("dstMemoryType", c_uint), ("dstHost", POINTER), ("dstDevice", c_uint),
                ("dstArray", POINTER), ("dstPitch", c_uint), ("WidthInBytes", c_uint),
                ("Height", c_uint)]


class Memcpy3DV1(Structure):
    """CUDA_MEMCPY3D_v1"""
    _fields_ = [("srcXInBytes", c_uint), ("srcY", c_uint), ("srcZ", c_uint), ("srcLOD", c_uint),
                ("srcMemoryType", c_uint), ("srcHost", POINTER), ("srcDevice", c_uint),
                ("srcArray", POINTER), ("reserved0", POINTER), ("srcPitch", c_uint),
                ("srcHeight", c_uint), ("dstXInBytes", c_uint), ("dstY", c_uint), ("dstZ", c_uint),
                ("dstLOD", c_uint), ("dstMemoryType", c_uint), ("dstHost", POINTER),
                ("dstDevice", c_uint), ("dstArray", POINTER), ("reserved1", POINTER),
                ("dstPitch", c_uint), ("dstHeight", c_uint), ("WidthInBytes", c_uint),
                ("Height", c_uint), ("Depth", c_uint)]


class Memcpy3DParms(Structure):
    """struct cudaMemcpy3DParms"""
    _fields_ = [("srcArray", POINTER), ("srcPos", Position), ("srcPtr", PitchedPtr),
                ("dstArray", POINTER), ("dstPos", Position), ("dstPtr", PitchedPtr),
                ("extent", Extent), ("kind", c_uint)]


class Memcpy3DPeerParms(Structure):
    """struct cudaMemcpy3DPeerParms"""
    _fields_ = [("srcArray", POINTER), ("srcPos", Position), ("srcPtr", PitchedPtr),
                ("srcDevice", c_int), ("dstArray", POINTER), ("dstPos", Position),
                ("dstPtr", PitchedPtr), ("dstDevice", c_int), ("extent", Extent)]


class Operand(Structure):
    """struct cudaMemcpy3DOperand, CUmemcpy3DOperand: here always type 1, a pointer."""
    _fields_ = [("type", c_uint), ("ptr", POINTER), ("rowLength", c_uint64),
                ("layerHeight", c_uint64), ("location", Location)]


class BatchOp(Structure):
    """struct cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP"""
    _fields_ = [("src", Operand), ("dst", Operand), ("extent", Extent), ("srcAccessOrder", c_uint),
                ("flags", c_uint)]


class BatchAttributes(Structure):
    """struct cudaMemcpyAttributes, CUmemcpyAttributes"""
    _fields_ = [("srcAccessOrder", c_uint), ("srcLocHint", Location), ("dstLocHint", Location),
                ("flags", c_uint)]


class LaunchConfig(Structure):
    """CUlaunchConfig"""
    _fields_ = [("grid", Dim3), ("block", Dim3), ("shared", c_uint), ("stream", POINTER),
                ("attrs", POINTER), ("numAttrs", c_uint)]


class RuntimeLaunchConfig(Structure):
    """cudaLaunchConfig_t"""
    _fields_ = [("grid", Dim3), ("block", Dim3), ("shared", c_uint64), ("stream", POINTER),
                ("attrs", POINTER), ("numAttrs", c_uint)]


class LaunchParams(Structure):
    """CUDA_LAUNCH_PARAMS"""
    _fields_ = [("function", POINTER), ("grid", Dim3), ("block", Dim3), ("shared", c_uint),
                ("stream", POINTER), ("kernelParams", POINTER)]


class RuntimeLaunchParams(Structure):
    """cudaLaunchParams, of CUDA 12 and before"""
    _fields_ = [("function", POINTER), ("grid", Dim3), ("block", Dim3), ("args", POINTER),
                ("shared", c_uint64), ("stream", POINTER)]


class ArrayDescriptor(Structure):
    """CUDA_ARRAY_DESCRIPTOR"""
    _fields_ = [("Width", c_uint64), ("Height", c_uint64), ("Format", c_uint),
                ("NumChannels", c_uint)]


class Array3DDescriptor(Structure):
    """CUDA_ARRAY3D_DESCRIPTOR"""
    _fields_ = [("Width", c_uint64), ("Height", c_uint64), ("Depth", c_uint64), ("Format", c_uint),
                ("NumChannels", c_uint), ("Flags", c_uint)]


class ArrayDescriptorV1(Structure):
    """CUDA_ARRAY_DESCRIPTOR_v1"""
    _fields_ = [("Width", c_uint), ("Height", c_uint), ("Format", c_uint), ("NumChannels", c_uint)]


class Array3DDescriptorV1(Structure):
    """CUDA_ARRAY3D_DESCRIPTOR_v1"""
    _fields_ = [("Width", c_uint), ("Height", c_uint), ("Depth", c_uint), ("Format", c_uint),
                ("NumChannels", c_uint), ("Flags", c_uint)]


class ChannelFormat(Structure):
    """struct cudaChannelFormatDesc: bits of each channel"""
    _fields_ = [("x", c_int), ("y", c_int), ("z", c_int), ("w", c_int), ("f", c_uint)]


class AllocationProp(Structure):
    """CUmemAllocationProp"""
    _fields_ = [("type", c_uint), ("requestedHandleTypes", c_uint), ("location", Location),
                ("win32", POINTER), ("compressionType", c_ubyte), ("gpuDirectRDMACapable", c_ubyte),
                ("usage", c_ushort), ("reserved", c_ubyte * 4)]


class AccessDesc(Structure):
    """CUmemAccessDesc"""
    _fields_ = [("location", Location), ("flags", c_uint)]


class PoolProps(Structure):
    """CUmemPoolProps, struct cudaMemPoolProps"""
    _fields_ = [("allocType", c_uint), ("handleTypes", c_uint), ("location", Location),
                ("win32", POINTER), ("maxSize", c_uint64), ("usage", c_ushort),
                ("reserved", c_ubyte * 54)]


class ContextParams(Structure):
    """CUctxCreateParams"""
    _fields_ = [("execAffinityParams", POINTER), ("numExecAffinityParams", c_int),
                ("cigParams", POINTER)]


class KernelNodeParams(Structure):
    """CUDA_KERNEL_NODE_PARAMS; the runtime's ends before kern"""
    _fields_ = [("func", POINTER), ("grid", Dim3), ("block", Dim3), ("shared", c_uint),
                ("kernelParams", POINTER), ("extra", POINTER), ("kern", POINTER), ("ctx", POINTER)]


class MemAllocNodeParams(Structure):
    """CUDA_MEM_ALLOC_NODE_PARAMS, struct cudaMemAllocNodeParams"""
    _fields_ = [("poolProps", PoolProps), ("accessDescs", POINTER), ("accessDescCount", c_uint64),
                ("bytesize", c_uint64), ("dptr", POINTER)]


class HostNodeParams(Structure):
    """CUDA_HOST_NODE_PARAMS, struct cudaHostNodeParams"""
    _fields_ = [("fn", POINTER), ("userData", POINTER)]


class MemsetNodeParams(Structure):
    """CUDA_MEMSET_NODE_PARAMS, struct cudaMemsetParams"""
    _fields_ = [("dst", POINTER), ("pitch", c_uint64), ("value", c_uint), ("elementSize", c_uint),
                ("width", c_uint64), ("height", c_uint64)]


class BatchMemOpNodeParams(Structure):
    """CUDA_BATCH_MEM_OP_NODE_PARAMS"""
    _fields_ = [("ctx", POINTER), ("count", c_uint), ("paramArray", POINTER), ("flags", c_uint)]


class InstantiateParams(Structure):
    """CUDA_GRAPH_INSTANTIATE_PARAMS, cudaGraphInstantiateParams"""
    _fields_ = [("flags", c_uint64), ("stream", POINTER), ("error_node", POINTER),
                ("result", c_uint)]


class UpdateResult(Structure):
    """CUgraphExecUpdateResultInfo, cudaGraphExecUpdateResultInfo"""
    _fields_ = [("result", c_uint), ("error_node", POINTER), ("error_from", POINTER)]


class NodeParams(Structure):
    """CUgraphNodeParams, struct cudaGraphNodeParams: the body depends on the type"""
    _fields_ = [("type", c_uint), ("reserved", c_uint * 3), ("body", c_ubyte * 232),
                ("reserved2", c_uint64)]


# Structure -> (size, offsets of some fields).
LAYOUT = {
    Dim3: (12, {}),
    Extent: (24, {"height": 8, "depth": 16}),
    PitchedPtr: (32, {"pitch": 8, "xsize": 16, "ysize": 24}),
    Location: (8, {"id": 4}),
    IpcHandle: (64, {}),
    Memcpy2D: (128, {"srcMemoryType": 16, "srcHost": 24, "srcDevice": 32, "dstMemoryType": 72,
                     "dstHost": 80, "dstDevice": 88, "WidthInBytes": 112, "Height": 120}),
    Memcpy3D: (200, {"srcMemoryType": 32, "dstMemoryType": 120, "WidthInBytes": 176, "Height": 184,
                     "Depth": 192}),
    Memcpy3DParms: (160, {"srcPtr": 32, "dstArray": 64, "dstPtr": 96, "extent": 128, "kind": 152}),
    Memcpy3DPeerParms: (168, {"srcDevice": 64, "dstDevice": 136, "extent": 144}),
    BatchOp: (112, {"extent": 80}),
    LaunchConfig: (56, {"block": 12, "shared": 24, "stream": 32, "attrs": 40, "numAttrs": 48}),
    RuntimeLaunchConfig: (56,
                          {"block": 12, "shared": 24, "stream": 32, "attrs": 40, "numAttrs": 48}),
    LaunchParams: (56, {"grid": 8, "block": 20, "stream": 40}),
    RuntimeLaunchParams: (56, {"grid": 8, "block": 20, "stream": 48}),
    ArrayDescriptor: (24, {"Height": 8, "Format": 16, "NumChannels": 20}),
    Array3DDescriptor: (40,
                        {"Height": 8, "Depth": 16, "Format": 24, "NumChannels": 28, "Flags": 32}),
    AllocationProp: (32, {"requestedHandleTypes": 4, "location": 8}),
    PoolProps: (88, {}),
    KernelNodeParams: (72, {"grid": 8, "block": 20, "shared": 32}),
    NodeParams: (256, {"body": 16}),
    MemAllocNodeParams: (120, {"bytesize": 104, "dptr": 112}),
}


def check():
    """The differences between LAYOUT and the structures above."""
    wrong = [f"{s.__name__} has {ctypes.sizeof(s)} bytes, not {size}"
             for s, (size, _) in LAYOUT.items() if ctypes.sizeof(s) != size]
    return wrong + [f"{s.__name__}.{field} is at {getattr(s, field).offset}, not {offset}"
                    for s, (_, fields) in LAYOUT.items() for field, offset in fields.items()
                    if getattr(s, field).offset != offset]
