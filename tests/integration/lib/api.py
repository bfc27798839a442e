# SPDX-License-Identifier: BSD-2-Clause
"""Which functions gpuprobe watches: the project's own table."""
import functools
from dataclasses import dataclass

from lib import paths


@dataclass(frozen=True)
class Function:
    layer: str
    symbol: str
    operation: str  # "-" where nothing watches it
    kind: str

    @property
    def base(self):
        """The name that reports show."""
        return self.symbol.removesuffix("_ptds").removesuffix("_ptsz")


@functools.cache
def functions():
    """All rows of api/functions.tsv by symbol."""
    rows = {}
    with open(paths.ROOT / "api" / "functions.tsv", encoding="utf-8") as table:
        for line in table:
            if line.startswith(("#", "layer\t")):
                continue
            layer, symbol, _family, operation, kind = line.split("\t")[:5]
            rows[symbol] = Function(layer, symbol, operation, kind)
    return rows
