// Five windows of one user: other projects, other shells, the same servers. One process each, unless the server
// could notice a difference.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { daemonTest, entry, fixture } from './support/daemon.mjs';
import { Session, closeAll, openAll } from './support/sdk.mjs';
import { viaNode } from './support/session.mjs';

const WINDOWS = 5;
const TALKATIVE = fixture('talkative-mcp.mjs');

// What differs between two windows on a desk.
function windowOf(lab, number) {
  const cwd = path.join(lab.dir, `project-${number}`);
  mkdirSync(cwd, { recursive: true });
  const env = {
    PATH: `/opt/tools-${number}/bin:${process.env.PATH}:`,
    EDITOR: `editor-${number}`,
    PS1: `window ${number}> `,
    TERM: `term-${number}`,
    FNM_MULTISHELL_PATH: `/run/fnm_multishells/${number}`,
    MEMORY_FILE_PATH: path.join(lab.dir, 'memory.json'),
  };
  return { cwd, env };
}

async function open(lab, daemon, what, options, number, more = {}) {
  const { cwd, env } = windowOf(lab, number);
  const session = await Session.open(lab, daemon.connect(what, ...options), { cwd, env: { ...env, ...more } });
  await session.client.callTool({ name: 'no such tool' }).catch(() => {}); // a list needs no process
  return session;
}

// How many sessions each process has, when all windows have called it.
async function sessionsOfEach(lab, daemon, what, ...options) {
  const sessions = await openAll(WINDOWS, (index) => open(lab, daemon, what, options, index));
  const { instances } = await daemon.status();
  await closeAll(sessions);
  await daemon.becomes('no session', ({ sessions: left }) => left.length === 0);
  return instances.map((instance) => instance.sessions.length).filter((count) => count > 0);
}

const memory = viaNode('memory');
const everything = viaNode('everything');
const [node, filesystem] = viaNode('filesystem');

daemonTest('five windows need one process of each server', { servers: {} }, async (daemon, lab) => {
  assert.deepEqual(await sessionsOfEach(lab, daemon, memory), [5], 'memory');
  assert.deepEqual(await sessionsOfEach(lab, daemon, everything, '--share', 'shared'), [5], 'everything');
  assert.deepEqual(await sessionsOfEach(lab, daemon, [node, filesystem, lab.dir]), [5], 'filesystem');
});

daemonTest('a directory among the arguments is that of each window', { servers: {} }, async (daemon, lab) => {
  const sessions = await openAll(WINDOWS, (index) => open(lab, daemon, [node, filesystem, '.'], [], index));
  const { instances } = await daemon.status();
  await closeAll(sessions);

  assert.equal(instances.length, WINDOWS);
  const reasons = instances.map(({ separate }) => separate).filter((separate) => separate !== null);
  assert.equal(reasons.length, WINDOWS - 1, 'the first one is separate from nothing');
  for (const reason of reasons) assert.match(reason, /^separate from process \d+: the directory differs$/);
});

daemonTest('a window with a token of its own has a process of its own', { servers: {} }, async (daemon, lab) => {
  const sessions = [
    await open(lab, daemon, memory, [], 1),
    await open(lab, daemon, memory, [], 2),
    await open(lab, daemon, memory, [], 3, { SERVICE_TOKEN: 'of this window' }),
  ];
  const { instances } = await daemon.status();
  await closeAll(sessions);
  assert.deepEqual(instances.map((instance) => instance.sessions.length).sort(), [1, 2]);
  assert.deepEqual(new Set(instances.map(({ server }) => server)), new Set(['server-memory']));
  const { separate } = instances.find((instance) => instance.separate !== null);
  assert.match(separate, /^separate from process \d+: SERVICE_TOKEN differs$/, 'the name, not the value');
});

daemonTest(
  'an entry says what its own server does not notice',
  {
    servers: {
      declared: entry(TALKATIVE, { share: 'shared', ignore: ['cwd', 'PATH'] }),
      silent: entry(TALKATIVE, { share: 'shared' }),
    },
  },
  async (daemon, lab) => {
    assert.deepEqual(await sessionsOfEach(lab, daemon, 'declared'), [5]);
    assert.deepEqual(await sessionsOfEach(lab, daemon, 'silent'), [1, 1, 1, 1, 1]);
  },
);
