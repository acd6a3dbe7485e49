// A server without any package, for tests that copy it and change the copy while it runs. It says which version
// of its own file it was started from. Ends by itself after two minutes.
import { createInterface } from 'node:readline';

const VERSION = 'one';

setTimeout(() => process.exit(0), 120_000).unref();
const inputSchema = { type: 'object' };
const ANSWERS = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'versioned', version: VERSION },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [
      { name: 'version', inputSchema },
      { name: `only-in-${VERSION}`, inputSchema },
    ],
  }),
  'tools/call': () => ({ content: [{ type: 'text', text: VERSION }] }),
};

createInterface(process.stdin).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const error = { code: -32601, message: 'Method not found' };
  const body = method in ANSWERS ? { result: ANSWERS[method]() } : { error };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
});
