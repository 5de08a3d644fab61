"""Kills and pauses members of etcd and replicas of allotd while clients work, and audits what the clients saw.

    python3 campaign.py [--faults N] [--seed S] [--short] [--tail etcd_tail --follower COMMAND] path/to/allotd

With --follower, that command, on a machine of any kind, applies the log as it comes and compares what the replicas
attested with its own hashes. Without --faults it goes on until Ctrl-C. It fails if an acknowledged command is missing
or was applied twice, if a lease did not end once, if its node was not told how, if the replicas' roots or events
differ, if the follower differs or does not keep up, or if a kind of fault never fired. From 400 faults on, 5,000 leases must have started and been completed.
"""
import argparse
import collections
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from client import Client, Problem
from cluster import Cluster

KINDS = ("etcd leader kill", "etcd follower kill", "etcd leader pause", "all etcd kill",
         "ticker kill", "replica kill", "replica pause", "all replicas kill")
NODES = 12
PATIENCE_S = 120
LEASES_MIN = 5000
BY_STATE = "told by the state"
# Some leases end by time within two seconds, and the node is drawn again.
PARAMETERS = [{"FixedTermsParameters": {"length_min": 1000}},
              {"RollingQosParameters": {"timeout_scores_zero": False, "penalty": "1/1", "penalty_first": "1/1"}}]


class Clients:
    """Nodes that work, owners that keep them busy, and others whose requests need no node.

    Of the tasks, `late` ones are not completed in time, and `held` ones are cancelled while they run.
    """

    def __init__(self, urls):
        self.urls, self.stop, self.lock = urls, threading.Event(), threading.Lock()
        self.closing = threading.Event()          # no more tasks
        self.acknowledged = []                    # times
        self.commands = 0
        self.submitted, self.joined = [], []
        self.leases = [{} for _ in range(NODES)]  # what each node did with a lease, by its token
        self.ends = [{} for _ in range(NODES)]    # and how it ended, as far as the node was told
        self.holes = [[] for _ in range(NODES)]   # first and last id of events that all replicas had forgotten
        self.open_tasks = threading.Semaphore(2 * NODES)
        self.failures = []
        self.nodes, self.others = ([threading.Thread(target=self.guarded, args=(work, i), daemon=True)
                                    for work, count in works for i in range(count)]
                                   for works in ([(self.node, NODES)], [(self.owner, 2), (self.visitor, 2)]))
        for thread in self.nodes + self.others:
            thread.start()

    def guarded(self, work, number):
        try:
            work(number)
        except Exception as error:  # noqa: BLE001  told at the end
            self.failures.append(f"{work.__name__} {number}: {type(error).__name__}: {error}")

    def send(self, client, *commands):
        """Sends commands, all of which must be accepted: one applied twice would be refused the second time."""
        answer = client.send(*commands)
        with self.lock:
            self.acknowledged.append(time.monotonic())
            self.commands += len(commands)
        refused = [r for r in answer["results"] if not r["accepted"]]
        assert not refused, f"{refused} for {commands}"

    def node(self, number):
        client, listener, name = Client(self.urls, patience_s=PATIENCE_S), Client(self.urls), f"worker-{number}"
        # It listens from before it joined: a lease may begin and be cancelled before the answer to Join comes.
        heard, forgotten = max(1, client.get("/v1/status")["events"]["next"]) - 1, set()
        self.send(client, {"command": "Join", "node": {"id": name, "gpu": "RTX 4090", "vram": 24, "stake": "100"}})
        is_last = False
        while not is_last:
            is_last = self.stop.is_set()  # all replicas have all events by then, and one listens to the end once more
            try:
                for event in listener.events(f"/v1/nodes/{name}/events", heard, timeout_s=2):
                    heard = event["id"]
                    if event["event"] == "TaskStarted":
                        self.work(client, number, event["lease"])
                    elif event["event"] == "LeaseEnded":
                        self.end(number, event["lease"]["token"], event["how"])
                forgotten = set()
            except Problem as problem:  # another replica may know the events that this one does not
                if problem.type == "events_forgotten":
                    forgotten.add(listener.at)
                listener.move_on()
                is_last = False
                time.sleep(0.1)
                if len(forgotten) == len(listener.addresses):
                    before, heard, forgotten = heard, self.read_state(client, number, name, heard), set()
                    self.holes[number].append((before + 1, heard))
        self.read_state(client, number, name, heard)

    def read_state(self, client, number, name, heard):
        """Goes on from the node's state. Returns the event after which to read."""
        while (state := client.get("/v1/nodes/" + name))["event"] <= heard:  # a replica that is behind
            time.sleep(0.02)
        token = state["lease"] and state["lease"]["token"]
        for other in [t for t in self.leases[number] if t != token]:
            self.end(number, other, BY_STATE)
        if token:
            self.work(client, number, state["lease"])
        return state["event"] - 1

    def end(self, number, token, how):
        if token not in self.ends[number]:
            self.ends[number][token] = how
            self.open_tasks.release()

    def work(self, client, number, lease):
        if lease["token"] in self.leases[number]:  # told twice, by the state and by the stream
            return
        assert len(self.ends[number]) == len(self.leases[number]), "a lease began, and no end of the last was told"
        self.leases[number][lease["token"]] = "left alone"
        if lease["task"].startswith(("late", "held")):
            return
        time.sleep(0.02)
        answer = client.send({"command": "Complete", "lease": lease})
        self.leases[number][lease["token"]] = answer["results"][0].get("error", "done")
        with self.lock:
            self.acknowledged.append(time.monotonic())
            self.commands += 1

    def owner(self, number):
        client = Client(self.urls, patience_s=PATIENCE_S)
        for turn in range(10**9):
            while not self.open_tasks.acquire(timeout=0.2):
                if self.closing.is_set():
                    return
            if self.closing.is_set():
                return
            kind = {3: "held", 13: "late"}.get(turn % 20, "done")
            name = f"{kind}{number}-{turn}"
            self.send(client, {"command": "Submit", "task": {
                "id": name, "owner": f"owner-{number}", "vram_min": 16, "fee": "10",
                "duration_estimate": 600 if kind == "late" else 600000}})
            self.submitted.append(name)
            if kind == "held":
                self.cancel(client, name)

    def cancel(self, client, task):
        """Withdraws a task once it runs."""
        while not self.stop.is_set():
            try:
                if client.get("/v1/tasks/" + task)["state"] == "running":
                    return self.send(client, {"command": "Cancel", "task": task})
            except Problem as problem:
                assert problem.type == "task_unknown", problem  # by a replica that is behind
            time.sleep(0.05)

    def visitor(self, number):
        """Nodes too small for any task come and go."""
        client, before = Client(self.urls, patience_s=PATIENCE_S), []
        for turn in range(10**9):
            if self.closing.is_set():
                return
            names = [f"v{number}-{turn}-{i}" for i in range(8)]
            self.send(client, *({"command": "Leave", "node": n} for n in before),
                      *({"command": "Join", "node": {"id": n, "gpu": "GTX 1050", "vram": 2, "stake": "1"}} for n in names))
            self.joined += names
            before = names
            time.sleep(0.02)


