# SPDX-License-Identifier: BSD-2-Clause
#
# The simulated CUDA libraries and the workloads. Included by the top Makefile,
# which sets BUILD, CC, BASE_CFLAGS and CFLAGS; the target `sim` builds everything.

SIM_OUT := $(BUILD)/sim
SIM_OBJ := $(SIM_OUT)/obj

# Exported functions must begin with `push %rbp`, as those of the real libraries
# do: a probe on anything else costs thirty times as much.
SIM_PROLOGUE := -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-shrink-wrap \
	-fno-schedule-insns -fno-schedule-insns2 -fno-ipa-icf -fno-partial-inlining \
	-fno-isolate-erroneous-paths-dereference -fcf-protection=none \
	-fno-stack-protector -fno-stack-clash-protection
SIM_CFLAGS := $(BASE_CFLAGS) $(CFLAGS) -Isim/include -Isim -fPIC -fvisibility=hidden -fno-plt \
	$(SIM_PROLOGUE)
SIM_LDFLAGS := -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN' -Wl,-z,nodelete \
	-Wl,--no-undefined

sim_objects = $(patsubst sim/%.c,$(SIM_OBJ)/$(2)/%.o,$(wildcard sim/$(1)/*.c))

SIM_RECORD := $(call sim_objects,record,shared)
SIM_CUDA := $(call sim_objects,cuda,shared)
SIM_CUDART := $(call sim_objects,cudart,shared)
SIM_CUDART_12 := $(call sim_objects,cudart,runtime12)
SIM_CUDART_STATIC := $(call sim_objects,cudart,static) $(call sim_objects,record,static)
SIM_NVML := $(call sim_objects,nvml,shared) $(SIM_OBJ)/shared/record/parse.o

SIM_CUPTI := $(call sim_objects,cupti,shared)

# commHash is gpuprobe's own, which is checked against NCCL's log.
SIM_NCCL := $(call sim_objects,nccl,shared) $(SIM_OBJ)/shared/nccl/hash.o

SIM_C10 := $(call sim_objects,c10,shared)

SIM_LIBRARIES := $(addprefix $(SIM_OUT)/,libcuda.so.1 libcudart.so.13 libcudart.so.12 \
	libnvidia-ml.so.1 libcudart_static.a libc10_cuda.so libc10.so libcublas.so.13 \
	libcublasLt.so.13 libcudnn.so.9 libcudnn_graph.so.9 libcufft.so.12 \
	nccl-handles/libnccl.so.2 nccl/libnccl.so.2 libcupti.so.13)
SIM_LINKS := $(addprefix $(SIM_OUT)/,libcuda.so libcudart.so)

SIM_WORKLOADS := $(patsubst sim/workloads/%.c,$(SIM_OUT)/%, \
	$(filter-out sim/workloads/common.c,$(wildcard sim/workloads/*.c)))
SIM_COMMON := $(SIM_OBJ)/workloads/common.o
SIM_WORKLOADS += $(SIM_OUT)/mix $(SIM_OUT)/faults
SIM_MIX := $(patsubst sim/workloads/%.c,$(SIM_OBJ)/workloads/%.o,$(wildcard sim/workloads/mix/*.c))
SIM_FAULTS := $(patsubst sim/workloads/%.c,$(SIM_OBJ)/workloads/%.o, \
	$(wildcard sim/workloads/faults/*.c))

.PHONY: sim
sim: $(SIM_LIBRARIES) $(SIM_LINKS) $(SIM_WORKLOADS)

$(SIM_OBJ)/shared/%.o: sim/%.c
	@mkdir -p $(@D)
	$(CC) $(SIM_CFLAGS) -MMD -MP -c -o $@ $<

# The runtime of CUDA 12: the same sources with that version's forms of functions.
$(SIM_OBJ)/runtime12/%.o: sim/%.c
	@mkdir -p $(@D)
	$(CC) $(SIM_CFLAGS) -DCUDART_VERSION=12080 -MMD -MP -c -o $@ $<

# In the static archive the API is hidden: local symbols of the program, as with
# the real one.
$(SIM_OBJ)/static/%.o: sim/%.c
	@mkdir -p $(@D)
	$(CC) $(SIM_CFLAGS) -DSIM_STATIC -MMD -MP -c -o $@ $<

$(SIM_OBJ)/workloads/%.o: sim/workloads/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -Isim/include -MMD -MP -c -o $@ $<

$(SIM_OUT)/libcuda.so.1: $(SIM_CUDA) $(SIM_RECORD)
	$(CC) -shared -Wl,-soname,libcuda.so.1 $(SIM_LDFLAGS) -o $@ $^ -pthread

$(SIM_OUT)/libcudart.so.13: $(SIM_CUDART) $(SIM_RECORD) sim/cudart/libcudart.map
	$(CC) -shared -Wl,-soname,libcudart.so.13 -Wl,--version-script=sim/cudart/libcudart.map \
		$(SIM_LDFLAGS) -o $@ $(SIM_CUDART) $(SIM_RECORD) -pthread -ldl

$(SIM_OUT)/libcudart.so.12: $(SIM_CUDART_12) $(SIM_RECORD) sim/cudart/libcudart12.map
	$(CC) -shared -Wl,-soname,libcudart.so.12 -Wl,--version-script=sim/cudart/libcudart12.map \
		$(SIM_LDFLAGS) -o $@ $(SIM_CUDART_12) $(SIM_RECORD) -pthread -ldl

$(SIM_OUT)/libnvidia-ml.so.1: $(SIM_NVML)
	$(CC) -shared -Wl,-soname,libnvidia-ml.so.1 $(SIM_LDFLAGS) -o $@ $^

$(SIM_OUT)/libcupti.so.13: $(SIM_CUPTI)
	$(CC) -shared -Wl,-soname,libcupti.so.13 $(SIM_LDFLAGS) -o $@ $^ -ldl

$(SIM_OBJ)/shared/nccl/hash.o: src/nccl/hash.c
	@mkdir -p $(@D)
	$(CC) $(SIM_CFLAGS) -Isrc -MMD -MP -c -o $@ $<

# Its ranks really meet; that in nccl-handles/ only makes handles. Tests have
# others beside their programs.
$(SIM_OUT)/nccl/libnccl.so.2: $(SIM_NCCL) $(SIM_OUT)/libcuda.so.1 sim/nccl/libnccl.map | \
		$(SIM_LINKS)
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libnccl.so.2 -Wl,--version-script=sim/nccl/libnccl.map \
		$(SIM_LDFLAGS) -Wl,-rpath,'$$ORIGIN/..' -o $@ $(SIM_NCCL) -L$(SIM_OUT) -lcuda \
		-pthread

# A framework's allocator, with static probe points.
$(SIM_OUT)/libc10.so: sim/c10/report/report.c sim/c10/report.h
	$(CC) $(SIM_CFLAGS) -O2 -fPIC -shared -Wl,-soname,libc10.so -o $@ $<

$(SIM_OUT)/libc10_cuda.so: $(SIM_C10) $(SIM_OUT)/libcudart.so.13 $(SIM_OUT)/libc10.so | $(SIM_LINKS)
	$(CC) -shared -Wl,-soname,libc10_cuda.so $(SIM_LDFLAGS) -o $@ $(SIM_C10) -L$(SIM_OUT) \
		-lcudart -lcuda -l:libc10.so -pthread

# Libraries above CUDA, from one file each.
SIM_HANDLE := $(SIM_OBJ)/shared/libraries/handle.o
SIM_LIBRARY = $(CC) -shared -Wl,-soname,$(@F) $(SIM_LDFLAGS) -o $@ $(filter %.o,$^) -L$(SIM_OUT) \
	-lcudart -lcuda -ldl

$(SIM_OUT)/libcublasLt.so.13: $(SIM_OBJ)/shared/libraries/cublaslt.o | $(SIM_LINKS)
	$(SIM_LIBRARY)

$(SIM_OUT)/libcublas.so.13: $(SIM_OBJ)/shared/libraries/cublas.o $(SIM_HANDLE) \
		$(SIM_OUT)/libcublasLt.so.13 | $(SIM_LINKS)
	$(SIM_LIBRARY) -l:libcublasLt.so.13

$(SIM_OUT)/libcudnn.so.9: $(SIM_OBJ)/shared/libraries/cudnn.o | $(SIM_LINKS)
	$(SIM_LIBRARY)

$(SIM_OUT)/libcudnn_graph.so.9: $(SIM_OBJ)/shared/libraries/cudnn_graph.o $(SIM_HANDLE) | \
		$(SIM_LINKS)
	$(SIM_LIBRARY)

$(SIM_OUT)/libcufft.so.12: $(SIM_OBJ)/shared/libraries/cufft.o $(SIM_HANDLE) | $(SIM_LINKS)
	$(SIM_LIBRARY)

$(SIM_OUT)/nccl-handles/libnccl.so.2: $(SIM_OBJ)/shared/libraries/nccl.o $(SIM_HANDLE) | \
		$(SIM_LINKS)
	@mkdir -p $(@D)
	$(SIM_LIBRARY) -Wl,-rpath,'$$ORIGIN/..'

$(SIM_OUT)/libcudart_static.a: $(SIM_CUDART_STATIC)
	rm -f $@
	$(AR) rcs $@ $^

$(SIM_OUT)/libcuda.so: | $(SIM_OUT)/libcuda.so.1
	ln -sf libcuda.so.1 $@

$(SIM_OUT)/libcudart.so: | $(SIM_OUT)/libcudart.so.13
	ln -sf libcudart.so.13 $@

SIM_LINK = $(CC) -o $@ $(filter %.o,$^) -L$(SIM_OUT) -Wl,--enable-new-dtags \
	-Wl,-rpath,'$$ORIGIN' -pthread

$(SIM_OUT)/%: $(SIM_OBJ)/workloads/%.o $(SIM_COMMON) | $(SIM_LIBRARIES) $(SIM_LINKS)
	$(SIM_LINK) -lcudart -lcuda

# Directories of their own, because the programs have the same names.
$(SIM_OUT)/mix: $(SIM_MIX) $(SIM_COMMON) | $(SIM_LIBRARIES) $(SIM_LINKS)
	$(SIM_LINK) -lcudart -lcuda

$(SIM_OUT)/faults: $(SIM_FAULTS) $(SIM_COMMON) | $(SIM_LIBRARIES) $(SIM_LINKS)
	$(SIM_LINK) -lcudart -lcuda

# Frame pointers distinguish the call sites.
$(SIM_FAULTS): CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls

$(SIM_OBJ)/workloads/tensors.o: CFLAGS += -Isim -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls

$(SIM_OUT)/tensors: $(SIM_OBJ)/workloads/tensors.o $(SIM_COMMON) | $(SIM_LIBRARIES) $(SIM_LINKS)
	$(SIM_LINK) -l:libc10_cuda.so -lcudart -lcuda

# Frame pointers distinguish the call sites.
$(SIM_OBJ)/workloads/handles.o: CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls
$(SIM_OUT)/handles: $(SIM_OBJ)/workloads/handles.o $(SIM_COMMON) | $(SIM_LIBRARIES) $(SIM_LINKS)
	$(SIM_LINK) -Wl,-rpath,'$$ORIGIN/nccl-handles' -lcudart -lcuda

$(SIM_OUT)/ranks: $(SIM_OBJ)/workloads/ranks.o $(SIM_COMMON) | $(SIM_LIBRARIES) $(SIM_LINKS)
	$(CC) -o $@ $(filter %.o,$^) -L$(SIM_OUT)/nccl -L$(SIM_OUT) -pthread -l:libnccl.so.2 \
		-lcudart -lcuda -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/nccl:$$ORIGIN'

# These two get CUDA in their own way.
$(SIM_OUT)/dlopener: $(SIM_OBJ)/workloads/dlopener.o $(SIM_COMMON)
	$(SIM_LINK) -ldl

$(SIM_OUT)/static_runtime: $(SIM_OBJ)/workloads/static_runtime.o $(SIM_COMMON) \
		$(SIM_OUT)/libcudart_static.a
	$(SIM_LINK) $(SIM_OUT)/libcudart_static.a -ldl

# Checks what users of the simulation rely on: first instructions, layouts, results.
.PHONY: sim-check
sim-check: sim $(SIM_OUT)/selftest $(SIM_OUT)/selftest12
	sim/check-prologues.sh $(SIM_OUT)/libcuda.so.1 $(SIM_OUT)/libcudart.so.13 \
		$(SIM_OUT)/libcudart.so.12 $(SIM_OUT)/libnvidia-ml.so.1 $(SIM_OUT)/nccl/libnccl.so.2
	$(SIM_OUT)/selftest
	$(SIM_OUT)/selftest12

$(SIM_OUT)/selftest: $(patsubst sim/tests/%.c,$(SIM_OBJ)/workloads/%.o, \
		$(wildcard sim/tests/*.c)) | $(SIM_LIBRARIES) $(SIM_LINKS)
	$(SIM_LINK) -lcudart -lcuda

$(SIM_OBJ)/workloads/%.o: sim/tests/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -Isim/include -MMD -MP -c -o $@ $<

$(SIM_OUT)/selftest12: sim/tests12/runtime12.c | $(SIM_LIBRARIES)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -Isim/include -DCUDART_VERSION=12080 -o $@ $< -L$(SIM_OUT) \
		-Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN' -l:libcudart.so.12

-include $(wildcard $(SIM_OBJ)/*/*.d $(SIM_OBJ)/*/*/*.d)
