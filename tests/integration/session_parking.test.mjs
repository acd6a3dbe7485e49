// Sessions that fall silent again and again, while others start and end: the server of each session is ended
// and restarted many times, and every call gets its own answer.
import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runsBelow } from './support/control.mjs';
import { daemonTest, entry } from './support/daemon.mjs';
import { HERE } from './support/lab.mjs';
import { eventually } from './support/processes.mjs';
import { QuickClient } from './support/quick_client.mjs';

const WORKERS = 8;
const SESSIONS = 4; // of each worker
const CALLS = 6; // of each session
const COMMAND = ['/bin/sh', path.join(HERE, 'support', 'small-mcp.sh')];
const SERVERS = { small: entry(COMMAND, { share: 'session', park: true, idle: '100ms' }) };

// The pauses lie around the time after which a server is parked, so that calls meet it at every moment of that.
const pause = (number) => sleep((number * 53) % 230);

async function work(daemon, worker) {
  const clients = [];
  for (let session = 0; session < SESSIONS; session += 1) {
    const client = await new QuickClient(daemon.lab, daemon.connect('small')).open();
    clients.push(client);
    for (let call = 0; call < CALLS; call += 1) {
      const text = `${worker} ${session} ${call}`;
      assert.match(await client.call('echo', { text }), new RegExp(`^\\d+ ${text}$`));
      await pause(worker * 31 + session * 7 + call);
    }
  }
  return clients;
}

daemonTest('no call is lost to a server that was parked', { servers: SERVERS }, async (daemon, lab, t) => {
  const workers = Array.from({ length: WORKERS }, (_, worker) => work(daemon, worker));
  const clients = (await Promise.all(workers)).flat();

  // They are still attached, and nothing runs for them.
  await eventually('every server parked', () => runsBelow(daemon).length === 0);
  const { sessions, counters } = await daemon.status();
  assert.equal(sessions.length, WORKERS * SESSIONS);
  assert.deepEqual(new Set(sessions.map(({ state }) => state)), new Set(['parked']));
  assert.ok(counters.instances_started > WORKERS * SESSIONS, `started: ${counters.instances_started}`);
  t.diagnostic(`${WORKERS * SESSIONS * CALLS} calls, ${counters.instances_started} starts`);

  const answers = await Promise.all(clients.map((client) => client.call('echo', { text: 'awake' })));
  assert.ok(answers.every((answer) => answer.endsWith(' awake')), answers.join('; '));
  clients.forEach((client) => client.child.stdin.end());
  await daemon.becomesEmpty();
});
