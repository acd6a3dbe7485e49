// The same servers in a PID namespace of their own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { labTest } from './support/lab.mjs';
import { keeperOf } from './support/processes.mjs';
import { assertCleanReport } from './support/report.mjs';
import {
  LONG_CALL,
  SAMPLE_CALLS,
  assertCallFails,
  openSession,
  startLongCall,
  textOf,
  underCorral,
  untidy,
  viaNode,
} from './support/session.mjs';
import { Victim, clientCommand } from './support/victim.mjs';

// Some containers and hardened kernels refuse namespaces to everybody; there strict cannot work at all.
function namespacesRefused() {
  const probe = spawnSync('unshare', ['-Urpf', '--mount-proc', 'true'], { encoding: 'utf8', timeout: 9_000 });
  if (probe.status === 0) return false;
  return `no PID namespace on this machine: ${probe.error?.message ?? probe.stderr.trim()}`;
}
const options = { skip: namespacesRefused() };
const strictly = (command, ...more) => underCorral(command, '--containment', 'strict', ...more);

for (const [server, call] of Object.entries(SAMPLE_CALLS)) {
  labTest(`${server} works in a PID namespace and is gone after close()`, options, async (lab) => {
    const report = lab.newReport();
    const { client } = await openSession(lab, strictly(viaNode(server), '--report', report));

    const { tools } = await client.listTools();
    const answer = await client.callTool({ name: call.name, arguments: call.arguments });
    await client.close();

    assert.ok(tools.length > 0);
    assert.match(textOf(answer), call.answer);
    await lab.empty();
    const result = await lab.report(report);
    assertCleanReport(result, ['stdin-closed']);
    assert.match(result.level, /^pidns/);
  });
}

labTest('client ends by SIGKILL during a call: the namespace is empty', options, async (lab) => {
  const command = strictly(untidy(viaNode('everything')));
  const client = new Victim(lab, clientCommand({ command, call: LONG_CALL, onSignal: 'die' }));
  await client.says('in-flight');

  await client.kill('SIGKILL');

  await lab.empty();
});

labTest('SIGKILL of corral and its keeper together leaves nothing', options, async (lab) => {
  const { client, pid } = await openSession(lab, strictly(untidy(viaNode('everything'))));
  const { outcome } = await startLongCall(client);
  const keeper = await keeperOf(pid);
  lab.watch(pid);

  process.kill(pid, 'SIGKILL');
  process.kill(keeper.pid, 'SIGKILL');

  await assertCallFails(outcome);
});
