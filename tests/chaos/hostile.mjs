// One hostile client after the other, each after more than its share of one thing, and a witness that calls all
// the time. Nobody else may notice: no call of the witness is lost, no turn of the daemon is slow, and the
// daemon's memory and log stay within bounds.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually, killOne } from '../integration/support/processes.mjs';
import { CORRAL, Daemon, RUDE_SERVER } from './daemon.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const CLIENT = path.join(HERE, 'hostile_client.mjs');
const MB = 1 << 20;
// The largest single thing that a hostile client sends is 16 MiB long. One line is kept once while it is read and once
// while it waits; the rest is room for the allocator.
const MOST_MEMORY = 64 * MB;
const MOST_LOG = 4 * MB;
const ONLY = process.env.CHAOS_HOSTILE; // one of them alone
// By URL the witness is at the same server.
const MEETS_THEM_AT = { stream: 'liar' };
const ROUNDS_AFTER = 20; // of the witness, when the hostile client has done its worst
const WITH_A_TOKEN = new Set(['sessions', 'instances', 'answers']);

class HostileDaemon extends Daemon {
  write() {
    const corral = { stdin_grace: '100ms', term_grace: '100ms' };
    const env = { CORRAL_TEST_TAG: this.tag };
    const rude = (more, ...args) => ({
      command: RUDE_SERVER,
      args: [`--tag=${this.tag}`, '--life=300', ...args],
      env,
      corral: { ...corral, ...more },
    });
    const servers = {
      calm: rude({ share: 'shared' }),
      sleepy: rude({ share: 'session' }, '--start=slow:700'),
      liar: {
        command: process.execPath,
        args: [path.join(HERE, 'hostile_server.mjs')],
        env,
        corral: { ...corral, share: 'shared' },
      },
    };
    this.replaceConfig(JSON.stringify({ mcpServers: servers, corral: { drain: '300ms', max_instances: 16 } }));
  }

  ask(...words) {
    return new Promise((resolve, reject) => {
      execFile(CORRAL, words, { env: this.env, maxBuffer: 64 * MB }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      );
    });
  }

  // Of its memory, since the last time that somebody asked to forget it.
  peak() {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'));
    return Number(kilobytes) * 1024;
  }

  forgetPeak() {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5');
    return this.peak();
  }

  logged() {
    const files = [this.errors, path.join(this.runtime, 'daemon.log')];
    return files.filter(existsSync).reduce((sum, file) => sum + statSync(file).size, 0);
  }
}

// Calls one after the other, by pipes and by URL, and knows how long the longest took.
class Witness {
  constructor(daemon) {
    this.daemon = daemon;
    this.longest = 0;
    this.id = 0;
    this.agent = new http.Agent({ keepAlive: true });
  }

