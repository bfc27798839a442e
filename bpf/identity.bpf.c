// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The programs of core/identity.bpf.h alone, for `gpuprobe check`. */
#include "core/identity.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
