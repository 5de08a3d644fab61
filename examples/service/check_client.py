"""Checks what client.py does with answers that are late, lost or not of the service: python3 check_client.py"""
import http.server
import json
import sys
import threading

from check import refused, run_claims
from client import Client

PROBLEM, PAGE = "application/problem+json", "text/html"
LATE = {"type": "urn:allot:problem:unknown_yet", "status": 504, "detail": "the same request again, later"}


class Service(http.server.ThreadingHTTPServer):
    """Applies each number of a session once, as allotd does, but for what `script` says of the next requests: whether it
    is applied (`now` or `never`), and the answer, or none for a connection that breaks."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.applied, self.last, self.script, self.shown = [], {}, [], None
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def apply(self, session, seq, body):
        before, answer = self.last.get(session, (0, None))
        if seq == before:
            return answer | {"answer": "duplicate"}
        assert seq == before + 1, f"{seq} after {before}"
        self.applied.append(body)
        answer = {"answer": "applied", "index": len(self.applied), "results": [{"accepted": True}]}
        self.last[session] = seq, answer
        return answer


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, kind, text):
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", len(text)), ("Retry-After", "0.01")):
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        service, body = self.server, self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        session, seq = self.headers.get("Allot-Session"), int(self.headers.get("Allot-Seq", 0))
        before = service.last.get(session, (0, None))[0]
        is_request = self.path == "/v1/requests"
        scripted = service.script.pop(0) if service.script and is_request else None
        if is_request and not (scripted and scripted[0] == "never"):
            answer = service.apply(session, seq, body)
        if scripted and scripted[1:] == ():
            self.close_connection = True
        elif scripted:
            self.answer(*scripted[1:])
        elif self.path == "/v1/sessions":
            self.answer(200, "application/json", json.dumps({"seq": before + 1}))
        elif self.path == "/v1/status":
            shown = service.last.get("operator", (0, None))[0] if service.shown is None else service.shown
            self.answer(200, "application/json", json.dumps({"operator_seq": shown}))
        elif is_request:
            self.answer(200, "application/json", json.dumps(answer))
        else:
            self.answer(*page("", 502)[1:])


def command(name):
    return {"command": "Pause", "node": name}


def late(how):
    return how, 504, PROBLEM, json.dumps(LATE)


def page(how, status):
    return how, status, PAGE, "<html>a proxy's words</html>"


class Check:
    def __init__(self):
        self.service = Service()

    def begin(self, *script, patience_s=5):
        self.service.applied, self.service.last, self.service.shown = [], {}, None
        self.service.script = list(script)
        return Client(self.service.url, patience_s=patience_s)

    def applied(self):
        return [json.loads(body)["node"] for body in self.service.applied]

    def check_given_up(self):
        """A request that was given up is finished before the next one, whether it was applied or not."""
        for how in ("now", "never"):
            client = self.begin(patience_s=0)
            client.send(command("first"))
            self.service.script = [late(how)]
            refused(504, "unknown_yet", client.send, command("a"))
            answer = client.send(command("b"))
            assert (answer["answer"], answer["index"]) == ("applied", 3), answer
            assert client.send(command("c"))["index"] == 4 and self.applied() == ["first", "a", "b", "c"], self.applied()

    def check_same_again(self):
        """The same commands after they were given up are the same request: it is applied once."""
        for how in ("now", "never"):
            client = self.begin(late(how), patience_s=0)
            refused(504, "unknown_yet", client.send, command("a"))
            assert client.send(command("a"))["index"] == 1 and self.applied() == ["a"], self.applied()
            assert client.send(command("a"))["index"] == 2, "a further time is another request"

    def check_retried(self):
        """Within its patience a call sends the same request again, and takes the answer of the first copy."""
        for scripted in (late("now"), late("never"), ("now",), page("now", 502), page("never", 404)):
            client = self.begin(scripted)
            assert client.send(command("a"))["index"] == 1 and self.applied() == ["a"], scripted
            assert client.send(command("b"))["index"] == 2, scripted

    def check_duplicate(self):
        """An answer that is another request's is a problem, and the next request gets a number of its own."""
        client = self.begin()
        client.send(command("a"))
        self.service.apply(client.session, client.seq + 1, json.dumps(command("another")))
        refused(409, "duplicate", client.send, command("b"))
        assert client.send(command("b"))["index"] == 3 and self.applied() == ["a", "another", "b"], self.applied()

    def check_rate(self):
        """A request that was refused for its rate alone is not kept, and a copy of it is not expected."""
        busy = {"type": "urn:allot:problem:rate", "status": 429, "detail": "come back a little later"}
        client = self.begin(("never", 429, PROBLEM, json.dumps(busy)), patience_s=0)
        refused(429, "rate", client.send, command("a"))
        client.send(command("b"))
        assert self.applied() == ["b"], self.applied()

    def check_operators(self):
        """Who configures by a status that another operator's commands have overtaken is told, and not answered for them."""
        client = self.begin()
        assert client.configure(command("a"))["index"] == 1
        self.service.shown = 0
        refused(409, "duplicate", client.configure, command("b"))
        self.service.shown, self.service.script = None, [late("now")]
        assert client.configure(command("c"))["index"] == 2 and self.applied() == ["a", "c"], self.applied()

    def check_proxy(self):
        """A proxy's page is an outage: tried again, then told as one."""
        for status in (400, 502, 503, 504):
            client = self.begin(*[page("never", status)] * 2, patience_s=0)
            for _ in range(2):
                try:
                    client.send(command("a"))
                    raise AssertionError(f"{status} is an answer")
                except ConnectionError as error:
                    assert f"answered {status}" in str(error), error
            assert client.send(command("a"))["index"] == 1 and self.applied() == ["a"], self.applied()
        assert not list(client.events("/v1/nodes/a/events")), "a stream that a proxy answers has ended"


if __name__ == "__main__":
    sys.exit(1 if run_claims(Check(), sys.argv[1:], lambda: None, lambda: None) else 0)
