// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Only the programs of core/identity.bpf.h, for `gpuprobe check`. */
#include "core/identity.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
