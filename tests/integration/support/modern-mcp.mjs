// A server of the revision 2026-07-28, which the SDK also lets older clients use. Ends by itself after two
// minutes.
import { McpServer, acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

setTimeout(() => process.exit(0), 120_000).unref();
const say = (text) => ({ content: [{ type: 'text', text }] });
const NAME = z.object({ name: z.string() });

serveStdio(() => {
  const server = new McpServer(
    { name: 'modern', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) =>
    say(`Echo: ${text}`),
  );
  server.registerTool('greet', { inputSchema: z.object({}) }, (_, context) => {
    const answer = acceptedContent(context.mcpReq.inputResponses, 'name', NAME);
    if (answer !== undefined) return say(`Hello, ${answer.name}`);
    const name = inputRequired.elicit({ message: 'Who are you?', requestedSchema: NAME });
    return inputRequired({ inputRequests: { name } });
  });
  let grown = 0;
  server.registerTool('grow', { inputSchema: z.object({}) }, () => {
    grown += 1;
    server.registerTool(`leaf-${grown}`, { inputSchema: z.object({}) }, () => say('green'));
    return say(`leaf-${grown}`);
  });
  return server;
});
