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
import textwrap
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
URL = "http://127.0.0.1:8321"


def section(title):
    """The text below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", PAGE, re.M | re.S)
    assert found, f"the page has no section {title}"
    return found[1]


def blocks(title):
    """The blocks of a section, without their indentation."""
    lines = section(title).splitlines(keepends=True)
    text = "".join(line if line.startswith("    ") or not line.strip() else "\0" for line in lines)
    return [textwrap.dedent(block).strip("\n") for block in re.split("\0+", text) if block.strip()]


def block(title, word):
    """The only block of a section with this word."""
    found = [one for one in blocks(title) if word in one]
    assert len(found) == 1, f"{title}: {len(found)} blocks have {word}"
    return found[0]


def run(text):
    """Runs lines of a shell in the folder of the project."""
    print(textwrap.indent(text, "+ "), flush=True)
    return subprocess.run(["sh", "-c", text], cwd=ROOT).returncode


def run_well(text):
    assert run("set -e\n" + text) == 0, text


def joined(text):
    """Commands, one a line: a line that ends with a backslash goes on."""
    return text.replace("\\\n", "").splitlines()


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


def type_in(text, replace=("", "")):
    """Types lines of Python as somebody would, a second and a half after each other. Returns what the last one gives."""
    names, value = {}, None
    for line in text.splitlines():
        line = line.removeprefix(">>> ").replace(*replace)
        print(">>>", line, flush=True)
        try:
            value = eval(line, names)  # noqa: S307  the page's own text
        except SyntaxError:
            exec(line, names)  # noqa: S102
        time.sleep(1.5)
    return value


def metrics_of(url, title):
    """All metrics that a section names are there."""
    with urllib.request.urlopen(url + "/metrics", timeout=2) as answer:
        told = answer.read().decode()
    for name in sorted(set(re.findall(r"\ballot_[a-z_]+", section(title)))):
        assert re.search(rf"^{name}[ {{]", told, re.M) or f"# TYPE {name} " in told, f"{title}: no metric {name}"


def one_machine():
    *build, start = block("Build and start", "build.sh").splitlines()
    run_well("\n".join(build))
    service = Service(start)
    assert status()["queued"] == 0
    with urllib.request.urlopen(URL, timeout=2) as answer:
        assert "text/html" in answer.headers["Content-Type"]

    end = type_in(block("Join a node, submit a task", "Client"))
    assert end == "done", end
    metrics_of(URL, "Watch")
    answer = type_in(block("Configure", "ops").replace("ops = ", "from client import Client; ops = "))
    assert answer["results"][0]["accepted"], answer

    service.end("kill")
    service = Service(start)
    from client import Client
    status()
    assert Client(URL).get("/v1/tasks/7")["end"] == "done", "kill -9 lost a task"

    os.makedirs("/backup")
    for line in block("Back up and restore", "cp").splitlines():
        run(line)  # there is no snapshot yet, as the page says
    assert service.end() == 0, "SIGTERM"
    restored = Service("allotd --data /backup")
    status()
    assert Client(URL).get("/v1/tasks/7")["end"] == "done", "the backup lacks a task"
    restored.end()

    os.makedirs("/etc/allot")
    clients = block("Build and start", '"client"').replace("…", "0123456789abcdef")
    pathlib.Path("/etc/allot/clients.jsonl").write_text(clients + "\n", encoding="utf-8")
    service = Service(block("Build and start", "--clients").splitlines()[0])
    status()
    try:
        urllib.request.urlopen(URL + "/v1/nodes/n7", timeout=2)
        raise AssertionError("an unsigned request is answered")
    except urllib.error.HTTPError as error:
        assert error.code == 401, error
    node = Client(URL, "n7", re.search(r'"n7", "secret": "([^"]*)', clients)[1])
    assert node.get("/v1/nodes/n7")["lease"] is None
    service.end()


def cluster():
    install, build = [line for line in block("Start", "apt-get").splitlines() if line]
    run_well(install.replace("install", "install -y -qq --no-install-recommends"))
    run_well(build + "\ninstall -m 755 build/examples/examples/allotd /usr/local/bin/allotd")
    run("systemctl stop etcd 2> /dev/null")  # a package may have started one
    member = joined(block("Start", "etcd --name").replace("10.0.0.", "127.0.0."))
    member = next(line for line in member if line.startswith("etcd "))
    make, replica = joined(block("Start", "allotd --etcd").replace("10.0.0.", "127.0.0."))
    parts = []
    try:
        for n in (1, 2, 3):
            own, cluster_of = member.split("--initial-cluster ", 1)
            own = own.replace("m1", f"m{n}").replace("127.0.0.1", f"127.0.0.{n}").replace("/etcd/net", f"/etcd/net{n}")
            parts.append(Service(f"{own} --initial-cluster {cluster_of} --log-level error"))
        os.makedirs("/mnt/shared")
        run_well(make)
        urls = [f"http://127.0.0.{n}:8321" for n in (1, 2, 3)]
        for n in (1, 2, 3):
            parts.append(Service(replica.replace("--id 0", f"--id {n - 1}").replace("/allot/net", f"/allot/replica{n}")
                                 .replace("--listen 127.0.0.1", f"--listen 127.0.0.{n}")))
        end = time.monotonic() + 60
        while not {"leader", "follower"} >= {status(url, 60)["role"] for url in urls}:
            assert time.monotonic() < end, [status(url) for url in urls]
            time.sleep(0.2)
        from client import Client
        secret = re.search(r'"ops", "secret": "([^"]*)', pathlib.Path("/etc/allot/clients.jsonl").read_text())[1]
        ops = Client(",".join(urls), "ops", secret)
        ops.send({"command": "Join", "node": {"id": "n7", "gpu": "RTX 4090", "vram": 24, "stake": "400"}})
        parts[3].end("kill")  # one replica dies, and the network goes on
        ops.send({"command": "Submit", "task": {"id": 7, "vram_min": 16, "fee": "10", "duration_estimate": 60000}})
        end = time.monotonic() + 20
        while (lease := ops.get("/v1/nodes/n7")["lease"]) is None:
            assert time.monotonic() < end, "the task is not drawn"
            time.sleep(0.2)
        ops.send({"command": "Complete", "lease": lease})
        assert ops.get("/v1/tasks/7")["end"] == "done"
        time.sleep(70)  # an idle cluster attests after a minute
        shown = status(urls[1])
        assert shown["replicas"] and not any(one["suspect"] for one in shown["replicas"]), shown
        metrics_of(urls[1], "Watch the cluster")
        save = block("Back up and restore the cluster", "etcdctl").replace("10.0.0.", "127.0.0.").splitlines()[0]
        run_well(save)
        assert os.path.getsize("/backup/net.db") > 0
    finally:
        for one in reversed(parts):
            if one.process.poll() is None:
                one.end()


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    if shutil.which("allotd") or os.path.exists("/backup"):
        sys.exit("this system is not new: allotd or /backup is there; run sh tests/bare.sh service")
    os.makedirs("/var/lib/allot", exist_ok=True)
    one_machine()
    cluster()
    print("docs/operating.md holds")
