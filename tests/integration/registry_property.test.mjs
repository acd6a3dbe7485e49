// Whatever happens, in whatever order: soon after, the daemon's word, its registry and /proc say the same.
//   CORRAL_TEST_SEED    which sequence (default: always the same one)
//   CORRAL_TEST_STEPS   how many steps of it
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Random } from '../chaos/random.mjs';
import { askControl } from './support/control.mjs';
import { daemonTest, entry, fake } from './support/daemon.mjs';
import { eventually, killOne, liveProcesses, stillRuns, tagged, treeBelow } from './support/processes.mjs';
import { INITIALIZED, RawClient, initialize, toolCall } from './support/raw_client.mjs';

const SEED = Number(process.env.CORRAL_TEST_SEED ?? 8);
const STEPS = Number(process.env.CORRAL_TEST_STEPS ?? 60);
const MOST_CLIENTS = 5;

const SOON = { stdin_grace: '100ms', term_grace: '100ms', containment: 'basic' };
const rude = (lab, corral, ...options) =>
  entry(fake('rude_server', `--tag=${lab.tag}`, '--life=60', ...options), { ...SOON, ...corral });

// One for all who come, one for each, and one that does not want to go.
const serversFor = (lab) => ({
  shared: rude(lab, { share: 'shared', idle: '300ms' }, '--grow=groups:1'),
  own: rude(lab, { share: 'session' }),
  stubborn: rude(lab, { share: 'session' }, '--grow=daemons:1', '--ignore-term', '--ignore-eof'),
});
const NAMES = ['shared', 'own', 'stubborn'];

// The cookie in a process's environment, as it was when the process was born.
function cookieOf(pid) {
  try {
    return /(?:^|\0)CORRAL_INSTANCE=([0-9a-f]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];
  } catch {
    return undefined;
  }
}

class World {
  constructor(daemon, lab, random) {
    Object.assign(this, { daemon, lab, random, clients: [], past: [], calls: 0 });
    this.file = path.join(daemon.dir, 'state', 'registry.db');
  }

  // ---- what can happen; each says what it did, or nothing if there was nobody to do it to

  async connect() {
    if (this.clients.length >= MOST_CLIENTS) return this.leave();
    const name = this.random.pick(NAMES);
    const client = new RawClient(this.lab, this.daemon.connect(name));
    client.ended.then(() => (this.clients = this.clients.filter((other) => other !== client)));
    this.clients.push(client);
    client.send(initialize());
    await Promise.race([client.answer(1), client.ended]);
    client.send(INITIALIZED);
    return `connect ${name} ${await this.callOf(client)}`;
  }

  // An answer, an error or the end of the client: that somebody is told is the business of other tests.
  async callOf(client) {
    const id = `call ${++this.calls}`;
    client.send(toolCall(id, 'pid'));
    const answer = await Promise.race([client.answer(id), client.ended]);
    return answer.result?.content[0].text ?? answer.error?.message ?? 'no answer';
  }

  async call() {
    const client = this.random.pick(this.clients);
    return client && `call ${await this.callOf(client)}`;
  }

  async leave() {
    const client = this.random.pick(this.clients);
    if (client === undefined) return undefined;
    client.endInput();
    await client.ended;
    return `leave ${client.pid}`;
  }

  async killClient() {
    const client = this.random.pick(this.clients);
    client?.child.kill('SIGKILL');
    await client?.ended;
    return client && `kill client ${client.pid}`;
  }

  async killPart(what, choose) {
    const instance = this.random.pick((await this.daemon.status()).instances);
    const all = liveProcesses();
    const server = all.find(({ pid }) => pid === instance?.pid);
    const victim = server && choose(server, all);
    if (victim === undefined) return undefined;
    killOne(victim);
    await eventually('its death', () => !stillRuns(victim));
    return `kill ${what} ${victim.pid} of ${instance.server}`;
  }

  killServer() {
    return this.killPart('server', (server) => server);
  }

  killKeeper() {
    const isKeeper = (one, server) => one.pid === server.ppid && one.comm === 'corral-keeper';
    return this.killPart('keeper', (server, all) => all.find((one) => isKeeper(one, server)));
  }

  async tell(verb) {
    const name = this.random.pick(NAMES);
    const { code, stderr } = await this.daemon.ask(verb, name);
    assert.equal(code, 0, `corral ${verb} ${name}: ${stderr}`);
    return `${verb} ${name}`;
  }

  restart() {
    return this.tell('restart');
  }

  async stop() {
    const done = await this.tell('stop');
    await this.agrees(done);
    const name = done.split(' ')[1];
    const { instances } = await this.daemon.status();
    assert.ok(!instances.some(({ server }) => server === name), `${name} was stopped`);
    assert.equal((await this.daemon.ask('start', name)).code, 0);
    return `${done} and start it`;
  }

  async endSession() {
    const session = this.random.pick((await this.daemon.status()).sessions);
    if (session === undefined) return undefined;
    const reply = await askControl(this.daemon, 'session-end', { protocol: 3, session: String(session.id) });
    return `end session ${session.id}: ${reply.reply}`;
  }

