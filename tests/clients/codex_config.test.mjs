// `corral adopt codex` and `corral release codex` around Codex's own commands: Codex reads what corral has written, and
// corral finds its words again in what Codex has written. `codex mcp add` and `codex mcp remove` rewrite all tables of servers,
// in a layout of their own and without the comments there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { codex, commandOf, parseToml } from './codex.mjs';
import { CORRAL } from '../integration/support/lab.mjs';
import { adopt, release } from './lab/cases.mjs';
import { LIMIT_MS, clientTest } from './lab/client_lab.mjs';

const CONFIG = `# my settings
model = "scripted" # the model

# files of the project
[mcp_servers.files] # the first
command = "npx" # runs npm
args = ["-y", "@modelcontextprotocol/server-filesystem", "."] # here
startup_timeout_sec = 30
tool_timeout_sec = 60.0
enabled_tools = ["read_file", "list_directory"]
enabled = true

  [mcp_servers.files.env] # indented
  TOKEN = "not-for-your-eyes"

[mcp_servers.files.tools.read_file]
approval_mode = "approve"

[mcp_servers.several]
args = [
  "a.js", # first
  # alone
  'b',
]
command = 'node'
env = { MODE = "quick" }
env_vars = ["LC_ALL"]
cwd = "/tmp"

[mcp_servers.web]
url = "https://example.org/mcp"
bearer_token_env_var = "WEB_TOKEN"

[mcp_servers."with.dot"]
command = "true"

[profiles.fast]
model = "scripted" # of the profile

[projects."/somewhere"]
trust_level = "untrusted"
# the end
`;

function typeCodex(lab, ...words) {
  const [command, ...args] = commandOf(...words);
  const options = { cwd: lab.project, env: lab.env, uid: lab.uid, gid: lab.uid, encoding: 'utf8', timeout: LIMIT_MS };
  const { status, stdout, stderr } = spawnSync(command, args, options);
  assert.equal(status, 0, `codex ${words.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

// As Codex itself understands its file.
const serversOf = (lab) =>
  Object.fromEntries(JSON.parse(typeCodex(lab, 'mcp', 'list', '--json')).map((server) => [server.name, server]));

function wrapped(server) {
  const { transport } = server;
  if (transport.type !== 'stdio') return server;
  const args = ['connect', '--name', server.name, '--', transport.command, ...transport.args];
  return { ...server, transport: { ...transport, command: CORRAL, args } };
}

const adoptedOf = (servers) => Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, wrapped(server)]));

const statesOf = (lab) =>
  Object.fromEntries(JSON.parse(lab.type('adopt', '--status', '--json').out).adopted.map(({ name, state }) => [name, state]));

const outsideOfServers = (text) => {
  const { mcp_servers: _, ...rest } = parseToml(text);
  return rest;
};

clientTest('Codex understands its adopted file: only the command and its arguments differ', (lab) => {
  lab.write(codex.file, CONFIG);
  const before = serversOf(lab);
  assert.deepEqual(Object.keys(before).sort(), ['files', 'several', 'web', 'with.dot']);

  adopt(lab, codex);

  assert.deepEqual(serversOf(lab), adoptedOf(before));
  assert.match(typeCodex(lab, 'mcp', 'get', 'files'), /command: .*corral\n\s+args: connect --name files -- npx -y/);
  assert.deepEqual(outsideOfServers(lab.read(codex.file)), outsideOfServers(CONFIG));
  release(lab, codex);
  assert.equal(lab.read(codex.file), CONFIG, 'the same bytes');
});

clientTest('after `codex mcp add` has rewritten the file, its servers are adopted still, and released', (lab) => {
  lab.write(codex.file, CONFIG);
  const before = serversOf(lab);
  adopt(lab, codex);

  typeCodex(lab, 'mcp', 'add', 'added', '--env', 'KEY=value', '--', 'node', 'added.js');
  assert.doesNotMatch(lab.read(codex.file), /# the first/, 'Codex has rewritten it');

  const all = { files: 'adopted', several: 'adopted', 'with.dot': 'adopted' };
  assert.deepEqual(statesOf(lab), all);
  const again = adopt(lab, codex);
  assert.match(again.out, /Adopted added in /, again.said);
  assert.deepEqual(statesOf(lab), { ...all, added: 'adopted' });
  const { added, ...others } = serversOf(lab);
  assert.deepEqual(others, adoptedOf(before));
  assert.deepEqual(added.transport.args, ['connect', '--name', 'added', '--', 'node', 'added.js']);
  release(lab, codex);
  const { added: released, ...same } = serversOf(lab);
  assert.deepEqual(same, before);
  assert.deepEqual([released.transport.command, released.transport.args], ['node', ['added.js']]);
});

clientTest('a server in a profile of Codex is adopted in the file of the profile, and released', (lab) => {
  const profile = '.codex/work.config.toml';
  const text = '[mcp_servers.notes] # only at work\ncommand = "npx"\nargs = ["-y", "@modelcontextprotocol/server-memory"]\n';
  lab.write(codex.file, CONFIG);
  lab.write(profile, text);

  adopt(lab, codex);

  const listed = JSON.parse(typeCodex(lab, '-p', 'work', 'mcp', 'list', '--json')).find(({ name }) => name === 'notes');
  assert.equal(listed.transport.command, CORRAL);
  assert.deepEqual(listed.transport.args.slice(0, 5), ['connect', '--name', 'notes', '--', 'npx']);
  release(lab, codex);
  assert.equal(lab.read(profile), text, 'the same bytes');
  assert.equal(lab.read(codex.file), CONFIG, 'the same bytes');
});

clientTest('a server that `codex mcp` has removed or replaced is forgotten, and the others are released', (lab) => {
  lab.write(codex.file, CONFIG);
  const { several: _, ...before } = serversOf(lab);
  adopt(lab, codex);

  typeCodex(lab, 'mcp', 'remove', 'several');
  typeCodex(lab, 'mcp', 'add', 'with.dot', '--', 'false', 'mine');

  assert.deepEqual(statesOf(lab), { files: 'adopted', several: 'gone', 'with.dot': 'replaced' });
  release(lab, codex);
  const { 'with.dot': replaced, ...now } = serversOf(lab);
  assert.deepEqual([replaced.transport.command, replaced.transport.args], ['false', ['mine']]);
  const { 'with.dot': __, ...rest } = before;
  assert.deepEqual(now, rest);
  assert.deepEqual(statesOf(lab), {}, 'nothing is left to release');
});
