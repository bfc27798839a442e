#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes what is linked into the portable gpuprobe, as SPDX 2.3 (JSON).

usage: deploy/release/sbom.py --program FILE --map FILE --version VERSION --output FILE
                              [--epoch SECONDS]

It reads facts: third_party/ has what is embedded, the linker's map says which static libraries gave
code, the program says which shared ones it needs, the sources say which headers they include, dpkg
says whose these files are and of which version, Debian's copyright files say under which licence. A
licence that SPDX has no name for is in the file as Debian's whole text.
"""
import argparse
import fnmatch
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = Path("/usr/share/doc")
# Debian's short names of licences (copyright-format 1.0) that are not SPDX's identifiers.
SPDX_NAMES = {
    "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause", "zlib": "Zlib", "expat": "MIT",
    "gpl-2": "GPL-2.0-only", "gpl-2+": "GPL-2.0-or-later", "gpl-3+": "GPL-3.0-or-later",
    "lgpl-2+": "LGPL-2.0-or-later", "lgpl-2.1": "LGPL-2.1-only", "lgpl-2.1+": "LGPL-2.1-or-later",
    "lgpl-3+": "LGPL-3.0-or-later", "mit/x11": "MIT", "x11": "X11", "isc": "ISC"}
FORMAT = "copyright-format/1.0"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# --- files ---

def linked_files(text):
    """The object files and the static libraries with linked members that the map names."""
    members = re.findall(r"^(/\S+\.a)\(\S+\)", text.partition("Memory Configuration")[0], re.M)
    objects = re.findall(r"^LOAD (/\S+\.o)$", text, re.M)
    return {os.path.realpath(path) for path in [*members, *objects]}


def needed_libraries(program):
    """The shared libraries that the program names, by their paths here."""
    names = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", program)))
    paths = dict(re.findall(r"(\S+) (?:=> )?(?:(/\S+) )?\(0x", run("ldd", program)))
    return {os.path.realpath(paths[name] or name) for name in names}


def included_headers():
    """The system's headers that the sources include."""
    folders = [Path("/usr/include"), Path("/usr/include/x86_64-linux-gnu")]
    named = {name for source in (ROOT / "src").rglob("*.[ch]")
             for name in re.findall(r"^#include <(.*)>", source.read_text("utf-8"), re.M)}
    return {os.path.realpath(folder / name) for name in named for folder in folders
            if (folder / name).exists()}


def owners(paths):
    """Debian's packages, each with its files."""
    found = {}
    for path in sorted(paths):
        # Before the merge of /usr files were packaged below /lib.
        names = [path, path.removeprefix("/usr")]
        done = subprocess.run(["dpkg", "-S", *names], capture_output=True, text=True, check=False)
        if not done.stdout:
            sys.exit(f"sbom.py: no Debian package has {path}")
        found.setdefault(done.stdout.partition(": ")[0], []).append(path)
    return found


# --- licences ---

def stanzas(text):
    """Patterns of files, and the licence, of a copyright file in Debian's format."""
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*(?:\n[ \t].*)*)", paragraph, re.M))
        if "Files" in fields and "License" in fields:
            yield fields["Files"].split(), fields["License"].splitlines()[0].strip()


def debian_licence(text, library):
    """Debian's words for the licence of a library's sources; "" if it has none."""
    found = ""
    if FORMAT in text.partition("\n")[0]:
        for patterns, licence in stanzas(text):
            # The last stanza that matches counts. Sources of libelf are in libelf/, or anywhere.
            if any(pattern == "*" or fnmatch.fnmatch(f"{library}/x.c", pattern)
                   for pattern in patterns):
                found = licence
    return found


def expression(words):
    """Debian's words as SPDX's expression; None if a name in them is not known."""
    parts = re.split(r"\s+(or|and)\s+", words)
    names = [part.upper() if part in ("or", "and") else SPDX_NAMES.get(part.lower())
             for part in parts]
    return " ".join(names) if all(names) else None


