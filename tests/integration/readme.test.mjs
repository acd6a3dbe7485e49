// The pages that a first user follows, typed word by word in a fresh home: the README, and the commands in docs/direct.md,
// docs/choosing.md and docs/sharing.md. The lines are read from the pages, so a changed page is what is tested; a line that has
// no row here fails the test.
//
// Some words are not typed as they are written, because they stand for something else: NAME, TOOL, CLIENT, COMMAND and
// `some-server`, 8765 for a port that is free here, and a command on another machine for one on this machine. Claude Code and Codex are not
// installed: `claude` and `codex` are a stub that does what the client would do with the command or the URL: it starts
// a session and lists the tools. `corral` is a stub that adds a runtime directory of this test to each command
// that takes one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { CORRAL, HERE, labTest } from './support/lab.mjs';
import { eventually } from './support/processes.mjs';

const ROOT = path.resolve(HERE, '../..');
const pageOf = (name) => readFileSync(path.join(ROOT, name), 'utf8');

const FILESYSTEM = '@modelcontextprotocol/server-filesystem';
const EVERYTHING = '@modelcontextprotocol/server-everything';
const A_COMMAND = `npx -y ${EVERYTHING}`;

const A_SESSION = `corral connect -- ${A_COMMAND}`;

// ---- what each line must print. A line without `kind` runs to its end.

const prints = (pattern, more = {}) => ({ kind: 'prints', pattern, ...more });
const session = (tool, more = {}) => ({ kind: 'session', pattern: new RegExp(`"${tool}"`), ...more });
const follows = (pattern) => ({ kind: 'follows', pattern });
const serves = (more = {}) => ({ kind: 'serves', ...more });
const notTyped = (why) => ({ kind: 'not typed', why });

const README = {
  'make install PREFIX=$HOME/.local': notTyped('it builds corral'),
  [`claude mcp add files -- corral connect -- npx -y ${FILESYSTEM} .`]: prints(/read_text_file/),
  [`codex mcp add files -- corral connect -- npx -y ${FILESYSTEM} .`]: prints(/read_text_file/),
  [`cat requests.jsonl | corral run --report - -- npx -y ${EVERYTHING}`]: prints(
    /"reason":"stdin-closed".*"survivors":\[\],"leaked":false/,
  ),
  'corral run -- COMMAND [ARG...]': session('echo'),
  'corral run --containment strict -- COMMAND': notTyped('strict.test.mjs: not every machine allows namespaces'),
  'corral run --memory 1G --pids 64 -- COMMAND': notTyped('limits.test.mjs: not every machine allows cgroups'),
  "corral run --on-stop 'ssh host ./stop' -- COMMAND": session('echo', { leaves: 'stopped' }),
  'corral run -- docker run -i --rm some/image': notTyped('tests/os/containers_test.cc: there is no Docker here'),
  'corral import ~/.claude.json': prints(/notes/),
  'corral add files -- npx -y some-server .': prints(/files/),
  'corral connect -- npx -y some-server': session('echo'),
  'corral connect files': session('read_text_file'),
  'corral ps': prints(/^SERVER +PID/m, { meanwhile: A_SESSION }),
  'corral ps -v': prints(/shared|private/, { meanwhile: A_SESSION }),
  'corral top': notTyped('tests/os/screens_test.cc: it needs a terminal'),
  'corral events -f; corral logs files -f': follows(/files|Filesystem/),
  'corral restart files': prints(/files/),
  'corral tools files': prints(/^ *read_text_file/m),
  'corral call files read_file path=a.txt': prints(/^the text of a\.txt$/m),
  'corral session create --server files': prints(/\w/),
  'corral serve': serves({ before: 'corral shutdown' }),
  'corral shutdown': prints(/shut|end|No daemon/i),
  'corral help': prints(/^Usage: corral COMMAND/m),
  'corral serve --port 8765 -- npx -y some-server': serves({ port: true }),
  'claude mcp add --transport http files http://127.0.0.1:8765/mcp': prints(/echo/),
  'corral doctor': prints(/MCP server/, { codes: [0, 1] }),
  'corral reap': notTyped('tests/os/reap_asks_test.cc: it asks about the servers of other tests'),
  'corral reap --orphans --yes': notTyped('tests/os/reap_test.cc: it would end processes of other tests'),
  'corral reap --pile-ups --keep 3 --yes': notTyped('tests/os/reap_test.cc: it would end processes of other tests'),
  'corral watch --foreign end': notTyped('tests/os/watch_test.cc: it would end processes of other tests'),
  'corral run --cleanup -- COMMAND': notTyped('tests/os/cleanup_test.cc: it would end processes of other tests'),
  'corral guard -- claude': prints(/the client was here/),
};

const DIRECT = {
  'corral tools files': prints(/^ *read_text_file/m),
  'corral tools files read_file': prints(/path/),
  'corral call files read_file path=README.md': prints(/^the text of README\.md$/m),
  'corral call -- npx -y some-server -- echo message=hello': prints(/hello/),
};