class Auditor(threading.Thread):
    """Reads all events, from one replica after the other."""

    def __init__(self, urls):
        super().__init__(daemon=True)
        self.client, self.next, self.missed, self.stop = Client(urls, patience_s=PATIENCE_S), 0, 0, threading.Event()
        self.queued, self.ended, self.joined = collections.Counter(), collections.Counter(), collections.Counter()
        self.started, self.lease_ends, self.last_id = {}, collections.defaultdict(list), -1
        self.first_ids, self.last_ids = {}, {}    # of the start of a lease, and of its end
        self.endings, self.failures = collections.Counter(), []

    def run(self):
        try:
            while not self.stop.is_set():
                if not self.read():
                    time.sleep(0.1)
        except Exception as error:  # noqa: BLE001
            self.failures.append(f"auditor: {type(error).__name__}: {error}")

    def read(self):
        """One page. False if it was the last."""
        try:
            page = self.client.get(f"/v1/events?start={self.next}&limit=500")
        except Problem as problem:
            if problem.type != "events_forgotten":
                raise
            # A replica that began from a checkpoint has no events before it; another one may have them.
            self.missed += len(self.client.addresses) == 1 or self.missed_by_all()
            self.client.move_on()
            return False
        for event in page["items"]:
            assert event["id"] > self.last_id, f"event {event['id']} comes after {self.last_id}"
            self.last_id = event["id"]
            self.hear(event)
        self.next = page["next"]
        return len(page["items"]) == 500

    def missed_by_all(self):
        firsts = []
        for address in self.client.addresses:
            try:
                firsts.append(Client(address.geturl(), patience_s=0).get("/v1/status")["events"]["first"])
            except (OSError, Problem):
                return False
        if min(firsts) <= self.next:
            return False
        self.next = min(firsts)
        return True

    def hear(self, event):
        kind = event["event"]
        if kind == "TaskQueued":
            self.queued[event["task"]] += 1
        elif kind == "TaskStarted":
            lease = event["lease"]
            self.started[(lease["node"], lease["token"])] = lease["task"]
            self.first_ids[(lease["node"], lease["token"])] = event["id"]
        elif kind == "LeaseEnded":
            self.lease_ends[(event["lease"]["node"], event["lease"]["token"])].append(event["how"])
            self.last_ids[(event["lease"]["node"], event["lease"]["token"])] = event["id"]
        elif kind in ("TaskDone", "TaskFailed", "TaskCancelled", "TaskEvicted", "TaskTimedOut"):
            self.ended[event["task"]] += 1
            self.endings[kind] += 1
        elif kind == "NodeJoined":
            self.joined[event["node"]] += 1


