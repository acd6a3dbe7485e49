// Which clients may connect by URL and with what: other users, browsers, forged requests, and those who only hold on.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { daemonTest, entry, fixtureServer } from './support/daemon.mjs';
import { JSON_HEADERS, answerOf, beginSession, post } from './support/http.mjs';
import { eventually } from './support/processes.mjs';
import { INITIALIZED, initialize, toolCall } from './support/raw_client.mjs';
import {
  asOther,
  canBeOther,
  exchange,
  openMany,
  request,
  statuses,
  traceCall,
} from './support/raw_http.mjs';
import { CANARY, assertNoSecret } from './support/secrets.mjs';

const ANY_PORT = ['--port', '0'];
const traceFile = (lab) => path.join(lab.dir, 'trace');
const traced = (lab) =>
  (existsSync(traceFile(lab)) ? readFileSync(traceFile(lab), 'utf8') : '').split('\n').filter(Boolean);

// A modern server, so that a single request can make something happen that leaves a trace.
const tracing = (lab) => ({
  traced: entry(fixtureServer('--modern', `--trace-file=${traceFile(lab)}`, `--ignore=argument-${CANARY}`)),
});

const callAt = (port, text, lines = []) => {
  const { body, lines: own } = traceCall(text);
  return request(port, '/mcp/traced', { body, lines: [...own, ...lines, 'Connection: close'] });
};

// What follows a forged request on the same connection, for a server that takes it for a request.
const smuggled = (port) => callAt(port, 'smuggled');

// The token's name and its secret.
async function newToken(daemon, name, ...words) {
  const { code, stdout, stderr } = await daemon.ask('token', 'create', name, ...words);
  assert.equal(code, 0, stderr);
  return stdout.trim().split(/\s+/).at(-1);
}

// ---- who

daemonTest(
  'another user is refused without a token, also after closing the connection at once, and no secret is written',
  { serve: ANY_PORT, servers: tracing, skip: canBeOther ? false : 'only root can become another user' },
  async (daemon, lab) => {
    await daemon.url();
    const { port } = daemon;
    const token = await newToken(daemon, 'other');
    const said = [];
    const tell = (text) => (said.push(text), text);

    const own = tell(await exchange(port, callAt(port, 'own')));
    const refused = tell(await asOther(lab, port, [callAt(port, 'refused')]));
    const wrong = `Bearer wrong-${CANARY}`;
    const forged = tell(await asOther(lab, port, [callAt(port, 'forged', [`Authorization: ${wrong}`])]));
    const texts = Array.from({ length: 100 }, () => callAt(port, 'closed at once'));
    await asOther(lab, port, texts, { waits: false });
    const trusted = [`Authorization: Bearer ${token}`, `X-Secret: header-${CANARY}`];
    const allowed = tell(await asOther(lab, port, [callAt(port, 'allowed', trusted)]));

    assert.deepEqual([own, refused, forged, allowed].map(statuses), [[200], [401], [401], [200]]);
    assert.match(refused, /^www-authenticate: *bearer/im);
    // A call after all of them: whatever was taken before it has happened.
    tell(await exchange(port, callAt(port, 'last')));
    assert.deepEqual(traced(lab), ['own', 'allowed', 'last']);

    const session = tell(
      await asOther(lab, port, [
        request(port, '/mcp/traced', {
          body: JSON.stringify(initialize()),
          lines: [
            ...Object.entries(JSON_HEADERS).map(([name, value]) => `${name}: ${value}`),
            ...trusted,
            'Connection: close',
          ],
        }),
      ]),
    );
    const id = /^mcp-session-id: *(\S+)/im.exec(session)[1];
    const stolen = await post(await daemon.url('traced'), INITIALIZED, { headers: { 'Mcp-Session-Id': id } });
    assert.equal(stolen.status, 404, 'the session of another principal does not exist');

    tell(stolen.text);
    for (const words of [['status', '--json'], ['status'], ['token', 'list']]) {
      const { stdout, stderr } = await daemon.ask(...words);
      tell(stdout + stderr);
    }
    tell(await (await fetch(`http://127.0.0.1:${port}/readyz`)).text());
    const narrow = await newToken(daemon, 'narrow', '--server', 'elsewhere');
    const told = await fetch(`http://127.0.0.1:${port}/readyz`, {
      headers: { Authorization: `Bearer ${narrow}` },
    });
    assert.deepEqual((await told.json()).servers, [], 'a token hears of the servers that it opens');
    // Only the file of the tokens may hold theirs.
    const secrets = [CANARY, token];
    const holders = readdirSync(daemon.dir, { recursive: true }).filter((name) =>
      /tokens?(\.json)?$/.test(name),
    );
    assertNoSecret(
      daemon,
      secrets,
      holders.map((name) => path.join(daemon.dir, name)),
    );
    assert.deepEqual(
      secrets.filter((secret) => said.join('\n').includes(secret)),
      [],
    );
  },
);

