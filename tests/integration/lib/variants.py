# SPDX-License-Identifier: BSD-2-Clause
"""
Variants of a test of which `make test` runs some: gpuprobe takes the same path through its code in
the others, which `make test-full` runs as well.
"""
import pytest


def some_of(variants, *each_run):
    """The variants as parameters of a test; those not in `each_run` are slow."""
    unknown = set(each_run) - set(variants)
    assert not unknown, f"no such variants: {unknown}"
    return [variant if variant in each_run else pytest.param(variant, marks=pytest.mark.slow)
            for variant in variants]
