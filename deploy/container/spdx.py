"""An SPDX 2.3 document of what an image holds."""

import datetime
import hashlib
import json
import re
import urllib.parse

import dpkg


class Document:
    """Packages with their files. `id`s are SPDX's, without the prefix."""

    def __init__(self, name, epoch):
        self.name = name
        self.created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.packages, self.files, self.relations, self.licenses = [], [], [], {}

    def add_package(self, id, name, files=(), **fields):
        """Adds a package of `files`, (path in the image, content) each."""
        sha1s = sorted(self.add_file(id, path, content) for path, content in files)
        package = {"SPDXID": f"SPDXRef-{id}", "name": name, "downloadLocation": "NOASSERTION"}
        package |= {"licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION"}
        package |= {"filesAnalyzed": bool(sha1s)} | fields
        if sha1s:
            # SPDX 2.3, 7.9: the SHA-1 of the sorted SHA-1s.
            code = hashlib.sha1("".join(sha1s).encode()).hexdigest()
            package["packageVerificationCode"] = {"packageVerificationCodeValue": code}
        self.packages.append(package)

    def add_debian(self, id, package, files, distribution):
        """Adds a package of Debian's as dpkg records it. `distribution` has /etc/os-release's ID and VERSION_ID."""
        declared, texts = dpkg.license_of(package)
        self.licenses |= texts
        vendor, release = distribution
        quoted = urllib.parse.quote(package.version, safe="~.-")
        purl = f"pkg:deb/{vendor}/{package.name}@{quoted}?arch={package.architecture}&distro={vendor}-{release}"
        self.add_package(
            id,
            package.name,
            files,
            versionInfo=package.version,
            supplier=f"Organization: {vendor.capitalize()}",
            sourceInfo=f"built from the source package {package.source} {package.source_version}",
            licenseDeclared=declared or "NOASSERTION",
            licenseComments="As the source's copyright file says"
            + (", which names more than these files may need." if declared else ", which only people can read."),
            externalRefs=[reference(purl)],
            **({"homepage": package.homepage} if package.homepage else {}),
        )

    def add_file(self, package_id, path, content):
        sums = {name: hashlib.new(name, content).hexdigest() for name in ("sha1", "sha256", "md5")}
        id = f"SPDXRef-File-{hashlib.sha1(path.encode()).hexdigest()}"
        self.files.append(
            {
                "SPDXID": id,
                "fileName": f".{path}",
                "checksums": [{"algorithm": name.upper(), "checksumValue": value} for name, value in sums.items()],
                "licenseConcluded": "NOASSERTION",
                "copyrightText": "NOASSERTION",
            }
        )
        self.relate(package_id, "CONTAINS", id.removeprefix("SPDXRef-"))
        return sums["sha1"]

    def relate(self, one, how, other):
        ids = {"spdxElementId": f"SPDXRef-{one}", "relatedSpdxElement": f"SPDXRef-{other}"}
        self.relations.append(ids | {"relationshipType": how})

    def text(self):
        """The document in JSON. Its name space is made of its content."""
        content = {
            "packages": sorted(self.packages, key=lambda one: one["SPDXID"]),
            "files": sorted(self.files, key=lambda one: one["fileName"]),
            "relationships": sorted(self.relations, key=lambda one: sorted(one.items())),
            "hasExtractedLicensingInfos": [
                {"licenseId": id, "name": id.removeprefix("LicenseRef-"), "extractedText": text}
                for id, text in sorted(self.licenses.items())
            ],
        }
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        head = {
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": self.name,
            "documentNamespace": f"https://spdx.org/spdxdocs/{self.name}-{digest}",
            "creationInfo": {"created": self.created, "creators": ["Tool: stoker-image_root.py"]},
        }
        return json.dumps(head | content, indent=1) + "\n"


def reference(purl):
    return {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}


def id_of(name):
    return re.sub(r"[^A-Za-z0-9.-]", "-", name)
