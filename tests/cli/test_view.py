"""`tarsier view`, asked over plain sockets as browsers, other pages and attackers would."""
import base64
import concurrent.futures
import gzip
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest
from harness import DEADLINE, ROOT, TARSIER, tarsier, wait_until

# What is started by nohup ignores it, and so does all that it starts.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

RECORDINGS = ROOT / "tests/fixtures/recording"
RECORDING = RECORDINGS / "all-events.jfr"
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n")


class View:
    """A running `tarsier view --no-open`."""

    def __init__(self, *arguments, environment=None, open_browser=False):
        options = [] if open_browser else ["--no-open"]
        self.process = subprocess.Popen([TARSIER, "view", *map(str, arguments), *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                        env=dict(os.environ, **(environment or {})))
        self.address = self.process.stdout.readline()
        found = ADDRESS.fullmatch(self.address)
        if not found:
            self.process.kill()
            raise AssertionError(f"no address: {self.address!r} {self.process.communicate()[1]}")
        self.port, self.token = int(found.group(1)), found.group(2)
        self.host = f"127.0.0.1:{self.port}"
        self.errors = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        out, self.errors = self.process.communicate(timeout=DEADLINE)
        assert out == "", "nothing but the address goes to stdout"
        return self.process.returncode

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)

    def raw(self, text):
        """What comes back until the server hangs up."""
        with self.connect() as connection:
            connection.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
            answer = b""
            try:
                while piece := connection.recv(1 << 16):
                    answer += piece
            except ConnectionResetError:
                pass
            return answer

    def ask(self, path="", method="GET", host=None, target=None, **headers):
        lines = [f"{method} {target or f'/{self.token}/{path}'} HTTP/1.1"]
        host = self.host if host is None else host
        if host:
            lines.append(f"Host: {host}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return Answer(self.raw("\r\n".join(lines) + "\r\n\r\n"))

    def ready(self):
        wait_until(lambda: self.ask("api/status").json().get("state") != "reading", "the recording is read")
        return self

    def part(self, name):
        answer = self.ask(f"api/parts/{name}")
        assert answer.code == 200, name
        return answer.body


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.code = int(first.split()[1]) if first else 0
        self.headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}

    def json(self):
        return json.loads(self.body)


@pytest.fixture(scope="module")
def view():
    with View(RECORDING) as running:
        yield running.ready()


def embedded_parts(page):
    return {name: gzip.decompress(base64.b64decode(text)) for name, text in
            re.findall(r'<script type="application/octet-stream" id="tarsier-part-([^"]+)">([^<]*)</script>', page)}


def test_the_page_and_its_parts_are_those_of_the_single_file(view):
    html = tarsier("export", RECORDING, "--to", "html").stdout
    page = view.ask().body.decode()
    embedded = embedded_parts(html)
    assert "head" in embedded and set(json.loads(embedded["head"])["parts"]) == set(embedded)
    for name, content in embedded.items():
        assert view.part(name) == content, name
    assert re.search(r"<script>.*</script>", page, re.S).group() == re.search(r"<script>.*</script>", html, re.S).group()
    assert 'id="tarsier-part-' not in page and '<script type="application/json" id="tarsier-server">{}</script>' in page
    assert "connect-src 'self'" in page and "connect-src 'self'" not in html and "connect-src 'none'" in html


def test_status_is_ready_and_names_the_parts_number(view):
    status = view.ask("api/status").json()
    assert status == {"state": "ready", "parts": status["parts"]} and status["parts"] > 0
    assert view.ask(f"api/parts/head?of={status['parts']}").code == 200
    assert view.ask(f"api/parts/head?of={status['parts'] + 1}").code == 410


def test_content_is_inert_and_nobody_else_may_use_it(view):
    assert view.ask().headers["content-type"] == "text/html; charset=utf-8"
    policy = view.ask().headers["content-security-policy"]
    assert re.match(r"default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; ", policy), policy
    assert policy.endswith("; frame-ancestors 'none'") and "unsafe" not in policy
    assert re.findall(r"connect-src [^;]*", policy) == ["connect-src 'self'"]
    types = {"api/status": "application/json", "api/parts/head": "application/json",
             "api/parts/threads": "application/octet-stream", "nothing": "text/plain; charset=utf-8"}
    for path, kind in types.items():
        answer = view.ask(path)
        assert answer.headers["content-type"] == kind
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    for path in ("", *types):
        headers = view.ask(path).headers
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer" and headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == headers["cross-origin-opener-policy"] == "same-origin"
        assert not [name for name in headers if name.startswith("access-control") or name in ("server", "set-cookie")]


