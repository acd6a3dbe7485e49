// The commands in the blocks of the pages below docs/, typed word by word in a fresh home (support/fresh_home.mjs). They
// are read from the pages; a command that has no row here fails the test. What nobody can type here has a row with the
// reason; tools/check_docs.py at least has the program parse it. README.md, docs/direct.md: readme.test.mjs.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import {
  FILESYSTEM,
  FreshHome,
  defines,
  freePort,
  holds,
  notTyped,
  prints,
  serves,
  session,
  sets,
  shows,
} from './support/fresh_home.mjs';
import { labTest } from './support/lab.mjs';
import { ROOT, blocksOf, linesOf, pageOf, pagesBelowDocs } from './support/pages.mjs';

// Pages, or their blocks in one language, that other tests type.
const ELSEWHERE = {
  'docs/direct.md': { languages: ['sh', 'console'], typedBy: 'readme.test.mjs' },
  'docs/install.md': { languages: ['sh'], typedBy: 'tests/packages/test_tarball.py and tests/packages/release/test_npm.py' },
  'docs/releasing.md': { languages: ['sh'], typedBy: 'tests/packages/release' },
  'docs/http.md': { languages: ['console'], typedBy: 'http_transcripts.test.mjs' },
  'docs/troubleshooting.md': { languages: ['console'], typedBy: 'troubleshooting.test.mjs' },
};

// What nobody can type here.
const NEEDS_SYSTEMD = notTyped('it needs a service manager: tests/os/service_command_test.cc');
const NEEDS_ROOT = notTyped('tests/os/machine_file_test.cc: it needs a directory in /etc');
const NEEDS_A_MACHINE = notTyped('it needs another machine');
const NEEDS_DOCKER = notTyped('tests/os/containers_test.cc: there is no Docker here');
const NEEDS_NAMESPACES = notTyped('strict.test.mjs: not every machine allows namespaces');
const NEEDS_CGROUPS = notTyped('limits.test.mjs: not every machine allows cgroups');
const WOULD_END_OTHERS = notTyped('tests/os/cleanup_test.cc: it would end processes of other tests');

const ADD_FILES = `corral add files -- npx -y ${FILESYSTEM} .`;
const ADD_MEMORY = 'corral add memory -- npx -y @modelcontextprotocol/server-memory';
const NOTES = ['python3', path.join(ROOT, 'demo/notes_server.py')];
const ADD_NOTES = `corral add notes -- ${NOTES.join(' ')}`;

const writeServers = (home, file, mcpServers) => {
  const target = path.join(home.home, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, JSON.stringify({ mcpServers }), { mode: 0o600 });
};
const ownServers = (home, servers) => writeServers(home, '.config/corral/config.json', servers);
const notes = (corral) => ({ command: NOTES[0], args: NOTES.slice(1), corral });

const A_TOKEN = /^crl_[0-9a-f]{64}$/m;
// The instances of a session end in any order.
const filesFirst = (text) => text.replace(/\[(\{"server":"memory".*?\}),(\{"server":"files".*?\})\]/, '[$2,$1]');
const numbersAway = (text) => text.replace(/\d+/g, 'N');