  // Some of daemon, janitor and keepers at once, so that none can react to the death of another one. If the
  // daemon is among them, the next one begins.
  async crash() {
    const tops = [this.daemon.janitor.pid, this.daemon.pid];
    const tree = treeBelow(this.daemon.janitor.pid);
    const corrals = tree.filter(({ pid, comm }) => tops.includes(pid) || comm === 'corral-keeper');
    const victims = corrals.filter(() => this.random.chance(0.6));
    for (const one of victims) killOne(one, 'SIGSTOP');
    for (const one of victims) killOne(one);
    await eventually('their death', () => !victims.some(stillRuns));
    if (victims.some(({ pid }) => tops.includes(pid))) {
      const ours = corrals.filter(({ pid }) => tops.includes(pid));
      await eventually('the end of the other one', () => !ours.some(stillRuns));
      await this.serveAgain();
    }
    return `crash of ${victims.map(({ comm }) => comm).join(' and ') || 'nobody'}`;
  }

  async serveAgain() {
    const { daemon } = this;
    await daemon.ended;
    await Promise.all(this.clients.map(({ ended }) => ended));
    daemon.serve();
    await eventually('the next daemon', async () => (await daemon.ask('status')).code === 0);
    daemon.pid = (await daemon.status()).daemon.pid;
    daemon.watch();
  }

  // ---- what must hold after it

  // Those whose end is not written, read as anybody may read it.
  openRecords() {
    const database = new DatabaseSync(this.file, { readOnly: true });
    try {
      database.exec('PRAGMA busy_timeout = 5000');
      return database.prepare('SELECT id, keeper_pid AS keeper, pid FROM instances WHERE ended_ms = 0').all();
    } finally {
      database.close();
    }
  }

  // The first thing that is not so; empty if all three agree.
  async disagreement() {
    const { instances, sessions } = await this.daemon.status();
    const records = new Map(this.openRecords().map((record) => [record.id, record]));
    const alive = new Map(liveProcesses().map((process) => [process.pid, process]));
    const ids = new Set(instances.map(({ id }) => id));
    for (const { id, pid, server } of instances) {
      const keeper = alive.get(alive.get(pid)?.ppid);
      if (!alive.has(pid)) return `${server} ${id}: process ${pid} does not live`;
      if (cookieOf(pid) !== id) return `${server} ${id}: process ${pid} has the cookie ${cookieOf(pid)}`;
      if (keeper?.comm !== 'corral-keeper' || keeper.ppid !== this.daemon.pid) return `${id} has no keeper`;
      if (records.get(id)?.pid !== pid) return `${id}: the registry does not know process ${pid}`;
      if (records.get(id).keeper !== keeper.pid) return `${id}: the registry does not know its keeper`;
    }
    for (const id of records.keys()) if (!ids.has(id)) return `${id} lives in the registry alone`;
    for (const { id, instance } of sessions)
      if (instance && !ids.has(instance)) return `session ${id} has instance ${instance}, which is none`;
    for (const { pid, comm } of tagged(this.lab.tag)) {
      const cookie = cookieOf(pid);
      if (cookie !== undefined && !ids.has(cookie)) return `${comm} ${pid} is of ${cookie}, who is unknown`;
    }
    return '';
  }

  async agrees(done) {
    let last;
    try {
      await eventually('agreement', async () => (last = await this.disagreement()) === '');
    } catch (error) {
      const text = `${last}: ${error.message}; steps: ${this.past.join(', ')}, ${done}`;
      assert.fail(`seed ${SEED}: ${text}; log: ${this.daemon.stderr.slice(-3000)}`);
    }
  }

  async step() {
    const choices = [
      { weight: 5, happen: 'connect' },
      { weight: 3, happen: 'call' },
      { weight: 2, happen: 'killServer' },
      { weight: 2, happen: 'killKeeper' },
      { weight: 1, happen: 'leave' },
      { weight: 1, happen: 'killClient' },
      { weight: 1, happen: 'restart' },
      { weight: 1, happen: 'stop' },
      { weight: 1, happen: 'endSession' },
      { weight: 1, happen: 'crash' },
    ];
    const { happen } = this.random.weighted(choices);
    const done = (await this[happen]()) ?? (await this.connect());
    await this.agrees(done);
    this.past.push(done);
  }
}

// The control: somebody who carries the mark of no instance does not go unnoticed.
async function assertNotices(world) {
  const env = { ...process.env, ...world.lab.env, CORRAL_INSTANCE: '0123456789abcdef0123456789abcdef' };
  const stray = spawn('sleep', ['60'], { env, stdio: 'ignore' });
  const ended = new Promise((resolve) => stray.once('exit', resolve));
  assert.match(await world.disagreement(), new RegExp(` ${stray.pid} is of 0123456789abcdef`));
  stray.kill('SIGKILL');
  await ended;
}

daemonTest(
  `registry, status and /proc agree after each of ${STEPS} random steps (seed ${SEED})`,
  { servers: serversFor },
  async (daemon, lab) => {
    const world = new World(daemon, lab, new Random(SEED));
    await assertNotices(world);
    for (let step = 0; step < STEPS; ++step) await world.step();

    await Promise.all(world.clients.map((client) => (client.endInput(), client.ended)));
    await daemon.becomesEmpty();
    assert.deepEqual(world.openRecords(), []);
  },
);
