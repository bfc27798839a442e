# SPDX-License-Identifier: BSD-2-Clause
"""Which functions gpuprobe watches: the project's own table."""
import functools
from dataclasses import dataclass

from lib import paths


@dataclass(frozen=True)
class Function:
    layer: str
    symbol: str
    operation: str  # "-" if no operation watches it
    kind: str
    gone: bool  # the newest library no longer has it

    @property
    def base(self):
        """The name that reports show."""
        return self.symbol.removesuffix("_ptds").removesuffix("_ptsz")


@functools.cache
def functions():
    """The newest form of every function of api/functions.tsv by symbol."""
    rows = {}
    with open(paths.ROOT / "api" / "functions.tsv", encoding="utf-8") as table:
        for line in table:
            if line.startswith(("#", "layer\t")):
                continue
            layer, symbol, _family, operation, kind, flags = line.split("\t")[:6]
            gone = "soname=" in flags
            if symbol not in rows or not gone:
                rows[symbol] = Function(layer, symbol, operation, kind, gone)
    return rows
