// The commands in the text of the pages below docs/, outside of their blocks: each is typed once in a fresh home
// (support/fresh_home.mjs) and prints what it is there for. A command of more than two words that has no row here fails
// the test. docs/choosing.md, docs/sharing.md: readme.test.mjs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FILESYSTEM, FreshHome, follows, freePort, notTyped, prints, serves, session } from './support/fresh_home.mjs';
import { labTest } from './support/lab.mjs';
import { inlineOf, pageOf, pagesBelowDocs } from './support/pages.mjs';

const TYPED_ELSEWHERE = ['docs/choosing.md', 'docs/sharing.md'];

const A_PART = notTyped('it is the beginning of a command');
const IN_A_BLOCK = notTyped('the same line is in a block: docs.test.mjs, readme.test.mjs');
const NEEDS_SYSTEMD = notTyped('it needs a service manager: tests/os/service_command_test.cc');
const WOULD_END_OTHERS = notTyped('it would end processes of other tests: tests/os/watch_test.cc, tests/os/reap_test.cc');
const A_SESSION = 'corral session create --server files';
const json = (pattern, more) => prints(new RegExp(`^[{[].*${pattern.source}`), more);

// In this order.
const LINES = {
  // One server, whose sessions leave something to see.
  'corral add NAME -- COMMAND…': IN_A_BLOCK,
  'corral import FILE': IN_A_BLOCK,
  'corral config check': prints(/^files: npx -y /m),
  'corral add --share': A_PART,
  'corral list --runtime-dir …': prints(/^SERVER +STATE +TOOLS +SHARED +FROM +LAST ERROR\nfiles +/m, { is: 'corral list' }),
  'corral adopt --help': prints(/^Usage: corral adopt /m),
  'corral adopt --all --yes --json': json(/"written":true/),
  'corral adopt --status': prints(/ adopted$/m),
  'corral release --all --yes': prints(/^Released /m),
  'corral adopt --all': prints(/^Nothing was changed\. `corral adopt --all --yes` adopts /m),
  'corral adopt codex': prints(/^Nothing to adopt\.$/m, { codes: [3] }),
  'corral adopt CLIENT': prints(/^Nothing to adopt\.$/m, { is: 'corral adopt cursor', codes: [3] }),
  'corral tools NAME': prints(/^ *read_text_file/m),
  'corral tools NAME --format openai|anthropic|mcp': prints(/"read_text_file"/, { is: 'corral tools files --format openai' }),
  'corral tools -- COMMAND [ARG...]': prints(/^ *echo/m),
  'corral call --batch -- COMMAND [ARG...]': prints(/^/),
  'corral connect -- COMMAND': session('echo'),
  'corral connect NAME': session('read_text_file'),
  'corral connect --root DIR NAME': session('read_text_file', { is: 'corral connect --root . projects' }),
  'corral connect corral': session('get_server_info'),
  'corral call corral get_server_info': prints(/"health":"healthy"/),
  'corral why NAME': prints(/^files, process \d+: ready/m, { meanwhile: 'corral connect files' }),
  'corral ps -v': prints(/^ +shared: /m, { meanwhile: 'corral connect files' }),
  'corral ps --tree': prints(/^files [^]*^ +corral-keeper +\d+ [^]*^Clients: 1$/m, { meanwhile: 'corral connect files' }),
  'corral ps --server NAME': prints(/^SERVER +PID [^]*^files /m, { meanwhile: 'corral connect files' }),
  'corral ps --last': prints(/^SERVER +PID +STARTED +RAN +ENDED +HOW$/m),
  'corral ps --json': json(/"instances":\[/),
  'corral top --batch N': prints(/instances/, { is: 'corral top --batch 1' }),
  'corral status --json': json(/"health":/),
  'corral info --json': json(/"health":"healthy"/),
  'corral events --json': json(/"kind":"start"/),
  'corral events --kind drift': prints(/^/),
  'corral events --kind unattended': prints(/^/),
  'corral events --since 1h': prints(/ start /),
  'corral events -f': follows(/files/),
  'corral logs NAME': prints(/Filesystem/i),
  'corral logs NAME -f': follows(/Filesystem/i),
  'corral logs NAME --json': json(/"text":/),
  'corral restart NAME': prints(/^files: (no instance was running; the next call starts one|1 instance ended; )/),
  'corral stop NAME': prints(/^files is stopped: [^]*`corral start files` allows it/),
  'corral start NAME': prints(/^files may run again$/m),
  'corral restart\\|stop\\|start NAME --json': json(/"server":"files"/, { is: 'corral restart files --json' }),
  'corral session list': prints(/s-[0-9a-f]{16}/, { first: [A_SESSION], finds: /s-[0-9a-f]{16}/ }),
  'corral session end ID': prints(/s-[0-9a-f]{16}/),
  'corral session list --json': json(/"id":"s-[0-9a-f]{16}"/, { first: [A_SESSION], finds: /s-[0-9a-f]{16}/ }),
  'corral connect --session ID NAME': session('read_text_file'),
  'corral session end ID --json': json(/"leaked":false/),
  'corral session end': A_PART,
  'corral url NAME': prints(/\/corral connect .*\bfiles$/m),
  'corral url NAME --client CLIENT': prints(/^claude mcp add /m),
  'corral version -v': prints(/^containment +/m),
  'corral --version -v': prints(/^libraries +/m),
  'corral completions bash': prints(/complete /),
  'corral man ps': prints(/^\.TH /m),
  'corral run --help': prints(/^Usage: corral run /m),
  'corral doctor --json': json(/"schema":1/),
  'corral bundle [FILE]': prints(/^Written to report\.txt\./m, { is: 'corral bundle --yes report.txt' }),
  'corral doctor -v': prints(/MCP server/),
  'corral who PID': prints(/^\d+: /m, { meanwhile: 'corral connect files' }),
  'corral who --json': A_PART,
  'corral watch --json': A_PART,
  'corral reap --yes': A_PART,
  'corral reap --orphans': prints(/^Remaining: |No MCP server/m, { codes: [0, 1] }),
  'corral reap --orphans …': A_PART,
  'corral reap --pile-ups': prints(/^Remaining: |No MCP server/m, { codes: [0, 1] }),
  'corral reap --pile-ups --parent PID': prints(/Remaining: |No MCP server/, { is: 'corral reap --pile-ups --parent 1', codes: [0, 1] }),
  'corral watch --foreign end': WOULD_END_OTHERS,
  'corral run --cleanup --': A_PART,
  'corral run --': A_PART,
  'corral run --report': A_PART,
  'corral run -- COMMAND': session('echo'),
  'corral run --report FILE -- COMMAND': session('echo', { is: 'corral run --report report.json -- COMMAND', leaves: 'report.json' }),
  'corral guard --fail-on-leak -- CLIENT …': prints(/the client was here/, { is: 'corral guard --fail-on-leak -- CLIENT' }),
  'corral token create NAME': prints(/^crl_/m),
  'corral token create NAME --root DIR': prints(/^crl_/m, { is: 'corral token create other --root .' }),
  "corral doctor --json | jq -r '.servers[] | [.pid, .name, .version, .stale_file] | @tsv'": notTyped('there may be no jq'),
  // Daemons of all kinds.
  'corral serve --auto': prints(/is running|already/, {}),
  'corral serve --replace': serves(),
  'corral serve --log text': serves({ before: 'corral shutdown' }),
  'corral serve --background': prints(/^/, { first: ['corral shutdown'] }),
  'corral serve --port 8765 -- COMMAND': IN_A_BLOCK,
  'corral serve -- COMMAND': IN_A_BLOCK,
  'corral serve --port N --bind ADDRESS': IN_A_BLOCK,
  'corral serve --bind 0.0.0.0': notTyped('it would open a port of this machine: tests/os/http_limits_test.cc'),
  'corral status --runtime-dir …': A_PART,
  'corral service install': NEEDS_SYSTEMD,
  'corral service install --manager launchd --dry-run': prints(/<key>ProgramArguments<\/key>/),
  'corral logs notes': notTyped('failures.test.mjs'),
  'corral events --server notes --since 1h': notTyped('failures.test.mjs'),
  'corral uninstall --purge': notTyped('tests/unit/cli/commands/adopt_command_test.cc'),
  'corral remove NAME': prints(/^Removed files from ~\/\.config\/corral\/config\.json\.$/m),
};

const pages = () => pagesBelowDocs().filter((page) => !TYPED_ELSEWHERE.includes(page));

test('each command in the text of a page has a row here, and each row a command', () => {
  const found = new Set(pages().flatMap((page) => inlineOf(pageOf(page))));
  const unknown = [...found].filter((line) => !(line in LINES));
  const gone = Object.keys(LINES).filter((line) => !found.has(line));
  assert.deepEqual({ unknown, gone }, { unknown: [], gone: [] });
});

labTest('the commands in the text of the pages do what these say', {}, async (lab) => {
  const home = new FreshHome(lab, await freePort(), { stubs: true });
  try {
    await home.run(`corral add files -- npx -y ${FILESYSTEM} .`);
    await home.run(`corral add projects --share root -- npx -y ${FILESYSTEM} .`);
    for (const [line, expected] of Object.entries(LINES)) {
      await home.type(expected.is ?? line, expected);
    }
  } finally {
    await home.end();
  }
  await lab.empty();
});
