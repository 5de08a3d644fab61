"""A client of allotd with Python's standard library alone.

One Client is one session: it has one request in flight, and it sends the same bytes again until it has the answer.
So each command is applied exactly once, however often the connection or the service breaks. A request that is given
up, because no answer came for `patience_s`, is sent again before the next one. Of several replicas, such as
"http://a:8321,http://b:8321", it asks one until that fails, then the next.
"""
import hmac
import http.client
import json
import os
import time
import urllib.parse

RETRIED = (429, 503, 504)  # statuses of problems that say: the same request again


class Problem(Exception):  # an answer that is a problem document (RFC 7807)
    def __init__(self, document):
        super().__init__(document.get("detail", ""))
        self.document, self.status = document, document.get("status", 0)
        self.type = document.get("type", "").rsplit(":", 1)[-1]


def lines(commands):
    return "".join(json.dumps(command) + "\n" for command in commands).encode()


class Client:
    def __init__(self, url="http://127.0.0.1:8321", name="", secret="", patience_s=30):
        self.addresses = [urllib.parse.urlsplit(one) for one in url.split(",")]
        self.name, self.secret, self.patience_s, self.connection = name, secret, patience_s, None
        self.session, self.seq, self.at = os.urandom(32).hex(), 0, os.urandom(1)[0] % len(self.addresses)
        self.pending = None  # number and bytes of a request without an answer, which may have been applied
        self.doubt = False   # whether the last call was sent again after a copy that may have been applied

    def connect(self, timeout_s):
        to = self.addresses[self.at]
        return getattr(http.client, to.scheme.upper() + "Connection")(to.hostname, to.port, timeout=timeout_s)

    def move_on(self):
        self.connection, self.at = None, (self.at + 1) % len(self.addresses)

    def headers(self, method, path, body=b"", session="", seq=""):
        headers = {"Allot-Session": session, "Allot-Seq": seq} if session else {}
        if self.name:
            now = str(int(time.time() * 1000))
            signed = "\n".join([method, path, now, session, seq, ""]).encode() + body
            signature = hmac.new(self.secret.encode(), signed, "sha256").hexdigest()
            headers |= {"Allot-Client": self.name, "Allot-Time": now, "Allot-Signature": signature}
        return headers

    def problem(self, answer, text):
        """The problem that an answer tells. One that is not of the service, but of a proxy, is a broken connection."""
        if answer.status != 502 and (answer.headers["Content-Type"] or "").startswith("application/problem+json"):
            try:
                return Problem({"status": answer.status} | json.loads(text))
            except (TypeError, ValueError):
                pass
        raise ConnectionError(f"{self.addresses[self.at].geturl()} answered {answer.status}, without a problem of allotd")

    def call(self, method, path, body=b"", session="", seq="", kind="application/json"):
        """One request and its answer; sent again while the service cannot be reached or has too much to do."""
        until, self.doubt = time.monotonic() + self.patience_s, False
        while True:
            wait_s, headers = 0.1, self.headers(method, path, body, session, seq) | {"Content-Type": kind}
            try:
                self.connection = self.connection or self.connect(12)
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read()
                if answer.status < 400:
                    return json.loads(text) if answer.headers["Content-Type"] == "application/json" else text.decode()
                problem = self.problem(answer, text)
                self.doubt |= answer.status in (503, 504)
                if answer.status not in RETRIED or time.monotonic() > until:
                    raise problem
                if answer.status != 429 and len(self.addresses) > 1:
                    raise ConnectionError
                wait_s = float(answer.headers.get("Retry-After", 1))
            except (OSError, http.client.HTTPException):
                self.doubt = True
                self.move_on()
                if time.monotonic() > until:
                    raise
            time.sleep(wait_s)

    def get(self, path):
        return self.call("GET", path)

    def open(self):  # or finds where the session stands
        self.seq = self.call("POST", "/v1/sessions", session=self.session, seq="0")["seq"] - 1

    def post(self, session, seq, body, copy=False):
        """One request of a session. `duplicate` is its own answer only if a copy of it may have come first."""
        answer = self.call("POST", "/v1/requests", body, session, str(seq))
        if answer["answer"] == "duplicate" and not copy and not self.doubt:
            raise Problem({"type": "client:duplicate", "status": 409, "detail": f"another request had the number {seq}; "
                           "the answer is of that one, and this one was not applied: send it again"})
        return answer

    def finish(self, seq, body):
        """Sends a request until it has its answer. If that does not come, the request stays pending."""
        copy, self.pending = self.pending is not None, (seq, body)
        try:
            answer = self.post(self.session, seq, body, copy)
        except Problem as problem:
            if problem.status not in RETRIED or not (copy or self.doubt):
                self.pending = None
            if problem.type == "duplicate":
                self.seq = 0  # so that `open` finds where the session stands
            raise
        self.pending, self.seq = None, seq
        return answer

    def send(self, *commands):
        """Applies commands once. Returns index, answer, and one result for each command.

        Commands that had no answer come first, under their own number; the same commands again are those."""
        body = lines(commands)
        if self.pending is not None:
            same = self.pending[1] == body
            answer = self.finish(*self.pending)
            if same:
                return answer
        if self.seq == 0:
            self.open()
        return self.finish(self.seq + 1, body)

    def configure(self, *commands):
        """Applies commands as the operator, who alone may configure. If another operator was first, it is a Problem."""
        return self.post("operator", self.get("/v1/status")["operator_seq"] + 1, lines(commands))

    def events(self, path, last_id=None, timeout_s=60):
        """Yields the events of a stream, such as /v1/nodes/7/events, until it breaks. Go on with the last `id`."""
        headers = self.headers("GET", path) | ({} if last_id is None else {"Last-Event-ID": str(last_id)})
        try:
            stream = self.connect(timeout_s)
            stream.request("GET", path, headers=headers)
            answer = stream.getresponse()
            if answer.status != 200:
                raise self.problem(answer, answer.read())
            yield from (json.loads(line[6:]) for line in answer if line.startswith(b"data: "))
        except (OSError, http.client.HTTPException):
            self.move_on()
