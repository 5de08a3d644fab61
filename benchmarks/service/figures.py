"""Prints the figures of the service as `name  figure  goal  ok|short`, medians of the turns; run.sh calls it.

    python3 figures.py --bin FOLDER [--short | --gate] [--turns 5] [--only WORD]

FOLDER has allotd, load and, for their figures, tables and raw_etcd. All contestants take turns on one machine, and all
that they write is in one temporary folder. `--gate` runs the single node alone and fails if a client saw an error.
"""
import argparse
import collections
import contextlib
import json
import os
import platform
import pwd
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "service"))
from check import until  # noqa: E402: the path comes first
from cluster import Cluster, Process, Replica, free_port  # noqa: E402

SECRET = "a secret of the benchmarks"
POSTGRES = "/usr/lib/postgresql/15/bin/"


class Service(Process):
    """A single node on a folder."""
    status = Replica.status

    def __init__(self, bench, name, *more):
        self.port, self.data = free_port(), os.path.join(bench.folder, name)
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__([bench.program("allotd"), "--data", self.data, "--listen", f"127.0.0.1:{self.port}",
                          "--clients", bench.clients, *more], self.data + ".log")

    def start(self):
        super().start()
        until(self.answers, 300)
        return self

    def answers(self):
        if not self.runs():
            raise RuntimeError(self.told()[-500:])
        return self.status()

    def cpu_us(self):
        """Processor time so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1_000_000 / os.sysconf("SC_CLK_TCK")

    def rss_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    def close(self):
        if self.runs():
            self.kill()


class Postgres:
    """A cluster of PostgreSQL's own, on a socket in a folder, run as the user postgres if we are root."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "postgres")
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        os.mkdir(self.folder)
        if os.getuid() == 0:
            os.chmod(folder, 0o755)
            shutil.chown(self.folder, "postgres")
        self.count = 0
        self.run("initdb", "-D", self.folder + "/data", "-A", "trust")
        self.run("pg_ctl", "-D", self.folder + "/data", "-s", "-w", "-l", self.folder + "/log", "-o",
                 f"-k {self.folder} -c listen_addresses=''", "start")

    def run(self, program, *arguments):
        become = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        subprocess.run([*become, POSTGRES + program, *arguments], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def database(self):
        """The connection string of a new database."""
        self.count += 1
        self.run("createdb", "-h", self.folder, f"turn{self.count}")
        return f"host={self.folder} user={self.user} dbname=turn{self.count}"

    def close(self):
        self.run("pg_ctl", "-D", self.folder + "/data", "-s", "-m", "immediate", "stop")


class Bench:
    """What is measured, and what came of it."""

    def __init__(self, options):
        self.options, self.values, self.goals = options, collections.defaultdict(list), {}
        self.seconds = 1 if options.gate or options.short else 5
        self.folder = tempfile.mkdtemp(prefix="allot-figures-")
        self.clients = os.path.join(self.folder, "clients.jsonl")
        with open(self.clients, "w", encoding="utf-8") as file:
            subprocess.run([self.program("load"), "accounts", "--clients", "64", "--secret", SECRET], check=True,
                           stdout=file)
        self.running = contextlib.ExitStack()
        self.running.callback(shutil.rmtree, self.folder, ignore_errors=True)

    def program(self, name):
        """Its path; None if it was not built."""
        paths = [os.path.join(folder, name) for folder in self.options.bin]
        return next((path for path in paths if os.path.exists(path)), None)

    def started(self, process):
        """The process, which is ended with all others."""
        self.running.callback(process.close)
        return process

    def told(self, name, value, unit="", at_least=None, at_most=None):
        """One turn's figure, with its goal if it has one."""
        self.values[name].append(value)
        self.goals[name] = (unit, at_least, at_most)

    def median(self, name):
        return statistics.median(self.values[name]) if name in self.values else None

    # ---- load --------------------------------------------------------------------------------------------------------

    def begin_load(self, services, *arguments):
        fronts = [word for service in services for word in ("--front", f"127.0.0.1:{service.port}")]
        return subprocess.Popen([self.program("load"), *fronts, "--secret", SECRET, *arguments],
                                stdout=subprocess.PIPE, text=True)

    @staticmethod
    def end_load(load):
        text, _ = load.communicate(timeout=600)
        if load.returncode != 0:
            raise RuntimeError("load: a client saw an error")
        return json.loads(text)

    def load(self, services, *arguments):
        return self.end_load(self.begin_load(services, *arguments))

    def timed(self, services, *arguments, seconds=None):
        return self.load(services, *arguments, "--seconds", str(seconds or self.seconds))

    def parameters(self, *all_parameters):
        """A file of Configure commands."""
        path = os.path.join(self.folder, "parameters.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for one in all_parameters:
                file.write(json.dumps({"command": "Configure", "parameters": one, "rules_version": 2}) + "\n")
        return path

    # ---- one machine -------------------------------------------------------------------------------------------------

    def single(self, turn):
        """One node on a file: requests, JSON, closed loop."""
        service = self.started(Service(self, f"single{turn}")).start()
        self.load([service], "join")
        before = service.cpu_us()
        binary = self.timed([service], "open")
        self.told("single node: processor time of a binary command", (service.cpu_us() - before) / binary["commands"],
                  "us")
        text = self.timed([service], "open", "--json")
        loop = self.timed([service], "loop")
        for one in (binary, text, loop):
            if one["refused"] or one["duplicate"] or one["resent"]:
                raise RuntimeError(f"without a fault, a request was refused or sent again: {one}")
        self.told("single node: signed binary requests, 16 clients x 64", binary["per_s"], "commands/s")
        self.told("single node: the same, p99", binary["p99_ms"], "ms")
        self.told("single node: JSON / binary", text["per_s"] / binary["per_s"], "x", at_least=0.4)
        self.told("single node: closed loop", loop["per_s"], "commands/s", at_least=15_000)
        self.told("single node: closed loop, p99 of a request", loop["p99_ms"], "ms")
        service.stop()
        shutil.rmtree(service.data)

    def crowd(self, turn):
        """One node on a file, more clients; in a larger network, whose queue holds their tasks."""
        service = self.started(Service(self, f"crowd{turn}")).start()
        self.load([service], "join", "--nodes", "10000")
        told = self.timed([service], "open", "--clients", "64")
        self.told("single node: signed binary requests, 64 clients x 64", told["per_s"], "commands/s",
                  at_least=100_000)
        service.stop()
        shutil.rmtree(service.data)

    def restart(self, _turn):
        """Starts with tasks waiting: from the log alone, then from a snapshot."""
        tasks = 100_000 if self.options.short else 1_000_000
        service = self.started(Service(
            self, "restart", "--parameters", self.parameters({"ValueQueueParameters": {"capacity_min": 2 * tasks}})))
        service.start()
        filled = self.load([service], "fill", "--tasks", str(tasks), "--batch", "1000")
        waiting = until(service.answers)["queued"]
        if waiting < tasks * 0.99:
            raise RuntimeError(f"{waiting} tasks wait")
        self.told("single node: signed binary requests, 16 clients x 1,000, all tasks wait", filled["per_s"],
                  "commands/s")
        self.told("memory of a waiting task, all in all", service.rss_mb() * 2**20 / waiting, "bytes")
        service.kill()
        began = time.monotonic()
        service.start()
        took = time.monotonic() - began
        self.told(f"restart with {tasks:,} waiting tasks, from the log", took, "s", at_most=10)
        self.told("catch-up of a single node, from its log", waiting / took, "commands/s", at_least=100_000)
        service.stop()
        service.arguments += ["--checkpoint-every", "1"]
        service.start()
        until(lambda: (service.answers() or {}).get("snapshots"), 300)  # it may be too busy to answer in time
        service.kill()
        began = time.monotonic()
        service.start()
        self.told(f"restart with {tasks:,} waiting tasks, from a snapshot", time.monotonic() - began, "s", at_most=10)
        service.stop()
        shutil.rmtree(service.data)

    def memory(self, _turn):
        """Ended tasks are forgotten after a second; then a run four times as long needs no more memory."""
        service = self.started(Service(
            self, "memory", "--events", "10000", "--parameters",
            self.parameters({"RulesParameters": {"forget_tasks_after": 1_000}}))).start()
        self.load([service], "join")
        length = 3 if self.options.short else 15
        self.timed([service], "loop", seconds=length)
        first = service.rss_mb()
        self.timed([service], "loop", seconds=3 * length)
        self.told("memory after a closed loop / after its first quarter", service.rss_mb() / first, "x", at_most=1.25)
        self.told("memory of 2,000 nodes, 2,000 tasks and 10,000 events", service.rss_mb(), "MB")
        service.stop()
        shutil.rmtree(service.data)

    def tables(self, turn):
        """The same commands against tables of SQL, the decisions given."""
        for batch in (1, 64):
            for name in ("sqlite", "postgres"):
                where = os.path.join(self.folder, f"{name}{turn}-{batch}")
                if name == "postgres":
                    where = self.postgres.database()
                out = subprocess.run([self.program("tables"), f"--{name}", where, "--batch", str(batch), "--seconds",
                                      str(self.seconds)], check=True, stdout=subprocess.PIPE, text=True).stdout
                self.told(f"tables in {name}, {batch} a transaction", json.loads(out)["per_s"], "commands/s")

    # ---- etcd --------------------------------------------------------------------------------------------------------

    def cluster(self, turn):
        """Three members of etcd and three replicas: rates, stalls at kills, catch-up."""
        cluster = self.started(Cluster(self.program("allotd"), os.path.join(self.folder, f"cluster{turn}"),
                                       more=["--clients", self.clients, "--checkpoint-every", "0"]))
        replicas = cluster.replicas
        for member in cluster.members:
            member.start()

        def leader():
            return until(lambda: next((m for m in cluster.members if (m.state() or (False, False))[1]), None))

        first = cluster.members.index(leader())
        at = cluster.etcd.split(",")
        out = subprocess.run([self.program("raw_etcd"), "--seconds", str(self.seconds),
                              *[word for one in at[first:] + at[:first] for word in ("--etcd", one)]],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
        raw = json.loads(out)
        self.told("etcd alone: transactions of 16 writers", raw["per_s"], "/s")
        self.told("etcd alone: p99 of a transaction", raw["p99_ms"], "ms")
        for replica in replicas:
            replica.start()
        cluster.wait()
        commands = self.load(replicas, "join")["commands"]
        binary = self.timed(replicas, "open")
        text = self.timed(replicas, "open", "--json")
        loop = self.timed(replicas, "loop")
        commands += binary["commands"] + text["commands"] + loop["commands"]
        self.told("replicas: signed binary requests, 16 clients x 64", binary["per_s"], "commands/s")
        self.told("replicas: the same, p99", binary["p99_ms"], "ms")
        self.told("replicas: the same / transactions of etcd alone", binary["per_s"] / raw["per_s"], "x", at_least=20)
        self.told("replicas: JSON / binary", text["per_s"] / binary["per_s"], "x", at_least=0.4)
        self.told("replicas: closed loop", loop["per_s"], "commands/s", at_least=15_000)
        self.told("replicas: closed loop, p99 / that of a transaction of etcd alone", loop["p99_ms"] / raw["p99_ms"],
                  "x", at_most=5)
        self.told("replicas: longest stall without a fault", binary["stall_ms"], "ms")
        self.told("replicas: longest request of a client without a fault", binary["max_ms"], "ms")

        def stalled(victim, mode):
            """What clients saw while the victim was killed and started again."""
            load = self.begin_load(replicas, mode, "--seconds", "5")
            time.sleep(1)
            killed = victim()
            killed.kill()
            told = self.end_load(load)
            killed.start()
            cluster.wait()
            return told

        def one_that_is(role):
            return until(lambda: next((r for r in replicas if (r.status() or {}).get("role") == role), None))

        def ticker():
            return one_that_is("leader")

        def front():
            return one_that_is("follower")

        for name, victim, mode, seen, most in (
                ("etcd's leader killed: longest stall", leader, "open", "stall_ms", 2_000),
                ("ticker killed: longest stall of acknowledgements", ticker, "open", "stall_ms", 50),
                ("ticker killed: longest stall of starts", ticker, "loop", "start_stall_ms", 3_000),
                ("front killed: longest request of a client", front, "open", "max_ms", 200)):
            told = stalled(victim, mode)
            commands += told["commands"]
            self.told(name, told[seen], "ms", at_most=most)

        late = replicas[2]
        late.kill()
        shutil.rmtree(late.data)
        index = until(replicas[0].status)["index"]
        began = time.monotonic()
        late.start()
        until(lambda: (late.status() or {}).get("index", 0) >= index, 300)
        rate = commands / (time.monotonic() - began)
        self.told("catch-up of a fresh replica, its start included", rate, "commands/s", at_least=100_000)
        self.told("catch-up / live rate", rate / binary["per_s"], "x", at_least=2)
        cluster.close()

    # ---- all ---------------------------------------------------------------------------------------------------------

    def has_cluster(self):
        shown = subprocess.run([self.program("allotd"), "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
        return "--etcd" in shown and self.program("raw_etcd") is not None

    def run(self):
        parts, once = [self.single], []
        if not self.options.gate:
            parts.append(self.crowd)
            parts += [self.tables] if self.program("tables") else []
            parts += [self.cluster] if self.has_cluster() else []
            once = [self.restart, self.memory]
        wanted = [part for part in parts + once if self.options.only in part.__name__]
        if self.tables in wanted:
            self.postgres = self.started(Postgres(self.folder))
        for turn in range(self.options.turns):
            for part in wanted:
                if part in parts or turn + 1 == self.options.turns:
                    print(f"turn {turn + 1}: {part.__name__}", file=sys.stderr)
                    part(turn)
        loop = self.median("single node: closed loop")
        for name in [name for name in self.values if name.startswith("tables in")]:
            if loop and name.endswith(" 64 a transaction"):
                self.told("single node: closed loop / " + name, loop / self.median(name), "x")

    def print(self):
        print(machine(self.options.turns))
        for name, values in self.values.items():
            unit, at_least, at_most = self.goals[name]
            value = statistics.median(values)
            goal, ok = "", ""
            if at_least is not None or at_most is not None:
                goal = f">= {at_least:,}" if at_most is None else f"<= {at_most:,}"
                ok = "ok" if (value >= at_least if at_most is None else value <= at_most) else "short"
            print(f"{name:<80} {value:>10,.{0 if value >= 100 else 2}f} {unit:<10} {goal:<10} {ok}".rstrip())


def machine(turns):
    """What the figures were measured on."""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "?")
    with tempfile.TemporaryFile() as file:
        took = []
        for _ in range(100):
            began = time.monotonic()
            file.write(b"x" * 6000)
            file.flush()
            os.fdatasync(file.fileno())
            took.append((time.monotonic() - began) * 1000)
    return (f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} x {model}, {platform.system()} {platform.release()}, "
            f"fdatasync {statistics.median(took):.2f} ms, load {os.getloadavg()[0]:.1f}, medians of {turns}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", action="append", required=True, help="folder of programs; several are searched")
    parser.add_argument("--turns", type=int, default=0)
    parser.add_argument("--short", action="store_true", help="one turn of a second each, within 90 seconds")
    parser.add_argument("--gate", action="store_true", help="the single node alone")
    parser.add_argument("--only", default="", help="single, crowd, tables, cluster, restart or memory")
    options = parser.parse_args()
    options.turns = options.turns or (1 if options.short or options.gate else 5)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    bench = Bench(options)
    with bench.running:
        try:
            bench.run()
        finally:
            bench.print()


main()
