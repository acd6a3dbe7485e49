// The daemon's control line, spoken by hand (docs/protocol/control.md), and sessions as objects on it. No
// process is started for a question, so that a test can ask hundreds.
import { connect } from 'node:net';
import path from 'node:path';
import { HERE } from './lab.mjs';
import { treeBelow } from './processes.mjs';

// The last reply to one question.
export async function askControl(daemon, verb, members = {}) {
  const socket = connect(path.join(daemon.dir, 'corral.sock'));
  socket.write(`${JSON.stringify({ protocol: 3, verb, ...members })}\n`);
  const text = (await socket.toArray()).join('');
  return JSON.parse(text.trimEnd().split('\n').at(-1));
}

async function resultOf(daemon, verb, members) {
  const reply = await askControl(daemon, verb, members);
  if (reply.reply !== 'result') throw new Error(`${verb}: ${JSON.stringify(reply)}`);
  return reply.result;
}

export function createSession(daemon, servers, members = {}) {
  const env = { PATH: process.env.PATH, ...daemon.lab.env };
  const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return resultOf(daemon, 'session-create', { servers, cwd: HERE, environment, ...members });
}

export const endSession = (daemon, { id }) => resultOf(daemon, 'session-end', { session: id });

// What runs below the daemon: keepers, servers and what these started. A keeper says that its tree is gone and
// then leaves itself, which takes a moment; so one that has nothing below it does not count.
export function runsBelow(daemon) {
  const below = treeBelow(daemon.pid).slice(1);
  const parents = new Set(below.map(({ ppid }) => ppid));
  return below.filter(({ pid, comm }) => comm !== 'corral-keeper' || parents.has(pid));
}

export const listSessions = async (daemon) => (await resultOf(daemon, 'session-list', {})).sessions;
