"""Checks the laws of an ordered log on an etcd of its own: check_log.py path/to/etcd_check_log. Needs etcd, else 77."""
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster import Member, free_port  # noqa: E402

if not shutil.which("etcd"):
    sys.exit(77)
folder = tempfile.mkdtemp(prefix="allot-log-")
member = Member(folder, 0, [(free_port(), free_port())])
status = 0
try:
    member.start()
    while not (member.state() or (False,))[0]:
        assert member.runs(), member.told()
        time.sleep(0.05)
    for seed in random.sample(range(10**6), 3):
        shown = subprocess.run([sys.argv[1], f"laws-{seed}", str(seed), f"127.0.0.1:{member.port}"], timeout=120)
        status = status or shown.returncode
finally:
    member.kill()
    shutil.rmtree(folder)
sys.exit(status)
