// A server that fails is found by its name and with its reason: by `ps`, `logs` and `events` of a daemon, and by
// `ps --last`, `logs` and `events` after that daemon was killed. One daemon has all the servers, one for each kind of
// failure and each way to ask for it, so that no failure can be mistaken for that of another row.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { daemonTest, entry } from './support/daemon.mjs';
import { beginSession, post } from './support/http.mjs';
import { HERE } from './support/lab.mjs';
import { eventually } from './support/processes.mjs';
import { INITIALIZED, RawClient, initialize, toolCall } from './support/raw_client.mjs';

const failing = (words, corral) => entry(['/bin/sh', path.join(HERE, 'support/failing-mcp.sh'), words], corral);
const toSh = (script) => entry(['/bin/sh', '-c', script]);

// What the newest event about the server says, and a part of its text that no other failure has. `calls`: it starts,
// and fails in a call; the pattern is that of the last answer.
const FAILURES = {
  'a missing command': {
    name: 'missing',
    server: () => entry(['nosuchcmd']),
    kind: 'failed',
    cause: 'start',
    reason: /'nosuchcmd' was not found in PATH/,
  },
  'an exit with last words': {
    name: 'early',
    server: () => toSh('echo "the licence has expired" >&2; exit 3'),
    kind: 'crash',
    cause: 'died',
    reason: /exited with code 3\b.*the licence has expired/,
  },
  'a crash in a call': {
    name: 'crash',
    // One that is started again and is ready has no failure to show.
    server: () => failing('the disk is full', { restart: false }),
    kind: 'crash',
    cause: 'died',
    reason: /exited with code 5.*the disk is full/,
    calls: /the disk is full/,
  },
  'a crash loop': {
    name: 'loop',
    server: () => failing('the disk is broken'),
    kind: 'broken',
    cause: 'died-too-often',
    reason: /died 5 times in a row.*the disk is broken/,
    calls: /died 5 times in a row/,
  },
  'a variable that is not set': {
    name: 'unset',
    server: () => entry(['/bin/true'], {}, { KEY: '${UNSET_HERE}' }),
    kind: 'refused',
    cause: 'server',
    reason: /UNSET_HERE, which is not set/,
  },
  'a disabled server': {
    name: 'disabled',
    server: () => ({ ...entry(['/bin/true']), disabled: true }),
    kind: 'refused',
    cause: 'server',
    reason: /is disabled in/,
  },
  'a file that is not executable': {
    name: 'plain',
    server: (lab) => {
      const file = path.join(lab.dir, 'plain-file');
      writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 });
      return entry([file]);
    },
    kind: 'failed',
    cause: 'start',
    reason: /plain-file' is not executable/,
  },
  'a missing directory': {
    name: 'nowhere',
    server: () => ({ ...entry(['/bin/true']), cwd: '/no/such/folder' }),
    kind: 'failed',
    cause: 'start',
    reason: /'\/no\/such\/folder' does not exist/,
  },
};

// ---- the ways to a server: each asks until it has failed, and returns what the last error says

async function overStdio(daemon, server, calls) {
  const client = new RawClient(daemon.lab, daemon.connect(server));
  let answer;
  if (calls === undefined) {
    client.send(initialize());
    await client.ended;
    answer = client.messages().find(({ id }) => id === 1);
  } else {
    await client.request(initialize());
    client.send(INITIALIZED);
    let id = 1;
    answer = await eventually(`${calls} from ${server}`, async () => {
      const said = await client.request(toolCall((id += 1), 'fail'));
      return calls.test(said.error?.message) ? said : null;
    });
    client.endInput();
    await client.ended;
  }
  return answer?.error?.message ?? '';
}

async function overHttp(daemon, server, calls) {
  const url = await daemon.url(server);
  const ask = async (message, options) => {
    const { messages } = await post(url, message, options);
    return messages.find(({ id }) => id === message.id)?.error?.message ?? '';
  };
  if (calls === undefined) return ask(initialize());
  const headers = await beginSession(url);
  let id = 1;
  const answer = await eventually(`${calls} from ${server}`, async () => {
    const said = await ask(toolCall((id += 1), 'fail'), { headers });
    return calls.test(said) ? said : null;
  });
  await fetch(url, { method: 'DELETE', headers });
  return answer;
}

const WAYS = { stdio: overStdio, url: overHttp };

const ROWS = Object.entries(FAILURES).flatMap(([what, row]) =>
  Object.entries(WAYS).map(([way, ask]) => ({ ...row, what, way, ask, name: `${row.name}-${way}` })),
);

