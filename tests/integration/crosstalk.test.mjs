// Real processes, sessions of all revisions that come, call, cancel and die in any order, and servers that talk
// about every call: no byte about one session's call ever reaches another. tests/unit/crosstalk has the same in
// memory, with far more steps. CROSSTALK_SEED repeats the choices of a run.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../chaos/random.mjs';
import { daemonTest, entry, fixture } from './support/daemon.mjs';
import { JSON_HEADERS, beginSession, messagesOf, post } from './support/http.mjs';
import { eventually } from './support/processes.mjs';
import { INITIALIZED, RawClient, initialize, modernRequest } from './support/raw_client.mjs';
import { Session } from './support/sdk.mjs';

const SEED = Number(process.env.CROSSTALK_SEED || randomInt(2 ** 31));
const CREW = 8;
const LIVES = 8; // one after the other, in each place of the crew
const ANY_PORT = ['--port', '0'];

const traceFile = (lab) => path.join(lab.dir, 'trace');
const traced = (lab) => (existsSync(traceFile(lab)) ? readFileSync(traceFile(lab), 'utf8').split('\n') : []);
const gossip = (lab, ...words) => fixture('gossip-mcp.mjs', `--trace=${traceFile(lab)}`, ...words);

const servers = (lab) => ({
  shared: entry(gossip(lab), { share: 'shared' }),
  modern: entry(gossip(lab, '--modern'), { share: 'shared' }),
  own: entry(gossip(lab), { share: 'session' }),
  sleepy: entry(gossip(lab, '--start=700'), { share: 'session' }),
  sleepyModern: entry(gossip(lab, '--start=1500', '--modern'), { share: 'shared' }),
});

// Words of others in what a session has got.
function strangers(text, mine, kin) {
  return [...new Set(text.match(/canary-\d+-/g) ?? [])].filter((word) => word !== mine && !kin.has(word));
}

class World {
  constructor(daemon, lab) {
    this.daemon = daemon;
    this.lab = lab;
    this.random = new Random(SEED);
    this.count = 0;
    this.faults = [];
    this.answers = 0;
    this.changes = 0; // of lists, that somebody heard of
    this.ours = new Set(); // words of this process at the server that it has for itself
  }

  newWord() {
    return `canary-${++this.count}-`;
  }

  judge(who, word, text, kin = new Set()) {
    const others = strangers(text, word, kin);
    if (others.length > 0) this.faults.push(`${who} with ${word} got ${others.join(' ')}: ${text.slice(0, 500)}`);
  }

  fault(what) {
    this.faults.push(what);
  }

  // Whatever the answer is: there is one, and only one.
  oneAnswer(who, messages, id) {
    const times = messages.filter((message) => message.id === id && !message.method).length;
    if (times !== 1) this.fault(`${who} got ${times} answers to ${id}`);
    this.answers += times;
  }

  heardOfChanges(messages) {
    this.changes += messages.filter(({ method }) => method?.endsWith('/list_changed')).length;
  }

  // A shared server that dies again and again would soon be left alone.
  call(id, word, server, more = {}) {
    const { random } = this;
    const name = server === 'own' && random.chance(0.1) ? 'crash' : 'work';
    return { name, arguments: { word, steps: random.between(1, 10), ...more }, _meta: { progressToken: id } };
  }

  // ---- one life each

  async byPipes(server) {
    const { random, lab, daemon } = this;
    const word = this.newWord();
    const client = new RawClient(lab, daemon.connect(server));
    await client.request(initialize());
    client.send(INITIALIZED);
    const ids = Array.from({ length: random.between(1, 5) }, (_, index) => index + 2);
    const cancelled = ids.filter(() => random.chance(0.3));
    const ask = server === 'own' && random.chance(0.5);
    for (const id of ids) {
      client.send({ jsonrpc: '2.0', id, method: 'tools/call', params: this.call(id, word, server, { ask }) });
      await sleep(random.below(30));
      if (cancelled.includes(id)) {
        client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      }
    }
    const killed = random.chance(0.4);
    if (killed) {
      client.child.kill('SIGKILL'); // in the middle of its calls
    } else {
      for (const id of ids.filter((one) => !cancelled.includes(one))) await client.answer(id);
      client.endInput();
    }
    await client.ended;
    this.judge(`pipes to ${server}`, word, client.stdout + client.stderr);
    this.heardOfChanges(client.messages());
    for (const id of ids) {
      if (!killed && !cancelled.includes(id)) {
        this.oneAnswer(word, client.messages(), id);
        continue;
      }
      const times = client.messages().filter((message) => message.id === id && !message.method).length;
      if (times > 1) this.fault(`${word} got ${times} answers to ${id}`);
    }
  }

