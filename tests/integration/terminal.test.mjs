// A client at a terminal that handles the keys itself. Clients keep their servers in their own process
// group, so the terminal's signals reach corral too; they must not reach the server or end the session.
import assert from 'node:assert/strict';
import { labTest } from './support/lab.mjs';
import { describe, treeBelow } from './support/processes.mjs';
import { assertCleanReport } from './support/report.mjs';
import { longCall, underCorral, viaNode } from './support/session.mjs';
import { Victim, clientCommand } from './support/victim.mjs';

const KEYS = { SIGINT: '\x03', SIGQUIT: '\x1c', SIGTSTP: '\x1a' };
const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;

// script(1) gives the client a terminal and types what we write to it. It starts a shell; without exec that shell
// would stay, hear the keys as well, and some shells die of Ctrl+\.
async function clientAtTerminal(lab, command) {
  const program = clientCommand({ command, call: longCall(8), onSignal: 'ignore' });
  const terminal = new Victim(lab, ['script', '-qec', `exec ${program.map(quote).join(' ')}`, '/dev/null']);
  await terminal.says('in-flight');
  return terminal;
}

async function press(terminal, signal) {
  terminal.child.stdin.write(KEYS[signal]);
  await terminal.says(`got ${signal}`);
}

labTest('Ctrl+C, Ctrl+\\ and Ctrl+Z during a call leave the server alone', {}, async (lab) => {
  const report = lab.newReport();
  const terminal = await clientAtTerminal(lab, underCorral(viaNode('everything'), '--report', report));
  const before = treeBelow(terminal.pid);

  for (const signal of Object.keys(KEYS)) await press(terminal, signal);
  const after = treeBelow(terminal.pid);
  await terminal.says('answered');

  assert.equal(describe(after), describe(before), 'the same processes run');
  assert.deepEqual(after.filter(({ state }) => state === 'T'), [], 'none of them is stopped');
  await lab.empty();
  assertCleanReport(await lab.report(report), ['stdin-closed']);
});

labTest('control: without corral, Ctrl+C ends the server and the call fails', {}, async (lab) => {
  const terminal = await clientAtTerminal(lab, viaNode('everything'));

  await press(terminal, 'SIGINT');

  await terminal.says('failed');
});
