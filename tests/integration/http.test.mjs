// Clients that connect by URL: both official SDKs, the Inspector and curl, with real servers behind one daemon.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Daemon, daemonTest, entry, fixtureServer } from './support/daemon.mjs';
import { talker } from './support/features.mjs';
import { JSON_HEADERS, answerOf, beginSession, messagesOf } from './support/http.mjs';
import { HERE, labTest } from './support/lab.mjs';
import { INITIALIZED, initialize, toolCall } from './support/raw_client.mjs';
import { Session, closeAll } from './support/sdk.mjs';
import { LONG_CALL, viaNode } from './support/session.mjs';
import { Victim } from './support/victim.mjs';

const ANY_PORT = ['--port', '0'];
const EVERYTHING = viaNode('everything');
const FILESYSTEM = [...viaNode('filesystem').slice(0, -1), HERE];
// Every way in, with the client that would use it.
const WAYS = [
  { sdk: 'v1', over: 'http' },
  { sdk: 'v1', over: 'sse' },
  { sdk: 'v2', over: 'http' },
  { sdk: 'v2 modern', over: 'http' },
];
const nameOf = ({ sdk, over }) => `${sdk} ${over}`;
const CLIENT = path.join(HERE, 'support', 'http_client.mjs');
const run = promisify(execFile);

// Waits for all, and names the ways that failed.
async function eachWay(ways, body) {
  const failed = [];
  const seen = await Promise.all(
    ways.map((way, index) => body(way, index).catch((error) => void failed.push(`${nameOf(way)}: ${error}`))),
  );
  assert.deepEqual(failed, []);
  return seen;
}

const urlFor = (daemon, server, { over }) => daemon.url(server, over === 'sse' ? 'sse' : 'mcp');

async function openAt(daemon, server, way, options = {}) {
  return Session.at(await urlFor(daemon, server, way), { ...way, ...options });
}

// ---- the SDKs

daemonTest(
  'real servers answer the clients of both SDKs by URL, whichever way they come',
  { serve: ANY_PORT, servers: { everything: entry(EVERYTHING), filesystem: entry(FILESYSTEM) } },
  async (daemon) => {
    const seen = await eachWay(WAYS, async (way) => {
      const { heard, options } = talker();
      const session = await openAt(daemon, 'everything', way, options);
      const files = await openAt(daemon, 'filesystem', way);
      const steps = [];
      const onprogress = ({ progress }) => steps.push(progress);
      const found = {
        tools: (await session.tools()).includes('trigger-sampling-request'),
        long: await session.call(
          'trigger-long-running-operation',
          { duration: 0.4, steps: 4 },
          { onprogress },
        ),
        first: steps[0],
        elicited: /User provided/.test(await session.call('trigger-elicitation-request')),
        sampled: /no idea about/.test(await session.call('trigger-sampling-request', { prompt: 'why?' })),
        asked: heard.asked.length >= 2,
        files: /package-lock\.json/.test(await files.call('list_directory', { path: HERE })),
      };
      await session.leave();
      await files.leave();
      return found;
    });

    for (const [index, found] of seen.entries()) {
      assert.deepEqual(
        found,
        {
          tools: true,
          long: 'Long running operation completed. Duration: 0.4 seconds, Steps: 4.',
          first: 1,
          elicited: true,
          sampled: true,
          asked: true,
          files: true,
        },
        nameOf(WAYS[index]),
      );
    }
    // The sessions that have an end are over; a modern client has none, so what it used stays for a while.
    await daemon.becomes('no legacy session', ({ sessions }) => sessions.length <= 2);
  },
);

