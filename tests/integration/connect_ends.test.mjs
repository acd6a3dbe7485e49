// Every way in which a session of `corral connect` ends, each during a call: the whole tree of a private
// server is gone, and a shared one keeps running for the others.
import assert from 'node:assert/strict';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { daemonTest, entry } from './support/daemon.mjs';
import { describe, killOne, liveProcesses } from './support/processes.mjs';
import { INITIALIZED, RawClient, initialize, toolCall } from './support/raw_client.mjs';
import { Session } from './support/sdk.mjs';
import { LONG_CALL, assertCallFails, longCall, startLongCall, untidy, viaNode } from './support/session.mjs';
import { Victim, clientCommand } from './support/victim.mjs';

// It ignores SIGTERM and the end of its input, so it has to be killed; the graces only make that soon.
const UNTIDY = untidy(viaNode('everything'));
const SOON = { stdin_grace: '300ms', term_grace: '300ms' };
const SERVERS = {
  private: entry(UNTIDY, { share: 'session', ...SOON }),
  shared: entry(UNTIDY, { share: 'shared', ...SOON }),
};

// The wrapper, two helpers that left its session, the server.
const TREE = 4;

async function assertTreeRuns(daemon, count = 1) {
  const { instances } = await daemon.status();
  assert.equal(instances.length, count, JSON.stringify(instances));
  const below = daemon.watch().filter(({ comm }) => !comm.startsWith('corral'));
  assert.ok(below.length >= count * TREE, `the whole tree runs: ${describe(below)}`);
}

// With the environment of the other sessions: with another one it would get an instance of its own.
function client(lab, daemon, server) {
  const plan = { command: daemon.connect(server), call: LONG_CALL, onSignal: 'die' };
  return new Victim(lab, clientCommand(plan), { env: { ...getDefaultEnvironment(), ...lab.env } });
}

async function sessionInCall(daemon, lab, server = 'private') {
  const session = await Session.open(lab, daemon.connect(server));
  const { outcome } = await startLongCall(session.client);
  await assertTreeRuns(daemon);
  return { session, outcome };
}

const endsTest = (name, body) =>
  daemonTest(`${name}: nothing of a private server stays`, { servers: SERVERS }, body);

// ---- the client's side

endsTest('the client closes its session during a call', async (daemon, lab) => {
  const { session, outcome } = await sessionInCall(daemon, lab);

  await session.close();

  await assertCallFails(outcome);
  await daemon.becomesEmpty();
});

endsTest('stdin ends during a call, which is still answered', async (daemon, lab) => {
  const raw = new RawClient(lab, daemon.connect('private'));
  await raw.request(initialize());
  const { name, arguments: args } = longCall(2);
  raw.send(INITIALIZED, toolCall(2, name, args));
  await raw.hears('progress', ({ method }) => method === 'notifications/progress');
  await assertTreeRuns(daemon);

  raw.endInput();

  const end = await raw.ended;
  assert.equal(end.signal, null);
  assert.match(JSON.stringify((await raw.answer(2)).result), /operation completed/);
  await daemon.becomesEmpty();
});

endsTest('the client is killed during a call', async (daemon, lab) => {
  const victim = client(lab, daemon, 'private');
  await victim.says('in-flight');
  await assertTreeRuns(daemon);

  await victim.kill('SIGKILL');

  await daemon.becomesEmpty();
});

endsTest('the shim is killed during a call', async (daemon, lab) => {
  const { session, outcome } = await sessionInCall(daemon, lab);

  process.kill(session.pid, 'SIGKILL');

  await assertCallFails(outcome);
  await daemon.becomesEmpty();
});

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
]) {
  endsTest(`the shim gets ${signal} during a call`, async (daemon, lab) => {
    const raw = new RawClient(lab, daemon.connect('private'));
    await raw.request(initialize());
    raw.send(INITIALIZED, toolCall(2, LONG_CALL.name, LONG_CALL.arguments));
    await raw.hears('progress', ({ method }) => method === 'notifications/progress');
    await assertTreeRuns(daemon);

    process.kill(raw.pid, signal);

    assert.deepEqual(await raw.ended, { code, signal: null }, raw.stderr);
    await daemon.becomesEmpty();
  });
}

// ---- the daemon's side

// The shutdown line tells what ended, in numbers.
const lastLine = (reason) =>
  new RegExp(`\\[corral v[^\\]]+\\] Shutting down \\(${reason}, 1 sessions, 1 instances, \\d+ ms\\)`);

endsTest('corral shutdown during a call', async (daemon, lab) => {
  const { outcome } = await sessionInCall(daemon, lab);
  daemon.watch();

  const said = await daemon.shutDown();

  assert.match(said, /1 sessions? and 1 instances?/);
  const { error } = await outcome;
  assert.match(error, /closed|shutting-down/i);
  assert.match(daemon.stderr, lastLine('[^,]+'));
  await lab.empty();
});

