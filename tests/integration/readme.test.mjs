// The pages that a first user follows, typed word by word in a fresh home (support/fresh_home.mjs): the README, and the
// commands in docs/direct.md, docs/choosing.md and docs/sharing.md. The lines are read from the pages, so a changed page
// is what is tested; a line that has no row here fails the test. docs.test.mjs has the other pages.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import {
  A_SESSION,
  EVERYTHING,
  FILESYSTEM,
  FreshHome,
  follows,
  freePort,
  notTyped,
  prints,
  serves,
  session,
} from './support/fresh_home.mjs';
import { labTest } from './support/lab.mjs';
import { inlineOf, linesOf, pageOf } from './support/pages.mjs';

const ADDED_FILES = prints(/^Added files to ~\/\.config\/corral\/config\.json\.$/m);
const PS_HEADER = 'SERVER +PID +PROCS +SESS +UP +MEMORY +CPU +STATE';
const PS_EVERYTHING = String.raw`server-everything +\d+ +\d+ +1 +\d+[ms] +\d+ MB +\d+% +ready`;
const TOOLS_OF_FILES = prints(/^Tools of 'files': \d+\n +TOOL +DESCRIPTION\n(?=[^]*^ +read_text_file +Read the complete )/m);
const GUARDED = prints(/^the client was here\n\s*$/);