// For each page what its reader has before, and a row for each line.
const PAGES = {
  'docs/adopt.md': {
    before: (home) => writeServers(home, '.cursor/mcp.json', { files: { command: 'npx', args: ['-y', FILESYSTEM, '.'] } }),
    lines: {
      'corral adopt --dry-run': prints(/^Cursor: .*\n {2}files .*\n {4}- "command": "npx"\n/m),
      'corral adopt': prints(/^Nothing was changed\./m),
      'corral adopt codex cursor --yes': prints(/^Adopted files in ~\/\.cursor\/mcp\.json\./m),
      'corral adopt --status': prints(/^files +cursor .* adopted$/m),
      'corral release --all': prints(/^Nothing was changed\. `corral release --all --yes` releases one server\.$/m),
    },
  },
  'docs/configuration.md': {
    before: (home) =>
      writeServers(home, '.cursor/mcp.json', { files: { command: 'npx', args: ['-y', FILESYSTEM, '.'] } }),
    lines: {
      'corral import ~/.cursor/mcp.json': prints(/^Added files to ~\/\.config\/corral\/config\.json\.$/m),
      'corral add fetch -- uvx mcp-server-fetch': prints(/^Added fetch to ~\/\.config\/corral\/config\.json\.$/m),
      'corral list': prints(/^SERVER +STATE +TOOLS +SHARED +FROM +LAST ERROR\n(?=[^]*^fetch )(?=[^]*^files )/m),
      'corral config check': prints(/fetch[^]*files|files[^]*fetch/),
      'corral config path': prints(/\/home\/\.config\/corral\/config\.json$/m),
      'corral connect files': session('read_text_file'),
      "corral add files --share root -- npx -y @modelcontextprotocol/server-filesystem '${CORRAL_ROOT}'": prints(/files/, {
        first: ['corral remove files'],
      }),
      "corral add github --env 'GITHUB_TOKEN=${GITHUB_TOKEN}' --cwd /srv -- github-mcp-server stdio": prints(
        /(?=[^]*'github-mcp-server'\s+was\s+not\s+found in PATH)(?=[^]*GITHUB_TOKEN, which is not set)/,
      ),
      'corral remove github': prints(/^Removed github from ~\/\.config\/corral\/config\.json\.$/m),
    },
  },
  'docs/operations/bundle.md': {
    lines: {
      'corral bundle': prints(/^doctor\.json /m, { codes: [1] }),
      'corral bundle - | less': prints(/^==== doctor\.json ====$/m, { is: 'corral bundle - | cat' }),
      'corral bundle --dry-run': prints(/^config\.json /m),
      'corral bundle --yes report.txt': prints(/^Written to report\.txt\./m),
    },
  },
  'docs/operations/many-machines.md': {
    before: (home) => writeServers(home, '.cursor/mcp.json', { files: { command: 'npx', args: ['-y', FILESYSTEM, '.'] } }),
    lines: {
      'install -d -o root -g root -m 755 /etc/corral': NEEDS_ROOT,
      'install -o root -g root -m 644 config.json /etc/corral/config.json.new': NEEDS_ROOT,
      'mv /etc/corral/config.json.new /etc/corral/config.json': NEEDS_ROOT,
      'corral config check /etc/corral/config.json': NEEDS_ROOT,
      'corral adopt --all --yes --json': prints(/"written":true/),
    },
  },
  'docs/http.md': {
    setUp: [ADD_FILES],
    lines: {
      'corral serve --port 8765 -- npx -y @modelcontextprotocol/server-filesystem .': serves({ port: true }),
      'claude mcp add --transport http files http://127.0.0.1:8765/mcp': prints(/read_text_file/),
      'corral serve --port 8765': serves({ port: true }),
      'corral url files --client claude': prints(/^claude mcp add --transport http files http:\/\/127\.0\.0\.1:\d+\/mcp\/files$/m),
      'corral service install --port 8765': NEEDS_SYSTEMD,
    },
  },
  'docs/http-security.md': {
    before: (home) => {
      ownServers(home, { files: { command: 'npx', args: ['-y', FILESYSTEM, '.'], corral: { share: 'root' } } });
      mkdirSync(path.join(home.home, 'a'));
    },
    setUp: ['corral serve --background --port 8765'],
    lines: {
      'TOKEN=$(corral token create laptop)': sets(A_TOKEN),
      'corral token create ci --server files': prints(A_TOKEN),
      'corral token create web --server files --root ~/a': prints(A_TOKEN),
      'corral token list': prints(/(?=[^]*^laptop )(?=[^]*^ci .*files)(?=[^]*^web .*files.*\/home\/a$)/m, { never: ['TOKEN'] }),
      'corral token revoke ci': prints(/\bci\b/),
      'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8765/readyz': prints(/"status":"ready"/),
      'ssh -N -L 127.0.0.1:8765:127.0.0.1:8765 you@workstation': NEEDS_A_MACHINE,
    },
  },
  'docs/run.md': {
    lines: {
      'corral run -- COMMAND [ARG...]': session('echo'),
      'corral run --containment strict -- COMMAND': NEEDS_NAMESPACES,
      'corral run --memory 1G --pids 64 -- COMMAND': NEEDS_CGROUPS,
      "corral run --on-stop 'ssh host ./stop' -- COMMAND": session('echo', { leaves: 'stopped' }),
      'corral run -- docker run -i --rm some/image': NEEDS_DOCKER,
      'corral run --cleanup -- COMMAND': WOULD_END_OTHERS,
    },
  },
  'docs/lifecycle.md': {
    setUp: [ADD_FILES, ADD_MEMORY],
    lines: {
      'ID=$(corral session create --server files --server memory)': sets(/^s-[0-9a-f]{16}$/m),
      'corral connect --session $ID files': holds('files', 'memory'),
      'corral session end $ID --json': shows({ bare: filesFirst }),
    },
  },
  'docs/api.md': {
    setUp: ['corral serve --background'],
    lines: {
      'curl -s --unix-socket "/run/user/$(id -u)/corral/http.sock" http://localhost/api/v1/info': shows(),
    },
  },
  'docs/protocol/control.md': {
    setUp: [ADD_FILES, 'corral serve --background'],
    lines: {
      [`ask() { printf '%s\\n' "$1" | socat -t 60 - UNIX-CONNECT:"/run/user/$(id -u)/corral/corral.sock"; }`]: defines(),
      [`ask '{"protocol":3,"verb":"session-create","servers":["files"],"cwd":"/srv/me","ttl_ms":600000}'`]: prints(
        /"reply":"result".*"id":"s-[0-9a-f]{16}"/,
        { finds: /s-[0-9a-f]{16}/ },
      ),
      [`ask '{"protocol":3,"verb":"session-end","session":"s-0123456789abcdef"}'`]: prints(/"reply":"result".*"leaked":false/),
    },
  },
  'docs/operations/daemon.md': {
    lines: {
      'corral service install': NEEDS_SYSTEMD,
      'corral service status': NEEDS_SYSTEMD,
      'corral service uninstall': NEEDS_SYSTEMD,
    },
  },
  'docs/operations/ps-top.md': {
    before: (home) =>
      ownServers(home, {
        files: notes({ share: 'shared' }),
        notes: notes({ share: 'shared' }),
        search: notes({ share: 'session', park: true, idle: '100ms' }),
      }),
    lines: {
      'corral ps': shows({
        bare: numbersAway,
        meanwhile: [
          'corral connect files',
          'corral connect files',
          'corral call notes list_notes',
          'corral connect search',
        ],
        until: /idle.*\nsearch +-/,
      }),
    },
  },
  'docs/control-server.md': {
    setUp: [ADD_NOTES, 'corral serve --background'],
    lines: {
      'claude mcp add corral -- corral connect corral': prints(/get_server_info/),
      'codex mcp add corral -- corral connect corral': prints(/get_server_info/),
      [`printf '%s\\n' '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_servers"}}' | corral mcp`]: shows(),
    },
  },
};