daemonTest(
  'a call that ends in time is answered before corral shutdown ends its session',
  { servers: SERVERS, corral: { drain: '30s' } },
  async (daemon, lab) => {
    const session = await Session.open(lab, daemon.connect('private'));
    let begun;
    const underWay = new Promise((resolve) => (begun = resolve));
    const { name, arguments: args } = longCall(2);
    const answer = session.call(name, args, { onprogress: () => begun() });
    await underWay;

    await daemon.shutDown();

    assert.match(await answer, /operation completed/);
  },
);

for (const [who, pidOf] of [
  ['the daemon', (daemon) => daemon.pid],
  ['the process that the service manager knows', (daemon) => daemon.janitor.pid],
]) {
  endsTest(`${who} gets SIGTERM during a call`, async (daemon, lab) => {
    const { outcome } = await sessionInCall(daemon, lab);
    daemon.watch();

    process.kill(pidOf(daemon), 'SIGTERM');

    assert.deepEqual(await daemon.ended, { code: 0, signal: null });
    const { error } = await outcome;
    assert.match(error, /closed|shutting-down/i);
    assert.match(daemon.stderr, lastLine('SIGTERM'));
    await lab.empty();
  });
}

// Which processes of corral are killed at the same time. The keepers know what to do without any of them.
const KILLED = {
  'the daemon': (daemon) => [daemon.pid],
  'the janitor': (daemon) => [daemon.janitor.pid],
  'daemon and janitor': (daemon) => [daemon.janitor.pid, daemon.pid],
};

for (const [who, pidsOf] of Object.entries(KILLED)) {
  endsTest(`SIGKILL of ${who} during a call`, async (daemon, lab) => {
    const raw = new RawClient(lab, daemon.connect('private'));
    await raw.request(initialize());
    raw.send(INITIALIZED, toolCall(2, LONG_CALL.name, LONG_CALL.arguments));
    await raw.hears('progress', ({ method }) => method === 'notifications/progress');
    await assertTreeRuns(daemon);
    const victims = liveProcesses().filter(({ pid }) => pidsOf(daemon).includes(pid));

    victims.forEach((victim) => killOne(victim));

    const end = await raw.ended;
    await daemon.ended;
    await lab.empty();
    // A daemon that loses its janitor has the time to say goodbye.
    if (who === 'the janitor') return;
    assert.deepEqual(end, { code: 75, signal: null }, raw.stderr);
    assert.match(raw.stderr, /^corral connect: the daemon died/m);
  });
}

endsTest('SIGKILL of a keeper during a call', async (daemon, lab) => {
  const { outcome, session } = await sessionInCall(daemon, lab);
  const keeper = daemon.watch().find(({ comm }) => comm === 'corral-keeper');

  killOne(keeper);

  const { error } = await outcome;
  assert.match(error, /closed|keeper|ended|lost/i);
  await session.close();  // which goes on with another server, until it is closed
  await daemon.becomesEmpty();
});

// ---- shared

const LEAVING = {
  'closes its session': async (daemon, lab) => {
    const session = await Session.open(lab, daemon.connect('shared'));
    await startLongCall(session.client);
    await session.close();
  },
  'is killed': async (daemon, lab) => {
    const victim = client(lab, daemon, 'shared');
    await victim.says('in-flight');
    await victim.kill('SIGKILL');
  },
  'loses its shim': async (daemon, lab) => {
    const session = await Session.open(lab, daemon.connect('shared'));
    const { outcome } = await startLongCall(session.client);
    process.kill(session.pid, 'SIGKILL');
    await assertCallFails(outcome);
  },
};

daemonTest('a shared server keeps running while somebody holds it', { servers: SERVERS }, async (daemon, lab) => {
  const holder = await Session.open(lab, daemon.connect('shared'));
  const before = (await daemon.status()).instances;

  for (const [how, leave] of Object.entries(LEAVING)) {
    const steps = 20;
    const progress = [];
    const call = holder.call(
      'trigger-long-running-operation',
      { duration: 3, steps },
      { onprogress: (step) => progress.push(step.total) },
    );
    await leave(daemon, lab);
    const { instances } = await daemon.becomes(
      `a client that ${how} is forgotten`,
      ({ sessions }) => sessions.length === 1,
    );

    assert.match(await call, /operation completed/, how);
    assert.deepEqual(new Set(progress), new Set([steps]), how);
    assert.deepEqual(
      instances.map(({ pid }) => pid),
      before.map(({ pid }) => pid),
      how,
    );
  }
  await holder.close();
});
