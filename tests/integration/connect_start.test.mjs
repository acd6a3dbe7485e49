// Starting the daemon by connecting: however many clients come at once, one daemon serves them all.
//   CORRAL_RACE_ROUNDS   how often they race (default 3)
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { Place, entry, fixture } from './support/daemon.mjs';
import { labTest } from './support/lab.mjs';
import { eventually, killOne, liveProcesses } from './support/processes.mjs';
import { INITIALIZED, RawClient, initialize, toolCall } from './support/raw_client.mjs';
import { Session } from './support/sdk.mjs';

const ROUNDS = Number(process.env.CORRAL_RACE_ROUNDS ?? 3);
const CLIENTS = 50;
const TALKATIVE = fixture('talkative-mcp.mjs');

// The process that adopts orphans. Where that is neither pid 1 nor the user's service manager, it
// may end what it inherits, and no daemon is started there.
async function adopter() {
  const script = 'setsid sleep 60 </dev/null >/dev/null 2>&1 & echo $!';
  const pid = Number(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }));
  const orphan = await eventually('an orphan', () =>
    liveProcesses().find((process_) => process_.pid === pid),
  );
  const parent = liveProcesses().find((process_) => process_.pid === orphan.ppid);
  killOne(orphan);
  return parent;
}

const parent = await adopter();
const CAN_START = parent?.pid === 1 || parent?.comm === 'systemd';

const starts = (place) =>
  [...place.log.matchAll(/Server starting \(PID: (\d+)/g)].map(([, pid]) => Number(pid));

async function talk(client, number) {
  const answer = await client.request(initialize(), 60_000);
  assert.equal(answer.result.serverInfo.name, 'talkative');
  client.send(INITIALIZED);
  const text = `client ${number}`;
  const echo = await client.request(toolCall(2, 'echo', { text }), 60_000);
  assert.equal(JSON.parse(echo.result.content[0].text), text);
}

async function race(lab, place) {
  const command = place.connect('talkative', '--require-daemon');
  const clients = Array.from({ length: CLIENTS }, () => new RawClient(lab, command));
  await Promise.all(clients.map(talk));
  const status = await place.status();
  lab.watch(status.daemon.pid);
  clients.forEach((client) => client.endInput());
  const ends = await Promise.all(clients.map(({ ended }) => ended));
  await place.shutDown();
  await lab.empty();
  return { status, ends, stderr: clients.map(({ stderr }) => stderr).join('') };
}

if (CAN_START) {
  for (let round = 1; round <= ROUNDS; round += 1) {
    labTest(`${CLIENTS} clients race to start one daemon (${round} of ${ROUNDS})`, {}, async (lab) => {
      const place = new Place(lab, { talkative: entry(TALKATIVE, { share: 'shared' }) });
      rmSync(place.dir, { recursive: true });

      const { status, ends, stderr } = await race(lab, place);

      assert.deepEqual(starts(place), [status.daemon.pid], place.log);
      assert.deepEqual(ends, Array(CLIENTS).fill({ code: 0, signal: null }), stderr);
      assert.deepEqual(
        status.instances.map(({ sessions }) => sessions.length),
        [CLIENTS],
      );
    });
  }

  labTest('a daemon that connect started serves the next client, too', {}, async (lab) => {
    const place = new Place(lab, { talkative: entry(TALKATIVE) });
    const first = await Session.open(lab, place.connect('talkative'));
    const { daemon } = await place.status();
    lab.watch(daemon.pid);
    await first.close();

    const second = await Session.open(lab, place.connect('talkative'));
    const again = await place.status();
    await second.close();
    await place.shutDown();

    assert.equal(again.daemon.pid, daemon.pid);
    assert.deepEqual(starts(place), [daemon.pid]);
  });

  labTest('a daemon that was killed is replaced by the next connect', {}, async (lab) => {
    const place = new Place(lab, { talkative: entry(TALKATIVE) });
    const first = new RawClient(lab, place.connect('talkative'));
    await first.request(initialize());
    const { daemon } = await place.status();
    lab.watch(daemon.pid);
    process.kill(daemon.pid, 'SIGKILL');
    const end = await first.ended;

    const second = await Session.open(lab, place.connect('talkative', '--require-daemon'));
    const answer = JSON.parse(await second.call('echo', { text: 'again' }));
    await second.close();
    await place.shutDown();

    assert.equal(end.code, 75, first.stderr);
    assert.equal(answer, 'again');
    assert.equal(starts(place).length, 2, place.log);
  });
} else {
  labTest('below somebody who takes in orphans the client is served without a daemon', {}, async (lab) => {
    const place = new Place(lab, { talkative: entry(TALKATIVE) });
    const session = await Session.open(lab, place.connect('talkative'));
    const answer = JSON.parse(await session.call('echo', { text: 'alone' }));
    await session.close();

    assert.equal(answer, 'alone');
    assert.match(session.stderr, /no daemon was started: .* running the server here/);
    assert.deepEqual(starts(place), []);
  });
}

test('it is known who takes in orphans here', () => assert.ok(parent !== undefined));
