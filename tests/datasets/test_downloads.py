"""Downloads, from a server on this machine: good, truncated, missing, not the published bytes."""

import hashlib
import http.server
import io
import tarfile
import threading

import numpy as np
import pytest

from secondorder import datasets
from secondorder.datasets import downloads, places

LABELS = b"\0\0\x08\x01\0\0\0\x03\x01\x02\x03"
IMAGES = b"\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02" + bytes(range(12))
BATCH = bytes([7]) + bytes(3072) + bytes([3]) + bytes([255]) * 3072


class Server(http.server.BaseHTTPRequestHandler):
    contents, asked = {}, []

    def do_GET(self):
        name = self.path.lstrip("/")
        self.asked.append(name)
        if name not in self.contents:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.contents[name])))
        self.end_headers()
        return self.wfile.write(self.contents[name][:-2 if name.startswith("cut") else None])

    def log_message(self, *_):
        pass


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Offer files of a toy set, as published by their digests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(places.DATA_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()

        def offered(form, contents, published=None):
            Server.contents, Server.asked = contents, []
            monkeypatch.setattr(downloads, "SOURCES", {"toy": downloads.Source(
                form, f"http://127.0.0.1:{running.server_port}/",
                {name: hashlib.sha256(body).hexdigest()
                 for name, body in (published or contents).items()})})
        yield offered
        running.shutdown()


def test_good_files_are_kept_found_by_name_and_not_fetched_again(offer):
    offer("idx", {"train-images-idx3-ubyte": IMAGES, "train-labels-idx1-ubyte": LABELS})
    for _ in range(2):
        assert datasets.download("toy", say=lambda line: None) == "idx:toy"
    assert len(Server.asked) == 2
    data = datasets.load("idx:toy")
    np.testing.assert_array_equal(data.targets, [1, 2, 3])
    np.testing.assert_array_equal(data.inputs.ravel(), np.arange(12))


def test_an_archive_is_unpacked_and_nothing_but_its_batches(offer):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, body in (("folder/data_batch_1.bin", BATCH), ("../../evil.bin", BATCH),
                           ("folder/readme.html", b"no")):
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    offer("cifar-10", {"cifar-10-binary.tar.gz": packed.getvalue()})
    assert datasets.download("toy", say=lambda line: None) == "cifar-10:toy"
    assert sorted(path.name for path in places.cache().glob("*/*")) == ["data_batch_1.bin",
                                                                        "evil.bin"]
    np.testing.assert_array_equal(datasets.load("cifar-10:toy").targets, [7, 3])


@pytest.mark.parametrize("name, error", [("cut", ConnectionError), ("missing", ConnectionError),
                                         ("other", ValueError)])
def test_trouble_is_named_and_nothing_is_kept(offer, name, error):
    contents = {"good": LABELS, "cut": IMAGES, "other": IMAGES + b"x"}
    offer("idx", contents, {"good": LABELS, name: IMAGES})
    with pytest.raises(error, match=name):
        datasets.download("toy", say=lambda line: None)
    assert not list(places.cache().iterdir())