const README = {
  'sudo apt install ./corral_0.1.0-1_amd64.deb': notTyped('tests/packages/test_deb.py'),
  'sudo rpm -i corral-0.1.0-1.x86_64.rpm': notTyped('tests/packages/release/test_rpm.py'),
  'npm install -g ./corral-mcp-corral-0.1.0.tgz ./corral-mcp-corral-linux-x64-0.1.0.tgz': notTyped(
    'tests/packages/release/test_npm.py',
  ),
  'mkdir -p ~/.local && tar -C ~/.local --strip-components=1 -xf corral-0.1.0-linux-x64.tar.xz': notTyped(
    'tests/packages/test_tarball.py',
  ),
  'make install PREFIX=$HOME/.local': notTyped('it builds corral'),
  'corral adopt --all': prints(/^Nothing was changed\. `corral adopt --all --yes` adopts /m),
  'corral release --all': prints(/^Nothing /m, { codes: [0, 3] }),
  [`claude mcp add files -- corral connect -- npx -y ${FILESYSTEM} .`]: prints(/"name":"read_text_file"/),
  [`codex mcp add files -- corral connect -- npx -y ${FILESYSTEM} .`]: prints(/"name":"read_text_file"/),
  [`cat requests.jsonl | corral run --report - -- npx -y ${EVERYTHING}`]: prints(
    /"reason":"stdin-closed".*"survivors":\[\],"leaked":false/,
  ),
  'corral run -- COMMAND [ARG...]': session('echo'),
  'corral run --containment strict -- COMMAND': notTyped('strict.test.mjs: not every machine allows namespaces'),
  'corral run --memory 1G --pids 64 -- COMMAND': notTyped('limits.test.mjs: not every machine allows cgroups'),
  "corral run --on-stop 'ssh host ./stop' -- COMMAND": session('echo', { leaves: 'stopped' }),
  'corral run -- docker run -i --rm some/image': notTyped('tests/os/containers_test.cc: there is no Docker here'),
  'corral import ~/.claude.json': prints(/^Added notes to ~\/\.config\/corral\/config\.json\.\nNext: corral tools notes$/m),
  'corral add files -- npx -y some-server .': ADDED_FILES,
  'corral connect -- npx -y some-server': session('echo'),
  'corral connect files': session('read_text_file'),
  'corral ps': prints(new RegExp(`^${PS_HEADER}\\n(?:.*\\n)*${PS_EVERYTHING}$`, 'm'), { meanwhile: A_SESSION }),
  'corral ps -v': prints(
    new RegExp(`^corral [^]*^${PS_HEADER}\\n[^]*^${PS_EVERYTHING}\\n  private: known to keep state for one client: `, 'm'),
    { meanwhile: A_SESSION },
  ),
  'corral top': notTyped('tests/os/screens_test.cc: it needs a terminal'),
  'corral events -f; corral logs files -f': follows(
    /^\S+Z  attach   session \d+: attached to instance [0-9a-f]{8} of server files$/m,
    /^\S+Z [0-9a-f]{8} Secure MCP Filesystem Server running on stdio$/m,
  ),
  'corral restart files': prints(
    /^files: 1 instance ended; the next call starts a new one\n  files [0-9a-f]{8} .*\bgone after \d/,
  ),
  'corral tools files': TOOLS_OF_FILES,
  'corral call files read_file path=a.txt': prints(/^the text of a\.txt$/m),
  'corral session create --server files': prints(/^s-[0-9a-f]{16}\n\s*$/),
  'corral serve': serves({ before: 'corral shutdown' }),
  'corral shutdown': prints(/^ended \d+ sessions? and \d+ instances?\n\s*$/),
  'corral help': prints(/^corral runs MCP servers [^]*^Usage: corral COMMAND[^]*^Use  [^]*^Look  [^]*^Repair  [^]*^Administer  /m),
  'corral serve --port 8765 -- npx -y some-server': serves({ port: true }),
  'claude mcp add --transport http files http://127.0.0.1:8765/mcp': prints(/"tools":\[\{"name":"echo"/),
  'corral doctor': prints(/^(\d+|No) MCP servers? (is|are) running here/, { codes: [0, 1] }),
  'corral reap': notTyped('tests/os/reap_asks_test.cc: it asks about the servers of other tests'),
  'corral reap --orphans --yes': notTyped('tests/os/reap_test.cc: it would end processes of other tests'),
  'corral reap --pile-ups --keep 3 --yes': notTyped('tests/os/reap_test.cc: it would end processes of other tests'),
  'corral watch --foreign end': notTyped('tests/os/watch_test.cc: it would end processes of other tests'),
  'corral run --cleanup -- COMMAND': notTyped('tests/os/cleanup_test.cc: it would end processes of other tests'),
  'corral guard -- claude': GUARDED,
};

const DIRECT = {
  'corral tools files': TOOLS_OF_FILES,
  'corral tools files read_file': prints(/^read_file\n[^]*^Arguments:\n\{[^]*"path": \{/m),
  'corral call files read_file path=README.md': prints(/^the text of README\.md$/m),
  'corral call -- npx -y some-server -- echo message=hello': prints(/^Echo: hello$/m),
  'if text=$(corral call files read_file path=notes.md); then …': notTyped('it is not complete: tests/os/direct_test.cc'),
  'corral call ci run_tests --timeout 20m || case $? in 1) echo red ;; 4) echo "no server" ;; esac': notTyped(
    'there is no such server: tests/os/direct_test.cc',
  ),
  'corral call weather forecast city=Oslo --output json | jq .structuredContent.celsius': notTyped(
    'there is no such server, and perhaps no jq: tests/os/direct_test.cc',
  ),
  "corral call files --batch <<'END'": notTyped('a test of its own, below'),
};

// The commands of more than two words in the text of a page.
const INLINE = {
  'docs/sharing.md': {
    'corral connect --share shared -- COMMAND': session('echo'),
    'corral connect --share session -- COMMAND': session('echo'),
    'corral connect --ignore cwd --ignore PATH -- COMMAND': session('echo'),
    'corral why NAME': prints(/^files, process \d+: ready/m, { meanwhile: 'corral connect files' }),
    'corral why PID': prints(/^server-everything, process \d+: ready/m, { meanwhile: A_SESSION }),
  },
  'docs/choosing.md': {
    'corral run -- COMMAND': session('echo'),
    'corral guard -- CLIENT': GUARDED,
    'corral connect NAME': session('read_text_file'),
    'corral call NAME TOOL key=value': prints(/^the text of a\.txt$/m),
    'corral serve --port 8765': serves({ before: 'corral shutdown', port: true }),
    'corral url NAME': prints(/^# http\nhttp:\/\/127\.0\.0\.1:\d+\/mcp\/files$/m),
    'corral serve --port 8765 -- COMMAND': serves({ port: true }),
    "corral guard -- sh -c '…'": prints(/^\s*$/),
    'corral call -- COMMAND -- TOOL': prints(/^Echo: moo$/m),
  },
};

// The table that follows a command in a console block: its first line.
const headerBehind = (text, command) => text.split(`$ ${command}\n`)[1].split('\n')[0];

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
  const [, added] = /^\+ +("command": "\/usr\/bin\/corral".*\])$/m.exec(pageOf('README.md'));
  const { command, args } = JSON.parse(`{${added}}`);
  const home = new FreshHome(lab, 0);
  try {
    await home.type([path.basename(command), ...args].join(' '), session('read_text_file'));
  } finally {
    await home.end();
  }
  await lab.empty();
});

labTest('the blocks of docs/direct.md do what they say', { timeout: 180_000 }, async (lab) => {
  const lines = linesOf(pageOf('docs/direct.md'));
  assert.deepEqual(lines, Object.keys(DIRECT));
  const home = new FreshHome(lab, 0);
  try {
    await home.type('corral add files -- npx -y some-server .', ADDED_FILES);
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
    const home = new FreshHome(lab, await freePort(), { stubs: true });
    try {
      await home.type('corral add files -- npx -y some-server .', ADDED_FILES);
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
    await home.type('corral add files -- npx -y some-server .', ADDED_FILES);
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
