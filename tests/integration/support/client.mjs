// A client program of its own, for the tests that end a client the hard way.
//   node client.mjs '{"command": [...], "cwd": "...", "call": {...}, "onSignal": "die|close|ignore"}'
// The server gets this program's own environment, and its stderr is this program's stderr. Prints one word
// per line: "connected", "in-flight" (the call makes progress), then "answered" or "failed".
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const plan = JSON.parse(process.argv[2]);
setTimeout(() => process.exit(3), 100_000).unref();

const say = (word) => process.stdout.write(`${word}\n`);
const client = new Client({ name: 'corral-test-client', version: '1.0.0' });
const [command, ...args] = plan.command;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGTSTP']) {
  if (plan.onSignal === 'ignore') process.on(signal, () => say(`got ${signal}`));
  if (plan.onSignal === 'close') process.on(signal, () => client.close().then(() => process.exit(0)));
}

await client.connect(new StdioClientTransport({ command, args, env: process.env, cwd: plan.cwd }));
say('connected');

let underWay = false;
const onprogress = () => {
  if (!underWay) say('in-flight');
  underWay = true;
};
const ended = await client.callTool(plan.call, undefined, { onprogress, timeout: 90_000 }).then(
  () => 'answered',
  () => 'failed',
);
say(ended);
await client.close();
