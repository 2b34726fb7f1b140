"""The files that items are made from: where they are looked for, and their checksums."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKSUMS = {
    "uci/ad.first999rows.data": "4ba2f7cea1e85bdac4de073099550aa78d617d49993773af996746d5bd64b079",
    "uci/credit.a.arff": "3c9c079d1086bf3f56d9853777117d72966221b7ce5efde4fd30359fe6669529",
    "uci/housing.arff": "b5290bfb04d1eaeccc18b22812d391bcc8933428b58de63c6e3ed40162b7afaf",
    "uci/kr.vs.kp.arff": "0788f4d5a19fe4f1e34094c629bb1ede677c826ae1d9b958313a1e2ed3459ffa",
    "uci/magic.arff": "b68765444fed519e325b52115f7aa238f977f0afead2184b3c92db6595ec17c6",
    "uci/mushroom.arff": "b5021e39a8a8a0fbf85b20f08308dffbfbb9bc8e5e70c39b97e5d498896e3a5f",
    "uci/spambase.data": "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12",
    "uci/breast.w.arff": "e34b01d1c3213c26d54445278879143d718770aa59f3a363668f45b8fb3b3ed4",
    "uci/wdbc.data": "d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a",
    "uci/wpbc.data": "f2bd5ccdb6086fa832370dc043319907430cf6bfcfd3b96a3961a357be345c8e",
    "uci/zoo.data": "7daaa8191f5b7e34b2a276fa56150d69ef5855c6dee0118dc6364f309c3f0bfa",
    "reuters21578/reuters21578_sgm.tar.gz": "63e6430e61fed07436705e0c2a536b15232e8d6734c0cd16a9683caee63004b3",
    "trec07p/trec07p.vw.zst": "bbaebbdb8d3282e13efab4881d0fddb87898faa1eb345295d3e3f7fb923dc0ab",
    "ohsumed/ohsumed-first-20000-docs.tar.gz": "e5551a94b4415eba35fdb6d63daf85bc9bbb97b8dd4f5824c0142549478019d4",
    "ctr/criteo_wideresdnn_train.csv": "2b0614035f6c931dc4ac2c1a1a26fa954f2b9231703f3a77bcdd53d9d9f29872",
    "ctr/criteo_wideresdnn_dev.csv": "7ac8a164e43a9903be3d43e640bcd464cfa0d96d7a652ec8ef8a33fe97cac6b9",
    "ctr/criteo_wideresdnn_test.csv": "3a7a78b694945482aede520e68300b0e2748603363072822cfbbb9f72d0dfd9a",
    "ctr/ipinyou_deepctr_train.fm.txt": "9e7de462cfe384f3c694b8456d2bcb96013be4c1dd1fc3008bb8cfb97dc3481b",
    "libsvm/a9a": "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    "libsvm/ijcnn1.trn.bz2": "b38a4198ce142d43e96fb86d17b87211feec1f909ac344fa057455c69de29de3",
    "libsvm/ijcnn1.tst.bz2": "acd1db430684fdd3f0c768ecc49aa8e749d0004fc117611220c2aa576a7b6a24",
    "libsvm/heart_scale": "5defa0a4c4c5bdaf3f55ae3828310252e8565c13ee37ce279e0b86d82e7f4ce9",
    "libsvm/news20-small.binary.gz": "afb97e0f8ac11d6c4711feb3466a98885068ee89523e272743391071758d2928",
    "libsvm/news20-multiclass.gz": "f7f3a475265526f1ff766d7961239fa21fd2c5ce9e8fb7d645fcfac8b614b7ce",
    "reuters21578/reuters.trn.bz2": "e77a3368662c02caebe0d9cbcc97d856019bcfb33a8e9b7c48e0b51ee4cdfb60",
    "vw/rcv1_small.dat": "348d59a15f8161852b817fedd45a0a9efa5e2602ea86d9e920ba7079f633e084",
    "ctr/avazu_fastdg_small3.train.csv": "de130fb5241bbb125c7db719ad9d5ec68e71a28358bf14a519c0c90d04160964",
    "sms/SMSSpamCollection": "fae7ea7d915ef73903e5c2f46ffa2f4a39909a574e20fda4f2b81f7cb1e15e1f",
}


class DataError(Exception):
    """A file is not the one that the items are about."""


def folder() -> Path:
    """$RIATA_DATA, from wherever the command is called, or shared/data beside the checkout."""
    return Path(os.environ.get("RIATA_DATA", HERE.parents[1] / "shared" / "data")).resolve()


def check_folder() -> None:
    """A folder that was named must be there; where none is, items without their data are gaps."""
    given = os.environ.get("RIATA_DATA")
    if given is not None and not folder().is_dir():
        raise DataError(
            f"RIATA_DATA={given} is not a folder: name the one with the files of papers/README.md, or unset it "
            "to make only the items that need none"
        )


def pictures(home: Path) -> Path:
    """Where the pictures of a paper's folder go: there, or where `python -m papers --into` has them."""
    into = os.environ.get("RIATA_PAPERS")
    place = Path(into) / home.name if into else home
    place.mkdir(parents=True, exist_ok=True)
    return place


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