daemonTest(
  'clients that use the same ids on one server get their own answers and progress',
  { serve: ANY_PORT, servers: { shared: entry(fixtureServer('--legacy'), { share: 'shared' }) } },
  async (daemon) => {
    const ways = [...WAYS, ...WAYS];
    const sessions = await eachWay(ways, (way) => openAt(daemon, 'shared', way));
    const wrong = [];
    await eachWay(ways, async (way, client) => {
      for (let call = 0; call < 10; call += 1) {
        const text = `call ${call} of ${client}`;
        const answer = await sessions[client].call('test_echo', { text });
        if (answer !== `Echo: ${text}`) wrong.push({ text, answer });
      }
    });
    const totals = await eachWay(ways, async (way, client) => {
      const heard = new Set();
      const onprogress = ({ total }) => heard.add(total);
      await sessions[client].call('test_long_call', { ms: 200 + client }, { onprogress });
      return [...heard];
    });
    const { instances } = await daemon.status();
    await closeAll(sessions);

    assert.deepEqual(wrong, []);
    assert.deepEqual(
      totals,
      ways.map((_, client) => [200 + client]),
    );
    assert.equal(instances.length, 1);
    assert.equal(instances[0].counters.unknown_answers, 0);
  },
);

// ---- the end of a client

daemonTest(
  'DELETE, and the end of an SSE stream, end the private instance with its tree',
  { serve: ANY_PORT, servers: { everything: entry(EVERYTHING) } },
  async (daemon) => {
    const ways = WAYS.filter(({ sdk }) => sdk !== 'v2 modern');
    const sessions = await eachWay(ways, (way) => openAt(daemon, 'everything', way));
    await eachWay(ways, (way, index) => sessions[index].call('echo', { message: nameOf(way) }));
    const { instances } = await daemon.status();
    daemon.watch();

    await Promise.all(sessions.map((session) => session.leave()));

    assert.deepEqual(
      instances.map(({ share }) => share),
      ways.map(() => 'session'),
    );
    await daemon.becomesEmpty();
  },
);

daemonTest(
  "a client that is killed takes its private instance's tree along, with no time limit configured",
  { serve: ANY_PORT, servers: { everything: entry(EVERYTHING) } },
  async (daemon, lab) => {
    const ways = WAYS.filter(({ sdk, over }) => sdk === 'v2 modern' || (sdk === 'v1' && over === 'http'));
    const victims = await eachWay(ways, async (way) => {
      const plan = { url: await urlFor(daemon, 'everything', way), call: LONG_CALL, ...way };
      const victim = new Victim(lab, [process.execPath, CLIENT, JSON.stringify(plan)]);
      await victim.says('in-flight');
      return victim;
    });
    const { instances } = await daemon.status();
    daemon.watch();

    await Promise.all(victims.map((victim) => victim.kill('SIGKILL')));

    assert.equal(instances.length, ways.length, 'one for each');
    await daemon.becomesEmpty();
  },
);

// ---- without an SDK

// One process for one message, as a shell script would have it.
async function curl(url, message, ...headers) {
  const all = [...Object.entries(JSON_HEADERS).map(([name, value]) => `${name}: ${value}`), ...headers];
  const words = ['-sS', '-i', '--max-time', '30', ...all.flatMap((line) => ['-H', line])];
  const { stdout } = await run('curl', [...words, '--data', JSON.stringify(message), url]);
  const [head, ...rest] = stdout.split('\r\n\r\n');
  const value = (name) => new RegExp(`^${name}: *(.*)$`, 'im').exec(head)?.[1].trim() ?? '';
  const text = rest.join('\r\n\r\n');
  const messages = messagesOf(value('content-type'), text);
  return { status: Number(head.split(' ')[1]), value, text, messages };
}

daemonTest(
  'a curl for every message is one session, and outlives each of them',
  { serve: ANY_PORT, servers: { legacy: entry(fixtureServer('--legacy')) } },
  async (daemon) => {
    const url = await daemon.url('legacy');
    const opened = await curl(url, initialize());
    const session = `Mcp-Session-Id: ${opened.value('mcp-session-id')}`;
    const told = await curl(url, INITIALIZED, session);
    const first = await curl(url, toolCall(2, 'test_pid'), session);
    // The process behind a session that is bound to one is missed for a second at most.
    await sleep(1_500);
    const second = await curl(url, toolCall(3, 'test_pid'), session);
    const { stdout: local } = await run('curl', [
      '-sS',
      '--unix-socket',
      `${daemon.dir}/http.sock`,
      'http://localhost/healthz',
    ]);
    const { instances } = await daemon.status();

    assert.deepEqual([opened.status, told.status, first.status, second.status], [200, 202, 200, 200]);
    assert.equal(answerOf(first), answerOf(second), 'the same server process');
    assert.equal(instances.length, 1);
    assert.equal(JSON.parse(local).status, 'alive', 'the local socket answers too');
  },
);

