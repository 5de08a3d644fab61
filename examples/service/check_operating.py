"""Does what docs/operating.md says, word for word, and looks whether it came out: python3 check_operating.py

It installs programs and writes folders of the system, so run it as root on one made for it:
sh tests/bare.sh service. The cluster's three machines are three addresses of this one, 127.0.0.1 to .3.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

from client import Client

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
URL = "http://127.0.0.1:8321"


def section(title):
    """The text below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", PAGE, re.M | re.S)
    assert found, f"the page has no section {title}"
    return found[1]


def typed(title):
    """All lines of a section that are to be typed. One that ends with a backslash goes on."""
    code = [line[4:] for line in section(title).splitlines() if line.startswith("    ")]
    return "\n".join(code).replace("\\\n", "").splitlines()


def line(title, begin):
    """The only one that begins so."""
    found = [one for one in typed(title) if one.startswith(begin)]
    assert len(found) == 1, f"{title}: {len(found)} lines begin with {begin}"
    return found[0]


def run(text):
    """Runs lines of a shell in the folder of the project."""
    print("+", text, flush=True)
    return subprocess.run(["sh", "-c", text], cwd=ROOT).returncode


def run_well(text):
    assert run(text) == 0, text


class Service:
    """A command that is started, and is ended or killed."""

    def __init__(self, command):
        print("+", command, "&", flush=True)
        self.process = subprocess.Popen(["sh", "-c", "exec " + command], cwd=ROOT)

    def end(self, how="terminate"):
        getattr(self.process, how)()
        return self.process.wait(20)


def status(url=URL, seconds=30):
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url + "/v1/status", timeout=2) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            assert time.monotonic() < end, f"{url} does not answer"
            time.sleep(0.1)


def type_in(title):
    """Types a section's lines of Python, a second and a half after each other. Returns what the last one gives."""
    names, value = {"Client": Client}, None
    for text in (one.removeprefix(">>> ") for one in typed(title) if one.startswith(">>> ")):
        print(">>>", text, flush=True)
        try:
            value = eval(text, names)  # noqa: S307  the page's own text
        except SyntaxError:
            exec(text, names)  # noqa: S102
        time.sleep(1.5)
    return value


def metrics_of(url, title):
    """All metrics that a section names are there."""
    with urllib.request.urlopen(url + "/metrics", timeout=2) as answer:
        told = answer.read().decode()
    for name in sorted(set(re.findall(r"\ballot_[a-z_]+", section(title)))):
        assert re.search(rf"^{name}[ {{]", told, re.M) or f"# TYPE {name} " in told, f"{title}: no metric {name}"


def secret_of(client):
    text = pathlib.Path("/etc/allot/clients.jsonl").read_text(encoding="utf-8")
    return re.search(f'"{client}", "secret": "([^"]*)', text)[1]


def one_machine():
    for begin in ("sh examples/build.sh", "install", "mkdir"):
        run_well(line("Build and start", begin))
    start, with_clients = (one for one in typed("Build and start") if one.startswith("allotd"))
    service = Service(start)
    assert status()["queued"] == 0
    with urllib.request.urlopen(URL, timeout=2) as answer:
        assert "text/html" in answer.headers["Content-Type"]

    end = type_in("Join a node, submit a task")
    assert end["ending"] == "done", end
    metrics_of(URL, "Watch")
    answer = type_in("Configure")
    assert answer["results"][0]["accepted"], answer

    service.end("kill")
    service = Service(start)
    status()
    assert Client(URL).get("/v1/tasks/7")["end"]["ending"] == "done", "kill -9 lost a task"

    os.makedirs("/backup")
    for copy in typed("Back up and restore"):
        run(copy)  # there is no snapshot yet, as the page says
    assert service.end() == 0, "SIGTERM"
    restored = Service("allotd --data /backup")
    status()
    assert Client(URL).get("/v1/tasks/7")["end"]["ending"] == "done", "the backup lacks a task"
    restored.end()

    os.makedirs("/etc/allot")
    clients = "".join(one.replace("…", "0123456789abcdef") + "\n" for one in typed("Build and start") if one[:1] == "{")
    pathlib.Path("/etc/allot/clients.jsonl").write_text(clients, encoding="utf-8")
    service = Service(with_clients)
    status()
    try:
        urllib.request.urlopen(URL + "/v1/nodes/n7", timeout=2)
        raise AssertionError("an unsigned request is answered")
    except urllib.error.HTTPError as error:
        assert error.code == 401, error
    node = Client(URL, "n7", secret_of("n7"))
    assert node.get("/v1/nodes/n7")["lease"] is None
    service.end()


def cluster():
    run_well(line("Start", "apt-get").replace("install", "install -y -qq --no-install-recommends"))
    run_well(line("Start", "sh examples/build.sh"))
    run_well(line("Start", "install"))
    member, replica = (line("Start", begin).replace("10.0.0.", "127.0.0.") for begin in ("etcd", "allotd"))
    parts = []
    try:
        for n in (1, 2, 3):
            own, members = member.split("--initial-cluster ", 1)
            own = own.replace("m1", f"m{n}").replace("127.0.0.1", f"127.0.0.{n}").replace("/etcd/net", f"/etcd/net{n}")
            parts.append(Service(f"{own} --initial-cluster {members} --log-level error"))
        os.makedirs("/mnt/shared")
        run_well(line("Start", "mkdir"))
        urls = [f"http://127.0.0.{n}:8321" for n in (1, 2, 3)]
        for n in (1, 2, 3):
            parts.append(Service(replica.replace("--id 0", f"--id {n - 1}").replace("/allot/net", f"/allot/replica{n}")
                                 .replace("--listen 127.0.0.1", f"--listen 127.0.0.{n}")))
        end = time.monotonic() + 60
        while not {"leader", "follower"} >= {status(url, 60)["role"] for url in urls}:
            assert time.monotonic() < end, [status(url) for url in urls]
            time.sleep(0.2)
        ops = Client(",".join(urls), "ops", secret_of("ops"))
        ops.send({"command": "Join", "node": {"id": "n7", "gpu": "RTX 4090", "vram": 24, "stake": "400"}})
        parts[3].end("kill")  # one replica dies, and the network goes on
        ops.send({"command": "Submit", "task": {"id": 7, "vram_min": 16, "fee": "10", "duration_estimate": 60000}})
        end = time.monotonic() + 20
        while (lease := ops.get("/v1/nodes/n7")["lease"]) is None:
            assert time.monotonic() < end, "the task is not drawn"
            time.sleep(0.2)
        ops.send({"command": "Complete", "lease": lease})
        assert ops.get("/v1/tasks/7")["end"]["ending"] == "done"
        time.sleep(70)  # an idle cluster attests after a minute
        shown = status(urls[1])
        assert shown["replicas"] and not any(one["suspect"] for one in shown["replicas"]), shown
        metrics_of(urls[1], "Watch the cluster")
        run_well(line("Back up and restore the cluster", "ETCDCTL_API").replace("10.0.0.", "127.0.0."))
        assert os.path.getsize("/backup/net.db") > 0
    finally:
        for one in reversed(parts):
            if one.process.poll() is None:
                one.end()


if __name__ == "__main__":
    if shutil.which("allotd") or os.path.exists("/backup"):
        sys.exit("this system is not new: allotd or /backup is there; run sh tests/bare.sh service")
    os.makedirs("/var/lib/allot", exist_ok=True)
    one_machine()
    cluster()
    print("docs/operating.md holds")
