// What one session or one server does wrong, and what the others notice of it: nothing.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { daemonTest, entry, fixture } from './support/daemon.mjs';
import { eventually, killOne, liveProcesses } from './support/processes.mjs';
import { INITIALIZED, RawClient, initialize, toolCall } from './support/raw_client.mjs';
import { Session, closeAll, openAll } from './support/sdk.mjs';
import { startLongCall, viaNode } from './support/session.mjs';

const SHARED = { share: 'shared' };
const EVERYTHING = { everything: entry(viaNode('everything'), SHARED) };
const TALKATIVE = fixture('talkative-mcp.mjs');

daemonTest(
  'a shared server that dies fails every call once, and its sessions go on with a new one',
  { servers: EVERYTHING },
  async (daemon, lab) => {
    const sessions = await openAll(4, () => Session.open(lab, daemon.connect('everything')));
    const calls = await Promise.all(sessions.map(({ client }) => startLongCall(client)));
    const [{ pid }] = (await daemon.status()).instances;

    killOne(liveProcesses().find((process_) => process_.pid === pid));

    for (const { outcome } of calls) {
      const { error } = await outcome;
      assert.match(error, /everything.*(SIGKILL|signal)/, 'the error names the server and how it ended');
    }
    for (const session of sessions) {
      assert.equal(await session.call('echo', { message: 'new' }), 'Echo: new');
    }
    const { instances } = await daemon.status();
    assert.equal(instances.length, 1);
    assert.notEqual(instances[0].pid, pid);
    await closeAll(sessions);
  },
);

daemonTest(
  'a client that is killed while its server starts leaves nothing',
  { servers: { slow: entry(['/bin/sh', '-c', 'sleep 60 & sleep 60; true']) } },
  async (daemon, lab) => {
    const client = new RawClient(lab, daemon.connect('slow'));
    client.send(initialize());
    await daemon.becomes('a server that starts', ({ instances }) => instances.length === 1);
    daemon.watch();

    client.child.kill('SIGKILL');

    await client.ended;
    await daemon.becomesEmpty();
  },
);

daemonTest(
  'a server that leaves while it starts is the end of that session alone',
  { servers: { ...EVERYTHING, brief: entry(['/bin/sh', '-c', 'echo no luck today >&2; exit 3']) } },
  async (daemon, lab) => {
    const session = await Session.open(lab, daemon.connect('everything'));
    const client = new RawClient(lab, daemon.connect('brief'));
    client.send(initialize());

    const end = await client.ended;

    assert.deepEqual(end, { code: 3, signal: null }, client.stderr);
    assert.match(client.stderr, /no luck today/);
    const [answer] = client.messages();
    assert.equal(answer.id, 1);
    assert.match(answer.error.message, /brief/);
    assert.equal(await session.call('echo', { message: 'unharmed' }), 'Echo: unharmed');
    await session.close();
  },
);

daemonTest(
  '8 MiB go through both ways, and small calls beside them',
  { servers: EVERYTHING },
  async (daemon, lab) => {
    const [large, small] = await openAll(2, () => Session.open(lab, daemon.connect('everything')));
    const message = 'moo '.repeat(2 << 20);

    const answers = Promise.all([
      large.call('echo', { message }),
      large.call('echo', { message: 'after it' }),
    ]);
    const beside = [];
    for (let call = 0; call < 20; call += 1) beside.push(await small.call('echo', { message: `${call}` }));

    const [answer, after] = await answers;
    assert.ok(answer === `Echo: ${message}`, `${answer.length} characters came back`);
    assert.equal(after, 'Echo: after it');
    assert.deepEqual(
      beside,
      beside.map((_, call) => `Echo: ${call}`),
    );
    await closeAll([large, small]);
  },
);

