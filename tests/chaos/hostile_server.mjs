// A shared server that says far too much. Its tools: `flood` tells of changed lists with names of a megabyte each,
// `drip` reports progress in large pieces and takes its time with the answer, `echo` is what it would do else.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const LISTS = 120;
const PIECES = 900; // of which the first 600 come at once
setTimeout(() => process.exit(0), 300_000).unref();
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const TOOLS = {
  echo: ({ arguments: { arg } }) => arg,
  flood() {
    for (let i = 0; i < LISTS; ++i) {
      say({ method: `notifications/${`${i}`.padEnd(1 << 20, 'x')}/list_changed` });
    }
  },
  async drip({ _meta: { progressToken } }) {
    for (let progress = 1; progress <= PIECES; ++progress) {
      const message = 'p'.repeat(4_000);
      say({ method: 'notifications/progress', params: { progressToken, progress, message } });
      if (progress > 600) await sleep(60);
    }
  },
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true } };
    const serverInfo = { name: 'liar', version: '1.0.0' };
    return say({ id, result: { protocolVersion: '2025-06-18', capabilities, serverInfo } });
  }
  const text = method === 'tools/call' ? await TOOLS[params.name](params) : undefined;
  say({ id, result: { content: [{ type: 'text', text: text ?? 'done' }] } });
});
process.stdin.on('end', () => process.exit(0));
