// A client program of its own that connects by URL, for the tests that end a client the hard way.
//   node http_client.mjs '{"url": "...", "sdk": "v1", "over": "http|sse", "call": {...}}'
// Prints one word per line: "connected", "in-flight" (the call makes progress), then "answered" or "failed".
import { Session } from './sdk.mjs';

const { call, url, ...way } = JSON.parse(process.argv[2]);
setTimeout(() => process.exit(3), 100_000).unref();
const say = (word) => process.stdout.write(`${word}\n`);

const session = await Session.at(url, way);
say('connected');
let underWay = false;
const onprogress = () => {
  if (!underWay) say('in-flight');
  underWay = true;
};
const ended = session.call(call.name, call.arguments, { onprogress, timeout: 90_000 });
say(
  await ended.then(
    () => 'answered',
    () => 'failed',
  ),
);
await session.leave();
