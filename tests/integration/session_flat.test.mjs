// A program that keeps running and never closes a pipe: it creates a session, uses its servers, ends the session,
// and begins again. Nothing adds up.
import assert from 'node:assert/strict';
import path from 'node:path';
import { runsBelow } from './support/control.mjs';
import { daemonTest, entry } from './support/daemon.mjs';
import { HERE } from './support/lab.mjs';
import { describe, eventually } from './support/processes.mjs';
import { Session } from './support/sdk.mjs';
import { viaNode } from './support/session.mjs';

const ROUNDS = 24;
const DAEMON_ALONE = 2; // with its janitor

const SERVERS = {
  memory: entry(viaNode('memory'), { share: 'session' }),
  notes: entry(['python3', path.resolve(HERE, '../../demo/notes_server.py')]),
  small: entry(['/bin/sh', path.join(HERE, 'support', 'small-mcp.sh')], { share: 'shared' }),
};
const NAMES = Object.keys(SERVERS);
const IN_USE = DAEMON_ALONE + 3 * NAMES.length + 1; // shim, keeper and server of each, and the helper of one

async function corral(daemon, ...words) {
  const { code, stdout, stderr } = await daemon.ask('session', ...words);
  assert.equal(code, 0, `corral session ${words.join(' ')}: ${stderr}`);
  return stdout.trim();
}

// Opens a client of the SDK for each server. None of them is ever closed by this program.
async function attach(daemon, lab, names) {
  const words = names.flatMap((name) => ['--server', name]);
  const id = await corral(daemon, 'create', '--owner', String(process.pid), ...words);
  const clients = await Promise.all(
    names.map((name) => Session.open(lab, daemon.connect(name, '--session', id))),
  );
  return { id, clients };
}

daemonTest(
  '24 sessions one after another in a program that never closes a pipe',
  { servers: SERVERS, timeout: 180_000 },
  async (daemon, lab, t) => {
    const after = [];
    const clients = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const session = await attach(daemon, lab, NAMES);
      clients.push(...session.clients);
      const [memory, notes, small] = session.clients;
      assert.match(await memory.call('search_nodes', { query: 'nothing' }), /entities/);
      // What an earlier server kept went with it.
      assert.equal(await notes.call('add_note', { text: `round ${round}` }), 'kept, 1 so far');
      assert.match(await small.call('echo', { text: `round ${round}` }), new RegExp(` round ${round}$`));
      // No more, and no fewer: the helper may have to be executed yet.
      await eventually(`${IN_USE} processes`, () => lab.survivors().length === IN_USE);

      const evidence = JSON.parse(await corral(daemon, 'end', session.id, '--json'));

      // Proved means gone now, not soon.
      assert.equal(describe(runsBelow(daemon)), 'none');
      const { leaked, survivors, ended, kept } = evidence;
      assert.deepEqual({ leaked, survivors, kept }, { leaked: false, survivors: [], kept: [] });
      assert.deepEqual(ended.map(({ server, proved }) => [server, proved]).sort(), [
        ['memory', true],
        ['notes', true],
        ['small', true],
      ]);
      // The shims hear of it and leave by themselves.
      await eventually('the daemon alone', () => lab.survivors().length <= DAEMON_ALONE);
      after.push(lab.survivors().length);
    }

    t.diagnostic(`processes during each session: ${IN_USE}; after it: ${after}`);
    assert.deepEqual(new Set(after), new Set([DAEMON_ALONE]));
    assert.deepEqual(clients.flatMap(({ problems }) => problems), []);
  },
);

// What the counting above is worth: the same program without `session end`.
const WITHOUT = 'without the end of its sessions the same program adds up';
daemonTest(WITHOUT, { servers: SERVERS }, async (daemon, lab) => {
  const sessions = [];
  const counts = [];
  for (let round = 1; round <= 3; round += 1) {
    sessions.push(await attach(daemon, lab, ['notes']));
    await sessions.at(-1).clients[0].call('process');
    counts.push(runsBelow(daemon).length);
  }
  assert.deepEqual(counts, [counts[0], 2 * counts[0], 3 * counts[0]]);

  for (const { id } of sessions) {
    assert.match(await corral(daemon, 'end', id), /nothing\s+is left/);
  }

  assert.equal(describe(runsBelow(daemon)), 'none');
  assert.match(await corral(daemon, 'list'), /Sessions: 0/);
});
