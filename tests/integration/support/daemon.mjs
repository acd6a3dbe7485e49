// One daemon per test, in a runtime directory of its own. The directory's name holds the lab's tag, and so do the
// command lines of daemon and janitor; XDG_RUNTIME_DIR carries it to whatever they start.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CORRAL, HERE, labTest } from './lab.mjs';
import { describe, eventually } from './processes.mjs';
import { CANARY, assertNoSecret } from './secrets.mjs';

// An entry of the configuration. `corral` holds our own options. The secret is for nobody but the server.
export function entry([command, ...args], corral = {}, env = {}) {
  return { command, args, env: { CORRAL_TEST_SECRET: CANARY, ...env }, corral };
}

export const fixture = (name, ...args) => [process.execPath, path.join(HERE, 'support', name), ...args];

// The server of either era, from tests/fakes. It is built beside corral.
const FIXTURE_SERVER =
  process.env.CORRAL_FIXTURE_SERVER ?? path.join(path.dirname(CORRAL), '../tests/fakes/fixture_server');
export const fixtureServer = (...options) => [path.resolve(FIXTURE_SERVER), ...options];

// Its neighbours, by name.
const FAKES = path.dirname(path.resolve(FIXTURE_SERVER));
export const fake = (name, ...options) => [path.join(FAKES, name), ...options];

// Where a daemon may be: the directory, the configuration, and the commands that name both. Without servers the
// daemon is started without a configuration.
export class Place {
  constructor(lab, servers, options = {}) {
    this.lab = lab;
    this.servers = servers;
    this.dir = path.join(lab.dir, lab.tag);
    this.config = path.join(lab.dir, 'servers.json');
    // Calls in flight get half a second at a shutdown; nobody here waits for them.
    const text = { mcpServers: servers, corral: { drain: '500ms', ...options } };
    writeFileSync(this.config, JSON.stringify(text, null, 2));
    mkdirSync(this.dir, { mode: 0o700 });
    lab.env.XDG_RUNTIME_DIR = this.dir;
    lab.env.HOME = lab.dir;
  }

  get log() {
    const file = path.join(this.dir, 'daemon.log');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  // `corral connect NAME`, or `corral connect -- COMMAND…` for a list of words.
  connect(what, ...options) {
    const rest = Array.isArray(what) ? ['--', ...what] : [what];
    return [CORRAL, 'connect', '--runtime-dir', this.dir, '--config', this.config, ...options, ...rest];
  }

  // Resolves with the exit code and everything that was printed; a failure is for the test to judge.
  ask(command, ...args) {
    const env = { ...process.env, ...this.lab.env };
    return new Promise((resolve) => {
      execFile(CORRAL, [command, '--runtime-dir', this.dir, ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : error.code, stdout, stderr });
      });
    });
  }

  async status() {
    const { code, stdout, stderr } = await this.ask('status', '--json');
    assert.equal(code, 0, `corral status: ${stderr}`);
    return JSON.parse(stdout);
  }

  // `choice`: more words of `corral events`.
  async events(...choice) {
    const { code, stdout, stderr } = await this.ask('events', '--json', ...choice);
    assert.equal(code, 0, `corral events: ${stderr}`);
    return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  async shutDown() {
    const { code, stdout, stderr } = await this.ask('shutdown');
    assert.equal(code, 0, `corral shutdown: ${stderr}`);
    return stdout;
  }
}

export class Daemon extends Place {
  // `more`: further words of `corral serve`.
  static async start(lab, servers, options, more = []) {
    const daemon = new Daemon(lab, servers, options);
    daemon.serve(more);
    await eventually('the daemon to answer', async () => (await daemon.ask('status')).code === 0);
    daemon.pid = (await daemon.status()).daemon.pid;
    daemon.watch();
    return daemon;
  }

  // The janitor takes the place of `corral serve`, so this is its process.
  serve(more = []) {
    const config = this.servers === undefined ? [] : ['--config', this.config];
    const args = ['serve', '--runtime-dir', this.dir, ...config, ...more];
    const env = { ...process.env, ...this.lab.env };
    this.stderr = '';
    this.janitor = spawn(CORRAL, args, { env, cwd: this.lab.dir, stdio: ['ignore', 'ignore', 'pipe'] });
    this.janitor.stderr.on('data', (chunk) => (this.stderr += chunk));
    this.ended = new Promise((resolve) => {
      this.janitor.once('exit', (code, signal) => resolve({ code, signal }));
    });
  }

  // Where clients reach a server by URL. With `--port 0` the daemon says which port it got.
  async url(server, kind = 'mcp') {
    const said = await eventually('the port', () => /http:\/\/127\.0\.0\.1:(\d+)/.exec(this.stderr));
    this.port = Number(said[1]);
    return `http://127.0.0.1:${this.port}/${kind}${server === undefined ? '' : `/${server}`}`;
  }

  // What runs below it, the janitor first. Everything seen is remembered by the lab.
  watch() {
    return this.lab.watch(this.janitor.pid);
  }

  // Sessions, instances and their processes are gone; only the daemon and its janitor run.
  async becomesEmpty() {
    try {
      await eventually('the daemon alone', async () => {
        const { instances, sessions } = await this.status();
        return instances.length + sessions.length === 0 && this.lab.survivors().length === 2;
      });
    } catch {
      const { instances, sessions } = await this.status();
      const text = JSON.stringify({ instances, sessions });
      assert.fail(`left beside the daemon: ${describe(this.lab.survivors())} ${text} log: ${this.stderr}`);
    }
  }

  async becomes(what, probe) {
    let last;
    try {
      return await eventually(what, async () => {
        last = await this.status();
        return probe(last) ? last : null;
      });
    } catch {
      assert.fail(`${what}: ${JSON.stringify(last, null, 1)} log: ${this.stderr}`);
    }
  }

  async shutDown() {
    this.watch();
    const said = await super.shutDown();
    assert.deepEqual(await this.ended, { code: 0, signal: null }, this.stderr);
    assert.doesNotMatch(this.stderr, /not everything/);
    return said;
  }
}

// Like labTest(), with a running daemon. `servers` are the entries of its configuration, or a function that
// makes them for a lab; `serve` are more words for `corral serve`. The test may end the daemon itself, otherwise
// `corral shutdown` does.
export function daemonTest(name, { servers, corral, serve, ...options }, body) {
  labTest(name, options, async (lab, t) => {
    const entries = typeof servers === 'function' ? servers(lab) : servers;
    const daemon = await Daemon.start(lab, entries, corral, serve);
    await body(daemon, lab, t);
    assertNoSecret(daemon);
    if (daemon.janitor.exitCode === null && daemon.janitor.signalCode === null) await daemon.shutDown();
    // Once more, of what was being written just now.
    assertNoSecret(daemon);
  });
}