// ---- where they are found

const oneLine = (text) => text.replace(/\s+/g, ' ');
const objectsIn = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));

// What is wrong with it, if anything.
const unless = (fits, what, shown) => (fits ? [] : [`${what}: ${shown.trim() || 'nothing'}`]);

// What is said about one server below a table, as one line.
const BEGINS = /^(\S+) [a-z ]+ \S+ ago: /;
function noteOf(text, name) {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => BEGINS.exec(line)?.[1] === name);
  if (first < 0) return '';
  const rest = lines.slice(first + 1);
  const end = rest.findIndex((line) => line === '' || BEGINS.test(line) || /^\S+ is [a-z]+; /.test(line));
  return oneLine([lines[first], ...(end < 0 ? rest : rest.slice(0, end))].join('\n'));
}

function objectionToNote(command, said, { name, reason }) {
  const note = noteOf(said.stdout, name);
  return unless(said.code === 0 && reason.test(note), command, note + said.stderr);
}

// It begins with the failure; what the server wrote last is among its lines.
function objectionToLog(command, said, { kind, reason }) {
  const begins = new RegExp(`^last failure: \\S+Z ${kind}: `).test(said.stdout);
  return unless(said.code === 0 && begins && reason.test(oneLine(said.stdout)), command, said.stdout + said.stderr);
}

function objectionToEvents(command, said, { name, kind, cause, reason }) {
  const newest = objectsIn(said.stdout).findLast((event) => event.server === name && event.kind === kind);
  const text = oneLine(`${newest?.text} ${newest?.stderr}`);
  const fits = said.code === 0 && newest?.cause === cause && reason.test(text);
  return unless(fits, command, `${JSON.stringify(newest) ?? `no ${kind} of ${name}`} ${said.stderr}`);
}

// What each command prints. `table` are the words of the one that shows all servers.
async function listen(daemon, table) {
  const heard = { events: await daemon.ask('events', '--json'), table: await daemon.ask(...table), logs: {} };
  for (const { name } of ROWS) heard.logs[name] = await daemon.ask('logs', name);
  return heard;
}

function objections(heard, command, when, row) {
  return [
    ...objectionToNote(`${command} ${when}`, heard.table, row),
    ...objectionToLog(`logs ${when}`, heard.logs[row.name], row),
    ...objectionToEvents(`events ${when}`, heard.events, row),
  ];
}

// The daemon writes its events to the file a moment after they happened.
async function becomeKept(daemon, told) {
  const KINDS = new Set(ROWS.map(({ kind }) => kind));
  const failed = objectsIn(told).filter(({ kind, server }) => KINDS.has(kind) && server);
  const newest = [...new Map(failed.map((event) => [event.server, event.time_ms]))];
  await eventually('the failures in the file', async () => {
    const { failures } = JSON.parse((await daemon.ask('ps', '--last', '--json')).stdout);
    const isKept = ([name, at]) => failures.some(({ server, time_ms }) => server === name && time_ms === at);
    return newest.every(isKept);
  });
}

const servers = (lab) => Object.fromEntries(ROWS.map(({ name, server }) => [name, server(lab)]));

daemonTest(
  'every failure is found by the name of its server and with its reason',
  { serve: ['--port', '0'], servers },
  async (daemon, lab, t) => {
    const answers = await Promise.all(ROWS.map(({ ask, name, calls }) => ask(daemon, name, calls)));
    const alive = await listen(daemon, ['ps', '-v']);
    const alone = {};
    for (const { name } of ROWS) alone[name] = await daemon.ask('ps', '--server', name);
    await becomeKept(daemon, alive.events.stdout);
    daemon.watch();

    process.kill(daemon.pid, 'SIGKILL');
    await daemon.ended;
    const dead = await listen(daemon, ['ps', '--last']);

    for (const [index, row] of ROWS.entries()) {
      await t.test(`${row.what}, by ${row.way}`, () => {
        const wrong = [
          ...unless(row.reason.test(oneLine(answers[index])), 'the answer to the client', answers[index]),
          ...unless(noteOf(alone[row.name].stdout, row.name) !== '', 'ps --server', alone[row.name].stderr),
          ...objections(alive, 'ps -v', 'of a daemon', row),
          ...objections(dead, 'ps --last', 'of a killed daemon', row),
        ];
        assert.deepEqual(wrong, []);
      });
    }
  },
);
