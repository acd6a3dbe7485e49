// One daemon in a directory of its own, its configuration, and its control line.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { renameSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, eventually, liveProcesses } from '../integration/support/processes.mjs';
import { stillRuns, tagged, treeBelow } from '../integration/support/processes.mjs';

export const CORRAL = process.env.CORRAL_BIN;
export const RUDE_SERVER = path.join(process.env.FAKES_DIR, 'rude_server');

const SOON = { stdin_grace: '100ms', term_grace: '100ms' };
// Where a cgroup can be made, it would end what the sweep is there for.
const SWEPT = { containment: 'basic' };

export class Daemon {
  constructor(dir, tag) {
    this.dir = dir;
    this.tag = tag;
    this.runtime = path.join(dir, tag);
    this.config = path.join(dir, 'config.json');
    this.errors = path.join(dir, 'stderr');
    this.generation = 0;
    this.extra = true;
    this.known = new Map();
    this.env = { ...process.env, CORRAL_TEST_TAG: tag, HOME: dir, XDG_RUNTIME_DIR: this.runtime };
    for (const folder of [this.runtime, ...this.roots()]) mkdirSync(folder, { mode: 0o700 });
  }

  roots() {
    return ['one', 'two'].map((name) => path.join(this.dir, name));
  }

  // ---- the configuration

  // What the servers do besides answering is part of the chaos: trees that do not want to end, slow and
  // failing starts. `touched` is the server whose entry differs from the one before.
  write(touched = '') {
    const rude = (name, corral, ...args) => ({
      command: RUDE_SERVER,
      args: [`--tag=${this.tag}`, '--life=60', ...args],
      env: { CORRAL_TEST_TAG: this.tag, GENERATION: name === touched ? `${++this.generation}` : '0' },
      corral: { ...SOON, ...corral },
    });
    const flap = `--flap=${path.join(this.dir, 'starts')}:lclhllcchll`;
    const stubborn = ['--grow=daemons:1', '--grow=bare:1', '--ignore-term', '--ignore-eof'];
    const servers = {
      shared: rude('shared', { share: 'shared', idle: '300ms', ...SWEPT }, '--grow=groups:2'),
      private: rude('private', { share: 'session', ...SWEPT }, ...stubborn),
      root: rude('root', { share: 'root', idle: '300ms' }, '--grow=closed:1'),
      slow: rude('slow', { share: 'shared', idle: '200ms', park: true }, '--start=slow:150'),
      flaps: rude('flaps', { share: 'shared', idle: '200ms' }, flap),
    };
    if (this.extra) servers.extra = rude('extra', { share: 'session' }, ...stubborn);
    const options = { drain: '300ms', linger: '1s', max_instances: 8, keep: 2 };
    this.replaceConfig(JSON.stringify({ mcpServers: servers, corral: options }, null, 1));
    return Object.keys(servers);
  }

  // As an editor does: never half a file.
  replaceConfig(text) {
    writeFileSync(`${this.config}.new`, text);
    renameSync(`${this.config}.new`, this.config);
  }

  // ---- the processes

  // The janitor takes the place of `corral serve`, so this is its process.
  async start() {
    const stderr = openSync(this.errors, 'a');
    const args = ['serve', '--runtime-dir', this.runtime, '--config', this.config];
    const stdio = ['ignore', 'ignore', stderr];
    const janitor = spawn(CORRAL, args, { env: this.env, cwd: this.dir, stdio });
    closeSync(stderr);
    this.runs = true;
    this.ended = new Promise((resolve) => janitor.once('exit', resolve)).then(() => (this.runs = false));
    this.janitor = janitor.pid;
    await eventually('the daemon to answer', () => this.status());
    this.pid = (await this.status()).daemon.pid;
    this.remember();
  }

  // A process may drop its environment; then only this finds it.
  remember() {
    for (const found of treeBelow(this.janitor)) this.known.set(`${found.pid}/${found.started}`, found);
  }

  survivors() {
    const found = new Map(tagged(this.tag).map((one) => [one.pid, one]));
    for (const one of this.known.values()) {
      if (stillRuns(one)) found.set(one.pid, one);
    }
    return [...found.values()];
  }

  async allGone(what, survivors = () => this.survivors()) {
    try {
      await eventually(what, () => survivors().length === 0, 20_000);
    } catch {
      assert.fail(`left after ${what}: ${describe(survivors())}`);
    }
  }

  // Files of stderr stay open for the next line of that server, a bounded number of them. SQLite keeps one descriptor of a
  // connection that was closed, for the next one: closing it would drop the locks that the process has on the file.
  descriptors() {
    const folder = `/proc/${this.pid}/fd`;
    const names = readdirSync(folder).map((name) => {
      try {
        return readlinkSync(path.join(folder, name)).replace(/:\[\d+\]/, '');
      } catch {
        return 'closed meanwhile';
      }
    });
    const registry = names.filter((name) => name.endsWith('/state/registry.db'));
    if (registry.length === 2) names.splice(names.indexOf(registry[0]), 1);
    return names.filter((name) => !/\/state\/logs(\/|$)/.test(name));
  }

  // ---- its words

  // The last reply to one hello, or null if the daemon is not there. One that is there and says nothing for
  // so long has forgotten somebody.
  say(verb, members = {}, limitMs = 5_000) {
    return new Promise((resolve) => {
      const socket = net.connect(path.join(this.runtime, 'corral.sock'));
      let heard = '';
      const done = (reply) => {
        clearTimeout(timer);
        socket.destroy();
        resolve(reply);
      };
      const timer = setTimeout(() => done({ reply: 'none', verb }), limitMs);
      socket.on('error', () => done(null));
      socket.on('data', (chunk) => (heard += chunk));
      socket.on('end', () => {
        const lines = heard.split('\n').filter(Boolean);
        done(lines.length > 0 ? JSON.parse(lines.at(-1)) : null);
      });
      socket.write(`${JSON.stringify({ protocol: this.protocol ?? 3, verb, ...members })}\n`);
    });
  }

  async status(limitMs = 500) {
    const reply = await this.say('status', {}, limitMs);
    if (reply?.status) this.protocol = reply.status.daemon.protocol;
    return reply?.status ?? null;
  }

  shutDown() {
    return new Promise((resolve) => {
      execFile(CORRAL, ['shutdown', '--runtime-dir', this.runtime], { env: this.env }, (error) => {
        resolve(error === null);
      });
    });
  }

  // What its loop took too long for: its log tells it, even for a daemon that was killed since.
  slowTurns() {
    const told = (file) => readFileSync(file, 'utf8').split('\n').filter((line) => line.includes('"kind":"slow-turn"'));
    return [this.errors, path.join(this.runtime, 'daemon.log')].filter(existsSync).flatMap(told);
  }

  log() {
    const tail = (file) => `${path.basename(file)}:\n${readFileSync(file, 'utf8').slice(-4000)}`;
    const files = [this.errors, path.join(this.runtime, 'daemon.log')];
    return files.filter(existsSync).map(tail).join('\n');
  }

  // Our own children by pid, so that a number in a status never hits a stranger.
  find(pid, fits) {
    return pid > 1 ? liveProcesses().find((one) => one.pid === pid && fits(one)) : undefined;
  }
}
