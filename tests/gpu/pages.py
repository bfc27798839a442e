# SPDX-License-Identifier: BSD-2-Clause
"""Merges pages of tests/gpu/run.py: a machine is lent for a few minutes, so tests run in slices.

    tests/gpu/pages.py docs/gpu-results.md SLICE.md...

Replaces the rows and outputs of the first page by those of the slices that have the same name, and
adds new ones. Each row says when it was measured. The text above the table stays, except for its
second paragraph (by what and where it was written: the latest slice's) and the count of results.
"""
import re
import sys

HEAD = "| what | expected | gpuprobe | | date |"
HEAD_OF_A_SLICE = "| what | expected | gpuprobe | |"
WRITTEN = re.compile(r"^Written by `tests/gpu/run.py` on (\d{4}-\d\d-\d\d): ", re.MULTILINE)
COUNT = re.compile(r"^\d+ passed, \d+ failed$", re.MULTILINE)


def cells(line):
    """A row's cells. The outputs in them have no '|'."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def parse(text):
    """The text above the table, {what: cells with date}, and {title: output below}."""
    written = WRITTEN.search(text)
    head = HEAD if HEAD in text else HEAD_OF_A_SLICE
    above, below = text.split(head + "\n", 1)
    rows, outputs = {}, {}
    table, *sections = re.split(r"^## ", below, flags=re.MULTILINE)
    for line in table.splitlines()[1:]:
        if line.startswith("|"):
            row = cells(line)[:5]
            row += [""] * (4 - len(row)) + ([written[1]] if len(row) < 5 else [])
            rows[row[0]] = row
    for section in sections:
        title, body = section.split("\n", 1)
        outputs[title] = body.strip("\n")
    return above, rows, outputs


def merge(page, slices):
    """The text of the page with the rows and outputs of the slices, oldest first."""
    above, rows, outputs = parse(page)
    for text in slices:
        _, new_rows, new_outputs = parse(text)
        rows.update(new_rows)
        outputs.update(new_outputs)
        line = next(line for line in text.splitlines() if WRITTEN.match(line))
        above = "\n".join(line if WRITTEN.match(old) else old for old in above.split("\n"))
    results = [row[3] for row in rows.values()]
    above = COUNT.sub(f"{results.count('ok')} passed, {results.count('FAILED')} failed", above)
    lines = [above + HEAD, "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows.values()]
    for title, body in outputs.items():
        lines += ["", f"## {title}", "", body]
    return "\n".join(lines) + "\n"


def main():
    page, *slices = sys.argv[1:]
    texts = []
    for path in [page, *slices]:
        with open(path) as file:
            texts.append(file.read())
    with open(page, "w") as file:
        file.write(merge(texts[0], texts[1:]))


if __name__ == "__main__":
    main()
