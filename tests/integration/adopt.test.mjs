// `corral adopt` and `corral release` typed in a home with files of several clients. Parsers that are not corral's (the
// one of node, and tomllib of Python) see the change of the two values and nothing else; the command that is then in the
// file is started as a client would start it, and leaves nothing; the release gives back the same bytes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripComments } from './support/client_config.mjs';
import { CORRAL, labTest } from './support/lab.mjs';
import { openSession, viaNode } from './support/session.mjs';

const [NODE, SCRIPT] = viaNode('everything');
const quoted = JSON.stringify;

const FILES = {
  '.cursor/mcp.json': {
    table: 'mcpServers',
    text: `\uFEFF{\r\n  "mcpServers": {\r\n    "everything": {"command": ${quoted(NODE)}, "args": [${quoted(SCRIPT)}], "env": {"A": "1"}},
    "web": {"url": "https://example.org/mcp"}\r\n  },\r\n  "other": {"command": "x", "args": []}\r\n}`,
  },
  '.config/Code/User/mcp.json': {
    table: 'servers',
    text: `// mine
{
\t"inputs": [],
\t"servers": {
\t\t"everything": {
\t\t\t"type": "stdio", // of the editor
\t\t\t"command": ${quoted(NODE)},
\t\t\t"args": [
\t\t\t\t${quoted(SCRIPT)}, /* no, "args" */ "stdio"
\t\t\t]
\t\t}
\t}
}
`,
  },
  '.codex/config.toml': {
    table: 'mcp_servers',
    text: `model = "x" # [mcp_servers.everything]
[mcp_servers.everything.env]
A = "1"
[mcp_servers.everything] # here
args = [
  ${quoted(SCRIPT)}, # "]
]
command = '${NODE}'
[mcp_servers.bare]
command = "true"`,
  },
};

const TOML = 'import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.stdin.read())))';

function parse(file, text) {
  if (!file.endsWith('.toml')) return JSON.parse(stripComments(text.replace(/^\uFEFF/, '')));
  const { status, stdout, stderr } = spawnSync('python3', ['-c', TOML], { input: text, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

class Home {
  constructor(lab) {
    this.folder = path.join(lab.dir, 'home');
    for (const [file, { text }] of Object.entries(FILES)) {
      mkdirSync(path.dirname(this.path(file)), { recursive: true });
      writeFileSync(this.path(file), text, { mode: 0o600 });
    }
    this.env = { ...lab.env, HOME: this.folder };
  }

  path(file) {
    return path.join(this.folder, file);
  }

  read(file) {
    return readFileSync(this.path(file), 'utf8');
  }

  type(...words) {
    const { status, stdout, stderr } = spawnSync(CORRAL, words, { cwd: this.folder, env: this.env, encoding: 'utf8' });
    return { code: status, out: stdout, said: `corral ${words.join(' ')}: ${status}\n${stdout}\n${stderr}` };
  }
}

labTest('adopt changes two values of each entry, which then starts and ends the server, and release undoes it', {}, async (lab) => {
  const home = new Home(lab);

  const shown = home.type('adopt', '--dry-run');
  assert.equal(shown.code, 0, shown.said);
  for (const [file, { text }] of Object.entries(FILES)) assert.equal(home.read(file), text, 'a dry run writes nothing');

  const adopted = home.type('adopt', '--all', '--run', '--yes');
  assert.equal(adopted.code, 0, adopted.said);
  for (const [file, { table, text }] of Object.entries(FILES)) {
    const before = parse(file, text);
    const now = parse(file, home.read(file));
    for (const [name, entry] of Object.entries(before[table])) {
      if (entry.url) continue;
      const wanted = ['run', '--', entry.command, ...(entry.args ?? [])];
      assert.deepEqual([now[table][name].command, now[table][name].args], [CORRAL, wanted], `${file}: ${name}`);
      Object.assign(before[table][name], { command: CORRAL, args: wanted });
    }
    assert.deepEqual(now, before, `${file}: nothing else`);

    const { command, args } = now[table].everything;
    const session = await openSession(lab, [command, ...args]);
    const { tools } = await session.client.listTools();
    await session.client.close();
    assert.ok(tools.some((tool) => tool.name === 'echo'), file);
  }
  await lab.empty();

  assert.equal(home.type('adopt', '--all', '--run', '--yes').code, 3, 'there is nothing left to do');
  assert.equal(home.type('adopt', '--status').code, 0);
  const released = home.type('release', '--all', '--yes');
  assert.equal(released.code, 0, released.said);
  for (const [file, { text }] of Object.entries(FILES)) assert.equal(home.read(file), text, `${file}: the same bytes`);
});

labTest('release keeps what the client has written since, in its own layout', {}, async (lab) => {
  const home = new Home(lab);
  const file = '.cursor/mcp.json';
  const before = parse(file, FILES[file].text);
  home.type('adopt', 'cursor', '--yes');
  const now = parse(file, home.read(file));
  now.mcpServers.added = { url: 'https://example.org/added' };
  writeFileSync(home.path(file), JSON.stringify(now, null, 4), { mode: 0o600 });

  const released = home.type('release', 'cursor', '--yes');

  assert.equal(released.code, 0, released.said);
  before.mcpServers.added = { url: 'https://example.org/added' };
  assert.deepEqual(parse(file, home.read(file)), before);
});
