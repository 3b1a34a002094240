"""Downloads, from a server on this machine: good, truncated, wrong, refused, silent."""

import gzip
import hashlib
import http.server
import io
import tarfile
import threading
import time

import numpy as np
import pytest

from secondorder import datasets
from secondorder.datasets import downloads, places

LABELS = gzip.compress(b"\0\0\x08\x01\0\0\0\x03\x01\x02\x03", mtime=0)
IMAGES = gzip.compress(b"\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02" + bytes(range(12)), mtime=0)
BATCH = bytes([7]) + bytes(3072) + bytes([3]) + bytes([255]) * 3072


class Server(http.server.BaseHTTPRequestHandler):
    """Gives what `contents` holds, or what can go wrong, by the file's name."""

    contents, asked = {}, []

    def do_GET(self):
        name = self.path.lstrip("/")
        self.asked.append(name)
        if name.startswith("missing"):
            return self.send_error(404)
        body = self.contents[name]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if name.startswith("silent"):
            self.wfile.flush()
            return time.sleep(1.5)
        return self.wfile.write(body[:-2] if name.startswith("cut") else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(places.DATA_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    Server.contents, Server.asked = {}, []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()


def source(form, address, contents):
    Server.contents = contents
    return {"toy": downloads.Source(form, address, {
        name: hashlib.sha256(body).hexdigest() for name, body in contents.items()})}


def left(folder="toy"):
    """Files in the cache of the data set."""
    return sorted(path.name for path in (places.cache() / folder).glob("*"))


@pytest.mark.filterwarnings("ignore:.* without a sample")
def test_good_files_are_kept_found_by_name_and_not_fetched_again(server):
    here = source("idx", server, {"train-images-idx3-ubyte.gz": IMAGES,
                                  "train-labels-idx1-ubyte.gz": LABELS})
    assert datasets.download("toy", say=lambda line: None, sources=here) == "idx:toy"
    data = datasets.load("idx:toy")
    np.testing.assert_array_equal(data.targets, [1, 2, 3])
    np.testing.assert_array_equal(data.inputs.ravel(), np.arange(12))
    datasets.download("toy", say=lambda line: None, sources=here)
    assert Server.asked == list(here["toy"].digests)


def test_an_archive_is_unpacked_and_nothing_but_its_batches(server):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, body in (("folder/data_batch_1.bin", BATCH), ("../../evil.bin", BATCH),
                           ("folder/readme.html", b"no")):
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    here = source("cifar-10", server, {"cifar-10-binary.tar.gz": packed.getvalue()})
    assert datasets.download("toy", say=lambda line: None, sources=here) == "cifar-10:toy"
    assert left() == ["data_batch_1.bin", "evil.bin"] and not left("toy.begun")
    np.testing.assert_array_equal(datasets.load("cifar-10:toy").targets, [7, 3])


@pytest.mark.parametrize("name, error, expected", [
    ("cut.gz", ConnectionError, "cut.gz: IncompleteRead"), ("missing.gz", ConnectionError, "404"),
    ("silent.gz", ConnectionError, "timed out"), ("other.gz", ValueError, "not the published")])
def test_trouble_is_named_and_nothing_of_it_is_kept(server, name, error, expected):
    here = source("idx", server, {"good.gz": LABELS, name: IMAGES})
    Server.contents = {"good.gz": LABELS, name: IMAGES[:-1] + b"x"}
    for asked in (["good.gz", name], [name]):  # what is there already is not fetched again
        Server.asked.clear()
        with pytest.raises(error, match=expected):
            datasets.download("toy", timeout=0.3, say=lambda line: None, sources=here)
        assert Server.asked == asked
    assert left() == [] and left("toy.begun") == ["good.gz"]


def test_no_server_and_unknown_names(server):
    nobody = {"toy": downloads.Source("idx", "http://127.0.0.1:9/", {"a.gz": "0" * 64})}
    with pytest.raises(ConnectionError, match="127.0.0.1:9"):
        datasets.download("toy", sources=nobody)
    with pytest.raises(ValueError, match="mnist"):
        datasets.download("mnits")
