// What outlives the daemon: the registry, and what the next daemon does with what it reads there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { daemonTest, entry, fake, fixtureServer } from './support/daemon.mjs';
import { eventually, keeperOf, killOne, stillRuns, tagged, treeBelow } from './support/processes.mjs';
import { INITIALIZED, RawClient, initialize, toolCall } from './support/raw_client.mjs';
import { underCorral } from './support/session.mjs';

// It stays at the end of its input, ignores SIGTERM, and has three processes beside it that left its session;
// one of them has dropped its environment.
const STUBBORN = ['--ignore-eof', '--ignore-term', '--grow=daemons:2', '--grow=bare:1'];
const PROCESSES = 4;
const rude = (lab, ...options) => fake('rude_server', `--tag=${lab.tag}`, '--life=60', ...options);

// All of its processes are in place when it answers.
async function openRaw(lab, command, options) {
  const client = new RawClient(lab, command, options);
  await client.request(initialize());
  client.send(INITIALIZED);
  const { result } = await client.request(toolCall(2, 'pid'));
  client.server = Number(result.content[0].text);
  return client;
}

// A process that only forked for it may be about to exit.
function processesBelow(keeper) {
  return eventually(`${PROCESSES} processes`, () => {
    const below = treeBelow(keeper).slice(1);
    return below.length === PROCESSES ? below : null;
  });
}

// None of them can react to the death of another one.
function killAtOnce(processes) {
  for (const one of processes) killOne(one, 'SIGSTOP');
  for (const one of processes) killOne(one, 'SIGKILL');
}

async function waitForDaemon(daemon) {
  await eventually('the daemon to answer', async () => (await daemon.ask('status')).code === 0);
  daemon.pid = (await daemon.status()).daemon.pid;
  daemon.watch();
}

// An engine of containers. What it runs is its own child, and it has no mark of corral. Returns where it is.
function startEngine(lab) {
  const socket = path.join(lab.dir, 'engine');
  const engine = { DOCKER_HOST: `unix://${socket}` };
  const [program, ...words] = fake('fake_docker', 'daemon', `--tag=${lab.tag}`);
  lab.engine = spawn(program, words, { env: { ...process.env, ...engine }, stdio: 'ignore' });
  lab.listens = () => existsSync(socket);
  return engine;
}

const containers = (lab) => tagged(lab.tag).filter(({ comm }) => comm === 'fake-container');

daemonTest(
  'daemon, janitor and keeper of a server in a container are killed at once: the next start has it removed',
  {
    servers: (lab) => {
      const engine = startEngine(lab);
      symlinkSync(fake('fake_docker')[0], path.join(lab.dir, 'docker'));
      const command = [path.join(lab.dir, 'docker'), '--context', 'far', 'run', '-i', 'image'];
      return { boxed: entry(command, {}, engine) };
    },
  },
  async (daemon, lab) => {
    await eventually('the engine', lab.listens);
    const client = new RawClient(lab, daemon.connect('boxed'));
    client.send(initialize());
    await eventually('the container', () => containers(lab).length === 1);
    const keeper = treeBelow(daemon.pid).find(({ comm }) => comm === 'corral-keeper');
    const tops = [daemon.janitor.pid, daemon.pid];
    killAtOnce([...treeBelow(daemon.janitor.pid).filter(({ pid }) => tops.includes(pid)), keeper]);
    await daemon.ended;
    await client.ended;
    assert.equal(containers(lab).length, 1, 'the control: it is left');

    daemon.serve();
    await waitForDaemon(daemon);

    await eventually('the container gone', () => containers(lab).length === 0);
    await eventually('the word of it', async () => {
      const told = await daemon.events('--kind', 'finding');
      return told.some(({ text }) => text.includes('server boxed: its container is gone'));
    });
    lab.engine.kill('SIGKILL');
  },
);

