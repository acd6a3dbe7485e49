// The whole tool loop without an MCP library: `corral tools` and `corral call`, a model that follows a script, and a
// real server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { runsBelow } from './support/control.mjs';
import { daemonTest, entry } from './support/daemon.mjs';
import { CORRAL, HERE } from './support/lab.mjs';
import { describe } from './support/processes.mjs';
import { viaNode } from './support/session.mjs';

const EXAMPLE = path.resolve(HERE, '../../examples/direct.py');
const EVERYTHING = viaNode('everything');
const SERVERS = { everything: entry(EVERYTHING) };

// Each vendor's words for the same conversation: the result that it was sent last, and its answers.
const VENDORS = {
  openai: {
    names: (tools) => tools.map((tool) => tool.function.name),
    schema: (tools, name) => tools.find((tool) => tool.function.name === name).function.parameters,
    results: (messages) => messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
    call: (id, name, input) => ({
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
          },
        },
      ],
    }),
    say: (words) => ({ choices: [{ message: { role: 'assistant', content: words } }] }),
  },
  anthropic: {
    names: (tools) => tools.map((tool) => tool.name),
    schema: (tools, name) => tools.find((tool) => tool.name === name).input_schema,
    results: (messages) =>
      messages
        .flatMap(({ content }) => (Array.isArray(content) ? content : []))
        .filter(({ type }) => type === 'tool_result')
        .map(({ content }) => content),
    call: (id, name, input) => ({ stop_reason: 'tool_use', content: [{ type: 'tool_use', id, name, input }] }),
    say: (words) => ({ stop_reason: 'end_turn', content: [{ type: 'text', text: words }] }),
  },
};

// Knows no more than what it is sent, like a real one: two numbers from the question, and the results so far.
async function startModel(vendor, asked) {
  const { results, call, say } = VENDORS[vendor];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    asked.push(body);
    const [a, b] = body.messages[0].content.match(/\d+/g).map(Number);
    const heard = results(body.messages).map((result) => JSON.parse(result).content[0].text);
    const answers = [call('1', 'get-sum', { a, b }), call('2', 'echo', { message: heard[0] }), say(`I heard "${heard[1]}"`)];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[heard.length]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/`, stop: () => server.close() };
}

function run(words, lab) {
  const env = { ...process.env, ...lab.env, CORRAL };
  return new Promise((resolve) => {
    execFile('python3', [EXAMPLE, ...words], { env, cwd: lab.dir, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

for (const vendor of Object.keys(VENDORS)) {
  daemonTest(`the direct example runs a tool loop with ${vendor}'s words`, { servers: SERVERS }, async (daemon, lab) => {
    const asked = [];
    const model = await startModel(vendor, asked);
    const question = 'What is 19 and 23?';
    const server = ['--runtime-dir', daemon.dir, 'everything'];
    const { code, stdout, stderr } = await run([model.url, vendor, question, ...server], lab);
    model.stop();

    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'I heard "Echo: The sum of 19 and 23 is 42."\n');
    assert.equal(asked.length, 3);
    assert.ok(VENDORS[vendor].names(asked[0].tools).includes('echo'));
    assert.deepEqual(VENDORS[vendor].schema(asked[0].tools, 'get-sum').required, ['a', 'b']);
    assert.equal(describe(runsBelow(daemon)), 'none');
  });
}

daemonTest('the direct example needs no configured server', { servers: {} }, async (daemon, lab) => {
  const model = await startModel('openai', []);
  const server = ['--runtime-dir', daemon.dir, '--', ...EVERYTHING];
  const { code, stdout, stderr } = await run([model.url, 'openai', '1 and 2', ...server], lab);
  model.stop();

  assert.equal(code, 0, stderr);
  assert.equal(stdout, 'I heard "Echo: The sum of 1 and 2 is 3."\n');
  assert.equal(describe(runsBelow(daemon)), 'none');
});

daemonTest('the direct example is short', { servers: {} }, async () => {
  const source = readFileSync(EXAMPLE, 'utf8');

  assert.ok(source.trimEnd().split('\n').length <= 40, 'at most 40 lines');
  assert.doesNotMatch(source, /^\s*(import|from)\s.*\bmcp\b/m);
});
