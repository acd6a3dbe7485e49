// What people and machines see of a daemon from outside: events, stderr of servers, the log, metrics.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { daemonTest, entry } from './support/daemon.mjs';
import { CORRAL } from './support/lab.mjs';
import { eventually } from './support/processes.mjs';
import { RawClient, initialize } from './support/raw_client.mjs';

// Writes to stderr and leaves: one event after the other.
const BRIEF = { brief: entry(['/bin/sh', '-c', 'printf "no luck\\033[2J today\\nlast words" >&2; exit 3']) };

// `corral COMMAND -f …`, with what it has printed so far.
class Follower {
  constructor(daemon, command, ...args) {
    const words = [command, '--runtime-dir', daemon.dir, '-f', ...args];
    const env = { ...process.env, ...daemon.lab.env };
    this.child = spawn(CORRAL, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.stdout = '';
    this.stderr = '';
    for (const name of ['stdout', 'stderr']) this.child[name].on('data', (chunk) => (this[name] += chunk));
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  objects() {
    return this.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  }

  // When there is one that fits.
  async shows(what, probe) {
    try {
      return await eventually(what, () => this.objects().find(probe));
    } catch {
      assert.fail(`${what}: ${this.stdout} ${this.stderr}`);
    }
  }

  async interrupt() {
    this.child.kill('SIGINT');
    assert.deepEqual(await this.ended, { code: 0, signal: null }, this.stderr);
  }
}

async function crash(daemon, lab) {
  const client = new RawClient(lab, daemon.connect('brief'));
  client.send(initialize());
  await client.ended;
}

daemonTest('events are followed from one daemon to the next', { servers: BRIEF }, async (daemon, lab) => {
  const follower = new Follower(daemon, 'events', '--json');
  await follower.shows('the start', ({ kind }) => kind === 'start');
  await crash(daemon, lab);
  const spawned = await follower.shows('the spawn', ({ kind }) => kind === 'spawn');
  assert.equal(spawned.server, 'brief');
  const { instance } = spawned;
  await follower.shows('the end', (event) => event.kind === 'extinct' && event.instance === instance);

  await daemon.shutDown();
  await eventually('a word about it', () => /the daemon has exited; waiting/.test(follower.stderr));
  daemon.serve();
  await follower.shows('the next start', ({ kind, number }) => kind === 'start' && number > spawned.number);
  daemon.watch();
  await follower.interrupt();

  const numbers = follower.objects().map(({ number }) => number);
  assert.deepEqual(numbers, [...new Set(numbers)].sort((one, other) => one - other), 'each once, in order');
  const { stdout } = await daemon.ask('events', '--kind', 'spawn', '--server', 'brief', '--since', '10m');
  assert.match(stdout, /^(\d{4}-\d\d-\d\dT\S+Z {2}spawn {4}.*brief.*\n)+$/, 'also of the daemon before');
});

daemonTest('what a server wrote to stderr is kept, and followed', { servers: BRIEF }, async (daemon, lab) => {
  const follower = new Follower(daemon, 'logs', 'brief', '--json');
  await crash(daemon, lab);

  const line = await follower.shows('a line', ({ text }) => text === 'no luck\uFFFD[2J today');
  assert.match(line.instance, /^[0-9a-f]{8}$/);
  await follower.shows('the line without an end', ({ text }) => text === 'last words');
  await follower.interrupt();

  const mistaken = await daemon.ask('logs', 'breif');
  assert.equal(mistaken.code, 1);
  assert.match(mistaken.stderr, /did you mean brief\?/);
  const file = (await daemon.status()).servers.find(({ name }) => name === 'brief').log_file;
  assert.equal(file, path.join(daemon.dir, 'state/logs/brief.log'));
  await daemon.shutDown();
  const { code, stdout } = await daemon.ask('logs', 'brief', '-n', '1');
  assert.equal(code, 0, 'no daemon has to run');
  assert.match(stdout, /^last failure: \S+Z crash: .*\n\d{4}-\S+Z [0-9a-f]{8} last words\n$/);
});

daemonTest('the log is JSON, but for the promised lines', { servers: BRIEF }, async (daemon, lab) => {
  await crash(daemon, lab);
  await daemon.shutDown();
  await eventually('the last line', () => / ms\)\n$/.test(daemon.stderr));

  const lines = daemon.stderr.trimEnd().split('\n');
  assert.match(lines.shift(), /^\[corral v[^\]]+\] Server starting \(PID: \d+, Build: [\d-]+\)$/);
  assert.match(lines.pop(), /^\[corral v[^\]]+\] Shutting down \(.* \d+ ms\)$/);
  const said = lines.map((line) => JSON.parse(line));
  const spawned = said.find(({ kind }) => kind === 'spawn');
  assert.equal(spawned.server, 'brief');
  assert.equal(spawned.level, 'info');
  assert.equal(spawned.pid, daemon.pid);
});

daemonTest('the log is text if that is asked for', { servers: BRIEF, serve: ['--log', 'text'] }, async (daemon) => {
  await eventually('the second line', () => /has started: corral/.test(daemon.stderr));

  assert.doesNotMatch(daemon.stderr, /^\{/m);
});

function get(socketPath, name) {
  return new Promise((resolve, reject) => {
    http.get({ socketPath, path: name, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk) => (body += chunk)).on('end', () => resolve({ response, body }));
    }).on('error', reject);
  });
}

daemonTest('metrics are what Prometheus reads', { servers: BRIEF }, async (daemon, lab) => {
  await crash(daemon, lab);

  const { response, body } = await get(path.join(daemon.dir, 'http.sock'), '/metrics');

  assert.equal(response.statusCode, 200, body);
  assert.match(response.headers['content-type'], /^text\/plain; version=0\.0\.4/);
  assert.match(body, /^corral_spawns_total\{server="brief"\} [1-9]/m);
  assert.match(body, /^corral_crashes_total\{server="brief"\} [1-9]/m);
  assert.match(body, /^corral_time_to_extinction_seconds_count 0$/m, 'nobody decided on its end');
  assert.match(body, /^corral_up 1$/m);
  // The unit tests read it with a parser of their own, always; where the real one is, it has its say, too.
  const judged = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' });
  if (judged.error?.code === 'ENOENT') return;
  assert.equal(judged.status, 0, judged.stdout + judged.stderr);
});