daemonTest(
  'a client that stops reading slows nobody down, and gets all of it later',
  { servers: EVERYTHING },
  async (daemon, lab) => {
    const stalled = new RawClient(lab, daemon.connect('everything'));
    const other = await Session.open(lab, daemon.connect('everything'));
    await stalled.request(initialize());
    stalled.send(INITIALIZED);
    stalled.child.stdout.pause();
    const message = 'moo '.repeat(256 << 10);
    const ids = Array.from({ length: 8 }, (_, index) => index + 2);

    stalled.send(...ids.map((id) => toolCall(id, 'echo', { message })));
    for (let call = 0; call < 50; call += 1) {
      assert.equal(await other.call('echo', { message: `${call}` }), `Echo: ${call}`);
    }
    stalled.child.stdout.resume();

    for (const id of ids)
      assert.equal((await stalled.answer(id)).result.content[0].text.length, message.length + 6);
    stalled.endInput();
    assert.deepEqual(await stalled.ended, { code: 0, signal: null });
    await other.close();
  },
);

daemonTest(
  'a client that never reads does not burden the others when it is killed',
  { servers: EVERYTHING },
  async (daemon, lab) => {
    const stalled = new RawClient(lab, daemon.connect('everything'));
    const other = await Session.open(lab, daemon.connect('everything'));
    await stalled.request(initialize());
    stalled.child.stdout.pause();
    const message = 'moo '.repeat(256 << 10);
    stalled.send(INITIALIZED, ...[2, 3, 4].map((id) => toolCall(id, 'echo', { message })));
    assert.equal(await other.call('echo', { message: 'before' }), 'Echo: before');

    stalled.child.kill('SIGKILL');

    await daemon.becomes('one session', ({ sessions }) => sessions.length === 1);
    assert.equal(await other.call('echo', { message: 'after' }), 'Echo: after');
    await other.close();
  },
);

daemonTest(
  'nonsense is answered to who sent it',
  { servers: { talkative: entry(TALKATIVE, SHARED) } },
  async (daemon, lab) => {
    const bad = new RawClient(lab, daemon.connect('talkative'));
    const good = await Session.open(lab, daemon.connect('talkative'));
    await bad.request(initialize());
    bad.send(INITIALIZED);

    bad.child.stdin.write(
      'this is not JSON\n{"jsonrpc":"2.0","id":7\n[]\n{"jsonrpc":"2.0","id":99,"result":{}}\n',
    );
    bad.send({ jsonrpc: '2.0', id: 'eight', method: 'no/such/method' });
    bad.send(toolCall(1.5, 'echo', { text: 'half' }), toolCall('1', 'echo', { text: 'a text' }));

    assert.equal((await bad.answer('eight')).error.code, -32601);
    assert.equal(JSON.parse((await bad.answer('1')).result.content[0].text), 'a text');
    await eventually(
      'errors without an id',
      () => bad.messages().filter(({ id }) => id === null).length === 3,
    );
    assert.equal(JSON.parse(await good.call('echo', { text: 'unharmed' })), 'unharmed');
    const { instances } = await daemon.status();
    assert.equal(instances[0].counters.dropped_lines, 0, 'nothing of it reached the server');
    bad.endInput();
    await good.close();
  },
);

daemonTest(
  '60 sessions come and go in every way, and the daemon keeps no descriptor of them',
  { servers: { shared: entry(TALKATIVE, SHARED), brief: entry(['/bin/sh', '-c', 'exit 3']) } },
  async (daemon, lab) => {
    const openDescriptors = () => readdirSync(`/proc/${daemon.pid}/fd`).length;
    const keeper = await Session.open(lab, daemon.connect('shared'));
    const before = openDescriptors();

    const leave = [
      (client) => client.endInput(),
      (client) => client.child.kill('SIGKILL'),
      (client) => client.child.kill('SIGTERM'),
      (client) => client.child.stdout.destroy(),
    ];
    await Promise.all(
      Array.from({ length: 60 }, async (_, number) => {
        const client = new RawClient(lab, daemon.connect(number % 5 === 4 ? 'brief' : 'shared'));
        client.send(initialize(), INITIALIZED, toolCall(2, 'echo', { text: 'moo' }));
        if (number % 3 > 0) await client.hears('anything', () => true);
        leave[number % 4](client);
        client.endInput();
        await client.ended;
      }),
    );

    await daemon.becomes(
      'one session',
      ({ sessions, instances }) => sessions.length + instances.length === 2,
    );
    await eventually('no descriptor more than before', () => openDescriptors() <= before);
    assert.equal(JSON.parse(await keeper.call('echo', { text: 'unharmed' })), 'unharmed');
    await keeper.close();
  },
);
