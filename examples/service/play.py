"""Plays the bundled trace against an allotd, with simulated nodes as real clients: each has a session and a stream.

    python3 play.py [--url http://127.0.0.1:8321] [--nodes 40] [--tasks 300] [--seconds 60]

Time is pressed together: a task of an hour takes a fraction of a second.
"""
import argparse
import csv
import pathlib
import random
import threading
import time

from client import Client, Problem

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def rows(name):
    with open(DATA / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


SIZES = (1, 2, 4, 6, 8, 10, 11, 12, 16, 20, 24, 30, 32, 40, 48, 80, 96, 141)  # nominal GiB, as data/README.md says
VRAM = {row["model"]: next(size for size in SIZES if size * 1024 >= int(row["memory_mib"]))
        for row in rows("gpu_type_memory.csv")}


class Node(threading.Thread):
    """A node: it joins, hears of its leases, works as long as the task takes, and completes."""

    def __init__(self, url, number, model, lengths, stop):
        super().__init__(daemon=True)
        self.client, self.url, self.id = Client(url), url, f"gpu-{number}"
        self.spec = {"id": self.id, "gpu": model, "vram": VRAM[model], "stake": str(100 + number * 37 % 400)}
        self.lengths, self.stopped, self.done = lengths, stop, 0

    def run(self):
        joined = self.client.send({"command": "Join", "node": self.spec})
        assert joined["results"][0].get("error") in (None, "node_duplicate"), joined
        last = None
        while not self.stopped.is_set():
            # As after every gap: first the state, then the events from there on.
            state = self.client.get(f"/v1/nodes/{self.id}")
            last = state["event"] - 1
            if state["lease"]:
                self.work(state["lease"])
                continue
            for event in Client(self.url).events(f"/v1/nodes/{self.id}/events", last, 2):
                last = event["id"]
                if event["event"] == "TaskStarted":
                    self.work(event["lease"])
                if self.stopped.is_set():
                    break

    def work(self, lease):
        time.sleep(self.lengths.get(lease["task"], 0.1))
        result = self.client.send({"command": "Complete", "lease": lease})["results"][0]
        self.done += result["accepted"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="http://127.0.0.1:8321")
    parser.add_argument("--nodes", type=int, default=40)
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60)
    asked = parser.parse_args()

    machines = [row for row in rows("openb_node_list_gpu_node.csv") if row["model"] in VRAM]
    chosen = machines[:: max(1, len(machines) // asked.nodes)][: asked.nodes]
    models = {row["model"] for row in chosen}
    pods = [row for row in rows("openb_pod_list_gpuspec33.csv")
            if row["deletion_time"] and int(row["num_gpu"]) == 1
            and (not row["gpu_spec"] or models & set(row["gpu_spec"].split("|")))][-asked.tasks:]
    begin, end = int(pods[0]["creation_time"]), int(pods[-1]["creation_time"]) + 1
    press = asked.seconds / (end - begin)
    run = str(random.randrange(10**6))  # ids of their own, if it is played twice
    lengths, stop = {}, threading.Event()
    nodes = [Node(asked.url, i, row["model"], lengths, stop) for i, row in enumerate(chosen)]
    for node in nodes:
        node.start()

    owner, begun, ids = Client(asked.url), time.monotonic(), []
    for pod in pods:
        due = (int(pod["creation_time"]) - begin) * press - (time.monotonic() - begun)
        if due > 0:
            time.sleep(due)
        name = f"{pod['name'][6:]}-{run}"
        length = (int(pod["deletion_time"]) - int(pod["creation_time"])) * press
        lengths[name] = min(max(length, 0.05), asked.seconds / 10)
        task = {"id": name, "owner": f"owner-{len(ids) % 7}", "fee": str(10 + len(ids) % 9),
                "vram_min": 1 + int(pod["gpu_milli"]) * 15 // 1000, "duration_estimate": int(lengths[name] * 1000) + 1000}
        if pod["gpu_spec"]:
            task |= {"gpus": [{"name": model} for model in pod["gpu_spec"].split("|") if model in VRAM]}
        if not owner.send({"command": "Submit", "task": task})["results"][0].get("error"):
            ids.append(name)

    ends, until = {}, time.monotonic() + asked.seconds
    while time.monotonic() < until and len(ends) < len(ids):
        for name in ids:
            if name not in ends and (state := owner.get("/v1/tasks/" + name))["state"] == "ended":
                ends[name] = state["end"]["ending"]
        time.sleep(0.3)
    stop.set()
    counts = {how: list(ends.values()).count(how) for how in sorted(set(ends.values()))}
    print(f"{len(nodes)} nodes, {len(ids)} tasks submitted: {counts}, {len(ids) - len(ends)} unfinished; "
          f"{sum(node.done for node in nodes)} leases completed by {sum(node.done > 0 for node in nodes)} nodes")
    raise SystemExit(0 if counts.get("done", 0) * 10 >= len(ids) * 9 else 1)


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        raise SystemExit(f"play.py: {problem.document}")
