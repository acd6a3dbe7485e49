// A client that is killed in the middle of a tool call, with and without corral.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { labTest } from './support/lab.mjs';
import { describe } from './support/processes.mjs';
import { assertCleanReport } from './support/report.mjs';
import { LONG_CALL, openSession, underCorral, untidy, viaNode, viaNpx } from './support/session.mjs';
import { Victim, clientCommand } from './support/victim.mjs';

// All of them happen in the same moment when a process dies, and corral may notice any of them first.
const CLIENT_IS_GONE = ['client-gone', 'stdin-closed', 'stdout-closed'];

async function killClientDuringCall(lab, command, signal) {
  const client = new Victim(lab, clientCommand({ command, call: LONG_CALL, onSignal: 'die' }));
  await client.says('in-flight');
  const end = await client.kill(signal);
  assert.equal(end.signal, signal, 'the client died of the signal');
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL']) {
  labTest(`client ends by ${signal} during a call: nothing of a tidy server stays`, {}, async (lab) => {
    const report = lab.newReport();
    await killClientDuringCall(lab, underCorral(viaNode('everything'), '--report', report), signal);

    await lab.empty();
    assertCleanReport(await lab.report(report), CLIENT_IS_GONE);
  });

  labTest(`client ends by ${signal} during a call: nothing of an untidy server stays`, {}, async (lab) => {
    const report = lab.newReport();
    await killClientDuringCall(lab, underCorral(untidy(viaNode('everything')), '--report', report), signal);

    await lab.empty();
    const result = await lab.report(report);
    assertCleanReport(result, CLIENT_IS_GONE);
    assert.ok(result.signals.SIGKILL >= 1, 'this server leaves only by force');
  });
}

labTest('client ends by SIGKILL during a call: nothing of npx and its server stays', {}, async (lab) => {
  await killClientDuringCall(lab, underCorral(viaNpx('everything')), 'SIGKILL');

  await lab.empty();
});

labTest('a client that closes its session on SIGINT during a call leaves nothing', {}, async (lab) => {
  const report = lab.newReport();
  const command = underCorral(untidy(viaNode('everything')), '--report', report);
  const client = new Victim(lab, clientCommand({ command, call: LONG_CALL, onSignal: 'close' }));
  await client.says('in-flight');

  const end = await client.kill('SIGINT');

  assert.deepEqual(end, { code: 0, signal: null });
  await lab.empty();
  assertCleanReport(await lab.report(report), ['stdin-closed']);
});

// The controls. Without corral the same cases leave processes behind, so the tests above are able to fail.
// Two seconds are twice what corral needs for the whole way to SIGKILL after a client's death.
async function assertLeaks(lab, least) {
  await sleep(2_000);
  const left = lab.survivors();
  assert.ok(left.length >= least, `at least ${least} processes stay without corral: ${describe(left)}`);
  await lab.endLeftovers();
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL']) {
  labTest(`control: without corral, ${signal} of the client leaves the untidy tree`, {}, async (lab) => {
    await killClientDuringCall(lab, untidy(viaNode('everything')), signal);

    await assertLeaks(lab, 3);
  });
}

labTest("control: without corral, the SDK's own close() leaves the helpers", {}, async (lab) => {
  const { client } = await openSession(lab, untidy(viaNode('everything')));

  await client.close();

  await assertLeaks(lab, 2);
});