daemonTest(
  'a page in a browser gets nowhere, on any path',
  { serve: ANY_PORT, servers: tracing },
  async (daemon, lab) => {
    await daemon.url();
    const { port } = daemon;
    const { body, lines } = traceCall('a page');
    const ask = (path_, { method = 'POST', more = [], host } = {}) =>
      exchange(
        port,
        request(port, path_, {
          method,
          host,
          body: method === 'POST' ? body : '',
          lines: [
            ...(method === 'POST' ? lines : ['Accept: text/event-stream']),
            ...more,
            'Connection: close',
          ],
        }),
      );

    const paths = [
      ['/mcp/traced', 'POST'],
      ['/mcp/traced', 'GET'],
      ['/sse/traced', 'GET'],
      ['/healthz', 'GET'],
      ['/readyz', 'GET'],
      ['/nowhere', 'GET'],
    ];
    for (const [at, method] of paths) {
      const answers = [
        await ask(at, { method, host: 'evil.example.com' }),
        await ask(at, { method, host: `evil.example.com:${port}` }),
        await ask(at, { method, more: ['Origin: https://evil.example.com'] }),
        await ask(at, { method, more: ['Origin: null'] }),
        await ask(at, { method, more: [`Origin: http://localhost.evil.example:${port}`] }),
        // Another user may serve a page of this machine.
        await ask(at, { method, more: ['Origin: http://localhost:3000'] }),
        await ask(at, { method, more: [`Origin: http://localhost:${port}`] }),
      ];
      assert.deepEqual(answers.map(statuses), Array(7).fill([403]), `${method} ${at}`);
      assert.ok(!answers.some((answer) => /access-control-allow-origin/i.test(answer)));
    }
    const twice = await ask('/mcp/traced', { more: ['Host: evil.example.com'] });
    const without = await exchange(
      port,
      `POST /mcp/traced HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );

    assert.deepEqual([twice, without].map(statuses), [[400], [400]]);
    assert.deepEqual(traced(lab), []);
  },
);

// ---- with what

// Each is followed by a request that must not be seen. The chunk ends a body where a length would not.
const FORGED = {
  'a length and chunks': ['Content-Length: 5', 'Transfer-Encoding: chunked'],
  'two lengths': ['Content-Length: 0', 'Content-Length: 5'],
  'a list of lengths': ['Content-Length: 0, 5'],
  'a signed length': ['Content-Length: +5'],
  'a length beyond all numbers': ['Content-Length: 99999999999999999999999'],
  'another coding': ['Transfer-Encoding: gzip, chunked'],
  'a coding that is almost chunked': ['Transfer-Encoding: xchunked'],
  'a folded line': ['X-Folded: one', ' two', 'Content-Length: 0'],
  'a line end without CR': ['X-One: 1\nContent-Length: 0'],
  'a bare CR': ['X-One: 1\rX-Two: 2', 'Content-Length: 0'],
  'a zero byte': ['X-One: a\0b', 'Content-Length: 0'],
  'a space before the colon': ['Content-Length : 0'],
  'a name that is none': ['X One: 1', 'Content-Length: 0'],
};

daemonTest(
  'a request that two could read in two ways is refused, and nothing behind it is read',
  { serve: ANY_PORT, servers: tracing },
  async (daemon, lab) => {
    await daemon.url();
    const { port } = daemon;
    const answers = await Promise.all(
      Object.entries(FORGED).map(async ([name, lines]) => {
        const head = [
          'POST /mcp/traced HTTP/1.1',
          `Host: 127.0.0.1:${port}`,
          'Content-Type: application/json',
          ...lines,
          '',
          '',
        ];
        const said = await exchange(port, `${head.join('\r\n')}0\r\n\r\n${smuggled(port)}`);
        return [
          name,
          statuses(said).map((status) => (status === 501 ? 4 : Math.floor(status / 100))),
          said.includes('still open'),
        ];
      }),
    );
    const large = await exchange(
      port,
      request(port, '/mcp/traced', { lines: [`X-Long: ${'x'.repeat(200_000)}`] }),
    );
    const many = await exchange(
      port,
      request(port, '/mcp/traced', { lines: Array.from({ length: 5_000 }, (_, index) => `X-${index}: 1`) }),
    );
    const path_ = await exchange(port, request(port, `/${'x'.repeat(100_000)}`));
    const body = await exchange(
      port,
      request(port, '/mcp/traced', { lines: ['Content-Length: 99999999999'] }).replace(
        /Content-Length: 0\r\n/,
        '',
      ),
    );
    const chunk = await exchange(
      port,
      `POST /mcp/traced HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n`,
    );
    const alive = await exchange(port, callAt(port, 'still alive'));

    assert.deepEqual(
      answers,
      Object.keys(FORGED).map((name) => [name, [4], false]),
    );
    assert.deepEqual([large, many].map(statuses), [[431], [431]]);
    assert.ok([400, 414, 431].includes(statuses(path_)[0]), path_.slice(0, 100));
    assert.deepEqual(statuses(body), [413]);
    assert.ok([400, 413].includes(statuses(chunk)[0]), chunk.slice(0, 100));
    assert.deepEqual(statuses(alive), [200]);
    assert.deepEqual(traced(lab), ['still alive']);
  },
);

// ---- and for how long

const descriptorsOf = (pid) => readdirSync(`/proc/${pid}/fd`).length;
const residentKb = (pid) => Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

daemonTest(
  'five hundred clients that never finish their request do not keep others from theirs',
  { serve: ANY_PORT, servers: { shared: entry(fixtureServer('--legacy'), { share: 'shared' }) } },
  async (daemon) => {
    const url = await daemon.url('shared');
    const headers = await beginSession(url);
    const before = descriptorsOf(daemon.pid);
    const { closeAll } = await openMany(
      daemon.port,
      250,
      'POST /mcp/shared HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ',
    );
    const bodies = await openMany(
      daemon.port,
      250,
      request(daemon.port, '/mcp/shared', {
        lines: ['Content-Type: application/json', 'Content-Length: 1000'],
      }).replace('Content-Length: 0\r\n', ''),
    );
    await eventually('all of them to be there', () => descriptorsOf(daemon.pid) >= before + 500);

    const answers = [];
    for (let id = 2; id < 22; id += 1) {
      answers.push(answerOf(await post(url, toolCall(id, 'test_echo', { text: `${id}` }), { headers })));
    }
    closeAll();
    bodies.closeAll();

    assert.deepEqual(
      answers,
      Array.from({ length: 20 }, (_, index) => `Echo: ${index + 2}`),
    );
    await eventually('their descriptors to be gone', () => descriptorsOf(daemon.pid) <= before + 2);
  },
);

daemonTest(
  'a thousand silent streams leave room for a call, and nothing behind',
  { serve: ANY_PORT, servers: { shared: entry(fixtureServer('--legacy'), { share: 'shared' }) } },
  async (daemon) => {
    const url = await daemon.url('shared');
    const headers = await beginSession(url);
    await post(url, toolCall(2, 'test_echo', { text: 'warm' }), { headers });
    const before = descriptorsOf(daemon.pid);
    const get = request(daemon.port, '/sse/shared', { method: 'GET', lines: ['Accept: text/event-stream'] });
    const round = async () => {
      const { heard, closeAll } = await openMany(daemon.port, 1_000, `${get}`, { hears: true });
      const answer = answerOf(await post(url, toolCall(3, 'test_echo', { text: 'meanwhile' }), { headers }));
      const { sessions } = await daemon.status();
      closeAll();
      await eventually('their descriptors to be gone', () => descriptorsOf(daemon.pid) <= before + 2);
      await daemon.becomes('one session', (status) => status.sessions.length === 1);
      return {
        heard: heard.every((text) => statuses(text)[0] === 200),
        answer,
        sessions: sessions.length,
        memory: residentKb(daemon.pid),
      };
    };

    const first = await round();
    const second = await round();

    for (const { heard, answer, sessions } of [first, second]) {
      assert.deepEqual(
        { heard, answer, sessions },
        { heard: true, answer: 'Echo: meanwhile', sessions: 1_001 },
      );
    }
    assert.ok(second.memory < first.memory + 4_000, `${first.memory} KB, then ${second.memory} KB`);
  },
);

daemonTest(
  'a session that nobody uses any more ends by itself, with its server',
  { serve: ANY_PORT, servers: { legacy: entry(fixtureServer('--legacy')) }, corral: { http: { idle: '1s' } } },
  async (daemon) => {
    const url = await daemon.url('legacy');
    const lines = Object.entries(JSON_HEADERS).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const { stdout } = await promisify(execFile)('curl', [
      '-sS',
      '-i',
      ...lines,
      '--data',
      JSON.stringify(initialize()),
      url,
    ]);
    const id = /^mcp-session-id: *(\S+)/im.exec(stdout)[1];

    await daemon.becomesEmpty();

    const late = await post(url, toolCall(2, 'test_pid'), { headers: { 'Mcp-Session-Id': id } });
    assert.equal(late.status, 404);
  },
);
