// Five windows of one user: other projects, other shells, the same servers. One process each, unless the server
// could notice a difference.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
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
    CLAUDE_PROJECT_DIR: cwd,
    CLAUDE_EFFORT: `effort-${number}`,
    WARP_LOCAL_SESSION: `${number}`,
    POSH_PID: `${number}`,
    INIT_CWD: cwd,
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
  const { stdout: shown } = await daemon.ask('ps');
  await closeAll(sessions);

  assert.equal(instances.length, WINDOWS);
  assert.match(shown, /^SERVER .* STATE\nserver-filesystem +5 pids +\d+ +5 .* ready\n$/, 'one line for the server');
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

daemonTest('variables that a server does not read do not reach it', { servers: {} }, async (daemon, lab) => {
  const themes = (index) => ({ THEME: `theme-${index}` });
  const opened = await openAll(WINDOWS, (index) => open(lab, daemon, memory, [], index, themes(index)));
  const { instances } = await daemon.status();
  const environment = readFileSync(`/proc/${instances[0].pid}/environ`, 'utf8').split('\0');
  await closeAll(opened);
  assert.deepEqual(instances.map(({ sessions }) => sessions.length), [WINDOWS]);
  const names = environment.map((entry) => entry.split('=')[0]);
  for (const name of ['THEME', 'CLAUDE_PROJECT_DIR', 'EDITOR', 'INIT_CWD']) {
    assert.ok(!names.includes(name), `${name} reaches the server`);
  }
  for (const name of ['MEMORY_FILE_PATH', 'PATH', 'HOME']) assert.ok(names.includes(name), `${name} is missing`);
});

daemonTest('a server that reads every variable is told them, and is separate', { servers: {} }, async (daemon, lab) => {
  const sessions = await openAll(3, (index) =>
    open(lab, daemon, everything, ['--share', 'shared'], index, { THEME: `theme-${index % 2}` }),
  );
  const { instances } = await daemon.status();
  const seen = await Promise.all(
    sessions.map(async (session) => {
      const { content } = await session.client.callTool({ name: 'get-env', arguments: {} });
      return JSON.parse(content[0].text);
    }),
  );
  await closeAll(sessions);
  assert.deepEqual(instances.map((instance) => instance.sessions.length).sort(), [1, 2]);
  assert.deepEqual(seen.map(({ THEME }) => THEME), ['theme-0', 'theme-1', 'theme-0']);
  for (const environment of seen) assert.ok(!('CLAUDE_PROJECT_DIR' in environment), 'the name of one project');
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

daemonTest('a window says what its command does not notice', { servers: {} }, async (daemon, lab) => {
  const command = TALKATIVE;
  const share = ['--share', 'shared'];
  assert.deepEqual(await sessionsOfEach(lab, daemon, command, ...share), [1, 1, 1, 1, 1]);
  assert.deepEqual(
    await sessionsOfEach(lab, daemon, command, ...share, '--ignore', 'cwd', '--ignore', 'PATH'),
    [5],
  );
  const { code, stderr } = await daemon.ask('connect', '--ignore', 'API_TOKEN', '--', ...command);
  assert.equal(code, 125);
  assert.match(stderr, /it looks like the name of a credential/);
});

daemonTest('why says what separates windows and what would share them', { servers: {} }, async (daemon, lab) => {
  const sessions = await openAll(3, (index) => open(lab, daemon, TALKATIVE, ['--share', 'shared'], index));
  const { instances } = await daemon.status();
  const [{ server, keeper, pid }] = instances;
  const all = await daemon.ask('why', server);
  const first = await daemon.ask('why', String(keeper));
  await closeAll(sessions);

  assert.equal(all.code, 0, all.stderr);
  assert.equal(all.stdout.match(/^talkative-mcp\S*, process \d+: ready/gm).length, 3);
  assert.equal(all.stdout.match(/^ {2}separate from process \d+: the directory and PATH differ$/gm).length, 2);
  assert.equal(
    all.stdout.match(/^ {2}to share it: corral connect --ignore cwd --ignore PATH -- COMMAND$/gm).length,
    2,
  );
  assert.match(first.stdout, new RegExp(`^${server}, process ${pid}: `));
  assert.equal(first.stdout.match(/, process /g).length, 1, 'only the process that was asked for');
});

daemonTest(
  'an instance without sessions says when it ends, or ends with its last session',
  {
    servers: {
      stays: entry(TALKATIVE, { share: 'shared', ignore: ['cwd', 'PATH'] }),
      leaves: entry(TALKATIVE, { share: 'shared', ignore: ['cwd', 'PATH'], idle: '0', park: true }),
    },
  },
  async (daemon, lab) => {
    await closeAll([await open(lab, daemon, 'stays', [], 1)]);
    const { instances } = await daemon.becomes('idle', ({ instances: [stays] }) => stays?.ends_in_ms > 0);
    assert.equal(instances[0].state, 'idle');
    assert.ok(instances[0].ends_in_ms <= 600_000, instances[0].ends_in_ms);
    assert.match((await daemon.ask('ps', '--server', 'stays')).stdout, /idle, ends in \d+m/);

    const sessions = [await open(lab, daemon, 'leaves', [], 1), await open(lab, daemon, 'leaves', [], 2)];
    await sessions[0].close();
    const left = await daemon.becomes('one session', (status) => status.sessions.length === 1);
    const last = left.instances.find((instance) => instance.server === 'leaves');
    assert.equal(last.sessions.length, 1, 'it stays for the other session');
    assert.equal(last.ends_in_ms, null);
    await sessions[1].close();
    await daemon.becomes('gone', (status) => status.instances.every(({ server }) => server !== 'leaves'));
  },
);
