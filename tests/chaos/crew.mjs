// The clients: always a few of them, each a process of its own, that call and check until they are done.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CORRAL } from './daemon.mjs';

const CHAOS_CLIENT = path.join(process.env.FAKES_DIR, 'chaos_client');

export class Crew {
  constructor(daemon, random, record) {
    this.daemon = daemon;
    this.random = random;
    this.record = record;
    this.running = new Set();
    this.sessions = new Set(); // session objects that clients may join
    this.count = 0;
    this.hiring = false;
  }

  // Keeps `size` clients at work until `dismiss`.
  hire(size) {
    this.hiring = true;
    this.slots = Array.from({ length: size }, () => this.keepOneAtWork());
  }

  async keepOneAtWork() {
    while (this.hiring) {
      await this.work(this.random.weighted(this.places()).name);
      await sleep(this.random.below(150));
    }
  }

  // Resolves when the last of them has come to its end.
  async dismiss() {
    this.hiring = false;
    await Promise.all(this.slots);
    await Promise.all([...this.running].map(({ ended }) => ended));
  }

  places() {
    return [
      { name: 'shared', weight: 5 },
      { name: 'private', weight: 3 },
      { name: 'root', weight: 3 },
      { name: 'slow', weight: 1 },
      { name: 'flaps', weight: 1 },
      { name: 'extra', weight: 1 },
    ];
  }

  // One client from its start to its end.
  work(server) {
    const client = this.start(server);
    this.running.add(client);
    client.ended = new Promise((resolve) => {
      client.child.once('close', (code, signal) => {
        this.running.delete(client);
        this.judge(client, signal);
        resolve();
      });
    });
    return client.ended;
  }

  sessionWith(server) {
    return this.random.pick([...this.sessions].filter(({ servers }) => servers.includes(server)));
  }

  start(server) {
    const { random, daemon } = this;
    const name = `c${++this.count}`;
    const root = server === 'root' ? random.pick(daemon.roots()) : '';
    const session = random.chance(0.4) ? this.sessionWith(server) : undefined;
    const sleepy = random.chance(0.1); // long enough for its server to be parked
    const args = [
      `--tag=${daemon.tag}`,
      `--name=${name}`,
      `--seed=${random.below(2 ** 31)}`,
      `--calls=${sleepy ? random.between(2, 4) : random.between(5, 60)}`,
      `--window=${random.between(1, 6)}`,
      `--pause=${sleepy ? 400 : random.pick([0, 1, 5, 15])}`,
      ...(server === 'private' || server === 'extra' ? ['--alone'] : []),
      ...(root ? [`--where=${root}`] : []),
      '--',
      ...[CORRAL, 'connect', '--runtime-dir', daemon.runtime, '--config', daemon.config],
      ...(root ? ['--root', root] : []),
      ...(session ? ['--session', session.id] : []),
      server,
    ];
    const errors = path.join(daemon.dir, `stderr-${name}`);
    const stderr = openSync(errors, 'a');
    const stdio = ['ignore', 'pipe', stderr];
    const child = spawn(CHAOS_CLIENT, args, { env: daemon.env, cwd: daemon.dir, stdio });
    closeSync(stderr);
    const client = { name, server, session, child, errors, pid: child.pid, said: '', excuse: '' };
    child.stdout.on('data', (chunk) => (client.said += chunk));
    return client;
  }

  // A client that was hurt on purpose may miss answers; no client may get a wrong one, or one twice.
  excuse(fits, why) {
    for (const client of this.running) if (fits(client)) client.excuse ||= why;
  }

  told(client, words) {
    return readFileSync(client.errors, 'utf8').includes(words);
  }

  judge(client, signal) {
    const { record } = this;
    record.clients += 1;
    if (!client.said.endsWith('}\n')) {
      if (!client.killed) record.fail(`client ${client.name} ended without a word (${signal})`);
      return;
    }
    const summary = JSON.parse(client.said);
    record.add(summary);
    const who = `client ${client.name} of ${client.server}`;
    for (const violation of summary.violations) record.fail(`${who}: ${violation}`);
    if (summary.end === 'done') return;
    // It comes and goes with the configuration.
    const refused = client.server === 'extra' && summary.exit === 125 && summary.sent <= 1;
    if (refused) client.excuse ||= 'its server was not there';
    // The daemon had no room, and nobody but the daemon makes up for a server that leaves when it starts.
    const alone = client.server === 'flaps' && [3, 4].includes(summary.exit);
    if (alone && this.told(client, 'running the server here')) client.excuse ||= 'it ran its server itself';
    // The same, while the file that says how the server is run was broken by us.
    const lost = summary.exit === 125 && this.told(client, 'all instances are in use');
    if (lost && this.told(client, 'incomplete JSON')) client.excuse ||= 'there was no room, and half a file';
    if (summary.end === 'eof' && client.excuse) return record.excuse(client.excuse, summary.open.length);
    const open = summary.open.map(({ id }) => id).join(', ') || 'nothing';
    const end = `${summary.end}, exit code ${summary.exit}`;
    record.fail(`${who}: ${end}, no answer to ${open} of ${summary.sent} requests`);
  }
}
