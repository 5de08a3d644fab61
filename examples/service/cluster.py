"""Starts members of etcd and replicas of allotd on this machine, for tests: each is a process that can be killed."""
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

from client import Client


def free_port():
    """A port below those that the system gives to connections: it is still free when a process is started again."""
    while True:
        with contextlib.suppress(OSError), socket.socket() as s:
            s.bind(("127.0.0.1", random.randrange(10_000, 32_000)))
            return s.getsockname()[1]


@contextlib.contextmanager
def small_disk(folder, size):
    """Makes the folder a disk of this size, such as "2m". Gives false if this user may not mount one."""
    os.makedirs(folder)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "none", folder], capture_output=True)
    try:
        yield mounted.returncode == 0
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "--lazy", folder], check=True)


class Process:
    """A program that is started again with the same arguments. What it prints goes to a file."""

    def __init__(self, arguments, log, environment=None):
        self.arguments, self.log, self.environment, self.process = arguments, log, environment, None

    def start(self):
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(self.arguments, stdout=out, stderr=out,
                                            env=os.environ | (self.environment or {}))

    def send(self, how):
        self.process.send_signal(how)

    def kill(self):
        self.send(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ends it in order. Returns its exit status."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def told(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()


class Tls:
    """A certificate authority in a folder, and the certificates that it signs for this machine."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)
        self.ca = self.path("ca.pem")
        self.openssl("req", "-x509", *self.new_key("ca"), "-subj", "/CN=ca", "-out", self.ca)
        with open(self.path("extensions"), "w", encoding="ascii") as file:
            file.write("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def new_key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", self.path(name + ".key")]

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def signed(self, name):
        """The paths of a certificate and its key."""
        request, certificate = self.path(name + ".csr"), self.path(name + ".pem")
        self.openssl("req", *self.new_key(name), "-subj", "/CN=" + name, "-out", request)
        self.openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.path("ca.key"), "-CAcreateserial",
                     "-extfile", self.path("extensions"), "-out", certificate)
        return certificate, self.path(name + ".key")


class Member(Process):
    """A member of etcd; with `tls`, one that takes only clients whose certificate it knows."""

    def __init__(self, folder, number, ports, tls=None):
        self.port, self.scheme, self.context, secured = ports[number][0], "http", None, []
        if tls is not None:
            certificate, key = tls.signed(f"etcd-{number}")
            self.scheme, self.context = "https", ssl.create_default_context(cafile=tls.ca)
            self.context.load_cert_chain(certificate, key)
            secured = ["--cert-file", certificate, "--key-file", key, "--trusted-ca-file", tls.ca, "--client-cert-auth"]
        urls = [(f"{self.scheme}://127.0.0.1:{a}", f"http://127.0.0.1:{b}") for a, b in ports]
        super().__init__(["etcd", "--name", f"m{number}", "--data-dir", os.path.join(folder, f"etcd-{number}"),
                          "--listen-client-urls", urls[number][0], "--advertise-client-urls", urls[number][0],
                          "--listen-peer-urls", urls[number][1], "--initial-advertise-peer-urls", urls[number][1],
                          "--initial-cluster", ",".join(f"m{i}={u[1]}" for i, u in enumerate(urls)),
                          "--log-level", "error", *secured], os.path.join(folder, f"etcd-{number}.log"))

    def post(self, path, body):
        """A call of its JSON gateway."""
        request = urllib.request.Request(f"{self.scheme}://127.0.0.1:{self.port}{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=2, context=self.context) as answer:
            return json.load(answer)

    def state(self):
        """(whether it has a leader, whether it is the leader); None if it does not answer."""
        try:
            status = self.post("/v3/maintenance/status", {})
            return status.get("leader", "0") != "0", status.get("leader") == status["header"]["member_id"]
        except (OSError, ValueError):
            return None


class Replica(Process):
    def __init__(self, program, folder, number, etcd, name, replicas, more, environment=None):
        self.port, self.number = free_port(), number
        self.url = f"http://127.0.0.1:{self.port}"
        self.data = os.path.join(folder, f"replica-{number}")
        super().__init__([program, "--etcd", etcd, "--cluster", name, "--id", str(number), "--replicas", str(replicas),
                          "--data", self.data, "--checkpoints", os.path.join(folder, "checkpoints"),
                          "--listen", f"127.0.0.1:{self.port}", *more],
                         os.path.join(folder, f"replica-{number}.log"), environment)

    def status(self):
        """Its /v1/status; None if it does not answer."""
        try:
            with urllib.request.urlopen(self.url + "/v1/status", timeout=2) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return None

    def root(self):
        return Client(self.url, patience_s=10).get("/v1/root")


class Cluster:
    """Three members and three replicas, unless the numbers say otherwise, in a folder that `close` removes."""

    def __init__(self, program, folder, members=3, replicas=3, more=(), tls=None):
        self.folder, self.program, self.more = folder, program, list(more)
        os.makedirs(folder, exist_ok=True)
        ports = [(free_port(), free_port()) for _ in range(members)]
        self.members = [Member(folder, i, ports, tls) for i in range(members)]
        self.etcd = ",".join(f"127.0.0.1:{client}" for client, _ in ports)
        self.replicas = [self.replica(i, replicas) for i in range(replicas)]
        self.urls = ",".join(r.url for r in self.replicas)

    def replica(self, number, replicas, program=None, environment=None):
        return Replica(program or self.program, self.folder, number, self.etcd, "net", replicas, self.more, environment)

    def start(self):
        for one in self.members + self.replicas:
            one.start()
        self.wait()

    def is_well(self):
        return (all(m.runs() and (m.state() or (False,))[0] for m in self.members) and
                all(r.runs() and (r.status() or {}).get("role") in ("leader", "follower") for r in self.replicas))

    def wait(self, seconds=60):
        """Until all run, etcd has a leader, and all replicas have read the log."""
        end = time.monotonic() + seconds
        while not self.is_well():
            for one in self.members + self.replicas:
                if not one.runs():
                    raise AssertionError(f"{one.log}: it ended with {one.process.returncode}: {one.told()[-500:]}")
            if time.monotonic() > end:
                raise AssertionError("the cluster does not get well: " + ", ".join(
                    f"{one.log}: {one.told()[-200:]}" for one in self.replicas))
            time.sleep(0.1)

    def equal_roots(self, seconds=30):
        """The root of all replicas at one index: each is asked until an index is found that all were asked at."""
        seen = [{} for _ in self.replicas]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for replica, roots in zip(self.replicas, seen):
                answer = replica.root()
                roots[answer["index"]] = answer["root"]
            common = set.intersection(*(set(roots) for roots in seen))
            if common:
                index = max(common)
                roots = {roots[index] for roots in seen}
                assert len(roots) == 1, f"the roots differ at index {index}: {roots}"
                return index, roots.pop()
        raise AssertionError("the replicas are never at one index")

    def close(self, keep=False):
        for one in self.replicas + self.members:
            if one.runs():
                one.send(signal.SIGCONT)
                one.send(signal.SIGTERM)
        for one in self.replicas + self.members:
            if one.process is not None:
                try:
                    one.process.wait(10)
                except subprocess.TimeoutExpired:
                    one.kill()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
