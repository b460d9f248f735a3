"""What dpkg knows of the files of this machine."""

import functools
import hashlib
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """An installed package. `name` has no architecture."""

    name: str
    version: str
    architecture: str
    source: str
    source_version: str
    homepage: str
    record: str  # its stanza of dpkg's status

    @functools.cached_property
    def md5s(self):
        """The MD5 of its files, but for configuration, by paths without links as `real` gives them."""
        for name in (self.name, f"{self.name}:{self.architecture}"):
            file = Path("/var/lib/dpkg/info", f"{name}.md5sums")
            if file.exists():
                lines = (line.split(None, 1) for line in file.read_text(encoding="utf-8").splitlines())
                return {real("/" + path): digest for digest, path in lines}
        return {}

    @property
    def copyright(self):
        """What /usr/share/doc says of its copyright and licenses."""
        file = Path("/usr/share/doc", self.name, "copyright")
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def query(*arguments, may_fail=False):
    done = subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"})
    if done.returncode and not may_fail:
        raise SystemExit(f"dpkg-query {' '.join(arguments[:3])}: {done.stderr.strip()}")
    return done.stdout


def real(path):
    """The path with links among its folders followed, such as that from /lib to /usr/lib, but not the file's own."""
    folder, name = os.path.split(path)
    return os.path.join(real_folder(folder), name)


@functools.cache
def real_folder(folder):
    return os.path.realpath(folder)


def owners(paths):
    """The names of the packages that files belong to, by path; what belongs to none is left out. dpkg still calls some
    files of /usr/lib by the paths that they had in /lib."""
    names = {name: path for path in paths for name in (path, path.removeprefix("/usr"))}
    found = {}
    for line in query("--search", *names, may_fail=True).splitlines() if names else []:
        owner, _, path = line.rpartition(": ")
        if path in names and not owner.startswith("diversion "):
            found[names[path]] = owner.split(", ")[0]
    return found


known = {}  # packages, by the names that they were asked for by


def load(names):
    """Asks dpkg for packages, whose names may end with `:ARCHITECTURE`, all at once."""
    names = sorted(set(names) - known.keys())
    if not names:
        return
    fields = ("binary:Package", "Package", "Version", "Architecture", "source:Package", "source:Version", "Homepage")
    lines = query("--show", "--showformat", "\t".join("${%s}" % field for field in fields) + "\n", *names).splitlines()
    stanzas = query("--status", *names).strip("\n").split("\n\n")
    records = {}
    for stanza in stanzas:
        name, architecture = (re.search(rf"^{field}: (\S+)$", stanza, re.M)[1] for field in ("Package", "Architecture"))
        records[name, architecture] = stanza + "\n"
    for line in lines:
        full, *fields = line.split("\t")
        one = Package(*fields, records[fields[0], fields[2]])
        known.update((name, one) for name in (full, one.name) if name in names)


def package(name):
    """The package of a name, with `:ARCHITECTURE` or without."""
    load([name])
    return known[name]


def check_unchanged(files):
    """Raises an error if one of `files`, (package, path) each, is not what the package brought."""
    for owner, path in files:
        expected = owner.md5s.get(path)
        if expected is not None and hashlib.md5(Path(path).read_bytes()).hexdigest() != expected:
            raise SystemExit(f"{path} is not as the package {owner.name} brought it")


# ---- Licenses ----

# SPDX's names of the licenses that machine-readable copyright files name otherwise. Names that mean several licenses,
# such as BSD or MIT, are not here.
SPDX_NAMES = {
    "agpl-3": "AGPL-3.0-only",
    "agpl-3+": "AGPL-3.0-or-later",
    "apache-2.0": "Apache-2.0",
    "artistic": "Artistic-1.0-Perl",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "bsl-1.0": "BSL-1.0",
    "boost-1.0": "BSL-1.0",
    "cc0-1.0": "CC0-1.0",
    "curl": "curl",
    "expat": "MIT",
    "ftl": "FTL",
    "gfdl-1.3+": "GFDL-1.3-or-later",
    "gpl-1+": "GPL-1.0-or-later",
    "gpl-2": "GPL-2.0-only",
    "gpl-2+": "GPL-2.0-or-later",
    "gpl-3": "GPL-3.0-only",
    "gpl-3+": "GPL-3.0-or-later",
    "ijg": "IJG",
    "isc": "ISC",
    "lgpl-2": "LGPL-2.0-only",
    "lgpl-2+": "LGPL-2.0-or-later",
    "lgpl-2.0": "LGPL-2.0-only",
    "lgpl-2.0+": "LGPL-2.0-or-later",
    "lgpl-2.1": "LGPL-2.1-only",
    "lgpl-2.1+": "LGPL-2.1-or-later",
    "lgpl-3": "LGPL-3.0-only",
    "lgpl-3+": "LGPL-3.0-or-later",
    "libpng": "Libpng",
    "mpl-1.1": "MPL-1.1",
    "mpl-2.0": "MPL-2.0",
    "unlicense": "Unlicense",
    "zlib": "Zlib",
}


def license_of(owner):
    """The SPDX expression for all licenses that a package's machine-readable copyright file names, and the texts of
    those that SPDX has no name for, by the names that they get. (None, {}) where the file is not machine-readable."""
    text = owner.copyright
    if not re.match(r"\s*Format(-Specification)?:", text):
        return None, {}
    texts, names = {}, []
    for paragraph in re.split(r"\n\s*\n", text):
        found = re.search(r"^License:[ \t]*(.*)((?:\n[ \t].*)*)", paragraph, re.M)
        if not found:
            continue
        name = found[1].strip()
        if found[2].strip():
            texts.setdefault(name, found[2].strip("\n"))
        if re.search(r"^Files:", paragraph, re.M):
            names.append(name)
    own = {}

    def atom(name):
        if name.lower() in SPDX_NAMES:
            return SPDX_NAMES[name.lower()]
        reference = f"LicenseRef-{owner.name}-{name}"
        reference = "LicenseRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", reference.removeprefix("LicenseRef-")).strip("-")
        own[reference] = texts.get(name) or f"Named {name!r} in /usr/share/doc/{owner.name}/copyright."
        return reference

    def expression(name):
        if "," in name or re.search(r"\bwith\b", name, re.I):
            return atom(name)
        options = [[atom(part) for part in re.split(r"\s+and\s+", option)] for option in re.split(r"\s+or\s+", name)]
        texts_of = [parts[0] if len(parts) == 1 else f"({' AND '.join(parts)})" for parts in options]
        return texts_of[0] if len(texts_of) == 1 else f"({' OR '.join(texts_of)})"

    expressions = sorted({expression(name) for name in names if name})
    return " AND ".join(expressions) or None, own
