"""Checks the claims of README.md against a running allotd: python3 check.py [--short] path/to/allotd [claim...]"""
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from client import Client as PlainClient, Problem
from cluster import small_disk

SECRET = "a secret of sixteen or more"
CLIENTS = [{"client": "ops", "secret": SECRET, "role": "op"},
           {"client": "n1", "secret": SECRET + "1", "role": "node", "node": "n1", "stake_max": "100"},
           {"client": "n2", "secret": SECRET + "2", "role": "node", "node": "n2", "stake_max": "100"},
           {"client": "o1", "secret": SECRET + "3", "role": "owner", "owner": "o1", "tokens_per_s": 100000},
           {"client": "bulk", "secret": SECRET + "5", "role": "owner", "owner": "o5"},
           {"client": "many", "secret": SECRET + "6", "role": "owner", "owner": "o6"},
           {"client": "slow", "secret": SECRET + "4", "role": "owner", "owner": "o4", "tokens_per_s": 10}]


class Client(PlainClient):
    """Notes which statuses each route answers."""
    statuses = {("GET", "/", 200)}

    def noted(self, method, path, call):
        try:
            answer = call()
            self.statuses.add((method, path, 200))
            return answer
        except Problem as problem:
            self.statuses.add((method, path, problem.status))
            raise

    def call(self, method, path, *more, **named):
        return self.noted(method, path, lambda: super(Client, self).call(method, path, *more, **named))

    def events(self, path, *more, **named):
        events = super().events(path, *more, **named)
        while event := self.noted("GET", path, lambda: next(events, None)):
            yield event


class Service:
    """An allotd in a folder, on a free port that stays the same over restarts."""

    def __init__(self, program, folder, *more):
        self.program, self.folder, self.more = program, folder, more
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.url = f"http{'s' * ('--certificate' in more)}://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        self.process = subprocess.Popen([self.program, "--data", self.folder, "--listen", f"127.0.0.1:{self.port}",
                                         *self.more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = self.process.stdout.readline()
        assert line.startswith(f"allotd: {self.url}/"), line
        return self

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(20)


def refused(status, kind, call, *arguments):
    try:
        call(*arguments)
    except Problem as problem:
        found = (problem.status, problem.type)
        assert found == (status, kind), f"{found} instead of {(status, kind)}: {problem}"
        assert len(str(problem)) > 10, "a problem says what to do"
        return problem
    raise AssertionError(f"accepted instead of {status} {kind}")