const known = (page) => Object.keys(PAGES[page]?.lines ?? {}).sort();
const ours = (page) => ['sh', 'console'].filter((language) => !ELSEWHERE[page]?.languages.includes(language));
const commandsIn = (page) => blocksOf(pageOf(page), ours(page)).flat();

test('each command in a block of a page has a row here, and each row a command', () => {
  for (const page of pagesBelowDocs()) {
    const lines = commandsIn(page).map(({ line }) => line);
    assert.deepEqual([...new Set(lines)].sort(), known(page), page);
  }
  assert.deepEqual(Object.keys({ ...PAGES, ...ELSEWHERE }).filter((page) => linesOf(pageOf(page)).length === 0), []);
});

for (const [page, { before, setUp = [], lines }] of Object.entries(PAGES)) {
  labTest(`the commands in the blocks of ${page} do what it says`, {}, async (lab) => {
    const home = new FreshHome(lab, await freePort(), { stubs: true });
    before?.(home);
    try {
      for (const words of setUp) {
        const said = await home.run(await home.words(words));
        assert.equal(said.code, 0, said.out + said.err);
      }
      for (const { line, shown } of commandsIn(page)) await home.type(line, lines[line], shown);
    } finally {
      await home.end();
    }
    await lab.empty();
  });
}
