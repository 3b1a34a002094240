"""Downloads, from a server on this machine: good, truncated, wrong, refused, silent."""

import contextlib
import errno
import gzip
import hashlib
import http.server
import io
import os
import signal
import tarfile
import threading
import time

import numpy as np
import pytest

from secondorder import datasets, files
from secondorder.datasets import downloads, places

LABELS = gzip.compress(b"\0\0\x08\x01\0\0\0\x03\x01\x02\x03", mtime=0)
IMAGES = gzip.compress(b"\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02" + bytes(range(12)), mtime=0)
BATCH = bytes([7]) + bytes(3072) + bytes([3]) + bytes([255]) * 3072


def raw(*parts, pause=0.0):
    """An answer byte by byte, whatever HTTP says."""
    def answer(server, body):
        server.close_connection = True
        with contextlib.suppress(OSError):  # the reader has gone
            for part in parts:
                server.wfile.write(part)
                server.wfile.flush()
                time.sleep(pause)
    return answer


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
#: What a server may answer, and the words for it.
ANSWERS = {
    "words": raw(HEAD + b"Content-Length: many\r\n\r\nabc"),
    "huge": raw(HEAD + b"Content-Length: 99999999999999\r\n\r\nabc"),
    "nothing": raw(), "nonsense": raw(b"\x00\xff\x00 no HTTP at all\r\n\r\n"),
    "chunk": raw(CHUNKED + b"5\r\nab"), "chunks": raw(CHUNKED + b"zz\r\nabc\r\n"),
    "around": raw(b"HTTP/1.1 302 Found\r\nLocation: /around.gz\r\nContent-Length: 0\r\n\r\n"),
    "port": raw(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:99999/\r\n\r\n"),
    "drip": raw(HEAD + b"\r\n", *[b"x"] * 60, pause=0.05),
    "endless": raw(HEAD + b"\r\n", *[b"x" * 60000] * 50)}
SAID = {"words": "announces 'many' bytes", "huge": "announces '99999999999999'",
        "nothing": "closed connection", "nonsense": "no HTTP", "chunk": "ended before its end",
        "chunks": "ended before its end", "around": "302", "port": "99999|port",
        "drip": "not at its end after 0.5 s", "endless": "goes on after 1000000 bytes"}


class Server(http.server.BaseHTTPRequestHandler):
    """Gives what `contents` holds; the others are what can go wrong."""

    contents, asked = {}, []

    def do_GET(self):
        name = self.path.lstrip("/")
        self.asked.append(name)
        if name.startswith("missing"):
            return self.send_error(404)
        body = self.contents[name]
        if name.split(".")[0] in ANSWERS:
            return ANSWERS[name.split(".")[0]](self, body)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if name.startswith("silent"):
            self.wfile.flush()
            time.sleep(1.5)
            return None
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
    said = []
    assert datasets.download("toy", say=said.append, sources=here) == "idx:toy"
    data = datasets.load("idx:toy")
    np.testing.assert_array_equal(data.targets, [1, 2, 3])
    np.testing.assert_array_equal(data.inputs.ravel(), np.arange(12))
    datasets.download("toy", say=said.append, sources=here)
    assert Server.asked == list(here["toy"].digests)
    assert [line.split(": ")[1] for line in said] == ["fetched", "fetched", "there"]


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


@pytest.mark.parametrize("name, expected", [
    ("cut.gz", "ended after"), ("missing.gz", "404"), ("silent.gz", "no byte for 0.3 s")])
def test_trouble_is_named_and_nothing_is_kept(server, name, expected):
    here = source("idx", server, {"good.gz": LABELS, name: IMAGES})
    with pytest.raises(ConnectionError, match=expected):
        datasets.download("toy", timeout=0.3, say=lambda line: None, sources=here)
    assert left() == [] and left("toy.begun") == ["good.gz"]
    with pytest.raises(FileNotFoundError):
        datasets.load("idx:toy")
    Server.asked.clear()
    with pytest.raises(ConnectionError, match=expected):
        datasets.download("toy", timeout=0.3, say=lambda line: None, sources=here)
    assert Server.asked == [name], "what is there already is not fetched again"


@pytest.mark.parametrize("name", ANSWERS)
def test_whatever_a_server_answers_is_one_line(server, name, monkeypatch):
    monkeypatch.setattr(downloads, "LARGEST", 10**6)
    here = source("idx", server, {f"{name}.gz": b"x"})
    began = time.monotonic()
    with pytest.raises(ConnectionError, match=SAID[name]) as caught:
        datasets.download("toy", timeout=2, seconds=0.5, say=lambda line: None, sources=here)
    told = str(caught.value)
    assert told.startswith(f"{server}{name}.gz") and "\n" not in told and "Errno None" not in told
    assert time.monotonic() - began < 2 and left() == left("toy.begun") == []
    assert not [path for path in places.cache().iterdir() if path.name != "toy.begun"]


@contextlib.contextmanager
def largest_file(size):
    """No file of this process grows beyond `size` bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_is_told_as_such(server):
    here = source("idx", server, {"train-labels-idx1-ubyte.gz": os.urandom(300_000)})
    with largest_file(100_000), pytest.raises(OSError, match="File too large") as caught:
        datasets.download("toy", say=lambda line: None, sources=here)
    assert caught.value.errno == errno.EFBIG and not isinstance(caught.value, ConnectionError)
    assert "train-labels" in str(caught.value) and left("toy.begun") == []
    assert datasets.download("toy", say=lambda line: None, sources=here) == "idx:toy"


def test_two_downloads_at_once(server):
    """The second one does not wait, and says so."""
    here = source("idx", server, {"train-labels-idx1-ubyte.gz": LABELS})
    places.cache().mkdir(parents=True)
    with files.one_writer(places.cache() / "toy"), pytest.raises(BlockingIOError, match="another"):
        datasets.download("toy", say=lambda line: None, sources=here)
    assert datasets.download("toy", say=lambda line: None, sources=here) == "idx:toy"


def test_other_bytes_are_refused(server):
    here = source("idx", server, {"labels.gz": LABELS})
    Server.contents = {"labels.gz": LABELS[:-1] + b"x"}
    with pytest.raises(ValueError, match="not the published file") as caught:
        datasets.download("toy", say=lambda line: None, sources=here)
    assert hashlib.sha256(LABELS).hexdigest() in str(caught.value)
    assert left() == left("toy.begun") == []


def test_no_server_and_unknown_names(server):
    nobody = {"toy": downloads.Source("idx", "http://127.0.0.1:9/", {"a.gz": "0" * 64})}
    with pytest.raises(ConnectionError, match="127.0.0.1:9"):
        datasets.download("toy", sources=nobody)
    with pytest.raises(ValueError, match="mnist"):
        datasets.download("mnits")


def test_the_published_digests_are_whole():
    for one in downloads.SOURCES.values():
        assert one.digests and all(len(digest) == 64 and int(digest, 16) for digest in
                                   one.digests.values())
