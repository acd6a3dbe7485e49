// A server that shows what it sees, asks its client although that never said it can answer, and remembers who
// subscribed. With --read-only all that it has is annotated as such. Ends by itself after two minutes.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CreateMessageResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

setTimeout(() => process.exit(0), 120_000).unref();
const server = new McpServer(
  { name: 'talkative', version: '1.0.0' },
  { capabilities: { resources: { subscribe: true } } },
);
const say = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const heard = [];

const readOnly = { annotations: { readOnlyHint: true } };
const offer = (name, inputSchema, handler) =>
  server.registerTool(
    name,
    { ...(process.argv.includes('--read-only') ? readOnly : {}), inputSchema },
    handler,
  );

offer('echo', { text: z.string() }, ({ text }) => say(text));

offer('show', { variables: z.array(z.string()) }, ({ variables }) => {
  const env = Object.fromEntries(variables.map((name) => [name, process.env[name] ?? null]));
  return say({ pid: process.pid, args: process.argv.slice(2), cwd: process.cwd(), env });
});

offer('ask', { question: z.string() }, async ({ question }, { sendRequest }) => {
  const content = { type: 'text', text: question };
  const params = { messages: [{ role: 'user', content }], maxTokens: 10 };
  try {
    const answer = await sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema);
    return say({ answer: answer.content.text });
  } catch (error) {
    return say({ refused: error.code });
  }
});

offer('touch', { uri: z.string() }, async ({ uri }) => {
  await server.server.sendResourceUpdated({ uri });
  return say('touched');
});

offer('heard', {}, () => say(heard));

server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
  heard.push(`+${params.uri}`);
  return {};
});
server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
  heard.push(`-${params.uri}`);
  return {};
});

await server.connect(new StdioServerTransport());
