"""The files that items are made from: where they are looked for, and their checksums."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKSUMS = {
    "reuters21578/reuters21578_sgm.tar.gz": "63e6430e61fed07436705e0c2a536b15232e8d6734c0cd16a9683caee63004b3",
    "trec07p/trec07p.vw.zst": "bbaebbdb8d3282e13efab4881d0fddb87898faa1eb345295d3e3f7fb923dc0ab",
    "ohsumed/ohsumed-first-20000-docs.tar.gz": "e5551a94b4415eba35fdb6d63daf85bc9bbb97b8dd4f5824c0142549478019d4",
}


class DataError(Exception):
    """A file is not the one that the items are about."""


def folder() -> Path:
    """$RIATA_DATA, from wherever the command is called, or shared/data beside the checkout."""
    return Path(os.environ.get("RIATA_DATA", HERE.parents[1] / "shared" / "data")).resolve()


def missing(names: tuple[str, ...]) -> list[str]:
    """Those that are not there; DataError for those that are, but with other content."""
    absent = []
    for name in names:
        path = folder() / name
        if not path.exists():
            absent.append(name)
            continue
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != CHECKSUMS[name]:
            raise DataError(
                f"{path} is another file than the items are about: its SHA-256 is {found}, not {CHECKSUMS[name]}; "
                "papers/README.md says where each comes from"
            )
    return absent
