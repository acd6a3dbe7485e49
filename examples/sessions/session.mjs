// One session, from its creation to the proof of its end: node session.mjs DIRECTORY SERVER TOOL [ARGUMENTS]
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const [folder, server, tool, args = '{}'] = process.argv.slice(2);

// One question on the control socket, one answer (docs/protocol/control.md).
async function daemon(verb, members) {
  const socket = connect(`${folder}/corral.sock`);
  socket.write(`${JSON.stringify({ protocol: 3, verb, ...members })}\n`);
  const reply = JSON.parse((await socket.toArray()).join(''));
  if (reply.reply !== 'result') throw new Error(reply.text);
  return reply.result;
}

// One question to the server, over the pipes of `corral connect`.
async function ask(method, params) {
  shim.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: method, method, params })}\n`);
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`no answer to ${method}`);
    const message = JSON.parse(value);
    if (message.id === method) return message.result;
  }
}

const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
const about = { servers: [server], owner: process.pid, cwd: process.cwd(), environment };
const { id: session } = await daemon('session-create', about);
const words = ['connect', '--runtime-dir', folder, '--session', session, server];
const shim = spawn(process.env.CORRAL ?? 'corral', words, { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface(shim.stdout)[Symbol.asyncIterator]();
const clientInfo = { name: 'example', version: '1' };
await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
const { content } = await ask('tools/call', { name: tool, arguments: JSON.parse(args) });
console.log(content[0].text);
// No pipe is closed: this is what ends the server, with everything that it started.
console.log(JSON.stringify(await daemon('session-end', { session })));
