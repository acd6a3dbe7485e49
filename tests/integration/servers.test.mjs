// The three reference servers as people start them, through npx, from the first request to close().
import assert from 'node:assert/strict';
import { labTest } from './support/lab.mjs';
import { describe, eventually, treeBelow } from './support/processes.mjs';
import { assertCleanReport } from './support/report.mjs';
import {
  SAMPLE_CALLS,
  assertCallFails,
  openSession,
  startLongCall,
  textOf,
  underCorral,
  untidy,
  viaNode,
  viaNpx,
} from './support/session.mjs';

for (const [server, call] of Object.entries(SAMPLE_CALLS)) {
  labTest(`npx ${server} works through corral and is gone after close()`, {}, async (lab) => {
    const report = lab.newReport();
    const { client, pid, problems } = await openSession(lab, underCorral(viaNpx(server), '--report', report));

    const { tools } = await client.listTools();
    const answer = await client.callTool({ name: call.name, arguments: call.arguments });
    const tree = lab.watch(pid);
    await client.close();

    assert.ok(tools.some(({ name }) => name === call.name), `${server} offers ${call.name}`);
    assert.match(textOf(answer), call.answer);
    assert.ok(tree.length >= 5, `corral, keeper, npx, its shell and the server run: ${describe(tree)}`);
    assert.deepEqual(problems, []);
    await lab.empty();
    assertCleanReport(await lab.report(report), ['stdin-closed']);
  });
}

labTest('close() during a call ends a server that ignores the end of its input', {}, async (lab) => {
  const report = lab.newReport();
  const command = underCorral(untidy(viaNode('everything')), '--report', report);
  const { client } = await openSession(lab, command);
  const { outcome } = await startLongCall(client);

  await client.close();

  await lab.empty();
  await assertCallFails(outcome);
  assertCleanReport(await lab.report(report), ['stdin-closed']);
});

labTest('a server that dies takes its helpers along and the call fails at once', {}, async (lab) => {
  const report = lab.newReport();
  const command = underCorral(untidy(viaNode('everything')), '--report', report);
  const { client, pid } = await openSession(lab, command);
  const { outcome } = await startLongCall(client);
  const wrapper = await eventually('the wrapper', () => treeBelow(pid).find(({ comm }) => comm === 'sh'));

  process.kill(wrapper.pid, 'SIGKILL');

  await assertCallFails(outcome);
  await lab.empty();
  const result = await lab.report(report);
  assertCleanReport(result, ['server-exited']);
  assert.deepEqual(result.exit, { code: null, signal: 'SIGKILL' });
});