// The commands of more than two words in the text of a page.
const INLINE = {
  'docs/sharing.md': {
    'corral connect --share shared -- COMMAND': session('echo'),
    'corral connect --share session -- COMMAND': session('echo'),
  },
  'docs/choosing.md': {
    'corral run -- COMMAND': session('echo'),
    'corral guard -- CLIENT': prints(/the client was here/),
    'corral connect NAME': session('read_text_file'),
    'corral call NAME TOOL key=value': prints(/^the text of a\.txt$/m),
    'corral serve --port 8765': serves({ before: 'corral shutdown', port: true }),
    'corral url NAME': prints(/files/),
    'corral serve --port 8765 -- COMMAND': serves({ port: true }),
    "corral guard -- sh -c '…'": prints(/^$/),
    'corral call -- COMMAND -- TOOL': prints(/moo/),
  },
};

// ---- the pages

// The lines that a reader types: those of the sh blocks, and behind `$ ` in the console blocks.
function linesOf(text) {
  const lines = [];
  for (const [, language, block] of text.matchAll(/^```(sh|console)\n(.*?)^```/gms)) {
    for (const line of block.split('\n')) {
      const typed = language === 'sh' ? line : line.startsWith('$ ') ? line.slice(2) : '';
      const words = typed.replace(/\s+#.*$/, '').trim();
      if (words !== '' && !words.startsWith('#')) lines.push(words);
    }
  }
  return lines;
}

// The commands in the text, each once, in their order.
function inlineOf(text) {
  const lines = [...text.replace(/^```.*?^```/gms, '').matchAll(/`(corral [^`]+)`/g)].map(([, line]) => line);
  return [...new Set(lines.map((line) => line.replace(/\s+/g, ' ')))].filter((line) => line.split(' ').length > 2);
}

// The table that follows a command in a console block: its first line.
const headerBehind = (text, command) => text.split(`$ ${command}\n`)[1].split('\n')[0];

// ---- the fresh home

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

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

class FreshHome {
  constructor(lab, port) {
    this.lab = lab;
    this.port = port;
    this.home = path.join(lab.dir, 'home');
    this.project = path.join(this.home, 'project');
    this.servings = [];
    const bin = path.join(lab.dir, 'bin');
    const runtime = path.join(lab.dir, lab.tag);
    for (const folder of [this.project, bin, runtime]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const program = (name, text) => {
      writeFileSync(path.join(bin, name), text);
      chmodSync(path.join(bin, name), 0o755);
    };
    writeFileSync(path.join(lab.dir, 'client.mjs'), STUB_CLIENT);
    for (const name of ['claude', 'codex']) {
      program(name, `#!/bin/sh\nexec '${process.execPath}' '${lab.dir}/client.mjs' "$@"\n`);
    }
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
    symlinkSync(path.join(HERE, 'node_modules'), path.join(this.project, 'node_modules'));
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
  words(line) {
    const named = line.includes('some-server .') ? FILESYSTEM : EVERYTHING;
    return line
      .replace('-- TOOL', '-- echo message=moo')
      .replace('NAME TOOL key=value', 'files read_file path=a.txt')
      .replace('NAME', 'files')
      .replace('CLIENT', 'claude')
      .replace("sh -c '…'", 'true')
      .replace(/COMMAND( \[ARG\.\.\.\])?/, A_COMMAND)
      .replace('some-server', named)
      .replaceAll('8765', String(this.port))
      .replace('ssh host ./stop', 'touch stopped');
  }

  start(words) {
    const child = spawn('bash', ['-c', `exec ${words}`], { cwd: this.project, env: this.env, detached: false });
    const said = { child, out: '', err: '' };
    child.stdout.on('data', (chunk) => (said.out += chunk));
    child.stderr.on('data', (chunk) => (said.err += chunk));
    child.stdin.on('error', () => {});
    said.ended = new Promise((resolve) => child.once('close', (code) => resolve(code)));
    this.lab.watch(child.pid);
    return said;
  }

  // A pipeline cannot be `exec`ed; it ends with its last program.
  async run(line) {
    const said = this.start(line.includes('|') ? `bash -c '${line}'` : line);
    said.child.stdin.end();
    said.code = await said.ended;
    return said;
  }

  async type(line, expected) {
    const words = this.words(line);
    const explain = (said) => `${words}\nexit code ${said.code}\n${said.out}\n${said.err}`;
    if (expected.kind === 'not typed') return;
    if (expected.kind === 'serves') return this.serve(words, expected);
    if (expected.kind === 'follows') return this.follow(words, expected);
    if (expected.kind === 'session') {
      const said = this.start(words);
      said.child.stdin.write(`${REQUESTS.join('\n')}\n`);
      await eventually(`an answer to ${words}`, () => said.out.includes('"id":2')).catch(() => {});
      said.child.stdin.end();
      said.code = await said.ended;
      assert.equal(said.code, 0, explain(said));
      assert.match(said.out, expected.pattern, explain(said));
    } else {
      const client = expected.meanwhile === undefined ? undefined : await this.hold(expected.meanwhile);
      const said = await this.run(words);
      await client?.leave();
      assert.ok((expected.codes ?? [0]).includes(said.code), explain(said));
      assert.match(said.out + said.err, expected.pattern, explain(said));
    }
    if (expected.leaves) {
      await eventually(expected.leaves, () => existsSync(path.join(this.project, expected.leaves)));
    }
  }

  // A client that has made a call and stays until it is told to leave.
  async hold(words) {
    const said = this.start(words);
    said.child.stdin.write(`${[...REQUESTS.slice(0, 2), A_CALL].join('\n')}\n`);
    await eventually(`an answer to ${words}`, () => said.out.includes('"id":2'));
    const leave = async () => {
      said.child.stdin.end();
      await said.ended;
    };
    return { leave };
  }

  async follow(line, { pattern }) {
    for (const words of line.split('; ')) {
      const said = this.start(words);
      const happens = async () => {
        await this.run('corral tools files');
        return pattern.test(said.out);
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
    await this.endServings();
    await this.run('corral shutdown');
  }
}

async function typePage(lab, lines, table) {
  const home = new FreshHome(lab, await freePort());
  try {
    for (const line of lines) await home.type(line, table[line]);
  } finally {
    await home.end();
  }
  await lab.empty();
}

// ---- the tests

test('each line of the README has a row here, and each row a line', () => {
  assert.deepEqual([...new Set(linesOf(pageOf('README.md')))].sort(), Object.keys(README).sort());
});

labTest('the README typed word by word does what it says', { timeout: 180_000 }, async (lab) => {
  await typePage(lab, linesOf(pageOf('README.md')), README);
});

labTest('the table of `corral ps` in the README has the columns that there are', {}, async (lab) => {
  const home = new FreshHome(lab, 0);
  const columns = (line) => line.trim().split(/\s+/);
  try {
    const client = await home.hold(A_SESSION);
    const shown = await home.run('corral ps');
    await client.leave();
    assert.deepEqual(columns(shown.out.split('\n')[0]), columns(headerBehind(pageOf('README.md'), 'corral ps')));
    assert.match(shown.out, /\d+ [KMG]B/);
  } finally {
    await home.end();
  }
  await lab.empty();
});

labTest('the change of a configuration in the README starts the server', {}, async (lab) => {
  const [, added] = /^\+ +("command": "corral".*\])$/m.exec(pageOf('README.md'));
  const { command, args } = JSON.parse(`{${added}}`);
  const home = new FreshHome(lab, 0);
  try {
    await home.type([command, ...args].join(' '), session('read_text_file'));
  } finally {
    await home.end();
  }
  await lab.empty();
});

labTest('the first block of docs/direct.md does what it says', { timeout: 180_000 }, async (lab) => {
  const lines = linesOf(pageOf('docs/direct.md')).slice(0, Object.keys(DIRECT).length);
  assert.deepEqual(lines, Object.keys(DIRECT));
  const home = new FreshHome(lab, 0);
  try {
    await home.type('corral add files -- npx -y some-server .', prints(/files/));
    for (const line of lines) await home.type(line, DIRECT[line]);
  } finally {
    await home.end();
  }
  await lab.empty();
});

for (const [page, table] of Object.entries(INLINE)) {
  labTest(`the commands in the text of ${page} do what it says`, { timeout: 180_000 }, async (lab) => {
    const lines = inlineOf(pageOf(page));
    assert.deepEqual([...lines].sort(), Object.keys(table).sort());
    const home = new FreshHome(lab, await freePort());
    try {
      await home.type('corral add files -- npx -y some-server .', prints(/files/));
      for (const line of lines) await home.type(line, table[line]);
    } finally {
      await home.end();
    }
    await lab.empty();
  });
}

// Each member of `shown` is in `found`; `…` in a text stands for anything.
function assertShows(found, shown) {
  if (typeof shown === 'string') {
    const parts = shown.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    assert.match(found, new RegExp(`^${parts.join('.*')}$`, 's'));
  } else if (typeof shown === 'object') {
    for (const [key, value] of Object.entries(shown)) assertShows(found[key], value);
  } else {
    assert.equal(found, shown);
  }
}

labTest('the batch in docs/direct.md gets the answers that are shown', {}, async (lab) => {
  const [, typed, shown] = /^```console\n\$ (corral call files --batch .*?^END\n)(.*?)^```/ms.exec(pageOf('docs/direct.md'));
  const home = new FreshHome(lab, 0);
  const objects = (text) => text.trim().split('\n').map((line) => JSON.parse(line));
  try {
    await home.type('corral add files -- npx -y some-server .', prints(/files/));
    const said = home.start(`bash <<'TYPED'\n${typed}TYPED\n`);
    said.child.stdin.end();
    assert.equal(await said.ended, 2, said.err);
    const answers = objects(said.out);
    assert.equal(answers.length, objects(shown).length);
    objects(shown).forEach((line, at) => assertShows(answers[at], line));
    assert.equal(answers[0].result.content[0].text, 'the text of a.txt\n');
  } finally {
    await home.end();
  }
  await lab.empty();
});
