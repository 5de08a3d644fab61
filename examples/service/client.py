"""A client of allotd with Python's standard library alone.

    client = Client("http://127.0.0.1:8321", "node-7", "the shared secret of node-7")
    answer = client.send({"command": "Submit", "task": {"id": 7, "vram_min": 16, "duration_estimate": 60000}})

One Client is one session: it has one request in flight, and it sends the same bytes again until it has the answer.
So each command is applied exactly once, however often the connection or the service breaks. Of several replicas, such
as "http://a:8321,http://b:8321", it asks one until that fails, then the next.
"""
import hashlib
import hmac
import http.client
import json
import os
import random
import time
import urllib.parse


class Problem(Exception):
    """An answer that is a problem document (RFC 7807)."""

    def __init__(self, document):
        super().__init__(document.get("detail", ""))
        self.document = document
        self.status = document.get("status", 0)
        self.type = document.get("type", "").rsplit(":", 1)[-1]


class Client:
    def __init__(self, url="http://127.0.0.1:8321", name="", secret="", patience_s=30):
        split = [urllib.parse.urlsplit(one) for one in url.split(",")]
        self.addresses = [(at.hostname, at.port or 80) for at in split]
        self.at = random.randrange(len(self.addresses))
        self.name, self.secret, self.patience_s = name, secret, patience_s
        self.session, self.seq, self.connection = os.urandom(32).hex(), 0, None

    def move_on(self):
        if self.connection is not None:
            self.connection.close()
        self.connection, self.at = None, (self.at + 1) % len(self.addresses)

    def headers(self, method, path, body=b"", session="", seq=""):
        if not self.name:
            return {}
        now = str(int(time.time() * 1000))
        signed = "\n".join([method, path, now, session, seq, ""]).encode() + body
        return {"Allot-Client": self.name, "Allot-Time": now,
                "Allot-Signature": hmac.new(self.secret.encode(), signed, hashlib.sha256).hexdigest()}

    def call(self, method, path, body=b"", session="", seq="", kind="application/json"):
        """One request and its answer; sent again while the service cannot be reached or has too much to do."""
        until = time.monotonic() + self.patience_s
        while True:
            wait = 0.1
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(*self.addresses[self.at], timeout=12)
                headers = self.headers(method, path, body, session, seq) | {"Content-Type": kind}
                if session:
                    headers |= {"Allot-Session": session, "Allot-Seq": seq}
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read()
                if answer.status < 400:
                    return json.loads(text) if answer.headers["Content-Type"] == "application/json" else text.decode()
                problem = Problem(json.loads(text))
                if answer.status not in (429, 503, 504) or time.monotonic() > until:
                    raise problem
                wait = float(answer.headers.get("Retry-After", 1))
                if answer.status != 429 and len(self.addresses) > 1:
                    self.move_on()
                    wait = 0.1
            except (OSError, http.client.HTTPException):
                self.move_on()
                if time.monotonic() > until:
                    raise
            time.sleep(wait)

    def get(self, path):
        return self.call("GET", path)

    def open(self):
        """Opens the session, or finds where it stands."""
        self.seq = self.call("POST", "/v1/sessions", session=self.session, seq="0")["seq"] - 1

    def send(self, *commands):
        """Applies commands once. Returns index, answer, and one result for each command."""
        if self.seq == 0:
            self.open()
        body = "".join(json.dumps(command) + "\n" for command in commands).encode()
        answer = self.call("POST", "/v1/requests", body, self.session, str(self.seq + 1))
        self.seq += 1
        return answer

    def configure(self, *commands):
        """Applies commands as the operator, who alone may configure."""
        seq = self.get("/v1/status")["operator_seq"] + 1
        body = "".join(json.dumps(command) + "\n" for command in commands).encode()
        return self.call("POST", "/v1/requests", body, "operator", str(seq))

    def events(self, path, last_id=None, timeout_s=60):
        """Yields the events of a stream, such as /v1/nodes/7/events, until it breaks. Go on with the last `id`."""
        stream = http.client.HTTPConnection(*self.addresses[self.at], timeout=timeout_s)
        headers = self.headers("GET", path) | ({} if last_id is None else {"Last-Event-ID": str(last_id)})
        try:
            stream.request("GET", path, headers=headers)
            answer = stream.getresponse()
            if answer.status != 200:
                raise Problem(json.loads(answer.read()))
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        except (OSError, http.client.HTTPException):
            self.move_on()
        finally:
            stream.close()
