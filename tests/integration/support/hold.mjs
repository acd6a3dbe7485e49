// What a client program of either SDK does here: starts the servers of its plan, keeps them, and closes all
// connections when a line "close" arrives, without leaving itself.
//   node holder.mjs '{"servers": [["npx", "-y", "…"], …], "cwd": "..."}'
// Prints one word per line: "connected" when all servers answer, "closed".
import { createInterface } from 'node:readline';

export async function hold(Client, StdioClientTransport) {
  const plan = JSON.parse(process.argv[2]);
  setTimeout(() => process.exit(3), 100_000);

  const say = (word) => process.stdout.write(`${word}\n`);
  const connect = async ([command, ...args]) => {
    const client = new Client({ name: 'corral-test-holder', version: '1.0.0' });
    const options = { command, args, env: process.env, cwd: plan.cwd, stderr: 'ignore' };
    await client.connect(new StdioClientTransport(options));
    return client;
  };
  const clients = await Promise.all(plan.servers.map(connect));
  say('connected');

  for await (const line of createInterface({ input: process.stdin })) {
    if (line !== 'close') continue;
    await Promise.all(clients.map((client) => client.close()));
    say('closed');
  }
}
