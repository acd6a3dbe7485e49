// The examples for programs that create and end sessions themselves, run as their users run them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { listSessions, runsBelow } from './support/control.mjs';
import { Place, daemonTest, entry } from './support/daemon.mjs';
import { CORRAL, HERE, labTest } from './support/lab.mjs';
import { describe } from './support/processes.mjs';

const EXAMPLES = path.resolve(HERE, '../../examples');
const SERVERS = { notes: entry(['python3', path.resolve(HERE, '../../demo/notes_server.py')]) };
const LANGUAGES = {
  Python: ['python3', path.join(EXAMPLES, 'sessions', 'session.py')],
  Node: [process.execPath, path.join(EXAMPLES, 'sessions', 'session.mjs')],
};

function run([program, ...args], { lab, cwd = lab.dir }) {
  const env = { ...process.env, ...lab.env, CORRAL };
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

for (const [language, command] of Object.entries(LANGUAGES)) {
  const endsIt = `the ${language} example ends its session with evidence`;
  daemonTest(endsIt, { servers: SERVERS }, async (daemon, lab) => {
    const words = [daemon.dir, 'notes', 'add_note', '{"text": "hello"}'];
    const { code, stdout, stderr } = await run([...command, ...words], { lab });

    assert.equal(code, 0, stderr);
    assert.equal(describe(runsBelow(daemon)), 'none');
    const [answer, evidence] = stdout.trimEnd().split('\n');
    assert.equal(answer, 'kept, 1 so far');
    const { leaked, survivors, ended, kept } = JSON.parse(evidence);
    assert.deepEqual({ leaked, survivors, kept }, { leaked: false, survivors: [], kept: [] });
    assert.deepEqual(
      ended.map(({ server, cause, proved }) => [server, cause, proved]),
      [['notes', 'session-ended', true]],
    );
    assert.deepEqual(await listSessions(daemon), []);
  });

  const saysIt = `the ${language} example says what the daemon refuses`;
  daemonTest(saysIt, { servers: SERVERS }, async (daemon, lab) => {
    const { code, stdout, stderr } = await run([...command, daemon.dir, 'nots', 'add_note'], { lab });

    assert.notEqual(code, 0);
    assert.equal(stdout, '');
    assert.match(stderr, /no server is called 'nots' \(perhaps 'notes'\)/);
    assert.deepEqual(await listSessions(daemon), []);
  });
}

// It brings its own configuration, and its first session starts the daemon.
labTest('the agent loop runs 50 sessions and leaves nothing', { timeout: 180_000 }, async (lab, t) => {
  const place = new Place(lab, {});
  const folder = path.join(lab.dir, 'agent_loop');
  cpSync(path.join(EXAMPLES, 'agent_loop'), folder, { recursive: true });
  symlinkSync(path.join(HERE, 'node_modules'), path.join(folder, 'node_modules'));

  const words = ['agent.mjs', '--runtime-dir', place.dir, '--corral', CORRAL];
  const { code, stdout, stderr } = await run([process.execPath, ...words], { lab, cwd: folder });
  assert.equal(code, 0, `${stdout}${stderr}`);
  const { instances, sessions, objects } = await place.status();
  await place.shutDown();

  t.diagnostic(stdout.slice(stdout.indexOf('| what')));
  assert.match(stdout, /^task 50: 50 \+ 1 = 51, remembers "task 50"$/m);
  const rows = stdout.split('\n').flatMap((line) => {
    const found = /^\| (.+?) +\| (.+?) +\|$/.exec(line);
    return found === null ? [] : [found.slice(1)];
  });
  const table = Object.fromEntries(rows);
  assert.deepEqual([table.sessions, table['tool calls'], table.leaked], ['50', '150', 'false']);
  // A keeper and a server for the shared one and for each of the four sessions at once, and perhaps a keeper that
  // is just leaving for each of these.
  assert.ok(Number(table['processes at most']) >= 4, stdout);
  assert.ok(Number(table['processes at most']) <= 2 + 4 * 3, stdout);
  assert.equal(table['processes afterwards'], '0');
  assert.deepEqual({ instances, sessions, objects }, { instances: [], sessions: [], objects: [] });
  assert.ok(!existsSync(path.join(place.dir, 'corral.sock')));
});
