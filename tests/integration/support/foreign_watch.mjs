// The part of limits.test.mjs that runs in a PID namespace of its own: nobody outside can be found from here.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { daemonTest, fake } from './daemon.mjs';
import { lingering } from './doctor.mjs';
import { HERE } from './lab.mjs';
import { eventually, killOne, stillRuns, treeBelow } from './processes.mjs';
import { RawClient, initialize } from './raw_client.mjs';
import { underCorral } from './session.mjs';

assert.equal(process.pid, 1, 'for a PID namespace only');

// A client with one copy of the server. When it goes, the server stays.
async function leaky(lab) {
  const [program, ...words] = fake('leaky_client', '--', ...lingering(lab));
  const client = spawn(program, words, { env: lab.env, cwd: HERE, stdio: ['pipe', 'pipe', 'ignore'] });
  let said = '';
  client.stdout.on('data', (chunk) => (said += chunk));
  const [, pid] = await eventually('its server', () => /!server (\d+)/.exec(said));
  await eventually('!started', () => said.includes('!started'));
  const [server] = treeBelow(Number(pid));
  lab.watch(client.pid);
  const ended = new Promise((resolve) => client.once('exit', resolve));
  const end = () => (client.stdin.end(), ended);
  return { server, end };
}

// Somebody's server in use, the server of a running `corral run`, and an orphan.
function watchTest(name, foreign, body) {
  daemonTest(name, { corral: { watch: { interval: '1s', foreign } }, servers: {} }, async (daemon, lab) => {
    const used = await leaky(lab);
    const guarded = new RawClient(lab, underCorral(lingering(lab), '--stdin-grace', '100ms'));
    await guarded.request(initialize());
    const others = [used.server, ...lab.watch(guarded.pid)];
    const lost = await leaky(lab);
    await lost.end();
    assert.ok(stillRuns(lost.server), 'the control: it stays behind');

    await body(daemon, lost.server);

    assert.deepEqual(others.filter((one) => !stillRuns(one)), [], 'nobody else was touched');
    guarded.endInput();
    await guarded.ended;
    await used.end();
    for (const { server } of [used, lost]) killOne(server);
  });
}

// The first one that fits.
function told(daemon, kind, cause) {
  return eventually(`${kind} ${cause}`, async () => {
    const events = await daemon.events('--kind', kind);
    return events.find((one) => one.cause === cause);
  });
}

watchTest('an orphan is reported', 'report', async (daemon, lost) => {
  const { text } = await told(daemon, 'finding', 'orphan');
  assert.match(text, /orphan.*lingering-mcp.*corral reap/);
  assert.deepEqual(await daemon.events('--kind', 'reap'), []);
  assert.ok(stillRuns(lost));
});

watchTest('an orphan is ended', 'end', async (daemon, lost) => {
  const { pid, text } = await told(daemon, 'reap', 'foreign');
  assert.equal(pid, lost.pid);
  assert.match(text, /1 process, .*: ended$/);
  assert.ok(!stillRuns(lost));
  assert.equal((await daemon.events('--kind', 'reap')).length, 1);
});
