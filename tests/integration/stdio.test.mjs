// What goes over the three standard streams: the protocol on stdout and nothing else, the rest on stderr.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { HERE, labTest } from './support/lab.mjs';
import { eventually } from './support/processes.mjs';
import { assertCleanReport, parseReport } from './support/report.mjs';
import { LONG_CALL, openSession, underCorral, viaNode } from './support/session.mjs';
import { Victim, clientCommand } from './support/victim.mjs';

const BANNER = /Starting default \(STDIO\) server/;

const REQUESTS = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'by-hand', version: '1.0.0' },
    },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/list' },
];
const INPUT = REQUESTS.map((request) => `${JSON.stringify(request)}\n`).join('');

// Runs a command with all input at once, as `printf ... | command` does.
async function pipeInto(lab, command, input) {
  const child = spawn(command[0], command.slice(1), { env: { ...process.env, ...lab.env }, cwd: HERE });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const closed = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  // A command that fails at once does not wait for its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return { ...(await closed), stdout, stderr };
}

labTest("the server's stderr arrives where the client asked for it", {}, async (lab) => {
  const session = await openSession(lab, underCorral(viaNode('everything')), { stderr: 'pipe' });
  let stderr = '';
  session.transport.stderr.on('data', (chunk) => (stderr += chunk));

  await eventually('the banner of the server', () => BANNER.test(stderr));
  await session.client.close();

  assert.doesNotMatch(stderr, /corral/, 'corral says nothing of its own while all is well');
});

labTest("the server's stderr is the client's own stderr when it is inherited", {}, async (lab) => {
  const command = underCorral(viaNode('everything'));
  const client = new Victim(lab, clientCommand({ command, call: LONG_CALL, onSignal: 'die' }));
  await client.says('in-flight');

  assert.match(client.stderr, BANNER);
  await client.kill('SIGTERM');
});

labTest('stdout carries only JSON-RPC, even with --verbose and a report on stderr', {}, async (lab) => {
  const command = underCorral(viaNode('everything'), '--verbose', '--report', '-');

  const { stdout, stderr } = await pipeInto(lab, command, INPUT);

  const messages = stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(new Set(messages.map(({ jsonrpc }) => jsonrpc)), new Set(['2.0']));
  assert.match(stderr, BANNER);
  const report = stderr.split('\n').find((line) => line.startsWith('{'));
  assertCleanReport(parseReport(report), ['stdin-closed']);
});

labTest('requests piped in at once are answered before the session ends', {}, async (lab) => {
  const { stdout } = await pipeInto(lab, underCorral(viaNode('memory')), INPUT);

  const answers = stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(answers.map(({ id }) => id).filter(Boolean), [1, 2]);
  assert.ok(answers.find(({ id }) => id === 2).result.tools.length > 0);
});

labTest('a command that does not exist is an error of the connection, not a hang', {}, async (lab) => {
  await assert.rejects(openSession(lab, underCorral(['no-such-mcp-server'])), /closed/i);

  const { code, stdout, stderr } = await pipeInto(lab, underCorral(['no-such-mcp-server']), '');
  assert.equal(code, 127);
  assert.equal(stdout, '');
  assert.match(stderr, /^corral run: .*no-such-mcp-server/m);
});
