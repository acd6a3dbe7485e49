// A home in which nothing has happened yet, and a shell in it that types the commands of a page. Some words are not
// typed as they are written, because they stand for something else: NAME, TOOL, CLIENT, COMMAND and `some-server`, 8765
// for a port that is free here, the usual runtime directory, and a command on another machine for one on this machine.
//
// Claude Code and Codex are not installed: `claude` and `codex` are a stub that does what the client would do with the
// command or the URL: it starts a session and lists the tools. `corral` is a stub that adds a runtime directory of this
// test to each command that takes one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { CORRAL, HERE } from './lab.mjs';
import { asPattern, withoutChance } from './pages.mjs';
import { eventually } from './processes.mjs';

export const FILESYSTEM = '@modelcontextprotocol/server-filesystem';
export const EVERYTHING = '@modelcontextprotocol/server-everything';
const A_COMMAND = `npx -y ${EVERYTHING}`;
export const A_SESSION = `corral connect -- ${A_COMMAND}`;

// ---- what a line must print. A line without `kind` runs to its end.

export const prints = (pattern, more = {}) => ({ kind: 'prints', pattern, ...more });
export const session = (tool, more = {}) => ({ kind: 'session', pattern: new RegExp(`"${tool}"`), ...more });
// A pattern for each of the commands in the line.
export const follows = (...patterns) => ({ kind: 'follows', patterns });
export const serves = (more = {}) => ({ kind: 'serves', ...more });
// What the page shows below it, but for ages and sizes, and what `bare` takes away.
export const shows = (more = {}) => ({ kind: 'shows', ...more });
// Clients of these servers, the first of which is in the line; they stay until the page is done.
export const holds = (...servers) => ({ kind: 'holds', servers });
// `name() { …; }`: the lines below it can use it.
export const defines = () => ({ kind: 'defines' });
// `NAME=$(…)`: the lines below it can use $NAME.
export const sets = (pattern) => ({ kind: 'sets', pattern });
export const notTyped = (why) => ({ kind: 'not typed', why });

// ---- the home

const STUB_CLIENT = `
import { spawn } from 'node:child_process';
const words = process.argv.slice(2);
const messages = [
  { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'stub', version: '1' } } },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
].map((message) => ({ jsonrpc: '2.0', ...message }));
if (words.length === 0) {
  console.log('the client was here');
} else if (words.includes('--transport')) {
  let id;
  for (const message of messages) {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    if (id) headers['mcp-session-id'] = id;
    const answer = await fetch(words.at(-1), { method: 'POST', headers, body: JSON.stringify(message) });
    id = answer.headers.get('mcp-session-id') ?? id;
    console.log(await answer.text());
  }
} else {
  const [program, ...args] = words.slice(words.indexOf('--') + 1);
  const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let heard = '';
  server.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    heard += chunk;
    if (heard.includes('"id":2')) server.stdin.end();
  });
  for (const message of messages) server.stdin.write(JSON.stringify(message) + '\\n');
}
`;

const REQUESTS = [
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"typed","version":"1"}}}',
  '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  '{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
];

const A_CALL =
  '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"moo"}}}';

export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

// What `npx -y PACKAGE` and `uvx PACKAGE` start, without looking for it first.
const STUB_LAUNCHER = `#!/bin/sh
[ "$1" = -y ] && shift
package=$1; shift
case $package in mcp-*) package=${EVERYTHING} ;; esac
exec '${process.execPath}' '${HERE}/node_modules/'$package/dist/index.js "$@"
`;

// `socat -t 60 - UNIX-CONNECT:PATH`.
const STUB_SOCAT = `#!${process.execPath}
const socket = require('node:net').connect(process.argv.at(-1).split(':')[1]);
process.stdin.pipe(socket).pipe(process.stdout);
`;

