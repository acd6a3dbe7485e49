// 155 sessions with three servers each, of a program that never closes a pipe: one after another and 20 at a
// time, with shared servers and with private ones. What runs is counted while it runs.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createSession, endSession, listSessions, runsBelow } from './support/control.mjs';
import { daemonTest, entry } from './support/daemon.mjs';
import { HERE } from './support/lab.mjs';
import { describe, eventually } from './support/processes.mjs';
import { QuickClient } from './support/quick_client.mjs';

const SESSIONS = 155;
const AT_ONCE = 20;
const NAMES = ['files', 'search', 'tickets'];
const COMMAND = ['/bin/sh', path.join(HERE, 'support', 'small-mcp.sh')];

// The name as an argument makes three servers of one program.
const serversOf = (share) =>
  Object.fromEntries(NAMES.map((name) => [name, entry([...COMMAND, name], { share })]));

const descriptorsOf = (pid) => readdirSync(`/proc/${pid}/fd`).length;

// What runs below the daemon: trees are counted by their keepers, which are its children.
class Counter {
  constructor(daemon) {
    this.daemon = daemon;
    this.live = 0;
    this.trees = 0;
    this.processes = 0;
  }

  look() {
    const below = runsBelow(this.daemon);
    const trees = below.filter(({ ppid }) => ppid === this.daemon.pid).length;
    this.trees = Math.max(this.trees, trees);
    this.processes = Math.max(this.processes, below.length);
    this.seen = describe(below);
    return trees;
  }
}

// A session with a client for each of its servers, each of which has made one call.
async function open(daemon, number) {
  const session = await createSession(daemon, NAMES, { owner: process.pid });
  const clients = NAMES.map((name) => {
    return new QuickClient(daemon.lab, daemon.connect(name, '--session', session.id));
  });
  const answers = await Promise.all(
    clients.map(async (client, index) => {
      await client.open();
      return client.call('echo', { text: `${number} ${NAMES[index]}` });
    }),
  );
  const texts = answers.map((answer) => answer.replace(/^\d+ /, ''));
  assert.deepEqual(texts, NAMES.map((name) => `${number} ${name}`));
  return { id: session.id, clients, pids: answers.map((answer) => answer.split(' ')[0]) };
}

// Nobody closes a pipe: the end of the session is all that its clients hear.
async function end(daemon, session) {
  const evidence = await endSession(daemon, session);
  assert.deepEqual([evidence.leaked, evidence.survivors], [false, []], JSON.stringify(evidence));
  assert.ok(evidence.ended.every(({ proved }) => proved), JSON.stringify(evidence));
  for (const client of session.clients) {
    assert.deepEqual(await client.ended, { code: 0, signal: null }, client.stderr);
  }
  return evidence;
}

const namesOf = (list) => list.map(({ server }) => server).sort();

async function oneAfterAnother(daemon, counter) {
  const pids = new Set();
  for (let number = 0; number < SESSIONS; number += 1) {
    const session = await open(daemon, number);
    session.pids.forEach((pid) => pids.add(pid));
    assert.equal(counter.look(), 3);
    const evidence = await end(daemon, session);
    assert.deepEqual([namesOf(evidence.ended), evidence.kept], [NAMES, []]);
    assert.equal(counter.look(), 0, `${counter.seen} after ${JSON.stringify(evidence)}`);
  }
  return pids;
}

// The first 20 wait for each other; from then on a new one comes for each that goes.
async function twentyAtATime(daemon, counter, { full, most, judge }) {
  const pids = new Set();
  let arrived = 0;
  let next = 0;
  let openGate;
  const gate = new Promise((resolve) => (openGate = resolve));
  const workers = Array.from({ length: AT_ONCE }, async () => {
    while (next < SESSIONS) {
      const number = (next += 1);
      counter.live += 1;
      const session = await open(daemon, number);
      session.pids.forEach((pid) => pids.add(pid));
      arrived += 1;
      if (arrived === AT_ONCE) {
        assert.equal(counter.look(), full);
        openGate();
      }
      await gate;
      judge(await end(daemon, session));
      counter.live -= 1;
      const trees = counter.look();
      assert.ok(trees <= most(counter.live), `${trees} trees with ${counter.live} sessions`);
    }
  });
  await Promise.all(workers);
  return pids;
}

function stormTest(name, share, body) {
  daemonTest(name, { servers: serversOf(share), timeout: 120_000 }, async (daemon, lab, t) => {
    const descriptors = descriptorsOf(daemon.pid);
    const counter = new Counter(daemon);
    await body(daemon, counter);

    assert.equal(counter.look(), 0);
    assert.deepEqual(await listSessions(daemon), []);
    await daemon.becomesEmpty();
    await eventually('no descriptor more than before', () => descriptorsOf(daemon.pid) <= descriptors);
    t.diagnostic(`at most ${counter.trees} trees with ${counter.processes} processes; 0 afterwards`);
  });
}

stormTest('155 sessions one after another, private servers', 'session', async (daemon, counter) => {
  const pids = await oneAfterAnother(daemon, counter);

  assert.equal(pids.size, SESSIONS * 3);
});

stormTest('155 sessions one after another, shared servers', 'shared', async (daemon, counter) => {
  await oneAfterAnother(daemon, counter);
});

stormTest('155 sessions, 20 at a time, private servers', 'session', async (daemon, counter) => {
  const pids = await twentyAtATime(daemon, counter, {
    full: AT_ONCE * 3,
    most: (live) => live * 3,
    judge: (evidence) => assert.deepEqual([namesOf(evidence.ended), evidence.kept], [NAMES, []]),
  });

  assert.equal(pids.size, SESSIONS * 3);
});

// One session lasts from the first to the last, so that somebody uses the servers all the time.
stormTest('155 sessions, 20 at a time, shared servers', 'shared', async (daemon, counter) => {
  const lasting = await open(daemon, 'lasting');
  const pids = await twentyAtATime(daemon, counter, {
    full: 3,
    most: () => 3,
    judge: (evidence) => assert.deepEqual([evidence.ended, namesOf(evidence.kept)], [[], NAMES]),
  });

  assert.deepEqual([...pids].sort(), lasting.pids.toSorted());
  const evidence = await end(daemon, lasting);
  assert.deepEqual(namesOf(evidence.ended), NAMES);
});