  async open() {
    const { daemon } = this;
    const args = ['connect', '--runtime-dir', daemon.runtime, '--config', daemon.config, 'calm'];
    this.child = spawn(CORRAL, args, { env: daemon.env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.waiting = new Map();
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.waiting.get(message.id)?.(message);
    });
    const clientInfo = { name: 'witness', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const greeted = await this.ask('initialize', params);
    assert.ok(greeted.result, JSON.stringify(greeted));
    this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  ask(method, params = {}) {
    const id = ++this.id;
    const answered = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method} within 15 s`)), 15_000);
      this.waiting.set(id, (message) => {
        clearTimeout(timer);
        this.waiting.delete(id);
        resolve(message);
      });
    });
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answered;
  }

  async call() {
    const began = performance.now();
    const text = `witness ${this.id}`;
    const { result } = await this.ask('tools/call', { name: 'echo', arguments: { arg: text } });
    assert.equal(result?.content[0].text, text);
    await this.ask('ping');
    this.waited(began);
  }

  waited(began) {
    this.longest = Math.max(this.longest, performance.now() - began);
  }

  // Each call is a new client.
  byUrl(server = 'calm') {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const began = performance.now();
    const params = { name: 'echo', arguments: { arg: 'by URL' }, _meta };
    const headers = {
      Host: 'localhost',
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'echo',
    };
    return new Promise((resolve, reject) => {
      const socketPath = path.join(this.daemon.runtime, 'http.sock');
      const options = { socketPath, path: `/mcp/${server}`, method: 'POST', agent: this.agent, headers };
      const sent = http.request({ ...options, timeout: 15_000 }, (response) => {
        let body = '';
        response.on('data', (chunk) => (body += chunk));
        response.on('end', () => {
          this.waited(began);
          resolve(`${response.statusCode} ${body}`);
        });
      });
      sent.on('timeout', () => reject(new Error('no answer by URL within 15 s')));
      sent.on('error', reject);
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    });
  }

  leave() {
    this.child?.kill('SIGKILL');
    this.agent.destroy();
  }
}

// While one hostile client does its worst, and a little longer while it keeps what it has.
async function endure(what, daemon, witness, token) {
  const more = WITH_A_TOKEN.has(what) ? [token] : [];
  const words = [CLIENT, what, CORRAL, daemon.runtime, daemon.config, ...more];
  const hostile = spawn(process.execPath, words, { env: daemon.env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => hostile.once('exit', resolve));
  let said = '';
  hostile.stdout.on('data', (chunk) => (said += chunk));
  try {
    for (let after = 0; after < ROUNDS_AFTER;) {
      await witness.call();
      const answer = await witness.byUrl(MEETS_THEM_AT[what]);
      assert.match(answer, /^200 .*by URL/, 'what the witness was told by URL');
      if (said.endsWith('\n')) after += 1;
      assert.equal(hostile.exitCode, null, 'the hostile client has failed');
    }
  } finally {
    hostile.kill('SIGKILL');
    await ended;
  }
  return said.trim();
}

export async function hostileClients(tag) {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'chaos-')));
  const daemon = new HostileDaemon(dir, tag);
  const witness = new Witness(daemon);
  const failures = [];
  const seen = [];
  try {
    daemon.write();
    await daemon.start();
    await witness.open();
    await witness.call();
    await witness.byUrl();
    const token = (await daemon.ask('token', 'create', 'hostile', '--runtime-dir', daemon.runtime)).trim();
    const deeds = execFileSync(process.execPath, [CLIENT, '--list'], { encoding: 'utf8' })
      .split('\n')
      .filter((what) => !ONLY || what === ONLY);
    for (const what of deeds) {
      const before = daemon.forgetPeak();
      witness.longest = 0;
      let said = '';
      try {
        said = await endure(what, daemon, witness, token);
      } catch (error) {
        failures.push(`hostile client "${what}": ${error.message}`);
      }
      const grown = daemon.peak() - before;
      const logged = daemon.logged();
      seen.push(`${what} ${Math.round(witness.longest)} ms, ${Math.round(grown / MB)} MB ${said}`);
      if (grown > MOST_MEMORY) failures.push(`hostile client "${what}": the daemon grew by ${Math.round(grown / MB)} MB`);
      if (logged > MOST_LOG) failures.push(`hostile client "${what}": the log has ${logged} bytes`);
    }
    const events = await daemon.ask('events', '--json', '--runtime-dir', daemon.runtime);
    const lines = events.split('\n').filter((line) => line !== '');
    assert.ok(lines.length > 0, '`corral events` shows what happened');
    const slow = lines.filter((line) => JSON.parse(line).kind === 'slow-turn');
    for (const line of [...slow, ...daemon.slowTurns()]) failures.push(`a slow turn: ${line}`);
    console.log(`chaos: hostile clients, and how long the witness waited at most: ${seen.join('; ')}`);
  } catch (error) {
    failures.push(error.stack);
  }
  witness.leave();
  await daemon.shutDown();
  try {
    await daemon.allGone('the hostile clients');
  } catch (error) {
    failures.push(error.message);
    await eventually('leftovers ended', () => {
      const left = daemon.survivors();
      left.forEach((one) => killOne(one));
      return left.length === 0;
    });
  }
  if (failures.length > 0) console.log(daemon.log());
  rmSync(dir, { recursive: true });
  return failures;
}

// By itself.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failures = await hostileClients(`${process.env.CORRAL_TEST_RUN ?? `corral-chaos-${process.pid}.`}hostile.`);
  for (const failure of failures) console.log(`chaos: FAILED: ${failure}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}
