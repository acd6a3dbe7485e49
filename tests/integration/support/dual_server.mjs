// A server of both eras, built on the official SDK, with the names of the fixture server that the tests of all
// mixes use. Ends by itself after two minutes.
import { McpServer, acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

setTimeout(() => process.exit(0), 120_000).unref();
const say = (text) => ({ content: [{ type: 'text', text }] });
const NOTHING = z.object({});
const NAME = z.object({ name: z.string() });
let cancelled = 0;

// A tool that needs one answer of its client, and says what it got.
function askingTool(server, name, key, request, tell) {
  server.registerTool(name, { inputSchema: NOTHING }, (_, { mcpReq }) => {
    const answer = mcpReq.inputResponses?.[key];
    return answer === undefined
      ? inputRequired({ inputRequests: { [key]: request } })
      : say(tell(answer, mcpReq.inputResponses));
  });
}

function registerQuestions(server) {
  askingTool(
    server,
    'test_input_required_result_elicitation',
    'user_name',
    inputRequired.elicit({ message: 'What is your name?', requestedSchema: NAME }),
    (answer, all) => {
      const name = acceptedContent(all, 'user_name', NAME)?.name;
      return name === undefined ? `Hello, stranger: action=${answer.action}, content={}` : `Hello, ${name}!`;
    },
  );
  askingTool(
    server,
    'test_input_required_result_sampling',
    'capital_question',
    inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
      maxTokens: 100,
    }),
    (answer) => `The model says: ${answer.content.text}`,
  );
  askingTool(
    server,
    'test_input_required_result_list_roots',
    'client_roots',
    inputRequired.listRoots(),
    (answer) => `Roots: ${answer.roots.map(({ uri }) => uri).join(' ')}`,
  );
}

async function tellProgress({ mcpReq }, progress, total) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress, total };
  await mcpReq.notify({ method: 'notifications/progress', params });
}

function registerLongTools(server) {
  server.registerTool('test_tool_with_progress', { inputSchema: NOTHING }, async (_, context) => {
    for (const progress of [0, 50, 100]) {
      await tellProgress(context, progress, 100);
      await sleep(50);
    }
    return say('Made progress three times.');
  });
  server.registerTool(
    'test_long_call',
    { inputSchema: z.object({ ms: z.number() }) },
    async ({ ms }, context) => {
      context.mcpReq.signal.addEventListener('abort', () => (cancelled += 1));
      for (let at = 0; at < ms && !context.mcpReq.signal.aborted; at += 50) {
        await tellProgress(context, at, ms);
        await sleep(50);
      }
      return say(`Done after ${ms} ms.`);
    },
  );
  server.registerTool('test_cancelled_calls', { inputSchema: NOTHING }, () => say(`${cancelled}`));
  server.registerTool('test_tool_with_logging', { inputSchema: NOTHING }, async (_, { mcpReq }) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', line, 'dual');
    }
    return say('Logged three lines.');
  });
}

function registerChanges(server) {
  let extra;
  server.registerTool('test_trigger_tool_change', { inputSchema: NOTHING }, () => {
    if (extra !== undefined) return say('There is one already.');
    extra = server.registerTool('test_dynamic_tool', { inputSchema: NOTHING }, () => say('One more'));
    return say('There is one more.');
  });
  server.registerTool(
    'test_touch_resource',
    { inputSchema: z.object({ uri: z.string() }) },
    async ({ uri }) => {
      await server.server.sendResourceUpdated({ uri });
      return say('Touched.');
    },
  );
}

function registerContents(server) {
  const text = { mimeType: 'text/plain', description: 'A text' };
  const static_ = 'This is the content of the static text resource.';
  server.registerResource('Static text', 'test://static-text', text, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: static_ }],
  }));
  server.registerResource('Watched', 'test://watched-resource', text, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'Somebody watches this.' }],
  }));
  const argsSchema = z.object({ arg1: z.string(), arg2: z.string() });
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Two arguments', argsSchema },
    ({ arg1, arg2 }) => {
      const content = { type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` };
      return { messages: [{ role: 'user', content }] };
    },
  );
}

serveStdio(() => {
  const server = new McpServer(
    { name: 'dual', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
      },
    },
  );
  server.registerTool('test_simple_text', { inputSchema: NOTHING }, () =>
    say('This is a simple text response for testing.'),
  );
  registerQuestions(server);
  registerLongTools(server);
  registerChanges(server);
  registerContents(server);
  return server;
});