class Follower:
    """Applies the log of the cluster, as etcd_tail gives it, beside the replicas."""

    def __init__(self, cluster, tail, command):
        self.told, self.said = (os.path.join(cluster.folder, "follower." + name) for name in ("out", "err"))
        with open(self.told, "wb") as out, open(self.said, "wb") as err:
            self.tail = subprocess.Popen([tail, "net", *cluster.etcd.split(",")], stdout=subprocess.PIPE, stderr=err)
            self.process = subprocess.Popen(shlex.split(command), stdin=self.tail.stdout, stdout=out, stderr=err)
        self.tail.stdout.close()

    def attested(self):
        """How often it did, and the last index at which it did."""
        with open(self.told, encoding="ascii") as file:
            lines = [line for line in file if line.endswith("\n") and not line.startswith("end")]
        return len(lines), int(lines[-1].split()[0]) if lines else 0

    def end(self, index, seconds=60):
        """Waits until it has attested up to the index, and ends it. Returns the faults."""
        before = time.monotonic() + seconds
        while self.attested()[1] < index and self.process.poll() is None and time.monotonic() < before:
            time.sleep(0.1)
        self.tail.terminate()
        self.tail.wait(seconds)
        status = self.process.wait(seconds)
        with open(self.said, encoding="utf-8") as file:
            said = file.read().strip()
        count, last = self.attested()
        print(f"the follower attested {count} times, the last time at index {last}")
        late = [f"the follower is at index {last}, the replicas are at {index}"] if last < index else []
        return late + ([f"the follower ended with {status}: {said[-300:]}"] if said or status else [])

    def kill(self):
        for one in (self.tail, self.process):
            if one.poll() is None:
                one.kill()
                one.wait()


class Campaign:
    def __init__(self, cluster, rng, is_short):
        self.cluster, self.rng, self.is_short = cluster, rng, is_short
        self.fired, self.stalls = collections.Counter(), collections.defaultdict(list)

    def leader(self):
        leaders = [m for m in self.cluster.members if m.runs() and (m.state() or (0, 0))[1]]
        return leaders[0] if leaders else None

    def ticker(self):
        leading = [r for r in self.cluster.replicas if r.runs() and (r.status() or {}).get("role") == "leader"]
        return leading[0] if leading else None

    def victims(self, kind):
        members, replicas = self.cluster.members, self.cluster.replicas
        if kind.startswith("all"):
            return members if "etcd" in kind else replicas
        chosen, everyone = (self.leader(), members) if "etcd" in kind else (self.ticker(), replicas)
        if chosen is None:
            return []
        if "follower" in kind or kind.startswith("replica"):
            chosen = self.rng.choice([one for one in everyone if one is not chosen])
        return [chosen]

    def fire(self, kind):
        """Breaks something and mends it. False if the cluster had no such part just then."""
        victims = self.victims(kind)
        if not victims:
            return False
        longest = 2.0 if self.is_short else 5.0 if "etcd" in kind else 4.0
        pause = self.rng.uniform(1.5 if "pause" in kind else 0.2, longest if "pause" in kind else 1.5)
        for one in victims:
            if "pause" in kind:
                one.send(signal.SIGSTOP)
            else:
                one.kill()
        time.sleep(pause)
        for one in victims:
            if "pause" in kind:
                one.send(signal.SIGCONT)
            else:
                one.start()
        return True

    def run(self, count, clients):
        kinds = []
        while count == 0 or sum(self.fired.values()) < count:
            if not kinds:
                kinds = self.rng.sample(KINDS, len(KINDS))
            kind, begun = kinds.pop(), time.monotonic()
            while not self.fire(kind):
                time.sleep(0.1)
            self.cluster.wait()
            mended = time.monotonic()
            while not clients.acknowledged or clients.acknowledged[-1] < mended:
                assert time.monotonic() < mended + 60, f"nothing was acknowledged for 60 s after: {kind}"
                assert not clients.failures, clients.failures
                time.sleep(0.05)
            time.sleep(self.rng.uniform(0.2, 0.5 if self.is_short else 1.5))
            with clients.lock:
                times = [begun] + [t for t in clients.acknowledged if t >= begun] + [time.monotonic()]
            stall = max(b - a for a, b in zip(times, times[1:]))
            self.fired[kind] += 1
            self.stalls[kind].append(stall)
            print(f"{sum(self.fired.values()):4}  {kind:20} mended after {mended - begun:5.2f} s, longest stall "
                  f"{stall:5.2f} s, {clients.commands} commands so far", flush=True)
            assert not clients.failures, clients.failures