def test_other_hosts_are_refused(view):
    for host in ("evil.example", f"evil.example:{view.port}", "127.0.0.1", f"127.0.0.1:{view.port + 1}", "localhost",
                 f"[::1]:{view.port}", f"127.0.0.1:{view.port}.evil.example", f"LOCALHOST:{view.port}", " "):
        for path in ("", "api/status", "api/parts/head"):
            assert view.ask(path, host=host).code == 403, host
    assert Answer(view.raw(f"GET /{view.token}/ HTTP/1.1\r\n\r\n")).code in (400, 403), "none"
    assert Answer(view.raw(f"GET /{view.token}/ HTTP/1.0\r\n\r\n")).code in (400, 403), "none"
    twice = f"GET /{view.token}/ HTTP/1.1\r\nHost: {view.host}\r\nHost: evil.example\r\n\r\n"
    assert Answer(view.raw(twice)).code in (400, 403), "two"
    assert view.ask(host=f"localhost:{view.port}").code == 200


def test_other_pages_are_refused(view):
    for origin in ("http://evil.example", "null", f"https://{view.host}", f"http://127.0.0.1:{view.port + 1}",
                   f"http://localhost:{view.port}", "file://"):
        assert view.ask("api/parts/head", Origin=origin).code == 403, origin
    for site in ("cross-site", "same-site", "whatever"):
        assert view.ask("", Sec_Fetch_Site=site).code == 403, site
    assert view.ask("api/status", Origin=f"http://{view.host}", Sec_Fetch_Site="same-origin").code == 200
    assert view.ask("", Sec_Fetch_Site="none").code == 200


def test_nothing_is_told_without_the_token(view):
    wrong = "0" * 32 if view.token[0] != "0" else "1" * 32
    for target in ("/", "/favicon.ico", "/api/status", f"/{wrong}/", f"/{view.token.upper()}/", f"/{view.token[:-1]}/",
                   f"/{view.token}0/", f"//{view.token}/", f"/%{ord(view.token[0]):x}{view.token[1:]}/",
                   f"http://{view.host}/{view.token}/", f"http://evil.example/{view.token}/", f"/x/../{view.token}/"):
        answer = view.ask(target=target)
        assert answer.code in (400, 404), target
        assert view.token.encode() not in answer.body


def test_there_are_no_files_behind_it(view):
    for path in ("../../../../etc/passwd", "..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd",
                 "//etc/passwd", "api/parts/../../../etc/passwd", "api/parts/%2e%2e%2fhead", "api/parts//etc/passwd",
                 "api/parts/head%00", "api/parts/", "api/parts", "api/", "api/parts/HEAD", "..", ".", "index.html",
                 "api\\status", f"api/parts/{RECORDING}"):
        answer = view.ask(path)
        assert answer.code in (400, 404), path
        assert b"root:" not in answer.body and b"FLR" not in answer.body
    assert view.ask(target=f"file:///{view.token}/").code in (400, 404)


