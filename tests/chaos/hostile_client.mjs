// One client that wants more than its share of one thing, in a process of its own.
//   node hostile_client.mjs WHAT CORRAL RUNTIME_DIR CONFIG [TOKEN]
// Says how it went on a line when it has done its worst, and then keeps what it has until it is killed.
import { spawn } from 'node:child_process';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [what, corral, runtime, config, token] = process.argv.slice(2);
const TIME = 1_500;
const MB = 1 << 20;
setTimeout(() => process.exit(3), 30_000).unref();

const request = (id, method, params = {}) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
const initialize = (name = 'hostile') =>
  request(0, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name, version: '1' },
  });
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const call = (id, name, arg = '') => request(id, 'tools/call', { name, arguments: { arg } });
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

// ---- by pipes

class Pipes {
  constructor(server) {
    const args = ['connect', '--runtime-dir', runtime, '--config', config, server];
    this.child = spawn(corral, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.child.stdin.on('error', () => {});
    this.lines = 0;
    this.child.stdout.on('data', (chunk) => {
      for (const byte of chunk) if (byte === 10) this.lines += 1;
    });
  }

  // Resolves when it is written, or when the other side does not take more for a while.
  say(...lines) {
    const written = new Promise((resolve) => this.child.stdin.write(`${lines.join('\n')}\n`, resolve));
    return Promise.race([written, sleep(TIME)]);
  }

  async heard(count) {
    for (let i = 0; i < 1_000 && this.lines < count; ++i) await sleep(10);
  }

  leave() {
    this.child.kill('SIGKILL');
  }
}

async function opened(server) {
  const client = new Pipes(server);
  client.say(initialize());
  await client.heard(1);
  client.say(INITIALIZED);
  return client;
}

// ---- by URL

const statuses = {}; // how often each was answered
const agent = new http.Agent({ keepAlive: true, maxSockets: 400 });

function post(server, body, headers = {}, { read = true } = {}) {
  return new Promise((resolve) => {
    const sent = http.request(
      {
        socketPath: `${runtime}/http.sock`,
        path: `/mcp/${server}`,
        method: 'POST',
        agent: read ? agent : new http.Agent(),
        headers: {
          Host: 'localhost',
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...(token ? { Authorization: `Bearer ${token}` } : {}),
          ...headers,
        },
      },
      (response) => {
        statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
        if (!read) return resolve(response.pause());
        response.resume();
        response.on('end', () => resolve(response));
        response.on('error', () => resolve(response));
      },
    );
    sent.on('error', () => resolve(null));
    sent.end(body);
  });
}

const modern = (server, id, method, params, options) => {
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method };
  if (params.name) headers['Mcp-Name'] = params.name;
  const body = request(id, method, { ...params, _meta: { ...META, progressToken: id } });
  return post(server, body, headers, options);
};

const until = async (body) => {
  for (const end = Date.now() + TIME; Date.now() < end;) if ((await body()) === false) return;
};

// ---- what it does

const DEEDS = {
  // It was greeted before its server runs; a large request waits for that, and thousands of cancellations follow.
  async cancellations() {
    const before = await opened('sleepy');
    before.say(request(1, 'tools/list'));
    await before.heard(2);
    before.leave();
    const client = await opened('sleepy');
    const cancelled = Array.from(
      { length: 3_000 },
      (_, i) => `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${i + 10}}}`,
    );
    await client.say(call(1, 'echo', 'x'.repeat(8 * MB)), ...cancelled);
    await client.heard(2);
  },
  // Millions of elements on one line.
  async batch() {
    const client = await opened('calm');
    await client.say(`[${'1,'.repeat(8 * MB)}1]`);
    await client.heard(2);
  },
  // Calls that are never answered, with ids of many megabytes.
  async ids() {
    const client = await opened('calm');
    const large = (i) => `"${i}${'i'.repeat(10 * MB)}"`;
    for (let i = 0; i < 8; ++i) await client.say(call('?', 'silent').replace('"?"', large(i)));
    await sleep(200);
  },
  // What it says of itself has many megabytes, again and again.
  async introductions() {
    for (let i = 0; i < 8; ++i) await post('calm', initialize('n'.repeat(10 * MB)));
  },
  async subscriptions() {
    const client = await opened('calm');
    const uri = (i) => `file:///${`${i}`.padEnd(200, 'u')}`;
    for (let i = 0; i < 12_000; i += 1_000) {
      const some = Array.from({ length: 1_000 }, (_, k) => k + i + 1);
      await client.say(...some.map((n) => request(n, 'resources/subscribe', { uri: uri(n) })));
    }
    await client.heard(1_000);
  },
  // It does not read, and its server has a lot of news for it.
  async news() {
    const client = await opened('liar');
    client.child.stdout.pause();
    await client.say(call(1, 'flood'));
    await sleep(TIME);

  },
  async sessions() {
    await Promise.all(
      Array.from({ length: 8 }, () =>
        until(async () => {
          const answer = await post('calm', initialize());
          return answer !== null && answer.statusCode < 400;
        }),
      ),
    );
  },
  // A server of its own for each of many sessions, and all of them at work.
  async instances() {
    await Promise.all(
      Array.from({ length: 24 }, async () => {
        const begun = await post('sleepy', initialize());
        const headers = {
          'Mcp-Session-Id': begun?.headers['mcp-session-id'] ?? '',
          'MCP-Protocol-Version': '2025-06-18',
        };
        post('sleepy', call(1, 'silent'), headers, { read: false });
      }),
    );
    await sleep(TIME);
  },
  // Answers to questions that nobody has asked: each was once a line of the log.
  async answers() {
    const begun = await post('calm', initialize());
    const headers = {
      'Mcp-Session-Id': begun?.headers['mcp-session-id'] ?? '',
      'MCP-Protocol-Version': '2025-06-18',
    };
    await Promise.all(
      Array.from({ length: 8 }, () => until(() => post('calm', '{"jsonrpc":"2.0","id":7,"result":{}}', headers))),
    );
  },
  // A stream that nobody reads, with a lot of progress on it.
  async stream() {
    modern('liar', 1, 'tools/call', { name: 'drip', arguments: {} }, { read: false });
    await sleep(TIME);
  },
  // More requests than may be open, none of which is ever answered.
  async requests() {
    const params = { name: 'silent', arguments: {} };
    for (let i = 0; i < 300; ++i) modern('calm', i, 'tools/call', params, { read: false });
    await sleep(TIME);
  },
};

if (what === '--list') {
  process.stdout.write(Object.keys(DEEDS).join('\n'));
} else {
  await DEEDS[what]();
  process.stdout.write(`${JSON.stringify(statuses)}\n`);
  await sleep(25_000);
}
process.exit(0);
