# SPDX-License-Identifier: BSD-2-Clause
#
# The kernel suite: see tests/kernel/run.sh. Included by the top Makefile.

# A folder of further kernels, vmlinuz and modules, as dpkg -x unpacks a linux-image package.
KERNELS ?=

.PHONY: test-kernels

#: make test-kernels the suite on Debian 12's Linux 6.1, emulated, and on KERNELS' vmlinuz (root)
test-kernels: all portable
	@tests/kernel/run.sh $(BUILD) $(KERNELS)