export class FreshHome {
  // `stubs`: npx and uvx start the pinned packages directly, which takes a second less each time.
  constructor(lab, port, { stubs = false } = {}) {
    this.lab = lab;
    this.port = port;
    this.home = path.join(lab.dir, 'home');
    this.project = path.join(this.home, 'project');
    this.servings = [];
    this.held = [];
    this.functions = '';
    const bin = path.join(lab.dir, 'bin');
    const runtime = path.join(lab.dir, lab.tag);
    this.runtime = runtime;
    for (const folder of [this.project, bin, runtime]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const program = (name, text) => {
      writeFileSync(path.join(bin, name), text);
      chmodSync(path.join(bin, name), 0o755);
    };
    writeFileSync(path.join(lab.dir, 'client.mjs'), STUB_CLIENT);
    for (const name of ['claude', 'codex']) {
      program(name, `#!/bin/sh\nexec '${process.execPath}' '${lab.dir}/client.mjs' "$@"\n`);
    }
    if (stubs) for (const name of ['npx', 'uvx']) program(name, STUB_LAUNCHER);
    if (stubs) program('socat', STUB_SOCAT);
    // `serve -- COMMAND` is a daemon of its own.
    program(
      'corral',
      `#!/bin/sh
folder='${runtime}'
case " $* " in " serve "*" -- "*) folder='${runtime}/second' ;; esac
case $('${CORRAL}' "$1" --help 2>/dev/null) in
  *--runtime-dir*) word=$1; shift; exec '${CORRAL}' "$word" --runtime-dir "$folder" "$@" ;;
esac
exec '${CORRAL}' "$@"
`,
    );
    // npx finds the pinned packages in its directory, which is the home if the directory does not count.
    for (const folder of [this.project, this.home]) {
      symlinkSync(path.join(HERE, 'node_modules'), path.join(folder, 'node_modules'));
    }
    for (const name of ['a.txt', 'README.md']) {
      writeFileSync(path.join(this.project, name), `the text of ${name}\n`);
    }
    writeFileSync(path.join(this.project, 'requests.jsonl'), `${REQUESTS.join('\n')}\n`);
    const notes = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] };
    writeFileSync(path.join(this.home, '.claude.json'), JSON.stringify({ mcpServers: { notes } }));
    this.env = { ...process.env, ...lab.env, HOME: this.home, PATH: `${bin}:${lab.env.PATH}` };
    delete this.env.XDG_CONFIG_HOME;
    delete this.env.XDG_STATE_HOME;
  }

  // What stands for something else is replaced.
  async words(line) {
    const pid = /\bPID\b/.test(line) ? await this.newestProcess() : 0;
    const named = line.includes('some-server .') ? FILESYSTEM : EVERYTHING;
    return line
      .replace('-- TOOL', '-- echo message=moo')
      .replace('NAME TOOL key=value', 'files read_file path=a.txt')
      .replace('NAME', 'files')
      .replace(/\bPID\b/, pid)
      .replace(/(?<!\$)\bID\b(?!=)/, this.found)
      .replace('CLIENT', 'claude')
      .replace("sh -c '…'", 'true')
      .replace(/COMMAND( \[ARG\.\.\.\])?/, A_COMMAND)
      .replace('some-server', named)
      .replaceAll('8765', String(this.port))
      .replace('/run/user/$(id -u)/corral', this.runtime)
      .replace('s-0123456789abcdef', this.found)
      .replace('/srv/me', this.project)
      .replace('ssh host ./stop', 'touch stopped');
  }

  start(words) {
    const isOne = !/[|;]|^\w+=/.test(words) && !this.functions.includes(`${words.split(' ')[0]}()`);
    const script = isOne ? `exec ${words}` : `${this.functions}${words}`;
    const child = spawn('bash', ['-c', script], { cwd: this.project, env: this.env, detached: false });
    const said = { child, out: '', err: '' };
    child.stdout.on('data', (chunk) => (said.out += chunk));
    child.stderr.on('data', (chunk) => (said.err += chunk));
    child.stdin.on('error', () => {});
    said.ended = new Promise((resolve) => child.once('close', (code) => resolve(code)));
    this.lab.watch(child.pid);
    return said;
  }

  async run(line) {
    const said = this.start(line);
    said.child.stdin.end();
    said.code = await said.ended;
    return said;
  }

  async runUntil(words, { until = /^/ }) {
    let said;
    const shows = async () => until.test((said = await this.run(words)).out);
    await eventually(`${until} from ${words}`, shows).catch(() => {});
    return said;
  }

  async newestProcess() {
    const { out } = await this.run('corral status --json');
    return String(JSON.parse(out).instances.at(-1).pid);
  }

  // `shown`: what the page shows below the line.
  async type(line, expected, shown = '') {
    if (expected.kind === 'not typed') return;
    for (const words of expected.first ?? []) await this.run(await this.words(words));
    const clients = [];
    for (const other of [expected.meanwhile ?? []].flat()) {
      if (other.startsWith('corral connect ')) clients.push(await this.hold(other));
      else await this.run(other);
    }
    const words = await this.words(line);
    const explain = (said) => `${words}\nexit code ${said.code}\n${said.out}\n${said.err}`;
    if (expected.kind === 'defines') return void (this.functions += `${words}\n`);
    if (expected.kind === 'serves') return this.serve(words, expected);
    if (expected.kind === 'holds') return this.holdAll(words, expected);
    if (expected.kind === 'follows') return this.follow(words, expected);
    if (expected.kind === 'session') {
      const said = this.start(words);
      said.child.stdin.write(`${REQUESTS.join('\n')}\n`);
      await eventually(`an answer to ${words}`, () => /"id": ?2\b/.test(said.out)).catch(() => {});
      said.child.stdin.end();
      said.code = await said.ended;
      assert.equal(said.code, 0, explain(said));
      assert.match(said.out, expected.pattern, explain(said));
    } else {
      const said = expected.kind === 'sets' ? await this.set(words) : await this.runUntil(words, expected);
      for (const client of clients) await client.leave();
      assert.ok((expected.codes ?? [0]).includes(said.code), explain(said));
      if (expected.finds) this.found = expected.finds.exec(said.out)?.[0];
      if (expected.kind === 'shows') {
        const bare = expected.bare ?? ((text) => text);
        assert.match(bare(this.seen(said.out)), asPattern(bare(withoutChance(shown))), explain(said));
      } else {
        assert.match(`${said.out}\n${said.err}`, expected.pattern, explain(said));
      }
      for (const text of expected.never ?? []) {
        assert.ok(!said.out.includes(this.env[text]), `${words} shows the value of ${text}`);
      }
    }
    if (expected.leaves) {
      await eventually(expected.leaves, () => existsSync(path.join(this.project, expected.leaves)));
    }
  }

  seen(text) {
    return withoutChance(text.replaceAll(this.home, '~'));
  }

  async set(words) {
    const [name] = words.split('=');
    const said = await this.run(`${words}; code=$?; printf %s "$${name}"; exit $code`);
    this.env[name] = said.out;
    return said;
  }

  // A client that has made a call and stays until it is told to leave.
  async hold(words) {
    const said = this.start(words);
    said.child.stdin.write(`${[...REQUESTS.slice(0, 2), A_CALL].join('\n')}\n`);
    await eventually(`an answer to ${words}`, () => /"id": ?2\b/.test(said.out));
    const leave = async () => {
      said.child.stdin.end();
      await said.ended;
    };
    return { leave };
  }

  async holdAll(words, { servers }) {
    const [first] = servers;
    for (const name of servers) this.held.push(await this.hold(words.replace(first, name)));
  }

  async follow(line, { patterns }) {
    const commands = line.split('; ');
    assert.equal(commands.length, patterns.length, line);
    for (const [at, words] of commands.entries()) {
      const said = this.start(words);
      const happens = async () => {
        await this.run('corral tools files');
        return patterns[at].test(said.out);
      };
      await eventually(`something from ${words}`, happens);
      said.child.kill('SIGINT');
      await said.ended;
    }
  }

  async serve(words, { before, port }) {
    if (before) await this.run(before);
    if (port) await this.endServings();
    const said = this.start(words);
    this.servings.push(said);
    const answers = async () => {
      if (!port) return (await this.run('corral ps')).code === 0;
      return fetch(`http://127.0.0.1:${this.port}/healthz`).then(({ ok }) => ok, () => false);
    };
    await eventually(`${words} to answer`, answers);
  }

  async endServings() {
    for (const { child, ended } of this.servings.splice(0)) {
      child.kill('SIGINT');
      await ended;
    }
  }

  async end() {
    for (const client of this.held.splice(0)) await client.leave();
    await this.endServings();
    await this.run('corral shutdown');
  }
}
