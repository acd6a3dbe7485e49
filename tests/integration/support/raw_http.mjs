// HTTP byte by byte: requests that no library would send, and connections that do less than they should.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { modernRequest } from './raw_client.mjs';

// Everything that comes back until the other side closes. `end` closes our half behind the text.
export function exchange(port, text, { limitMs = 15_000 } = {}) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let said = '';
    const finish = () => {
      clearTimeout(limit);
      socket.destroy();
      resolve(said);
    };
    const limit = setTimeout(() => {
      said += '\n(still open)';
      finish();
    }, limitMs);
    socket.on('data', (chunk) => (said += chunk));
    socket.once('close', finish);
    socket.on('error', finish);
    socket.write(text);
  });
}

// Statuses of all answers in it, in order.
export const statuses = (said) =>
  [...said.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));

// A request as text. Lines are `name: value` and come before the length.
export function request(
  port,
  path,
  { method = 'POST', lines = [], body = '', host = `127.0.0.1:${port}` } = {},
) {
  const length = method === 'POST' ? [`Content-Length: ${Buffer.byteLength(body)}`] : [];
  return [`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...lines, ...length, '', body].join('\r\n');
}

// A call that needs no session, so one request is enough to make something happen.
export function traceCall(text) {
  const body = JSON.stringify(modernRequest(1, 'tools/call', { name: 'test_trace', arguments: { text } }));
  const lines = [
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: tools/call',
    'Mcp-Name: test_trace',
  ];
  return { body, lines };
}

// Connections that stay open until they are closed together. Each resolves when it has heard something, if it is
// to hear something.
export async function openMany(port, count, text, { hears = false } = {}) {
  const sockets = [];
  const opened = Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    return new Promise((resolve, reject) => {
      socket.once('close', () => reject(new Error('closed by the other side')));
      socket.once('connect', () => socket.write(text, hears ? undefined : resolve));
      if (hears) socket.once('data', (chunk) => resolve(`${chunk}`));
    });
  });
  const closeAll = () => sockets.forEach((socket) => socket.destroy());
  try {
    return { heard: await Promise.all(opened), closeAll };
  } catch (error) {
    closeAll();
    throw error;
  }
}

// Another user of this machine, who can do nothing but run python.
const OTHER = 65_531;
const AS_OTHER = `
import json, socket, sys
plan = json.load(sys.stdin)
for text in plan["texts"]:
    peer = socket.create_connection(("127.0.0.1", plan["port"]), 15)
    peer.sendall(text.encode())
    if not plan["waits"]:
        peer.close()
        continue
    said = b""
    while chunk := peer.recv(65536):
        said += chunk
    sys.stdout.write(said.decode())
`;
export const canBeOther = process.getuid() === 0;

// Sends each text on a connection of its own, and returns all that came back; without `waits` it closes at once.
export function asOther(lab, port, texts, { waits = true } = {}) {
  const env = { PATH: '/usr/bin:/bin', ...lab.env };
  const child = spawn('/usr/bin/python3', ['-c', AS_OTHER], { uid: OTHER, gid: OTHER, env, cwd: '/' });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  child.stdin.end(JSON.stringify({ port, texts, waits }));
  return new Promise((resolve) => child.once('close', () => resolve(said)));
}