daemonTest(
  'a stream that broke is taken up again where it ended',
  { serve: ANY_PORT, servers: { legacy: entry(fixtureServer('--legacy')) } },
  async (daemon) => {
    const url = await daemon.url('legacy');
    const headers = await beginSession(url);
    const broken = new AbortController();
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...headers },
      body: JSON.stringify(toolCall(7, 'test_long_call', { ms: 600 })),
      signal: broken.signal,
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!/^id: *\S+\n[^]*"progress":50,/m.test(text)) text += (await reader.read()).value;
    broken.abort();
    const last = [...text.matchAll(/^id: *(\S+)\n/gm)].at(-1)[1];

    const rest = await fetch(url, {
      headers: { Accept: 'text/event-stream', ...headers, 'Last-Event-ID': last },
    });
    let more = '';
    const resumed = rest.body.pipeThrough(new TextDecoderStream()).getReader();
    while (!more.includes('Done after 600 ms.')) {
      const { value, done } = await resumed.read();
      assert.ok(!done, `the stream ended without the answer: ${more}`);
      more += value;
    }
    await resumed.cancel();

    const steps = (events) =>
      messagesOf('text/event-stream', events.slice(0, events.lastIndexOf('\n\n') + 2))
        .filter(({ method }) => method === 'notifications/progress')
        .map(({ params }) => params.progress);
    const all = [...steps(text), ...steps(more)];
    assert.equal(rest.status, 200);
    assert.deepEqual(
      all,
      Array.from({ length: 12 }, (_, step) => step * 50),
      'every step once',
    );
  },
);

// The command line is a package of its own, but looks for its version where it would lie in the whole Inspector.
function inspectorIn(lab) {
  const modules = path.join(HERE, 'node_modules');
  const own = path.join(modules, '@modelcontextprotocol/inspector-cli');
  const whole = path.join(lab.dir, 'inspector');
  cpSync(own, path.join(whole, 'cli'), { recursive: true });
  cpSync(path.join(own, 'package.json'), path.join(whole, 'package.json'));
  symlinkSync(modules, path.join(whole, 'node_modules'));
  return path.join(whole, 'cli/build/cli.js');
}

daemonTest(
  "the Inspector's command line lists and calls tools by URL",
  { serve: ANY_PORT, servers: { legacy: entry(fixtureServer('--legacy')) } },
  async (daemon, lab) => {
    const program = inspectorIn(lab);
    const inspect = async (over, ...words) => {
      const url = await urlFor(daemon, 'legacy', { over });
      const args = [program, '--cli', url, '--transport', over, ...words];
      return JSON.parse((await run(process.execPath, args)).stdout);
    };

    const [list, called] = await Promise.all([
      inspect('http', '--method', 'tools/list'),
      inspect('sse', '--method', 'tools/call', '--tool-name', 'test_echo', '--tool-arg', 'text=moo'),
    ]);

    assert.ok(list.tools.some(({ name }) => name === 'test_echo'));
    assert.deepEqual(called.content, [{ type: 'text', text: 'Echo: moo' }]);
    await daemon.becomesEmpty();
  },
);

// ---- one command

labTest('one command serves one server without any configuration, at /mcp and /sse', {}, async (lab) => {
  const daemon = await Daemon.start(lab, undefined, {}, [...ANY_PORT, '--', ...EVERYTHING]);
  const answers = await eachWay(WAYS, async (way) => {
    const session = await openAt(daemon, undefined, way);
    const answer = await session.call('echo', { message: nameOf(way) });
    await session.leave();
    return answer;
  });
  const health = await fetch(new URL('/healthz', await daemon.url()));
  const ready = await fetch(new URL('/readyz', await daemon.url()));
  await daemon.shutDown();

  assert.deepEqual(
    answers,
    WAYS.map((way) => `Echo: ${nameOf(way)}`),
  );
  assert.deepEqual([health.status, ready.status], [200, 200]);
});