def test_only_get_and_head(view):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        answer = view.ask("api/status", method=method)
        assert answer.code == 405 and "access-control-allow-origin" not in answer.headers, method
        assert view.token.encode() not in answer.body, "TRACE repeats nothing"
    for method in ("get", "FOO", "PROPFIND"):
        assert view.ask("api/status", method=method).code == 501, method
    with view.connect() as connection:
        connection.sendall(f"CONNECT /{view.token}/api/status HTTP/1.1\r\nHost: {view.host}\r\n\r\n".encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 501 ")
    with_body = f"POST /{view.token}/ HTTP/1.1\r\nHost: {view.host}\r\nContent-Length: 9\r\n\r\n123456789"
    assert Answer(view.raw(with_body)).code in (405, 413)
    chunked = f"GET /{view.token}/ HTTP/1.1\r\nHost: {view.host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert Answer(view.raw(chunked)).code == 413
    head, get = view.ask(method="HEAD"), view.ask()
    assert head.code == 200 and head.body == b"" and head.headers["content-length"] == str(len(get.body))


def test_bad_requests_do_not_stop_it(view):
    for text in (b"\0" * 100, b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 500,
                 b"GET / HTTP/9.9\r\n\r\n", f"GET /{view.token}/ HTTP/1.1\r\n{'X: y' * 100_000}\r\n\r\n",
                 f"GET /{view.token}/{'a' * 100_000} HTTP/1.1\r\nHost: {view.host}\r\n\r\n",
                 f"GET /{view.token}/ HTTP/1.1\r\nHost: {view.host}\r\n" + "A: b\r\n" * 20_000 + "\r\n"):
        with view.connect() as connection:
            try:
                connection.sendall(text if isinstance(text, bytes) else text.encode())
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(1 << 16)
            except OSError:  # it was refused before all of it was sent
                answer = b""
        assert b" 200 " not in answer.split(b"\r\n")[0], text[:40]
    assert view.ask("api/status").code == 200


def test_two_requests_on_a_connection_are_not_mixed_up(view):
    one = f"GET /{view.token}/api/status HTTP/1.1\r\nHost: {view.host}\r\n\r\n"
    assert view.raw(one + one.replace(view.host, "evil.example")).count(b"HTTP/1.1") == 1


def test_half_requests_and_many_connections_hold_nobody_up(view):
    begin = time.monotonic()
    half = [view.connect() for _ in range(100)]
    for connection in half:
        connection.sendall(b"GET /" + view.token.encode())
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        codes = list(pool.map(lambda _: view.ask("api/parts/head").code, range(400)))
    assert codes == [200] * 400
    for connection in half:
        assert connection.recv(100) == b"", "given up in the end"
        connection.close()
    assert time.monotonic() - begin < DEADLINE


def test_what_is_large_is_compressed_for_those_who_want_it(view):
    wait_until(lambda: view.ask("", Accept_Encoding="gzip, br").headers.get("content-encoding") == "gzip", "gzip")
    assert gzip.decompress(view.ask("", Accept_Encoding="gzip").body) == view.ask().body
    assert "content-encoding" not in view.ask("", Accept_Encoding="gzip;q=0").headers


def test_it_listens_on_the_loopback_interface_only(view):
    # Of /proc/net/tcp: state 0A is listening, the address is in the byte order of the machine.
    listening = [line.split()[1] for table in ("tcp", "tcp6") for line in open(f"/proc/{view.process.pid}/net/{table}")
                 if line.split()[3] == "0A" and line.split()[1].endswith(f":{view.port:04X}")]
    assert listening == [f"0100007F:{view.port:04X}"]


def test_each_run_has_its_own_address(view):
    with View(RECORDING) as other:
        assert (other.port, other.token) != (view.port, view.token) and other.token != view.token
        assert other.ask(target=f"/{view.token}/").code == 404
        assert other.ask("").code == 200 and view.ask("").code == 200
        assert other.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(number):
    with View(RECORDING) as view:
        view.ready()
        held = view.connect()  # a connection that is open meanwhile
        assert view.end(number) == 0
        assert "Ctrl-C" in view.errors
        held.close()
        with pytest.raises(ConnectionRefusedError):
            view.connect()


def test_a_port_can_be_chosen_again_at_once_but_not_twice():
    with View(RECORDING) as first:
        port = first.port
        assert first.ask().code == 200
        assert str(port) in tarsier("view", RECORDING, "--no-open", "--port", port, expect=1).stderr
        first.end()
    with View(RECORDING, "--port", port) as again:
        assert again.port == port and again.ask().code == 200


def test_what_is_no_recording_is_told_before_anything_is_served(tmp_path):
    assert "missing.jfr" in tarsier("view", tmp_path / "missing.jfr", "--no-open", expect=1).stderr
    (tmp_path / "text.jfr").write_text("this is no recording")
    assert "text.jfr" in tarsier("view", tmp_path / "text.jfr", "--no-open", expect=1).stderr
    (tmp_path / "empty.jfr").touch()
    assert "empty" in tarsier("view", tmp_path / "empty.jfr", "--no-open", expect=1).stderr
    assert "regular file" in tarsier("view", tmp_path, "--no-open", expect=2).stderr
    # It looks like one at its start, and is none.
    (tmp_path / "head.jfr").write_bytes(RECORDING.read_bytes()[:68] + b"\xff" * 1000)
    done = tarsier("view", tmp_path / "head.jfr", "--no-open", expect=1)
    assert "head.jfr" in done.stderr and done.stdout == ""
    assert "which recording" in tarsier("view", expect=2).stderr
    assert "--against" in tarsier("view", RECORDING, "--per", "run", expect=2).stderr
    assert "same recording twice" in tarsier("view", RECORDING, "--against", RECORDING, expect=2).stderr
    assert "missing" in tarsier("view", RECORDING, "--against", tmp_path / "missing.jfr", expect=1).stderr


def test_a_damaged_recording_is_shown_with_its_problems(tmp_path):
    cut = tmp_path / "cut.jfr"
    whole = RECORDING.read_bytes()
    cut.write_bytes(whole + whole[:len(whole) * 3 // 4])
    with View(cut) as view:
        head = json.loads(view.ready().part("head"))
        assert head["damaged"] and head["problems"]
        assert view.end() == 5 and "warning" in view.errors, "as report does"


def test_an_archive_is_shown_as_well(tmp_path, view):
    archive = tmp_path / RECORDING.name
    tarsier("export", RECORDING, "--to", "jfr.zst", "-o", archive)
    with View(archive) as packed:
        packed.ready()
        heads = [json.loads(of.part("head")) for of in (packed, view)]
        for head in heads:
            del head["file"]
        assert heads[0] == heads[1]
        assert packed.part("threads") == view.part("threads")


def test_a_file_that_vanishes_meanwhile_stays_shown(tmp_path):
    shutil.copy(RECORDING, tmp_path / "x.jfr")
    with View(tmp_path / "x.jfr") as view:
        view.ready()
        (tmp_path / "x.jfr").unlink()
        assert view.ask("api/parts/head").code == 200


def test_two_recordings_are_compared(tmp_path):
    shutil.copy(RECORDING, tmp_path / "before.jfr")
    with View(RECORDING, "--against", tmp_path / "before.jfr") as view:
        head = json.loads(view.ready().part("head"))
        assert head["against"]["file"].endswith("before.jfr") and "before.jfr" in head["title"]
        assert view.end() == 0


def test_the_browser_is_started_with_the_address_and_outlives_ctrl_c(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > "$0.new"; mv "$0.new" "$0.said"; sleep 2; echo over > "$0.over"\n')
    browser.chmod(0o755)
    with View(RECORDING, environment={"BROWSER": str(browser)}, open_browser=True) as view:
        wait_until((tmp_path / "browser.said").exists, "the browser is started")
        assert (tmp_path / "browser.said").read_text() == view.address
        assert view.end() == 0
    wait_until((tmp_path / "browser.over").exists, "the browser goes on")
    with View(RECORDING, environment={"BROWSER": str(tmp_path / "missing")}, open_browser=True) as view:
        assert view.ask().code == 200, "without it there is still the address"
        view.end()
        assert "open the address yourself" in view.errors


def test_without_a_display_no_browser_is_started(tmp_path):
    (tmp_path / "xdg-open").write_text('#!/bin/sh\ntouch "$0.ran"\n')
    (tmp_path / "xdg-open").chmod(0o755)
    plain = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "BROWSER": "", "WAYLAND_DISPLAY": ""}
    with View(RECORDING, environment=dict(plain, DISPLAY=""), open_browser=True) as view:
        view.ready().end()
    assert not (tmp_path / "xdg-open.ran").exists()
    with View(RECORDING, environment=dict(plain, DISPLAY=":99"), open_browser=True) as view:
        wait_until((tmp_path / "xdg-open.ran").exists, "xdg-open")
        view.end()


def test_a_full_disk_behind_stdout_is_told():
    with open("/dev/full", "w") as full:
        done = subprocess.run([TARSIER, "view", str(RECORDING), "--no-open"], stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=60)
    assert done.returncode == 1 and "No space left" in done.stderr


def test_of_a_large_file_a_part_is_shown_meanwhile_and_ctrl_c_waits_for_nothing(tmp_path):
    large = tmp_path / "large.jfr"
    one = RECORDING.read_bytes()
    with large.open("wb") as out:  # some seconds of reading: 2,400 chunks
        for _ in range((200 << 20) // len(one)):
            out.write(one)
    with View(large) as view:
        first = view.ask("api/status").json()
        assert first["state"] == "reading" and first["parts"] == 0 and first["done"] < 1

        def some_parts():
            status = view.ask("api/status").json()
            return status["parts"] and status

        status = wait_until(some_parts, "parts of what has been read so far")
        assert status["state"] == "reading" and 0 < status["done"] < 1
        answer = view.ask(f"api/parts/head?of={status['parts']}")
        assert answer.code in (200, 410)
        if answer.code == 200:
            head = answer.json()
            assert 0 < head["complete"] < 1 and head["default_profile"]
        begin = time.monotonic()
        assert view.end() == 0
        assert time.monotonic() - begin < 10, "it does not read on to the end"