def raw(port, data, timeout_s=15.0):
    """Sends bytes and returns all that comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout_s) as s:
        try:
            s.sendall(data)
            out = b""
            while part := s.recv(65536):
                out += part
        except ConnectionError:
            pass
        return out


def join(node, stake=100):
    return {"command": "Join", "node": {"id": node, "gpu": "RTX 4090", "vram": 24, "stake": str(stake)}}


def submit(task, owner=None, ms=60000, fee="10"):
    spec = {"id": task, "vram_min": 16, "fee": fee, "duration_estimate": ms}
    return {"command": "Submit", "task": spec | ({"owner": owner} if owner else {})}


def all_accepted(answer):
    assert all(r["accepted"] for r in answer["results"]), answer
    return answer


def run_wrong(program, *arguments):
    """What a program says that is started wrongly, and ends."""
    ended = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=20)
    assert ended.returncode not in (0, -6, -11), ended
    return ended.stdout + ended.stderr


def until(what, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def run_claims(suite, names, after_failure, after_each):
    """Runs the checks of a suite, or those of the names, and tells the result of each. Returns the number that failed."""
    checks = [getattr(suite, name) for name in type(suite).__dict__ if name.startswith("check_")]
    checks = [check for check in checks if not names or check.__name__[6:] in names]
    failed = 0
    for check in checks:
        begun = time.monotonic()
        try:
            told = check() or check.__doc__.strip().splitlines()[0]
            print(f"ok      {check.__name__[6:]:16} {time.monotonic() - begun:6.1f} s  {told}", flush=True)
        except Exception as error:  # noqa: BLE001  each check is told
            failed += 1
            where, file = error.__traceback__, sys.modules[type(suite).__module__].__file__
            while where.tb_next and where.tb_next.tb_frame.f_code.co_filename == file:
                where = where.tb_next
            print(f"FAILED  {check.__name__[6:]:16} line {where.tb_lineno}: {type(error).__name__}: {error}", flush=True)
            after_failure()
        finally:
            after_each()
    print(f"{len(checks) - failed} of {len(checks)} claims hold")
    return failed


class Check:
    def __init__(self, program, short):
        self.program, self.short = program, short
        self.folder = tempfile.mkdtemp(prefix="allotd-check-")
        clients = os.path.join(self.folder, "clients.jsonl")
        with open(clients, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in CLIENTS)
        self.service = Service(program, os.path.join(self.folder, "data"), "--clients", clients).start()

    def client(self, name, patience_s=20):
        secret = next(line["secret"] for line in CLIENTS if line["client"] == name)
        return Client(self.service.url, name, secret, patience_s)

    def check_routes(self):
        """The OpenAPI page names the routes of the server, and each answers."""
        shown = subprocess.run([self.program, "--routes"], capture_output=True, text=True, check=True).stdout
        routes = {tuple(line.split()) for line in shown.splitlines()}
        paths = Client(self.service.url).get("/v1/openapi.json")["paths"]
        assert routes == {(m.upper(), path) for path, ways in paths.items() for m in ways}, "openapi.json differs"
        assert "<title>allotd" in Client(self.service.url).get("/")
        refused(404, "no_route", self.client("ops").get, "/v1/nothing")
        refused(405, "method", self.client("ops").call, "POST", "/v1/status")

    def check_life_of_a_task(self):
        """A task is submitted, leased, told to its node and owner, and done; the answers name index and lease."""
        node, owner = self.client("n1"), self.client("o1")
        all_accepted(node.send(join("n1")))
        told, heard = [], threading.Event()

        def listen():
            for event in self.client("n1").events("/v1/nodes/n1/events?start=0"):
                told.append(event)
                if event["event"] == "LeaseEnded":
                    break
            heard.set()

        threading.Thread(target=listen, daemon=True).start()
        all_accepted(owner.send(submit("t1", "o1")))
        lease = until(lambda: node.get("/v1/nodes/n1")["lease"])
        assert node.get("/v1/tasks/t1")["leases"] == [lease]
        all_accepted(node.send({"command": "Complete", "lease": lease}))
        assert node.get("/v1/tasks/t1")["end"]["ending"] == "done"
        assert heard.wait(5), "the stream told nothing"
        names = [e["event"] for e in told]
        assert names == ["NodeJoined", "TaskStarted", "LeaseEnded"], names
        page = node.get("/v1/events?node=n1&start=0")
        assert [e["id"] for e in page["items"]] == [e["id"] for e in told], "stream and pages have the same ids"
        owners = [e["event"] for e in owner.get("/v1/events?start=0")["items"]]
        assert owners == ["TaskQueued", "TaskStarted", "LeaseEnded", "TaskDone"], owners

    def check_sequence(self):
        """A request is applied once: a copy gets the first answer, a leap a gap, an old one is stale."""
        client = self.client("ops")
        first = all_accepted(client.send(submit("s1", ms=3600000)))
        body = (json.dumps(submit("s1", ms=3600000)) + "\n").encode()
        send = lambda session, seq, text=body: client.call("POST", "/v1/requests", text, session, str(seq))
        again = send(client.session, client.seq)
        assert again == first | {"answer": "duplicate"}, again
        refused(409, "gap", send, client.session, client.seq + 2)
        all_accepted(client.send(submit("s2", ms=3600000)))
        refused(409, "stale", send, client.session, client.seq - 1)
        refused(410, "session_unknown", send, os.urandom(32).hex(), 1)
        refused(403, "session_of_another", self.client("o1").call, "POST", "/v1/requests", body, client.session, "9")
        refused(400, "session", send, "zz", 1)
        refused(400, "seq", send, client.session, "x")
        twice = client.send(submit("s1", ms=3600000))
        assert twice["results"] == [{"accepted": False, "error": "task_duplicate",
                                     "detail": twice["results"][0]["detail"]}]

    def check_foreign(self):
        """A client acts for its own node or owner alone."""
        node, owner = self.client("n2"), self.client("o1")
        refused(403, "foreign", node.send, join("n1"))
        refused(403, "foreign", node.send, join("n2", 101))
        refused(403, "foreign", node.send, submit("f1"))
        refused(403, "foreign", owner.send, submit("f1"))
        refused(403, "foreign", owner.send, submit("f1", "o4"))
        refused(403, "foreign", owner.send, {"command": "Cancel", "task": "s2"})
        refused(403, "foreign", owner.send, {"command": "Cancel", "task": "unheard"})
        refused(403, "foreign", owner.send, {"command": "Match"})
        all_accepted(owner.send(submit("f2", "o1")))
        all_accepted(owner.send({"command": "Cancel", "task": "f2"}))
        late = owner.send({"command": "Cancel", "task": "f2"}, submit("f3", "o1"))["results"]
        assert late[0]["error"] == "task_ended" and late[1]["accepted"], late
        refused(403, "foreign", node.get, "/v1/events?node=n1")
        refused(403, "foreign", owner.get, "/v1/events?owner=o4")
        refused(403, "foreign", owner.get, "/v1/events?node=n1")
        refused(400, "id", self.client("ops").get, "/v1/events?node=" + "n" * 33)
        refused(403, "foreign", lambda: next(node.events("/v1/nodes/n1/events")))
        refused(403, "operators_only", node.configure, {"command": "Postpone", "by": 1})
        refused(403, "operators_only", self.client("ops").send, {"command": "Postpone", "by": 1})
        all_accepted(self.client("ops").configure({"command": "Postpone", "by": 1}))

    def check_unsigned(self):
        """Nothing that matters is told or taken without a signature."""
        for name, secret in (("", ""), ("n1", "not the secret at all"), ("nobody", SECRET)):
            client = Client(self.service.url, name, secret, 1)
            for path in ("/v1/nodes", "/v1/tasks/t1", "/v1/events", "/v1/explain/node/n1", "/v1/root"):
                refused(401, "unsigned", client.get, path)
            refused(401, "unsigned", client.send, join("n1"))
        headers = self.client("n1").headers("GET", "/v1/nodes/n1")
        stale = headers | {"Allot-Time": str(int(headers["Allot-Time"]) - 120000)}
        for path, sent in (("/v1/nodes/n2", headers), ("/v1/nodes/n1", stale)):
            try:
                urllib.request.urlopen(urllib.request.Request(self.service.url + path, headers=sent))
                raise AssertionError("a signature of another request was taken")
            except urllib.error.HTTPError as error:
                assert error.code == 401

    def check_bad_input(self):
        """Malformed and huge input gets a typed answer and changes nothing."""
        client, port = self.client("ops"), self.service.port
        client.open()
        send = lambda body, kind="application/json": client.call("POST", "/v1/requests", body, client.session,
                                                                 str(client.seq + 1), kind)
        before = client.get("/v1/status")["sessions"]
        for body in (b"", b"{", b"[]", b'{"command":"Fly"}', b'{"command":"Join"}', b'{"command":"Join","node":7}',
                     b'{"command":"Pause","node":"' + b"x" * 33 + b'"}', b"\xff\xfe", b"[" * 5000, b"null\n"):
            refused(400, "malformed", send, body)
        assert "line 2" in str(refused(400, "malformed", send, json.dumps(join("x")).encode() + b"\n{}\n"))
        refused(400, "malformed", send, b"\x01\x02", "application/x-allot")
        refused(415, "content_type", send, b"{}", "text/html")
        refused(413, "too_many_commands", send, b'{"command":"Pause","node":"x"}\n' * 2000)
        refused(413, "too_many_commands", client.configure, *[{"command": "Match"}] * 2000)
        refused(400, "id", client.get, "/v1/nodes/" + "x" * 33)
        refused(400, "malformed", client.get, "/v1/nodes/%zz")
        refused(400, "cursor", client.get, "/v1/tasks?cursor=-1")
        assert b" 413 " in raw(port, b"POST /v1/requests HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")[:20]
        assert b" 431 " in raw(port, b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 20000 + b"\r\n\r\n")[:20]
        for garbage in (b"\x16\x03\x01\x02\x00" * 9 + b"\r\n\r\n", b"GET\r\n\r\n", b"\0" * 99 + b"\r\n\r\n"):
            assert raw(port, garbage).startswith(b"HTTP/1.1 400 "), garbage
        assert client.get("/v1/status")["sessions"] == before
        assert client.send({"command": "Pause", "node": "nobody"})["results"][0]["error"] == "node_unknown"

    def check_bulk(self):
        """A binary list is not read if it tells too many commands, and costs a token for each that it tells."""
        client = self.client("bulk", 0)
        client.open()
        match = bytes([18])  # the number of that command
        send = lambda count, told: client.call("POST", "/v1/requests", b"\x01" + told.to_bytes(4, "little") + match * count,
                                               client.session, str(client.seq + 1), "application/x-allot")
        time.sleep(0.2)
        before = self.memory("VmHWM")
        refused(413, "too_many_commands", send, (1 << 20) - 5, (1 << 20) - 5)
        assert self.memory("VmHWM") - before < 40000, f"{self.memory('VmHWM') - before} kB"
        refused(429, "rate", client.get, "/v1/tasks/t1")
        client = self.client("many", 0)
        client.open()
        refused(403, "foreign", send, 300, 300)
        refused(429, "rate", send, 300, 300)

    def check_big_turn(self):
        """Requests that come together and fit into no entry are applied all the same, and in more than one entry."""
        sockets = []
        for i in range(18):
            client = self.client("ops")
            client.open()
            body = json.dumps({"command": "Submit", "task": {"id": f"big{i}", "models": ["x" * 1000000]}}).encode()
            names = {"Content-Length": len(body), "Allot-Session": client.session, "Allot-Seq": str(client.seq + 1)}
            names |= client.headers("POST", "/v1/requests", body, client.session, str(client.seq + 1))
            head = "".join(f"{k}: {v}\r\n" for k, v in names.items())
            s = socket.create_connection(("127.0.0.1", self.service.port), timeout=15)
            s.sendall(f"POST /v1/requests HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode() + body[:-1])
            sockets.append((s, body[-1:]))
        time.sleep(0.5)
        self.service.process.send_signal(signal.SIGSTOP)
        for s, rest in sockets:  # the last bytes make all of them whole in one turn
            s.sendall(rest)
        self.service.process.send_signal(signal.SIGCONT)
        answers = [s.recv(65536).decode() for s, _ in sockets]
        assert all(" 200 " in a[:20] for a in answers), answers[0]
        assert len({re.search(r'"index":(\d+)', a)[1] for a in answers}) > 1, "one entry holds them all"

    def check_slow(self):
        """A client that sends a byte a second is cut after 10 s; meanwhile others are served."""
        s = socket.create_connection(("127.0.0.1", self.service.port))
        begun, sent = time.monotonic(), b"GET /v1/status HTTP/1.1\r\nHost: x\r\n" + b"X: 1\r\n" * 20
        s.settimeout(1)
        for byte in sent:
            quick = time.monotonic()
            Client(self.service.url).get("/v1/status")
            assert time.monotonic() - quick < 1
            try:
                s.send(bytes([byte]))
                if s.recv(1) == b"":
                    break
            except socket.timeout:
                continue
            except ConnectionError:
                break
        assert 8 < time.monotonic() - begun < 14, time.monotonic() - begun

    def check_rate(self):
        """A client that asks too much is told when to come back; others are not slowed."""
        slow = self.client("slow", 0)
        answers = []
        for _ in range(40):
            try:
                slow.get("/v1/tasks/t1")
                answers.append(200)
            except Problem as problem:
                answers.append(problem.status)
        assert answers[0] == 200 and 429 in answers, answers
        self.client("ops").get("/v1/tasks/t1")

    def memory(self, name):
        """A figure of the service's memory, in kB."""
        with open(f"/proc/{self.service.process.pid}/status", encoding="ascii") as file:
            return int(re.search(name + r":\s+(\d+)", file.read())[1])

    def stream(self, path, client="ops", **options):
        """A socket that asked for a stream."""
        headers = "".join(f"{k}: {v}\r\n" for k, v in self.client(client).headers("GET", path).items())
        s = socket.socket()
        for option, value in options.items():
            s.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
        s.settimeout(15)
        s.connect(("127.0.0.1", self.service.port))
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode())
        return s

    def check_unread_streams(self):
        """A stream that does not read is closed, and the system looks whether the peer of an idle one is still there."""
        client, path = self.client("ops"), "/v1/nodes/u1/events"
        all_accepted(client.send(join("u1")))
        with self.stream(path, SO_RCVBUF=4096) as unread, self.stream(path) as idle:
            assert idle.recv(99)
            with open("/proc/net/tcp", encoding="ascii") as file:
                ends = f":{self.service.port:04X} 0100007F:{idle.getsockname()[1]:04X} "
                (line,) = [one for one in file if ends in one]
            timer, due = line.split()[5].split(":")
            assert timer == "02" and int(due, 16) <= 6100, f"no keep-alive: {line}"
            told, read = b"", 0
            for turn in range(1, 13):
                all_accepted(client.send(*[{"command": name, "node": "u1"} for name in ("Pause", "Resume")] * 500))
                while told.count(b"\ndata: ") < 1000 * turn:
                    told += idle.recv(1 << 20)
            try:
                while part := unread.recv(1 << 20):
                    read += len(part)
            except ConnectionResetError:
                pass
            assert 0 < read < len(told) / 2, f"{read} bytes of {len(told)}"
        return f"closed after {read} bytes of {len(told)}"

    def check_streams_max(self):
        """A node's or an owner's client has 16 streams at most; one that ends makes room."""
        open_ones = [self.stream("/v1/owners/o1/events", "o1") for _ in range(16)]
        assert all(b" 200 " in s.recv(20) for s in open_ones)
        with self.stream("/v1/owners/o1/events", "o1") as more:
            assert b"problem:streams" in more.recv(4096)
        open_ones.pop().close()

        def is_open():
            with self.stream("/v1/owners/o1/events", "o1") as more:
                return b" 200 " in more.recv(20)

        until(is_open)
        for s in open_ones:
            s.close()

    def check_unread_budget(self):
        """Many streams that do not read share a budget, and the texts of their events; a stream that reads is told all."""
        client, path = self.client("ops"), "/v1/nodes/u2/events"
        all_accepted(client.send(join("u2")))
        before, most, told = self.memory("VmRSS"), 0, b""
        unread = [self.stream(path, SO_RCVBUF=4096) for _ in range(250)]
        with self.stream(path) as good:
            assert all(s.recv(20) for s in [*unread, good])  # all are open
            for turn in range(1, 8):
                all_accepted(client.send(*[{"command": name, "node": "u2"} for name in ("Pause", "Resume")] * 500))
                while told.count(b"\ndata: ") < 1000 * turn:
                    part = good.recv(1 << 20)
                    assert part, "the stream that reads was closed"
                    told += part
                most = max(most, self.memory("VmRSS"))
        grown = most - before
        for s in unread:
            s.close()
        assert grown < 60000, f"{grown} kB"
        return f"{len(unread)} streams took {grown // 1000} MB"

    def check_reading(self):
        """Large bodies that are being read share a budget; beyond it they are refused, and small requests are not."""
        port, body = self.service.port, 1 << 20
        head = f"POST /v1/requests HTTP/1.1\r\nHost: x\r\nContent-Length: {body}\r\n\r\n".encode()
        part, refused_ones, sockets = head + b" " * (body - 1), [], []
        try:
            for _ in range(80):
                s = socket.create_connection(("127.0.0.1", port), timeout=5)
                sockets.append(s)
                try:
                    s.sendall(part)
                except ConnectionError:  # it was answered and closed
                    pass
            assert Client(self.service.url, patience_s=0).get("/v1/status")["index"]
            for s in sockets:
                s.settimeout(0.01)
                try:
                    if answer := s.recv(4096):
                        refused_ones.append(answer)
                except OSError:
                    pass
        finally:
            for s in sockets:
                s.close()
        assert refused_ones and len(refused_ones) < 40, len(refused_ones)
        assert all(b" 503 " in a[:20] and b"problem:busy" in a for a in refused_ones), refused_ones[0]
        assert all_accepted(self.client("ops").send(submit("after-all", ms=1000)))
        return f"{len(refused_ones)} of {len(sockets)} bodies refused"

    def check_streams(self):
        """Idle streams cost memory only."""
        count = 1000 if self.short else 10000
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        path = "/v1/nodes/n1/events"
        client = self.client("ops")
        status = lambda: int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.service.process.pid}/status").read())[1])
        threads = len(os.listdir(f"/proc/{self.service.process.pid}/task"))
        before, streams = status(), []
        for _ in range(count):
            streams.append(self.stream(path))
        for s in streams:
            assert s.recv(4096).startswith(b"HTTP/1.1 200")
        grown = (status() - before) / count
        assert grown < 20, f"{grown} kB a stream"
        assert len(os.listdir(f"/proc/{self.service.process.pid}/task")) == threads == 1
        begun = time.monotonic()
        client.get("/v1/status")
        assert time.monotonic() - begun < 0.5
        for s in streams:
            s.close()
        return f"{count} streams, {grown:.1f} kB each"

    def check_lists(self):
        """Pages hold each record once."""
        client = self.client("ops")
        all_accepted(client.send(*[join(f"p{i}") for i in range(120)]))
        seen, path = [], "/v1/nodes?limit=50"
        while True:
            page = client.get(path)
            seen += [n["id"] for n in page["items"]]
            if page["next"] is None:
                break
            path = f"/v1/nodes?limit=50&cursor={page['next']}"
        assert len(seen) == len(set(seen)) and {f"p{i}" for i in range(120)} <= set(seen)
        all_accepted(client.send(*[{"command": "Leave", "node": f"p{i}"} for i in range(120)
                                   if client.get(f"/v1/nodes/p{i}")["lease"] is None]))

    def check_explanations(self):
        """It tells why a task waits and why a node gets nothing, and the chances of a draw."""
        client = self.client("ops")
        spec = {"id": "e1", "vram_min": 80, "duration_estimate": 3600000}
        all_accepted(client.send({"command": "Submit", "task": spec}))
        assert client.get("/v1/explain/task/e1") and client.get("/v1/explain/node/n1")
        assert client.get("/v1/probabilities/task/e1")["nodes"] == []
        refused(404, "task_unknown", client.get, "/v1/explain/task/none")
        refused(404, "node_unknown", client.get, "/v1/explain/node/none")
        all_accepted(client.send({"command": "Cancel", "task": "e1"}))

    def check_metrics(self):
        """The figures have the form of Prometheus and say when the counters began."""
        text = Client(self.service.url).get("/metrics")
        assert re.search(r"^allot_counters_began_timestamp_seconds \d{10}", text, re.M)
        assert re.search(r'^allot_events_total\{event="TaskDone"\} [1-9]', text, re.M), "TaskDone was counted"
        spec = {"duration_estimate": 3600000, "vram_min": 200}
        names = [{"hex": "ff41"}, {"hex": "fe41"}, "\\xff41", "a\"b\nc", "a,b", "a:80", "!a", "\u0001\u0000"]
        tasks = [spec | {"id": f"odd{i}", "platforms": [name]} for i, name in enumerate(names)]
        tasks += [spec | {"id": "odd-two", "platforms": ["a", "b"]}, spec | {"id": "odd-not", "platforms_refused": ["a"]}]
        tasks += [spec | {"id": f"odd-gang{n}", "gang_size": n} for n in (1, 2, 3)]
        tasks += [spec | {"id": "odd-alike", "gang_size": 3, "same_card": True}]
        all_accepted(self.client("ops").send(*[{"command": "Submit", "task": task} for task in tasks]))
        with urllib.request.urlopen(self.service.url + "/metrics") as answer:
            text = answer.read().decode()  # throws if it is no UTF-8
        assert "\0" not in text
        odd = [line for line in text.splitlines() if 'vram_gib_min="200"' in line]
        assert len({line.rsplit(" ", 1)[0] for line in odd}) == len(odd) == len(tasks), odd
        all_accepted(self.client("ops").send(*[{"command": "Cancel", "task": task["id"]} for task in tasks]))
        for line in text.splitlines():
            assert re.fullmatch(r'# (HELP|TYPE) \S+ .+|[a-z_0-9]+(\{.*\})? [0-9.]+', line), line

    def check_crashes(self):
        """After kill -9 at any time all that was acknowledged is there, once; events go on where they stopped."""
        workers, rounds = 4, 3 if self.short else 20
        stop, over, done, failures = threading.Event(), threading.Event(), [[] for _ in range(workers)], []
        seen = []

        def work(number):
            client, task = self.client("o1", 60), 0
            try:
                while not stop.is_set():
                    task += 1
                    name = f"c{number}-{task}"
                    all_accepted(client.send(submit(name, "o1", 1000)))  # applied twice, it were task_duplicate
                    done[number].append(name)
            except Exception as error:  # noqa: BLE001  told below
                failures.append(error)

        before = Client(self.service.url).get("/v1/status")["events"]["next"] - 1

        def listen():
            client, last = self.client("o1"), before
            while not over.is_set():
                try:
                    for event in client.events("/v1/owners/o1/events", last, 1):
                        last = event["id"]
                        seen.append(event)
                except (OSError, Problem) as error:
                    if isinstance(error, Problem):
                        failures.append(error)
                        return
                time.sleep(0.05)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(workers)] + [threading.Thread(target=listen)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        for _ in range(rounds):
            time.sleep(random.uniform(0.2, 0.8))
            self.service.stop(signal.SIGKILL)
            self.service.start()
        time.sleep(1.5)
        stop.set()
        for thread in threads[:workers]:
            thread.join()
        names = [name for names in done for name in names]
        missing, until = set(names), time.monotonic() + 30
        while missing and not failures and time.monotonic() < until:  # the stream comes after the answers
            time.sleep(0.1)
            missing -= {e["task"] for e in seen[:] if "task" in e}
        over.set()
        threads[workers].join()
        assert not failures, failures
        assert not missing, f"{len(missing)} of {len(names)} never told"
        client = self.client("o1")
        for name in names:
            assert client.get("/v1/tasks/" + name)["id"] == name
        ids = [e["id"] for e in seen]
        assert ids == sorted(set(ids)), "an event came twice or out of order"
        return f"{rounds} kills, {len(names)} requests acknowledged, none lost, none twice, {len(ids)} events in order"

    def check_restart(self):
        """An orderly stop and a start give the same state: index, root, lease."""
        client = self.client("ops")
        client.get("/v1/root")
        before = client.get("/v1/root")
        assert self.service.stop() == 0, "SIGTERM is an orderly end"
        data = os.path.join(self.folder, "data")
        other = subprocess.run([self.program, "--data", data, "--preset", "none"], capture_output=True, text=True)
        assert other.returncode == 1 and "--preset" in other.stderr
        self.service.start()
        second = subprocess.run([self.program, "--data", data, "--listen", "127.0.0.1:0"], capture_output=True, text=True)
        assert second.returncode == 1 and "allotd: " in second.stderr, "one process at a time"
        assert client.get("/v1/root")["index"] >= before["index"]
        open_port = subprocess.run([self.program, "--data", data + "2", "--listen", "0.0.0.0:0"], capture_output=True,
                                   text=True)
        assert open_port.returncode == 1 and "--clients" in open_port.stderr, "open to all without --clients"

    def check_options(self):
        """A number or an address that is none is refused, and told."""
        data = ["--data", os.path.join(self.folder, "wrong")]
        for name, value in (("--events", "0"), ("--events", "-1"), ("--stake-cap", "-1"), ("--stake-cap", "0"),
                            ("--checkpoint-every", "-1"), ("--listen", "127.0.0.1:x"), ("--listen", "127.0.0.1:"),
                            ("--listen", "127.0.0.1:80x"), ("--listen", "127.0.0.1:65536"), ("--listen", "127.0.0.1: 8")):
            assert name in run_wrong(self.program, *data, name, value), (name, value)
        if "--replicas" in subprocess.run([self.program, "--help"], capture_output=True, text=True, check=True).stdout:
            etcd = [*data, "--etcd", "127.0.0.1:1", "--cluster", "net"]
            for name, id, replicas in (("--id", "3", "3"), ("--id", "-1", "3"), ("--replicas", "0", "0"),
                                       ("--replicas", "0", "17"), ("--replicas", "0", "-1")):
                assert name in run_wrong(self.program, *etcd, "--id", id, "--replicas", replicas), (id, replicas)
        assert not os.path.exists(data[1]), "a start that fails takes no folder"

    def check_stake_cap(self):
        """A folder keeps its stake cap with its preset, and refuses another one; one of an older release takes it."""
        data = os.path.join(self.folder, "cap")
        service = Service(self.program, data, "--stake-cap", "500").start()
        service.stop()
        told = run_wrong(self.program, "--data", data)
        assert "--stake-cap 500" in told, told
        service.start().stop()
        with open(os.path.join(data, "preset"), "w", encoding="ascii") as file:
            file.write("plain\n")
        service.start().stop()
        assert "--stake-cap 500" in run_wrong(self.program, "--data", data)

    def check_parameters(self):
        """Parameters that are refused end the start with their line, so that a mended file counts at the next one."""
        data, path = os.path.join(self.folder, "mended"), os.path.join(self.folder, "mended.jsonl")
        good = {"command": "Configure", "parameters": {"RulesParameters": {"due_max": 9}}}

        def write(*lines):
            with open(path, "w", encoding="ascii") as file:
                file.writelines(line + "\n" for line in lines)

        for lines, told in (([json.dumps(good), "", json.dumps({"command": "Pause", "node": "n1"})], "line 3 is refused"),
                            ([json.dumps(good), "{"], "line 2"), ([json.dumps(good)] * 1025, "commands"), ([json.dumps(submit("x" * (1 << 20)))], "1 MiB")):
            write(*lines)
            said = run_wrong(self.program, "--data", data, "--parameters", path)
            assert "--parameters: " in said and told in said, said
            assert not os.path.exists(data), "a start that fails takes no folder"
        write(json.dumps(good))
        service = Service(self.program, data, "--parameters", path).start()
        assert Client(service.url).get("/v1/status")["operator_seq"] == 2
        service.stop()

    def check_rebinding(self):
        """Without clients it answers to names of this machine alone, and to no page of another site."""
        service = Service(self.program, os.path.join(self.folder, "open")).start()
        port = service.port
        try:
            for host, origin, status in (
                    ("localhost", "", 200), (f"127.0.0.1:{port}", f"http://127.0.0.1:{port}", 200), ("[::1]", "", 200),
                    (f"[::1]:{port}", "", 200), (f"evil.example:{port}", "", 403), ("", "", 403),
                    ("127.0.0.1.evil.example", "", 403), ("10.0.0.1", "", 403), ("localhost.", "", 403),
                    (f"127.0.0.1:{port}", "http://evil.example", 403), (f"localhost:{port}", "null", 403)):
                for path in ("/v1/status", "/v1/nodes"):
                    sent = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
                    sent += f"Origin: {origin}\r\n" if origin else ""
                    answer = raw(port, sent.encode() + b"\r\n")
                    assert answer.startswith(b"HTTP/1.1 %d " % status), (host, origin, answer[:200])
        finally:
            service.stop()

    def check_digits(self):
        """An id that is text of digits stands in quotes, as in JSON."""
        client = self.client("ops")
        start = client.get("/v1/status")["events"]["next"]
        all_accepted(client.send(join("42", 7), join(42, 8)))
        assert [client.get(f"/v1/nodes/{id}")["stake"] for id in ("%2242%22", "42")] == ["7", "8"]
        refused(400, "id", client.get, "/v1/nodes/%22" + "x" * 33 + "%22")
        for id, node in (("%2242%22", "42"), ("42", 42)):
            events = client.get(f"/v1/events?start={start}&node={id}")["items"]
            assert {e["node"] for e in events if e["event"] == "NodeJoined"} == {node}, events
        all_accepted(client.send({"command": "Leave", "node": "42"}, {"command": "Leave", "node": 42}))

    def check_failed_log(self):
        """A log that fails is told to all for a second, in which nothing is read that may be lost."""
        service = Service(self.program, os.path.join(self.folder, "failed")).start()
        pid, sockets = service.process.pid, []
        try:
            client = Client(service.url, patience_s=0)
            all_accepted(client.send(join("n1")))
            limit = len(os.listdir(f"/proc/{pid}/fd")) + 5
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, limit))
            for _ in range(20):  # the last ones wait until files are closed
                sockets.append(socket.create_connection(("127.0.0.1", service.port)))
            time.sleep(0.3)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, 1))
            refused(503, "log_failed", client.send, submit("t1"))
            begun = time.monotonic()
            refused(503, "log_failed", client.get, "/v1/tasks/t1")
            assert service.process.wait(10) == 1
            assert 0.7 < time.monotonic() - begun < 3, time.monotonic() - begun
        finally:
            for s in sockets:
                s.close()
            if service.process.poll() is None:
                service.stop(signal.SIGKILL)

    def check_first_files(self):
        """A first start that fails or is killed leaves nothing that the next one stumbles over."""
        data, parameters = os.path.join(self.folder, "first"), os.path.join(self.folder, "parameters.jsonl")
        limited = subprocess.run([self.program, "--data", data], capture_output=True, text=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3, 3)))
        assert limited.returncode == 1 and data + "/preset: " in limited.stderr, limited
        service = Service(self.program, data).start()
        service.stop(signal.SIGKILL)
        open(os.path.join(data, "preset"), "w").close()
        with open(parameters, "w", encoding="ascii") as file:
            json.dump({"command": "Configure", "parameters": {"RulesParameters": {"due_max": 9}}}, file)
        service.more = ["--parameters", parameters]
        for _ in range(2):  # the log has its own parameters; those of the file are still to come, once
            seq = Client(service.start().url).get("/v1/status")["operator_seq"]
            service.stop(signal.SIGKILL)
            assert seq == 2, seq

    def check_full_disk(self):
        """A full disk stops the service, which names the file; once there is room, all that was acknowledged is there."""
        folder, names = os.path.join(self.folder, "disk"), []
        with small_disk(folder, "2m") as is_mounted:
            if not is_mounted:
                return "skipped: this user may not mount a file system"
            with open(os.path.join(folder, "ballast"), "wb") as ballast:
                ballast.write(bytes(1 << 20))
            service = Service(self.program, os.path.join(folder, "data"), "--checkpoint-every", "20").start()
            client = Client(service.url, patience_s=0)
            filling = [{"command": "Pause", "node": "nobody"}] * 1000
            try:
                for turn in range(1000):
                    assert client.send(submit(f"d{turn}"), *filling)["results"][0]["accepted"]
                    names.append(f"d{turn}")
            except (Problem, OSError):
                pass
            assert service.process.wait(10) == 1
            told = service.process.stdout.read()
            assert re.search(re.escape(service.folder) + r"/log-\d+\.allot: there is no space left", told), told
            os.remove(ballast.name)
            client = Client(service.start().url)
            assert len(names) > 9 and all(client.get("/v1/tasks/" + name) for name in names)
            service.stop()
            return f"{len(names)} tasks acknowledged before the disk was full, and found again"

    def check_page(self):
        """In a browser the page shows nodes, leases and what waits, behind 200 running tasks too, and answers both whys."""
        if not shutil.which("chromium"):
            return "skipped: chromium is missing"
        service = Service(self.program, os.path.join(self.folder, "page")).start()
        try:
            client = Client(service.url)
            all_accepted(client.send(*[join(f"n{i}") for i in range(220)], *[submit(f"r{i}") for i in range(210)]))
            until(lambda: client.get("/v1/status")["leases"] == 210)
            all_accepted(client.send({"command": "Submit", "task": {"id": "large", "vram_min": 80,
                                                                    "duration_estimate": 60000}}))
            idle = next(n["id"] for n in client.get("/v1/nodes?limit=500")["items"] if not n["lease"])
            page = subprocess.run(
                ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                 "--no-first-run", "--user-data-dir=" + os.path.join(self.folder, "browser"),
                 "--virtual-time-budget=5000", "--dump-dom", f"{service.url}/#task=large&node={idle}"],
                capture_output=True, text=True, timeout=120).stdout
            shown = lambda name: re.sub("(<[^>]*>)+", "|", page.split(f'id="{name}"')[1].split("</section>")[0])
            assert "|220|nodes|210|leases|1|tasks wait|" in shown("figures"), shown("figures")
            assert re.search(r"\|large\|\d+:\d\d\|\d+ h \d+ min\|", shown("waiting")), shown("waiting")
            assert len(re.findall(r"\|r\d+\|n\d+\|\d:\d\d", shown("running"))) == 100, shown("running")
            assert len(re.findall(r"\|n\d+\|(?:busy|available)\|", shown("nodes"))) == 100, shown("nodes")
            assert re.search(r"\|busy\|RTX 4090\|24\|100\|0.500\|r\d+\|", shown("nodes")), shown("nodes")
            assert re.search(r"\|kept out\|.*vram too small, count 10\|candidates\|0", shown("task-answer")), \
                shown("task-answer")
            assert re.search(r"\|tasks\|reason vram too small, count 1\|", shown("node-answer")), shown("node-answer")
        finally:
            service.stop()

    def check_tls(self):
        """With a certificate all goes over TLS, streams too; who speaks in the clear, or not at all, harms no other."""
        paths = [os.path.join(self.folder, name) for name in ("tls.pem", "tls.key")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=allotd", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
        files = ["--certificate", paths[0], "--key", paths[1]]
        service = Service(self.service.program, os.path.join(self.folder, "tls"), *files).start()
        try:
            assert b"HTTP/1.1" not in raw(service.port, b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
            idle = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(50)]
            os.environ["SSL_CERT_FILE"] = paths[0]
            client = Client(service.url, patience_s=5)
            all_accepted(client.send(join("n1"), submit("t1", "o1")))
            assert next(client.events("/v1/nodes/n1/events", 0))["event"] == "NodeJoined"
            for connection in idle:
                connection.close()
            del os.environ["SSL_CERT_FILE"]
            try:
                Client(service.url, patience_s=0).get("/v1/status")
            except OSError as error:
                assert "CERTIFICATE_VERIFY_FAILED" in str(error), error
            else:
                raise AssertionError("a certificate that nobody vouches for was believed")
        finally:
            os.environ.pop("SSL_CERT_FILE", None)
            service.stop()

    def check_statuses(self):
        """The OpenAPI page names each status that was answered so far."""
        for path in ("/v1/nodes/n1/events", "/v1/owners/o1/events", "/v1/events", "/v1/root"):
            refused(400, "malformed", self.client("ops").get, path + "?start=%zz")
        for path in ("/v1/nodes/n1/events?start=x", "/v1/nodes?limit=x", "/v1/events?limit=0"):
            refused(400, "cursor", self.client("ops").get, path)
        refused(400, "state", self.client("ops").get, "/v1/tasks?state=ended")
        refused(400, "session", self.client("ops").call, "POST", "/v1/sessions", b"", "zz", "0")
        refused(413, "too_large", self.client("ops").call, "POST", "/v1/sessions", b" " * (1 << 21), "zz", "0")
        paths = Client(self.service.url).get("/v1/openapi.json")["paths"]
        named = [(method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), set(map(int, way["responses"])))
                 for path, ways in paths.items() for method, way in ways.items()]
        count = 0
        for method, path, status in Client.statuses:
            for _, _, statuses in [n for n in named if n[0] == method and n[1].fullmatch(path.split("?")[0])]:
                assert status in statuses, f"{method} {path} answered {status}"
                count += 1
        return f"{count} answers of {len(named)} routes"

    def go_on(self):
        """After a failure that ended the service."""
        if self.service.process.poll() is not None:
            print(self.service.process.stdout.read())
            self.service.start()

    def run(self, names):
        failed = run_claims(self, names, self.go_on, lambda: None)
        self.service.stop()
        shutil.rmtree(self.folder)
        return failed


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--short"]
    sys.exit(1 if Check(arguments[0], "--short" in sys.argv).run(arguments[1:]) else 0)