def drained(clients, cluster):
    """Ends the work: no more tasks, all that run are completed, and the nodes hear all of it."""
    clients.closing.set()
    for thread in clients.others:
        thread.join(PATIENCE_S)
    end, client = time.monotonic() + 60, Client(cluster.urls, patience_s=PATIENCE_S)
    while time.monotonic() < end:
        status = client.get("/v1/status")
        if status["queued"] == 0 and status["leases"] == 0:
            break
        time.sleep(0.2)
    cluster.equal_roots()  # no replica is behind
    clients.stop.set()
    for thread in clients.nodes:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in clients.others + clients.nodes), "a client does not end"
    assert not clients.failures, clients.failures


def audit(clients, auditor, urls):
    """Compares what clients did with the events, and where events were missed with the state. Returns the faults."""
    client, faults = Client(urls, patience_s=PATIENCE_S), []

    def compare(what, names, counted, is_there):
        missing = [n for n in names if counted[n] == 0 and not (auditor.missed and is_there(n))]
        twice = [n for n in names if counted[n] > 1]
        if missing or twice:
            faults.append(f"{what}: {len(missing)} missing {missing[:5]}, {len(twice)} twice {twice[:5]}")

    def ended(task):
        try:
            return client.get("/v1/tasks/" + task)["state"] == "ended"
        except Problem:
            return False

    by_node = lambda logs: {(f"worker-{i}", token): told for i, log in enumerate(logs) for token, told in log.items()}
    tasks, leases, told = clients.submitted, by_node(clients.leases), by_node(clients.ends)
    task_of = {key: auditor.started.get(key) for key in leases}
    compare("tasks begun", tasks, collections.Counter(auditor.queued) + collections.Counter(
        set(auditor.started.values()) - set(auditor.queued)), ended)
    compare("tasks ended", tasks, auditor.ended, ended)
    compare("nodes joined", clients.joined, auditor.joined, lambda _: True)
    ends = auditor.lease_ends
    # A lease whose start and end all replicas forgot, as they do when all begin anew from a checkpoint: no node can hear
    # of it. Its task was not completed, so the node owes nothing.
    unheard = {(f"worker-{i}", token) for i, holes in enumerate(clients.holes) for first, last in holes
               for (node, token), begun in auditor.first_ids.items()
               if node == f"worker-{i}" and first <= begun and auditor.last_ids.get((node, token), last + 1) <= last
               and ends[(node, token)] != ["done"]} - set(leases)
    compare("leases ended", leases, collections.Counter({key: len(hows) for key, hows in ends.items()}),
            lambda key: task_of[key] is None or ended(task_of[key]))
    for what, keys in (("leases that no node heard of", {*auditor.started} - {*leases} - unheard),
                       ("ends of leases that the node was not told", {*ends, *leases} - {*told} - unheard),
                       ("ends that the node was told otherwise", [k for k, how in told.items() if k in ends and
                                                                  ends[k] != [how] and how != BY_STATE])):
        if keys:
            faults.append(f"{len(keys)} {what}: {sorted(keys)[:5]}")
    hows = collections.Counter(told.values())
    for how in ("done", "cancelled", "timed_out"):
        if not hows[how]:
            faults.append(f"no lease was {how}")
    refused = set(leases.values()) - {"done", "left alone"}
    print(f"audit: {len(tasks)} tasks, {len(clients.joined)} joins; {len(leases)} leases and their ends by the nodes' "
          f"own logs: {dict(hows)}; completions refused: {refused or 'none'}; endings {dict(auditor.endings)}; "
          f"{len(unheard)} leases were over before a replica could tell; {auditor.missed} holes in the events")
    return faults


