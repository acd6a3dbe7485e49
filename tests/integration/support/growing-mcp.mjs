// A server that keeps what it was told to keep: the tool `grow` takes that many MiB and answers when `file`
// is there; `pid` says which process answers. Ends by itself after two minutes.
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

setTimeout(() => process.exit(0), 120_000).unref();
const kept = [];
const inputSchema = { type: 'object' };
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

async function grow({ mib, file }) {
  kept.push(Buffer.alloc(mib << 20, 1));
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20));
  return text('grown');
}

const ANSWERS = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'growing', version: '1.2.3' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: ['grow', 'pid'].map((name) => ({ name, inputSchema })) }),
  'tools/call': ({ name, arguments: args }) => (name === 'grow' ? grow(args) : text(process.pid)),
};

createInterface(process.stdin).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const error = { code: -32601, message: 'Method not found' };
  const body = method in ANSWERS ? { result: await ANSWERS[method](params) } : { error };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
});
