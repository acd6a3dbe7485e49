// A server that talks about its calls all the time: each call brings log lines, progress and perhaps a question,
// all with the caller's word, and goes on after it was cancelled, and after its own answer. No SDK: those would forget a cancelled call.
//   --modern           speaks 2026-07-28
//   --start=MS         so long before it answers the handshake
//   --trace=FILE       the word of every call that it has seen, one per line
// Ends by itself after two minutes.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const option = (name) =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const MODERN = process.argv.includes('--modern');
const START = Number(option('start') ?? 0);
const TRACE = option('trace');
setTimeout(() => process.exit(0), 120_000).unref();

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const CAPABILITIES = { tools: { listChanged: true }, logging: {} };
const EVERY_SO_MANY_CALLS = 6; // the list of tools is another one
let lastQuestion = 0;
let calls = 0;

// Every step is a log line and a report of progress; `ask` is a question in the middle.
async function work(id, { name, arguments: { word, steps = 4, ask = false }, _meta: meta = {} }) {
  if (TRACE) appendFileSync(TRACE, `${word}\n`);
  if (name === 'crash') process.exit(1);
  for (let step = 1; step <= steps; ++step) {
    if (!MODERN || meta[LOG_LEVEL]) {
      say({ method: 'notifications/message', params: { level: 'error', data: word } });
    }
    if (meta.progressToken !== undefined) {
      const params = { progressToken: meta.progressToken, progress: step, message: word };
      say({ method: 'notifications/progress', params });
    }
    if (ask && !MODERN && step === 1) {
      const params = { messages: [{ role: 'user', content: { type: 'text', text: word } }], maxTokens: 1 };
      say({ id: `q${++lastQuestion}`, method: 'sampling/createMessage', params });
    }
    await sleep(20);
  }
  const result = { content: [{ type: 'text', text: word }], ...(MODERN ? { resultType: 'complete' } : {}) };
  say({ id, result });
  afterTheAnswer(word);
}

// At once, and when the next call is likely to be there. A modern server logs no more then; stderr has no era.
async function afterTheAnswer(word) {
  for (const wait of [0, 40]) {
    if (wait > 0) await sleep(wait);
    if (!MODERN) say({ method: 'notifications/message', params: { level: 'error', data: `after ${word}` } });
    process.stderr.write(`after ${word}\n`);
  }
  if (!MODERN && ++calls % EVERY_SO_MANY_CALLS === 0) say({ method: 'notifications/tools/list_changed' });
}

async function take({ id, method, params = {} }) {
  if (id === undefined || method === undefined) return;
  if (method === 'tools/call') return work(id, params);
  if (method === 'initialize' && !MODERN) {
    await sleep(START);
    const serverInfo = { name: 'gossip', version: '1.0.0' };
    return say({ id, result: { protocolVersion: '2025-11-25', capabilities: CAPABILITIES, serverInfo } });
  }
  if (method === 'server/discover' && MODERN) {
    await sleep(START);
    const result = { resultType: 'complete', supportedVersions: ['2026-07-28'], ttlMs: 0 };
    return say({ id, result: { ...result, capabilities: CAPABILITIES } });
  }
  if (method === 'tools/list') {
    const tools = ['work', 'crash'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    return say({ id, result: { tools, ...(MODERN ? { resultType: 'complete' } : {}) } });
  }
  if (method === 'logging/setLevel' || method === 'ping') return say({ id, result: {} });
  say({ id, error: { code: -32601, message: `Method not found: ${method}` } });
}

createInterface({ input: process.stdin }).on('line', (line) => take(JSON.parse(line)));
process.stdin.on('end', () => process.exit(0));