def ended_and_audited(clients, auditor, cluster):
    """Ends the work. Returns the faults."""
    drained(clients, cluster)
    cluster.wait()
    time.sleep(0.5)
    auditor.stop.set()
    auditor.join()
    while auditor.read():
        pass
    assert not auditor.failures, auditor.failures
    return audit(clients, auditor, cluster.urls)


def equal_events(cluster):
    """All replicas tell the same events under the same ids."""
    first = max(r.status()["events"]["first"] for r in cluster.replicas)
    told = []
    for replica in cluster.replicas:
        client, start, events = Client(replica.url), first, []
        while len(events) < 20000:
            page = client.get(f"/v1/events?start={start}&limit=500")
            events += page["items"]
            start = page["next"]
            if len(page["items"]) < 500:
                break
        told.append(events)
    count = min(len(events) for events in told)
    assert all(events[:count] == told[0][:count] for events in told), "the replicas tell different events"
    return count


def write_parameters(path):
    """For allotd --parameters."""
    with open(path, "w", encoding="ascii") as file:
        file.writelines(json.dumps({"command": "Configure", "parameters": one}) + "\n" for one in PARAMETERS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--faults", type=int, default=0)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--short", action="store_true", help="8 faults, short pauses")
    parser.add_argument("--folder", help="kept, and told where; else a new one that is removed")
    parser.add_argument("--tail", help="the program etcd_tail, for --follower")
    parser.add_argument("--follower", help="a command that applies the log beside the replicas")
    asked = parser.parse_args()
    if not shutil.which("etcd"):
        print("etcd is missing; examples/service/cluster.sh installs it")
        return 77
    count = asked.faults or (len(KINDS) if asked.short else 0)
    print(f"seed {asked.seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that all that was started is ended
    folder = asked.folder or tempfile.mkdtemp(prefix="allot-cluster-")
    os.makedirs(folder, exist_ok=True)
    parameters = os.path.join(folder, "parameters.jsonl")
    write_parameters(parameters)
    cluster = Cluster(asked.program, os.path.join(folder, "cluster"),
                      more=["--checkpoint-every", "1000", "--parameters", parameters])
    done, follower = False, None
    try:
        cluster.start()
        if asked.follower:
            follower = Follower(cluster, asked.tail, asked.follower)
        print("replicas: " + cluster.urls.replace(",", "/ ") + "/", flush=True)
        clients, auditor = Clients(cluster.urls), Auditor(cluster.urls)
        auditor.start()
        campaign, begun = Campaign(cluster, random.Random(asked.seed), asked.short), time.monotonic()
        try:
            campaign.run(count, clients)
        except KeyboardInterrupt:
            print("ending")
        time.sleep(1)
        faults = ended_and_audited(clients, auditor, cluster)
        index, root = cluster.equal_roots()
        events = equal_events(cluster)
        for kind in KINDS:
            stalls = campaign.stalls[kind]
            print(f"{kind:20} {campaign.fired[kind]:4} times" + (f", longest stall {max(stalls):.2f} s" if stalls else ""))
            if count >= len(KINDS) and not stalls:
                faults.append(f"never fired: {kind}")
        done_leases = sum(how == "done" for ends in clients.ends for how in ends.values())
        if count >= 400 and done_leases < LEASES_MIN:
            faults.append(f"{done_leases} leases were completed, fewer than {LEASES_MIN}")
        if follower:
            faults += follower.end(min(a["index"] for a in cluster.replicas[0].status()["replicas"]))
        suspects = sum(r.told().count("suspect") for r in cluster.replicas)
        if suspects:
            faults.append(f"{suspects} suspects")
        checkpoint = cluster.replicas[0].status()["checkpoints"]
        print(f"{clients.commands} commands acknowledged in {time.monotonic() - begun:.0f} s; checkpoints {checkpoint}; "
              f"{events} events equal; all roots {root[:16]} at index {index}")
        print("FAILED: " + "; ".join(faults) if faults else "none lost, none twice, no lease left")
        done = not faults
    finally:
        if follower:
            follower.kill()
        cluster.close(keep=not done)
        if not done:
            print(f"logs: {folder}")
        elif not asked.folder:
            shutil.rmtree(folder)
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
