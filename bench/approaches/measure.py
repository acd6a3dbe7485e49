#!/usr/bin/env python3
"""Measures the ways to reach a slow stdio server side by side; `make bench-approaches` runs it.

Every time is from the client's start of whatever it starts, once with nothing running (cold) and once more (next).
Ratios are to direct stdio in the same pass. Prints a page of markdown and puts it between the marks in --page.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time

import mixing
import ways
from processes import end_marked, is_server, marked, memory
from table import page

CLIENTS = 3
REPEATS = 8  # of what is quick
MARKS = ("<!-- bench-approaches: begin -->", "<!-- bench-approaches: end -->")


class Sample:
    """One way in one pass; times in seconds."""

    def __init__(self, way):
        self.way, self.failed = way, ""
        self.cold = self.next_list = self.next_answer = None
        self.servers = self.others = 0
        self.server_mb = self.other_mb = 0.0
        self.counts, self.clients = [], []


def timed_open(way):
    """A client that has asked for the tools, and when it had them."""
    start = time.monotonic()
    client = way.open()
    if way.lists:
        client.initialize()
        client.list_tools()
    return client, start, time.monotonic() - start if way.lists else None


def timed_call(client, start):
    text = f"{id(client)}"
    if client.call("echo", text=text) != text:
        raise RuntimeError("a wrong answer")
    return time.monotonic() - start


def begin(sample):
    """From nothing; and, where each client waits for a start of its own, the further clients at once."""
    way = sample.way
    client, start, listed = timed_open(way)
    sample.cold = (listed, timed_call(client, start))
    if isinstance(way, ways.Manifest):  # the next one is to find nothing running
        client.close()
        ways.wait_for(lambda: not any(map(is_server, marked(way.tag))))
        return
    sample.clients.append(client)
    way.settle()
    if way.fast or isinstance(way, ways.Spare):
        return
    times = []
    in_order_or_at_once(way, [lambda: times.append(add_client(sample)) for _ in range(CLIENTS - 1)])
    sample.next_list = statistics.median(listed for listed, _ in times)
    sample.next_answer = statistics.median(answered for _, answered in times)


def add_client(sample):
    client, start, listed = timed_open(sample.way)
    answered = timed_call(client, start)
    sample.clients.append(client)
    return listed, answered


def go_on(sample):
    """What is quick, one after the other while nothing else happens; then what all of it takes."""
    way = sample.way
    times = []
    if isinstance(way, ways.Manifest):
        opened = [timed_open(way) for _ in range(CLIENTS)]
        answers = []
        calls = [lambda client=client: answers.append(timed_call(client, time.monotonic())) for client, _, _ in opened]
        in_order_or_at_once(way, calls)
        times = [(listed, listed + answer) for (_, _, listed), answer in zip(opened, answers)]
        sample.clients += [client for client, _, _ in opened]
    elif way.fast or isinstance(way, ways.Spare):
        times = [add_client(sample) for _ in range(CLIENTS - len(sample.clients))]
    sample.counts = sorted(int(client.call("count")) for client in sample.clients)
    take_stock(sample)
    for _ in range(REPEATS if way.fast else 0):
        times.append(add_client(sample))
        sample.clients.pop().close()
    if times:
        lists = [listed for listed, _ in times if listed is not None]
        sample.next_list = statistics.median(lists) if lists else None
        sample.next_answer = statistics.median(answered for _, answered in times)


def take_stock(sample):
    for pid in marked(sample.way.tag):
        if is_server(pid):
            sample.servers += 1
            sample.server_mb += memory(pid)
        else:
            sample.others += 1
            sample.other_mb += memory(pid)


def in_order_or_at_once(way, tasks):
    """What only waits may wait side by side; what works would slow the others down."""
    if way.lab.delay:
        run_all(tasks)
        return
    for task in tasks:
        task()


def run_all(tasks):
    """Side by side; the first failure is raised here."""
    failures = []

    def guarded(task):
        try:
            task()
        except Exception as error:  # noqa: BLE001 - goes to the row of the table
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def attempt(sample, step):
    if sample.failed:
        return
    try:
        step(sample)
    except Exception as error:  # noqa: BLE001 - a way that fails gets a row that says so
        sample.failed = "failed: " + " ".join(str(error).split())[:160]


def one_pass(options, folder, delay):
    lab = ways.Lab(tempfile.mkdtemp(dir=folder, prefix="corral-approaches-"), options.corral, options.peers, delay)
    samples = [Sample(kind(lab, number)) for number, kind in enumerate(ways.ALL)]
    for sample in samples:
        sample.failed = sample.way.missing and "not measured: " + sample.way.missing
    try:
        if delay:  # what waits for so long does not disturb the others; the starts are a second apart
            run_all([lambda s=s, n=n: (time.sleep(n), attempt(s, begin)) for n, s in enumerate(samples)])
        for sample in samples:
            if not delay:
                attempt(sample, begin)
            attempt(sample, go_on)
            close(sample)
    finally:
        for sample in samples:
            close(sample)
        shutil.rmtree(lab.folder, ignore_errors=True)
    return samples


def close(sample):
    for client in sample.clients:
        client.close()
    sample.clients = []
    if sample.way:
        sample.name, way, sample.way = sample.way.name, sample.way, None
        way.close()


def facts():
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo", encoding="utf-8").read())
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "kernel": platform.release().split("-")[0],
        "cpu": model.group(1) if model else "unknown",
        "cpus": os.cpu_count(),
        "load_at_start": os.getloadavg()[0],
    }


def put_into(path, text):
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{MARKS[0]}\n{text}{MARKS[1]}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corral", required=True, type=os.path.abspath)
    parser.add_argument("--peers", required=True, type=os.path.abspath, help="what bench/peers/install filled")
    parser.add_argument("--page", help="markdown file with the two marks")
    parser.add_argument("--json", help="also write all numbers there")
    parser.add_argument("--delay", type=float, default=30, help="seconds that the slow server takes to start")
    parser.add_argument("--passes", type=int, default=2, help="with the slow server")
    parser.add_argument("--quick-passes", type=int, default=5, help="with one that starts at once")
    options = parser.parse_args()
    about = facts()
    with tempfile.TemporaryDirectory(prefix="corral-approaches-") as folder:
        mixed = mixing.measure(folder)
        quick = [one_pass(options, folder, 0) for _ in range(options.quick_passes)]
        slow = [one_pass(options, folder, options.delay) for _ in range(options.passes)]
        left = end_marked(os.path.basename(folder))
    text, numbers = page(about, options.delay, slow, quick, mixed)
    print(text)
    if options.page:
        put_into(options.page, text)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({**about, "survivors": left, **numbers}, file, indent=1)
    print(f"processes left behind: {left}", file=sys.stderr)


main()