daemonTest(
  'daemon, janitor and keeper are killed at once: the next start ends what is left, and nobody else',
  { servers: (lab) => ({ rude: entry(rude(lab, ...STUBBORN), { share: 'session', containment: 'basic' }) }) },
  async (daemon, lab) => {
    const client = await openRaw(lab, daemon.connect('rude'));
    const [instance] = (await daemon.status()).instances;
    const keeper = treeBelow(daemon.pid).find(({ comm }) => comm === 'corral-keeper');
    const left = await processesBelow(keeper.pid);
    assert.ok(left.some(({ pid }) => pid === client.server));

    // A neighbour that looks the same and carries a cookie of nobody, and a `corral run` that lives.
    const cookie = randomBytes(16).toString('hex');
    const env = { ...process.env, ...lab.env, CORRAL_INSTANCE: cookie };
    const neighbour = await openRaw(lab, rude(lab, ...STUBBORN), { env });
    const soon = ['--stdin-grace', '100ms', '--term-grace', '100ms'];
    const guarded = await openRaw(lab, underCorral(rude(lab, ...STUBBORN), ...soon));
    const run = await keeperOf(guarded.pid);
    const others = [...lab.watch(neighbour.pid), run, ...(await processesBelow(run.pid))];
    assert.ok(tagged(cookie).some(({ pid }) => pid === neighbour.pid), 'it has its cookie');

    const tops = [daemon.janitor.pid, daemon.pid];
    killAtOnce([...treeBelow(daemon.janitor.pid).filter(({ pid }) => tops.includes(pid)), keeper]);
    await daemon.ended;
    await client.ended;
    assert.deepEqual(left.filter((one) => !stillRuns(one)), [], 'the control: all of them are left');

    daemon.serve();
    await waitForDaemon(daemon);

    await eventually('nothing of it left', () => !left.some(stillRuns));
    const told = await eventually('the events', async () => {
      const events = await daemon.events('--kind', 'reap');
      return events.length >= left.length ? events : null;
    });
    const pids = (list) => list.map(({ pid }) => pid).sort((one, other) => one - other);
    assert.deepEqual(pids(told), pids(left), 'one event each');
    assert.deepEqual([...new Set(told.map((event) => event.instance))], [instance.id]);
    assert.deepEqual([...new Set(told.map((event) => event.server))], ['rude']);
    const lines = daemon.stderr.split('\n').filter((line) => line.includes('"kind":"reap"'));
    const said = lines.map((line) => ({ pid: JSON.parse(line).process }));
    assert.deepEqual(pids(said), pids(left), 'one line each');

    assert.deepEqual(others.filter((one) => !stillRuns(one)), [], 'nobody else was touched');
    assert.equal((await guarded.request(toolCall(3, 'echo', { arg: 'moo' }))).result.content[0].text, 'moo');
    guarded.endInput();
    await guarded.ended;
    // Its helpers are not below it any more, but the tag finds them.
    await eventually('the neighbour gone', () => {
      const serving = new Set(daemon.watch().map(({ pid }) => pid));
      const strangers = lab.survivors().filter(({ pid }) => !serving.has(pid));
      strangers.forEach((one) => killOne(one));
      return strangers.length === 0;
    });
  },
);

// Closing it also makes one file of it.
function makeNewer(file) {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA user_version = 999');
  database.close();
}

function remove(file) {
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
}

function makeDamaged(file) {
  remove(file);
  writeFileSync(file, 'moo'.repeat(5000), { mode: 0o600 });
}

// A directory in its place cannot be written by anybody, not even by root.
function makeUnwritable(file) {
  remove(file);
  mkdirSync(file, { mode: 0o700 });
}

async function assertServes(daemon, lab, text) {
  const client = new RawClient(lab, daemon.connect('files'));
  await client.request(initialize());
  client.send(INITIALIZED);
  const { result } = await client.request(toolCall(2, 'test_echo', { text }));
  assert.equal(result.content[0].text, `Echo: ${text}`);
  client.endInput();
  assert.equal((await client.ended).code, 0, client.stderr);
}

// The daemon starts over with a registry that was changed behind its back.
function ruinTest(what, ruin, check) {
  const servers = (lab) => ({ files: entry(fixtureServer('--legacy', `--tag=${lab.tag}`)) });
  daemonTest(`with a registry ${what} the daemon serves and says so`, { servers }, async (daemon, lab) => {
    const file = path.join(daemon.dir, 'state', 'registry.db');
    await daemon.shutDown();
    ruin(file);
    const bytes = ruin === makeUnwritable ? null : readFileSync(file);
    daemon.serve();
    await waitForDaemon(daemon);
    await assertServes(daemon, lab, what);

    const { health, health_reasons: reasons } = JSON.parse((await daemon.ask('info', '--json')).stdout);
    const { stdout: people } = await daemon.ask('info');
    check({ daemon, file, bytes, health, reasons: reasons.join('\n'), people });
  });
}

ruinTest('of a newer corral', makeNewer, ({ daemon, file, bytes, health, reasons, people }) => {
  assert.equal(health, 'degraded');
  for (const said of [reasons, people, daemon.stderr]) assert.match(said, /use the\s+newer\s+corral/);
  assert.deepEqual(readFileSync(file), bytes, 'it is not written to');
  assert.equal(daemon.stderr.match(/"kind":"registry"/g).length, 1, 'it is said once');
});

ruinTest('that cannot be written', makeUnwritable, ({ daemon, health, reasons, people }) => {
  assert.equal(health, 'degraded');
  const next = /not\s+a\s+regular\s+file\.\s+Remove\s+it/;
  for (const said of [reasons, people, daemon.stderr]) assert.match(said, next);
});

ruinTest('that is damaged', makeDamaged, ({ daemon, file, bytes, health, reasons }) => {
  assert.equal(health, 'degraded');
  assert.match(reasons, /was damaged.*`corral doctor` finds what they may have left/);
  const aside = readdirSync(path.dirname(file)).filter((name) => name.startsWith('registry.db.corrupt-'));
  assert.equal(aside.length, 1);
  assert.deepEqual(readFileSync(path.join(path.dirname(file), aside[0])), bytes);
  assert.ok(daemon.stderr.includes(aside[0]), daemon.stderr);
});
