"""Checks what replicas on etcd claim about faults. Needs etcd, else 77.

    python3 check_cluster.py path/to/allotd path/to/allotd_stray path/to/allotd_next [claim...]

The programs are of this release, of one that decides otherwise, and of the next one. Each check has a cluster of its
own. campaign.py has the faults of members and processes, with clients at work.
"""
import base64
import glob
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time

from check import all_accepted, join, refused, run_claims, submit, until
from campaign import Auditor, Clients, ended_and_audited, equal_events, write_parameters
from client import Client
from cluster import Cluster, Process, Tls, small_disk


def key_of(text):
    return base64.b64encode(text.encode()).decode()


class Check:
    def __init__(self, program, stray, upgraded):
        self.program, self.stray, self.upgraded = program, stray, upgraded
        self.folder = tempfile.mkdtemp(prefix="allot-replicas-")
        self.cluster = None

    def begin(self, name, replicas=3, more=(), tls=None):
        self.cluster = Cluster(self.program, os.path.join(self.folder, name), 1, replicas, more, tls)
        self.cluster.start()
        return self.cluster

    def client(self, *replicas, patience_s=30):
        return Client(",".join(r.url for r in replicas or self.cluster.replicas), patience_s=patience_s)

    def log_keys(self):
        prefix = "net/log/"
        answer = self.cluster.members[0].post("/v3/kv/range", {
            "key": key_of(prefix), "range_end": key_of(prefix[:-1] + "0"), "count_only": True})
        return int(answer.get("count", 0))

    def value_of(self, key):
        found = self.cluster.members[0].post("/v3/kv/range", {"key": key_of(key)})["kvs"][0]["value"]
        return base64.b64decode(found).decode()

    def put(self, key, value):
        self.cluster.members[0].post("/v3/kv/put", {"key": key_of(key), "value": base64.b64encode(value).decode()})

    def work(self, client, count, tag):
        """Requests, each an entry."""
        for number in range(count):
            all_accepted(client.send(join(f"{tag}-{number}")))

    def write_checkpoints(self, client, tag):
        """Goes on until a newer checkpoint stands."""
        before, end = self.cluster.replicas[0].status()["checkpoints"], time.monotonic() + 30
        for turn in range(10**6):
            self.work(client, 20, f"{tag}-{turn}")
            now = self.cluster.replicas[0].status()["checkpoints"]
            if now[:1] != before[:1]:
                return now
            assert time.monotonic() < end, "no checkpoint was written"

    # ---- the checks -------------------------------------------------------------------------------------------------

    def check_same_answers(self):
        """All replicas give the same answers, event ids and roots; a request sent to two of them at once is applied once."""
        cluster = self.begin("same")
        client = self.client()
        all_accepted(client.send(join("n1"), submit("t1", "o1")))
        twins = [self.client(r) for r in cluster.replicas[:2]]
        session = os.urandom(32).hex()
        seq = twins[0].call("POST", "/v1/sessions", session=session, seq="0")["seq"]
        answers = set()
        for turn in range(20):
            body, got = (json.dumps(join(f"twin-{turn}")) + "\n").encode(), {}
            threads = [threading.Thread(target=lambda t=t, i=i: got.update(
                {i: t.call("POST", "/v1/requests", body, session, str(seq + turn))})) for i, t in enumerate(twins)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert got[0]["index"] == got[1]["index"] and got[0]["results"] == got[1]["results"] == [{"accepted": True}], got
            answers |= {one["answer"] for one in got.values()}
        assert "applied" in answers and answers <= {"applied", "duplicate"}, answers
        cluster.equal_roots()
        def events(): return [self.client(r).get("/v1/events?start=0&limit=500")["items"] for r in cluster.replicas]

        until(lambda: min(map(len, events())) >= 23)  # events are told a moment after the state that they led to
        told = events()
        count = min(map(len, told))
        assert told[0][:count] == told[1][:count] == told[2][:count]
        joined = [e for e in told[0] if e["event"] == "NodeJoined" and e["node"].startswith("twin")]
        assert len(joined) == 20, "each applied once"
        status = cluster.replicas[0].status()
        assert status["leader"] in (0, 1, 2) and status["etcd"]["reached"] and status["role"] in ("leader", "follower")

    def check_gap(self):
        """A replica that lags tells no gap: it settles the question by an entry of its own."""
        cluster = self.begin("gap")
        first, second = self.client(cluster.replicas[0]), self.client(cluster.replicas[1])
        first.open()
        second.session, second.seq = first.session, first.seq
        for turn in range(40):  # the second has often not yet applied what the first acknowledged
            all_accepted(first.send(join(f"a{turn}")))
            second.seq = first.seq
            all_accepted(second.send(join(f"b{turn}")))
            first.seq = second.seq
        body = (json.dumps(join("x")) + "\n").encode()
        refused(409, "gap", first.call, "POST", "/v1/requests", body, first.session, str(first.seq + 2))
        refused(410, "session_unknown", first.call, "POST", "/v1/requests", body, os.urandom(32).hex(), "7")
        refused(409, "stale", first.call, "POST", "/v1/requests", body, first.session, str(first.seq - 1))

    def check_operators(self):
        """Of two operators with one number, each learns whether it was its own commands that were applied."""
        cluster = self.begin("operators", more=["--parameters", self.parameters()])
        until(lambda: cluster.replicas[0].status()["operator_seq"] == 2)  # the parameters, once for all replicas
        body = b'{"command": "Postpone", "by": 1}\n'
        got = []

        def give(replica):
            got.append(self.client(replica).call("POST", "/v1/requests", body, "operator", "3"))

        threads = [threading.Thread(target=give, args=(r,)) for r in cluster.replicas]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(one["answer"] for one in got) == ["applied", "duplicate", "duplicate"], got

    def parameters(self):
        path = os.path.join(self.folder, "parameters.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"command": "Configure", "parameters": {"RulesParameters": {"due_max": 9}}}\n')
        return path

    def check_outage(self):
        """Without etcd a request is answered 504 after 10 s; the same one later, at another replica, is applied once."""
        cluster = self.begin("outage")
        client = self.client(cluster.replicas[0], patience_s=0)
        client.open()
        cluster.members[0].kill()
        begun = time.monotonic()
        refused(504, "unknown_yet", client.send, join("n1"))
        assert 9 < time.monotonic() - begun < 12
        until(lambda: not cluster.replicas[0].status()["etcd"]["reached"])
        cluster.members[0].start()
        other = self.client(cluster.replicas[1])
        other.session, other.pending = client.session, client.pending
        answer = all_accepted(other.send(join("n1")))
        again = self.client(cluster.replicas[2])
        again.session, again.pending = client.session, client.pending
        assert again.send(join("n1"))["index"] == answer["index"]

    def check_compaction(self):
        """A replica behind the compaction loads a checkpoint; until it has one it answers 503. The log stays short."""
        cluster = self.begin("compaction", more=["--checkpoint-every", "150"])
        client = self.client(*cluster.replicas[:2])
        cluster.replicas[2].stop()
        for turn in range(3):
            kept = self.write_checkpoints(client, f"w{turn}")
        until(lambda: self.log_keys() < cluster.replicas[0].status()["index"] - 100)
        assert len(kept) == 2, kept
        away = os.path.join(cluster.folder, "checkpoints")
        os.rename(away, away + ".away")
        cluster.replicas[2].start()
        until(lambda: "trying again" in cluster.replicas[2].told(), 20)
        assert cluster.replicas[2].status()["role"] == "catching_up"
        lagging = self.client(cluster.replicas[2], patience_s=0)
        refused(503, "catching_up", lagging.get, "/v1/nodes")
        refused(503, "catching_up", lagging.open)
        shutil.rmtree(away, ignore_errors=True)
        os.rename(away + ".away", away)
        cluster.wait()
        cluster.equal_roots()
        # The same for one that runs, but was stopped for long.
        cluster.replicas[2].send(signal.SIGSTOP)
        for turn in range(3):
            self.write_checkpoints(client, f"s{turn}")
        before = cluster.replicas[2].told()
        cluster.replicas[2].send(signal.SIGCONT)
        until(lambda: cluster.replicas[2].status()["index"] >= cluster.replicas[0].status()["index"] - 2, 20)
        assert before == cluster.replicas[2].told()
        assert cluster.replicas[2].status()["events"]["first"] > 0, "it passed over events, and says so"
        cluster.equal_roots()
        return f"{self.log_keys()} entries kept of {cluster.replicas[0].status()['index']}"

    def check_corrupt(self):
        """A damaged checkpoint is not used: the one before is."""
        cluster = self.begin("corrupt", more=["--checkpoint-every", "150"])
        client = self.client(*cluster.replicas[:2])
        for turn in range(2):
            self.write_checkpoints(client, f"c{turn}")
        cluster.replicas[2].kill()
        for replica in cluster.replicas[:2]:  # else they may name a newer one meanwhile
            replica.send(signal.SIGSTOP)
        named = json.loads(self.value_of("net/checkpoint"))["kept"]
        path = os.path.join(cluster.folder, "checkpoints", named[0]["name"] + "-0")
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2)
            byte = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte[0] ^ 1]))
        cluster.replicas[2].start()
        until(lambda: f"checkpoint {named[0]['name']} is not used" in cluster.replicas[2].told(), 20)
        # Only then may the others go on: the next checkpoint that they name removes the older one of these.
        until(lambda: cluster.replicas[2].status()["events"]["first"] >> 20 == named[1]["index"] + 1, 20)
        for replica in cluster.replicas[:2]:
            replica.send(signal.SIGCONT)
        cluster.wait()
        cluster.equal_roots()

    def check_divergence(self):
        """A replica that decides otherwise stops with status 3 and keeps evidence; the others name it and go on."""
        cluster = self.begin("divergence")
        cluster.replicas[2].stop()
        cluster.replicas[2] = cluster.replica(2, 3, program=self.stray)
        cluster.replicas[2].start()
        cluster.wait()
        client = self.client(*cluster.replicas[:2])
        self.work(client, 1, "n")
        all_accepted(client.send(submit("t1", "o1", ms=10)))
        for turn in range(8):  # an attestation is due after 64 entries
            self.work(client, 20, f"n{turn}")
        assert cluster.replicas[2].process.wait(20) == 3
        told = cluster.replicas[2].told()
        assert "other events" in told and len(glob.glob(cluster.replicas[2].data + "/diverged-*")) == 2, told
        for replica in cluster.replicas[:2]:
            until(lambda r=replica: "suspect" in r.told())
            assert re.search(r"suspect: at index \d+ replica 2 has other events", replica.told()), replica.told()
            assert [r["suspect"] for r in replica.status()["replicas"]] == [False, False, True]
            assert 'allot_suspect{replica="2"} 1' in self.client(replica).get("/metrics")
        self.work(client, 1, "later")
        again, data = cluster.replica(2, 3, program=self.stray), os.path.join(self.folder, "full")
        again.arguments[again.arguments.index(again.data)] = data
        with small_disk(data, "16k") as is_mounted:
            if is_mounted:
                again.start()
                assert again.process.wait(20) == 3
                assert "could not be kept: there is no space left" in again.told(), again.told()
        cluster.replicas[2] = cluster.replica(2, 3)
        cluster.replicas[2].start()
        cluster.wait()
        cluster.equal_roots()

    def check_clock(self):
        """A replica whose clock is an hour ahead moves log time by 5 s at most, and ends no lease."""
        if not shutil.which("faketime"):
            return "left out for want of faketime"
        cluster = self.begin("clock")
        cluster.replicas[2].stop()
        until(lambda: cluster.replicas[0].status()["leader"] in (0, 1), 20)
        library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")[0]
        cluster.replicas[2] = cluster.replica(2, 3, environment={
            "LD_PRELOAD": library, "FAKETIME": "+3600s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
        cluster.replicas[2].start()
        cluster.wait()
        honest, ahead = self.client(cluster.replicas[0]), self.client(cluster.replicas[2])
        all_accepted(honest.send(join("n1"), submit("t1", "o1", ms=1000)))
        lease = until(lambda: honest.get("/v1/nodes/n1")["lease"])
        self.work(ahead, 5, "ahead")
        time.sleep(1)
        assert cluster.replicas[2].status()["leader"] in (0, 1), "the test needs a leader with a good clock"
        assert honest.get("/v1/nodes/n1")["lease"] == lease
        assert abs(cluster.replicas[0].status()["time"] - time.time() * 1000) < 7000
        all_accepted(honest.send({"command": "Complete", "lease": lease}))
        cluster.equal_roots()

    def check_memory(self):
        """A replica that is out of memory ends; started again it goes on, and nothing is lost."""
        cluster = self.begin("memory")
        client = self.client(*cluster.replicas[:2])
        self.work(client, 5, "before")
        victim = cluster.replicas[2]
        with open(f"/proc/{victim.process.pid}/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        resource.prlimit(victim.process.pid, resource.RLIMIT_AS, (size, size))
        for turn in range(400):
            all_accepted(client.send(*[join(f"m{turn}-{i}") for i in range(1000)]))
            if not victim.runs():
                break
        assert not victim.runs() and victim.process.returncode != 0, "it goes on without memory"
        victim.start()
        cluster.wait()
        cluster.equal_roots()

    def check_refusals(self):
        """A replica of another preset or number of replicas does not join, and says why."""
        cluster = self.begin("refusals", 1)
        other = cluster.replica(1, 3)
        other.start()
        assert other.process.wait(20) == 1
        assert "number of replicas" in other.told(), other.told()
        for arguments in (["--etcd", cluster.etcd], ["--cluster", "net"], ["--etcd", cluster.etcd, "--cluster", "net"]):
            wrong = Process([self.program, "--data", os.path.join(self.folder, "x"), *arguments],
                            os.path.join(self.folder, "wrong.log"))
            wrong.start()
            assert wrong.process.wait(20) == 1 and "--" in wrong.told(), wrong.told()

    def check_upgrade(self):
        """Replicas are upgraded one by one as operating.md says, while clients work: nothing is lost or applied twice."""
        parameters = os.path.join(self.folder, "leases.jsonl")
        write_parameters(parameters)
        cluster = self.begin("upgrade", more=["--checkpoint-every", "300", "--parameters", parameters])
        releases = [{r.status()["release"] for r in cluster.replicas}]
        clients, auditor = Clients(cluster.urls), Auditor(cluster.urls)
        auditor.start()
        until(lambda: cluster.replicas[0].status()["checkpoints"], 60)
        for replica in cluster.replicas:
            assert replica.stop() == 0
            replica.arguments[0] = self.upgraded
            replica.start()
            until(lambda: (replica.status() or {}).get("role") in ("leader", "follower"), 30)
            begun = replica.status()["index"]

            def attested():
                (line,) = [one for one in replica.status()["replicas"] if one["id"] == replica.number] or [{}]
                return line.get("index", 0) > begun

            until(attested, 60)
            assert not any(one["suspect"] for r in cluster.replicas for one in r.status()["replicas"])
            releases.append({r.status()["release"] for r in cluster.replicas})
        faults = ended_and_audited(clients, auditor, cluster)
        assert not faults, faults
        assert set(auditor.endings) == {"TaskDone", "TaskCancelled", "TaskTimedOut"}, "also the first task has its time"
        assert [len(one) for one in releases] == [1, 2, 2, 1] and releases[0] != releases[3], releases
        cluster.equal_roots()
        equal_events(cluster)
        return f"{clients.commands} commands while replicas went from {releases[0]} to {releases[3]}"

    def check_one_id(self):
        """A second process with the id of a replica takes no part and stops; the first one goes on."""
        cluster = self.begin("one-id")
        client = self.client(*cluster.replicas)
        twin = cluster.replica(2, 3)
        twin.arguments[twin.arguments.index("--data") + 1] += "-twin"
        twin.start()
        until(twin.status)
        refused(503, "catching_up", self.client(twin, patience_s=0).open)
        roles, end = set(), time.monotonic() + 30
        while twin.runs() and time.monotonic() < end:
            roles.add((twin.status() or {}).get("role"))
            self.work(client, 5, f"n{time.monotonic()}")
        assert roles <= {"catching_up", None}, roles
        assert twin.process.wait(5) == 1
        assert "another process runs as replica 2" in twin.told(), twin.told()
        assert all(replica.runs() for replica in cluster.replicas)
        assert not any(one["suspect"] for one in cluster.replicas[0].status()["replicas"])
        # One that was too slow to keep its lease goes on, if no other process came in the meantime.
        cluster.replicas[1].send(19)
        time.sleep(4)
        cluster.replicas[1].send(18)
        end, roles = time.monotonic() + 2, set()
        while time.monotonic() < end:
            roles.add((cluster.replicas[1].status() or {}).get("role"))
        assert "catching_up" not in roles, roles
        # One that was killed holds its id no longer than its lease.
        cluster.replicas[2].kill()
        begun = time.monotonic()
        cluster.replicas[2].start()
        cluster.wait()
        waited = time.monotonic() - begun
        assert waited < 8, waited
        cluster.equal_roots()
        return f"{self.check_one_id.__doc__} After kill -9 a replica begins in {waited:.1f} s."

    def check_tls(self):
        """An etcd that asks for certificates takes a replica that has one, and no other; a wrong file is told at once."""
        tls = Tls(os.path.join(self.folder, "tls"))
        certificate, key = tls.signed("replica")
        own = ["--etcd-certificate", certificate, "--etcd-key", key]
        cluster = self.begin("secured", 1, ["--etcd-ca", tls.ca, *own], tls)
        self.work(self.client(), 5, "n")
        cluster.replicas[0].stop()
        other = Tls(os.path.join(self.folder, "tls-other"))
        for more in ([], ["--etcd-ca", tls.ca], ["--etcd-ca", other.ca, *own]):
            cluster.more = more
            stranger = cluster.replica(0, 1)
            stranger.start()
            until(lambda: (stranger.status() or {"etcd": {"reached": True}})["etcd"]["reached"] is False)
            assert stranger.status()["role"] == "catching_up" and stranger.status()["etcd"]["trouble"]
            stranger.stop()
        for more, told in ((own, "--etcd-ca"), (["--etcd-ca", tls.ca, *own[:2]], "--etcd-key"),
                           (["--etcd-ca", "/nowhere"], "/nowhere"), (["--etcd-ca", key], "certificate"),
                           (["--etcd-ca", tls.ca, *own[:3], tls.path("ca.key")], "key")):
            cluster.more = more
            wrong = cluster.replica(0, 1)
            wrong.log += f".wrong-{told.strip('/')}"
            wrong.start()
            assert wrong.process.wait(20) == 1 and told in wrong.told(), wrong.told()
        cluster.replicas[0].start()
        cluster.wait()

    def check_newer_release(self):
        """An entry of a newer form stops a replica, which passes over none; under a newer key of forms it does not start."""
        cluster = self.begin("newer")
        form = self.value_of("net/version").replace('"entry_version":1', '"entry_version":2')
        self.put("net/version", form.encode())
        cluster.replicas[2].stop()
        cluster.replicas[2].start()
        assert cluster.replicas[2].process.wait(20) == 1
        told = cluster.replicas[2].told()
        assert form in told and "same release" in told, told
        self.work(self.client(*cluster.replicas[:2]), 2, "n")
        self.put("net/log/00000000000000ff/0000000000000001", b"\x02" + bytes(40))
        for replica in cluster.replicas[:2]:
            assert replica.process.wait(20) == 1
            assert "newer release" in replica.told(), replica.told()

    def tell(self):
        for replica in self.cluster.replicas:
            print(f"        replica {replica.number}: {replica.told()[-400:]}")

    def close(self):
        if self.cluster is not None:
            self.cluster.close()

    def run(self, names):
        failed = run_claims(self, names, self.tell, self.close)
        shutil.rmtree(self.folder)
        return failed


if __name__ == "__main__":
    if not shutil.which("etcd"):
        print("etcd is missing; examples/service/cluster.sh installs it")
        sys.exit(77)
    sys.exit(1 if Check(*sys.argv[1:4]).run(sys.argv[4:]) else 0)
