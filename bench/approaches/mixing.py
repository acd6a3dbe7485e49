"""Two clients on one pair of FIFOs, each with a question in flight: whose answers do they get?"""

import os
import subprocess
import sys
import threading
import time

from clients import FifoClient

CALLS = 200
PATIENCE = 0.1
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slow_server.py")


def ask(client, name, counts):
    """Takes, as clients do, the answer that has the id of its question."""
    for number in range(1, CALLS + 1):
        text = f"{name}-{number}"
        params = {"name": "echo", "arguments": {"text": text}}
        client.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        deadline = time.monotonic() + PATIENCE
        try:
            answer = client.receive(deadline)
            while answer.get("id") != number:
                answer = client.receive(deadline)
        except (TimeoutError, ValueError):  # somebody else has read it, or a part of it
            counts["lost"] += 1
            client.rest = b""
            continue
        right = answer["result"]["content"][0]["text"] == text
        counts["right" if right else "foreign"] += 1


def measure(folder):
    paths = [os.path.join(folder, name) for name in ("to", "from")]
    for path in paths:
        os.mkfifo(path)
    held = [os.open(path, os.O_RDWR) for path in paths]
    server = subprocess.Popen([sys.executable, SERVER, "--tag=" + os.path.basename(folder)], stdin=held[0], stdout=held[1])
    counts = {"right": 0, "foreign": 0, "lost": 0}
    clients = [FifoClient(*paths) for _ in range(2)]
    threads = [threading.Thread(target=ask, args=(client, f"c{i}", counts)) for i, client in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()
    server.kill()
    server.wait()
    for descriptor in held:
        os.close(descriptor)
    return counts