  async bySdk(server) {
    const word = this.newWord();
    const session = await Session.open(this.lab, this.daemon.connect(server), {
      sdk: this.random.pick(['v1', 'v2']),
    });
    for (let i = 0; i < 3; ++i) {
      const answer = await session.call('work', { word, steps: 2 }).catch(({ message }) => message);
      this.judge(`an SDK to ${server}`, word, answer);
      this.answers += 1;
    }
    await session.leave();
  }

  async byUrl(server) {
    const word = this.newWord();
    const url = await this.daemon.url(server);
    const headers = await beginSession(url);
    const texts = await Promise.all(
      Array.from({ length: this.random.between(1, 3) }, async (_, index) => {
        const params = this.call(index + 2, word, server);
        const message = { jsonrpc: '2.0', id: index + 2, method: 'tools/call', params };
        const { text, messages } = await post(url, message, { headers });
        this.oneAnswer(`${word} by URL`, messages, index + 2);
        return text;
      }),
    );
    await fetch(url, { method: 'DELETE', headers });
    this.judge(`a URL to ${server}`, word, texts.join('\n'));
  }

  // Everything comes by one stream, also what belongs to no call.
  async bySse(server) {
    const { random } = this;
    const word = this.newWord();
    const url = await this.daemon.url(server, 'sse');
    const end = new AbortController();
    const response = await fetch(url, { headers: { Accept: 'text/event-stream' }, signal: end.signal });
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body) text += Buffer.from(chunk).toString();
    })().catch(() => {}); // it is ended by us
    const where = await eventually('the endpoint', () => /^data: ?(\S*\/\S+)\r?\n/m.exec(text));
    const endpoint = new URL(where[1], url);
    const messages = () => {
      const complete = text.slice(0, text.lastIndexOf('\n\n') + 2);
      return messagesOf('text/event-stream', complete.slice(complete.indexOf('\n\n') + 2));
    };
    const answered = (id) =>
      eventually(`an answer to ${id} by SSE`, () =>
        messages().some((message) => message.id === id && !message.method),
      );
    const send = (message) =>
      fetch(endpoint, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(message) });

    await send(initialize());
    await answered(1);
    await send(INITIALIZED);
    const ids = Array.from({ length: random.between(1, 3) }, (_, index) => index + 2);
    for (const id of ids) {
      await send({ jsonrpc: '2.0', id, method: 'tools/call', params: this.call(id, word, server) });
    }
    const leaves = random.chance(0.3); // in the middle of its calls
    if (!leaves) for (const id of ids) await answered(id);
    if (!leaves) await sleep(random.below(80)); // perhaps there is more to hear
    end.abort();
    await reading;
    this.judge(`SSE to ${server}`, word, text);
    this.heardOfChanges(messages());
    if (!leaves) for (const id of ids) this.oneAnswer(`${word} by SSE`, messages(), id);
  }

  // At a shared server each request may be a program's of its own: so each has its own word. A private one is
  // this process's, which may hear about all of its requests there.
  async byModernUrl(server) {
    const { random } = this;
    const url = await this.daemon.url(server);
    await Promise.all(
      Array.from({ length: random.between(1, 4) }, async (_, index) => {
        const word = this.newWord();
        if (server === 'own') this.ours.add(word);
        const message = modernRequest(index + 1, 'tools/call', this.call(index + 1, word, server));
        message.params._meta.progressToken = `t${index}`;
        if (random.chance(0.7)) message.params._meta['io.modelcontextprotocol/logLevel'] = 'info';
        const headers = {
          ...JSON_HEADERS,
          'MCP-Protocol-Version': '2026-07-28',
          'Mcp-Method': 'tools/call',
          'Mcp-Name': message.params.name,
        };
        const hangUp = random.chance(0.3) ? AbortSignal.timeout(random.between(5, 150)) : undefined;
        let text = '';
        try {
          const response = await fetch(url, {
            method: 'POST',
            headers,
            body: JSON.stringify(message),
            signal: hangUp,
          });
          for await (const chunk of response.body) text += Buffer.from(chunk).toString();
          const type = response.headers.get('content-type') ?? '';
          this.oneAnswer(`${word} by modern URL`, messagesOf(type, text), index + 1);
        } catch (error) {
          if (!hangUp?.aborted) this.fault(`${word} by modern URL: ${error.message}`);
        }
        this.judge(`a modern URL to ${server}`, word, text, server === 'own' ? this.ours : undefined);
      }),
    );
  }

  async live() {
    const { random } = this;
    const server = random.pick(['shared', 'shared', 'shared', 'modern', 'own']);
    const ways = ['byPipes', 'byPipes', 'byModernUrl', 'byModernUrl', 'byUrl', 'bySse', 'bySdk'];
    await this[random.pick(ways)](server);
  }

  // In the middle of everybody's calls, once: a server that dies again and again would be left alone.
  async crashShared() {
    const word = this.newWord();
    const client = new RawClient(this.lab, this.daemon.connect('shared'));
    await client.request(initialize());
    client.send(INITIALIZED);
    const params = { name: 'crash', arguments: { word } };
    await client.request({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
    client.endInput();
    await client.ended;
    this.judge('who crashes the shared server', word, client.stdout + client.stderr);
    this.oneAnswer(word, client.messages(), 2);
  }
}

daemonTest(
  'no byte about one session reaches another, whatever clients do: come, call, cancel and die',
  { serve: ANY_PORT, servers },
  async (daemon, lab) => {
    const world = new World(daemon, lab);
    console.log(`CROSSTALK_SEED=${SEED}`);
    const lives = Array.from({ length: CREW }, async () => {
      for (let life = 0; life < LIVES; ++life) await world.live();
    });
    const ends = await Promise.allSettled([...lives, sleep(1000).then(() => world.crashShared())]);
    for (const { reason } of ends.filter(({ status }) => status === 'rejected')) world.faults.push(reason.stack);
    console.log(`CROSSTALK_SEED=${SEED}: ${world.answers} answers, ${world.changes} changes of lists`);
    assert.deepEqual(world.faults, [], `repeat with CROSSTALK_SEED=${SEED}`);
    assert.ok(world.answers > CREW, 'most calls are answered');
    assert.ok(world.changes > 0, 'somebody hears that a list has changed');
  },
);

daemonTest(
  'a call that was taken back before its server was there never reaches it',
  { serve: ANY_PORT, servers },
  async (daemon, lab) => {
    const client = new RawClient(lab, daemon.connect('sleepy'));
    const work = (id, word) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'work', arguments: { word, steps: 1 } },
    });
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } };
    client.send(initialize(), INITIALIZED, work(2, 'taken-back'), cancel, work(3, 'wanted'));

    const url = await daemon.url('sleepyModern');
    const headers = {
      ...JSON_HEADERS,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'work',
    };
    const modern = (id, word) =>
      modernRequest(id, 'tools/call', { name: 'work', arguments: { word, steps: 1 } });
    const given = await post(url, modern(1, 'hung-up'), { headers, signal: AbortSignal.timeout(100) }).catch(
      ({ name }) => name,
    );
    const kept = await post(url, modern(2, 'kept'), { headers });
    await client.answer(3);
    client.endInput();
    await client.ended;

    assert.equal(given, 'TimeoutError');
    assert.equal(kept.status, 200);
    await eventually('both calls at their servers', () =>
      ['wanted', 'kept'].every((word) => traced(lab).includes(word)),
    );
    assert.deepEqual(
      ['taken-back', 'hung-up'].filter((word) => traced(lab).includes(word)),
      [],
    );
  },
);
