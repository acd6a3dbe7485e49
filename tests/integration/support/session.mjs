// Command lines of the real servers, with and without corral, and sessions of the official SDK client.
import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CORRAL, HERE } from './lab.mjs';

const packageOf = (name) => `@modelcontextprotocol/server-${name}`;

// The filesystem server wants to know which directory it may show.
const argumentsOf = (name) => (name === 'filesystem' ? ['.'] : []);

export function viaNpx(name) {
  return ['npx', '-y', packageOf(name), ...argumentsOf(name)];
}

export function viaNode(name) {
  const script = path.join(HERE, 'node_modules', packageOf(name), 'dist', 'index.js');
  return [process.execPath, script, ...argumentsOf(name)];
}

// The same server behind a shell that does everything a tidy server would not do.
export function untidy(command) {
  return ['/bin/sh', path.join(HERE, 'support', 'untidy-server.sh'), ...command];
}

export function underCorral(command, ...options) {
  return [CORRAL, 'run', ...options, '--', ...command];
}

// A tool of each server that shows that a request and its answer went all the way.
export const SAMPLE_CALLS = {
  everything: { name: 'echo', arguments: { message: 'moo' }, answer: /moo/ },
  filesystem: { name: 'list_directory', arguments: { path: '.' }, answer: /package-lock\.json/ },
  memory: {
    name: 'create_entities',
    arguments: { entities: [{ name: 'Bessie', entityType: 'cow', observations: ['likes grass'] }] },
    answer: /likes grass/,
  },
};

// Progress arrives ten times a second, so a caller knows soon that the call is under way.
export function longCall(seconds) {
  return { name: 'trigger-long-running-operation', arguments: { duration: seconds, steps: seconds * 10 } };
}
export const LONG_CALL = longCall(120);

export async function openSession(lab, command, { stderr = 'ignore', cwd = HERE } = {}) {
  const [program, ...args] = command;
  const transport = new StdioClientTransport({ command: program, args, env: lab.env, cwd, stderr });
  const client = new Client({ name: 'corral-integration-tests', version: '1.0.0' });
  const problems = [];
  client.onerror = (error) => problems.push(error);
  await client.connect(transport, { timeout: 45_000 });
  lab.watch(transport.pid);
  return { client, transport, problems, pid: transport.pid };
}

export const textOf = (result) => result.content.map((part) => part.text ?? '').join('\n');

// Starts the long call and comes back when the server is at work on it. `outcome` is a promise of the
// error text or of the answer; it never rejects, so a test may look at it whenever it wants.
export async function startLongCall(client) {
  let outcome;
  await new Promise((resolve, reject) => {
    const options = { onprogress: resolve, timeout: 110_000 };
    outcome = client.callTool(LONG_CALL, undefined, options).then(
      (result) => ({ answer: textOf(result) }),
      (error) => ({ error: error.message }),
    );
    outcome.then((end) => reject(new Error(`the call ended early: ${JSON.stringify(end)}`)));
  });
  // An async function would wait for a bare promise here.
  return { outcome };
}

// The caller must hear of the end soon; the limit only bounds a failing test.
export async function assertCallFails(outcome, limitMs = 15_000) {
  const limit = sleep(limitMs, { error: `the call is still open after ${limitMs} ms` }, { ref: false });
  const end = await Promise.race([outcome, limit]);
  assert.match(end.error ?? `answered: ${end.answer}`, /connection closed/i);
}
