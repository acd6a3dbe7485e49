// Killing corral itself during a call: no process stays, and the caller gets an error instead of silence.
import assert from 'node:assert/strict';
import { labTest } from './support/lab.mjs';
import { keeperOf } from './support/processes.mjs';
import { assertCleanReport } from './support/report.mjs';
import {
  assertCallFails,
  openSession,
  startLongCall,
  underCorral,
  untidy,
  viaNode,
} from './support/session.mjs';

const CASES = [
  { who: 'the outer process', target: async (outer) => outer, reason: 'owner-gone' },
  { who: 'the keeper', target: async (outer) => (await keeperOf(outer)).pid, reason: 'keeper-lost' },
];

for (const { who, target, reason } of CASES) {
  labTest(`SIGKILL of ${who} during a call: the call fails and nothing stays`, {}, async (lab) => {
    const report = lab.newReport();
    const command = underCorral(untidy(viaNode('everything')), '--report', report);
    const { client, pid } = await openSession(lab, command);
    const { outcome } = await startLongCall(client);
    lab.watch(pid);

    process.kill(await target(pid), 'SIGKILL');

    await assertCallFails(outcome);
    await lab.empty();
    assertCleanReport(await lab.report(report), [reason]);
  });
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  labTest(`${signal} sent to corral during a call ends the session`, {}, async (lab) => {
    const report = lab.newReport();
    const command = underCorral(untidy(viaNode('everything')), '--report', report);
    const { client, pid } = await openSession(lab, command);
    const { outcome } = await startLongCall(client);
    lab.watch(pid);

    process.kill(pid, signal);

    await assertCallFails(outcome);
    await lab.empty();
    assertCleanReport(await lab.report(report), ['signal']);
  });
}