class Licences:
    """The licences of packages, and Debian's text of those that SPDX does not name."""

    def __init__(self):
        self.texts = {}

    def of(self, package, files):
        """The licence of the package's files."""
        text = (DOCS / package / "copyright").read_text(encoding="utf-8")
        found = {debian_licence(text, Path(file).name.partition(".")[0]) for file in files}
        known = {expression(words) for words in found}
        if None in known:
            name = f"LicenseRef-Debian-{re.sub('[^A-Za-z0-9.-]', '-', package)}"
            self.texts[name] = text
            return name
        return " AND ".join(f"({one})" if len(known) > 1 else one for one in sorted(known))

    def extracted(self):
        return [{"licenseId": name, "name": name.partition("-")[2].replace("-", " ", 1),
                 "extractedText": text} for name, text in sorted(self.texts.items())]


# --- the document ---

def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def identifier(name):
    return "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name)


def debian_package(name, files, licences):
    package, version, source, source_version = run(
        "dpkg-query", "-W", "-f",
        "${Package}\t${Version}\t${source:Package}\t${source:Version}", name).split("\t")
    licence = licences.of(package, files)
    return {
        "SPDXID": identifier(package), "name": package, "versionInfo": version,
        "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "sourceInfo": f"built from the source package {source} {source_version}",
        "comment": "Files: " + ", ".join(
            f"{Path(file).name} (sha256 {sha256(file)})" for file in sorted(files)),
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{package}@{urllib.parse.quote(version)}"
                                "?arch=amd64"}]}


def program_package(program, version):
    return {
        "SPDXID": identifier("gpuprobe"), "name": "gpuprobe", "versionInfo": version,
        "supplier": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "primaryPackagePurpose": "APPLICATION",
        # The objects of BPF in it may be used under either.
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "BSD-2-Clause AND (GPL-2.0-only OR BSD-2-Clause)",
        "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(program)}]}


def embedded_packages():
    """The projects in third_party/, whose files are in the program as they are."""
    made = []
    for folder in sorted(path for path in (ROOT / "third_party").iterdir() if path.is_dir()):
        name, _, version = folder.name.rpartition("-")
        licence = (folder / "LICENSE").read_text(encoding="utf-8")
        assert licence.startswith("The MIT License"), f"{folder}: say which licence this is"
        made.append({
            "SPDXID": identifier(name), "name": name, "versionInfo": version,
            "supplier": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "MIT",
            "copyrightText": "NOASSERTION",
            "comment": "Files: " + ", ".join(f"{file.name} (sha256 {sha256(file)})"
                                             for file in sorted(folder.iterdir())),
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:npm/{name}@{version}"}]})
    return made


def relation(of, kind, to):
    return {"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": to}


def document(program, map_text, version, epoch):
    licences = Licences()
    groups = {"STATIC_LINK": owners(linked_files(map_text)),
              "DYNAMIC_LINK": owners(needed_libraries(program)),
              "BUILD_DEPENDENCY_OF": owners(included_headers())}
    main, files, relations = identifier("gpuprobe"), {}, []
    for kind, found in groups.items():
        for name, paths in found.items():
            if kind == "BUILD_DEPENDENCY_OF" and name in files:
                continue  # its code is linked, its headers are of the same version
            files.setdefault(name, []).extend(paths)
            other = identifier(name.partition(":")[0])
            relations.append(relation(other, kind, main) if kind.endswith("_OF") else
                             relation(main, kind, other))
    embedded = embedded_packages()
    relations += [relation(main, "CONTAINS", package["SPDXID"]) for package in embedded]
    packages = [*embedded, *(debian_package(name, paths, licences)
                             for name, paths in sorted(files.items()))]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"gpuprobe-{version}-x86_64",
        "documentNamespace": f"https://gpuprobe.invalid/spdx/{version}/{sha256(program)}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "creators": ["Tool: gpuprobe-sbom.py"]},
        "packages": [program_package(program, version), *packages],
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", main),
                          *sorted(relations, key=lambda one: json.dumps(one, sort_keys=True))],
        "hasExtractedLicensingInfos": licences.extracted()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("program", "map", "version", "output"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--epoch", type=int, default=0)
    read = parser.parse_args()
    text = Path(read.map).read_text(encoding="utf-8", errors="replace")
    found = document(read.program, text, read.version, read.epoch)
    Path(read.output).write_text(json.dumps(found, indent=1, sort_keys=True) + "\n",
                                 encoding="utf-8")
    print(f"{read.output}: {len(found['packages'])} packages")


if __name__ == "__main__":
    main()
