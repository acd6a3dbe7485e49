// An agent framework in small: it runs sessions, several at once, and each owns two servers. It never closes
// a pipe; `corral session end` is what ends the servers, and the table at the end is made of its evidence.
//   node agent.mjs [--sessions 50] [--at-once 4] [--runtime-dir DIR] [--corral PATH]
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { startModel } from './scripted_model.mjs';

const text = (value) => ({ type: 'string', default: value });
const { values: options } = parseArgs({
  options: { sessions: text('50'), 'at-once': text('4'), corral: text('corral'), 'runtime-dir': text('') },
});
const place = options['runtime-dir'] === '' ? [] : ['--runtime-dir', options['runtime-dir']];
const SERVERS = ['memory', 'everything'];
const totals = { sessions: 0, calls: 0, most: 0, leaked: false };
const scratch = mkdtempSync(path.join(tmpdir(), 'agent-loop-'));
const model = await startModel();

async function corral(words, env = {}) {
  const settings = { env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)(options.corral, [...words, ...place, '--json'], settings);
  return JSON.parse(stdout);
}

// Everything that runs below the daemon: keepers, servers and what they started.
function countProcesses(daemon) {
  const below = [daemon];
  const parents = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      parents.set(Number(pid), Number(/.*\) . (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))[1]));
    } catch {
      // It ended while we were looking.
    }
  }
  for (const one of below) for (const [pid, parent] of parents) if (parent === one) below.push(pid);
  return below.length - 1;
}

const daemonPid = async () => (await corral(['status'])).daemon.pid;

async function attach(session, server) {
  const client = new Client({ name: 'agent-loop', version: '1.0.0' });
  const args = ['connect', ...place, '--session', session, server];
  await client.connect(new StdioClientTransport({ command: options.corral, args, stderr: 'ignore' }));
  return client;
}

async function askModel(messages) {
  const body = JSON.stringify({ messages });
  return (await fetch(model.url, { method: 'POST', body })).json();
}

// The loop: the model names a tool, the tool answers, until the model has nothing left to ask.
async function work(number, clients) {
  const messages = [{ role: 'user', content: `Do task ${number}.` }];
  for (;;) {
    const reply = await askModel(messages);
    messages.push(reply);
    if (reply.call === undefined) return reply.content;
    const { server, name, arguments: args } = reply.call;
    const { content } = await clients[server].callTool({ name, arguments: args });
    messages.push({ role: 'tool', content: content[0].text });
    totals.calls += 1;
  }
}

async function runSession(number) {
  const words = ['session', 'create', '--config', 'servers.json', '--owner', String(process.pid)];
  const names = SERVERS.flatMap((server) => ['--server', server]);
  const env = { AGENT_MEMORY: path.join(scratch, `memory-${number}.jsonl`) };
  const { id } = await corral([...words, ...names], env);
  try {
    const clients = {};
    for (const server of SERVERS) clients[server] = await attach(id, server);
    console.log(await work(number, clients));
    totals.most = Math.max(totals.most, countProcesses(await daemonPid()));
  } finally {
    const { leaked } = await corral(['session', 'end', id]);
    totals.leaked ||= leaked;
    totals.sessions += 1;
  }
}

let started = 0;
async function worker() {
  while (started < Number(options.sessions)) await runSession((started += 1));
}
try {
  await Promise.all(Array.from({ length: Number(options['at-once']) }, worker));
} finally {
  model.stop();
  rmSync(scratch, { recursive: true });
}

// A shared server goes with the last session that uses it.
async function countAfterwards() {
  const daemon = await daemonPid();
  for (let tries = 0; tries < 100 && countProcesses(daemon) > 0; tries += 1) await sleep(100);
  return countProcesses(daemon);
}

const rows = {
  sessions: totals.sessions,
  'tool calls': totals.calls,
  'processes at most': totals.most,
  'processes afterwards': await countAfterwards(),
  leaked: totals.leaked,
};
console.log(`\n| ${'what'.padEnd(20)} | ${'how many'.padEnd(8)} |\n|${'-'.repeat(22)}|${'-'.repeat(10)}|`);
for (const [what, value] of Object.entries(rows)) {
  console.log(`| ${what.padEnd(20)} | ${String(value).padEnd(8)} |`);
}
process.exitCode = totals.leaked || rows['processes afterwards'] > 0 ? 1 : 0;
