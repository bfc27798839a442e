/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces libbpf's header of this name, of which gpuprobe's programs use nothing on x86-64:
 * registers are struct pt_regs.
 */
#ifndef NATIVE_BPF_TRACING_H
#define NATIVE_BPF_TRACING_H

#endif
