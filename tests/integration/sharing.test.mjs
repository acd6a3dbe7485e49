// One server, many clients: every answer, every progress and every update goes to who asked for it.
import assert from 'node:assert/strict';
import { daemonTest, entry, fixture } from './support/daemon.mjs';
import { eventually } from './support/processes.mjs';
import { INITIALIZED, RawClient, initialize, toolCall } from './support/raw_client.mjs';
import { Session, closeAll, openAll } from './support/sdk.mjs';
import { viaNode } from './support/session.mjs';

const SHARED = { share: 'shared' };
const EVERYTHING = { everything: entry(viaNode('everything'), SHARED) };
const TALKATIVE = fixture('talkative-mcp.mjs');
const LONG = 'trigger-long-running-operation';

const each = (count, body) => Promise.all(Array.from({ length: count }, (_, index) => body(index)));

// How many processes of a program run below the daemon.
const running = (daemon, comm) => daemon.watch().filter((process) => process.comm === comm).length;

daemonTest('64 clients of one server get their own answers', { servers: EVERYTHING }, async (daemon, lab) => {
  const sdkOf = (index) => ['v1', 'v2'][index % 2];
  const sessions = await openAll(64, (index) =>
    Session.open(lab, daemon.connect('everything'), { sdk: sdkOf(index) }),
  );

  const wrong = [];
  await each(64, (client) =>
    each(20, async (call) => {
      const text = `call ${call} of client ${client}`;
      const answer = await sessions[client].call('echo', { message: text });
      if (answer !== `Echo: ${text}`) wrong.push({ text, answer });
    }),
  );
  const status = await daemon.status();
  const servers = running(daemon, 'node') + running(daemon, 'MainThread');
  await closeAll(sessions);

  assert.deepEqual(wrong, []);
  assert.equal(status.instances.length, 1);
  assert.equal(status.instances[0].sessions.length, 64);
  assert.equal(status.instances[0].share, 'shared');
  assert.equal(status.instances[0].counters.calls, 64 * 20);
  assert.equal(status.instances[0].counters.unknown_answers, 0);
  assert.equal(status.sessions.length, 64);
  assert.equal(servers, 1, 'one server process');
  assert.deepEqual(
    sessions.flatMap(({ problems }) => problems),
    [],
  );
  await daemon.becomes('no session', ({ sessions: left }) => left.length === 0);
});

// Without an SDK: those forget a call with its answer, and drop the progress that came just before it.
daemonTest(
  'progress reaches the caller alone, also while others call',
  { servers: EVERYTHING },
  async (daemon, lab) => {
    const clients = Array.from({ length: 8 }, () => new RawClient(lab, daemon.connect('everything')));
    await Promise.all(clients.map((client) => client.request(initialize())));
    clients.forEach((client) => client.send(INITIALIZED));

    // The number of steps tells the calls apart; ids and tokens are the same for all clients.
    const calls = [2, 3, 4];
    const stepsOf = (client, id) => 20 + client * 3 + id;
    clients.forEach((client, index) => {
      client.send(...calls.map((id) => toolCall(id, LONG, { duration: 1, steps: stepsOf(index, id) })));
      client.send(toolCall(5, 'echo', { message: `meanwhile ${index}` }));
    });
    await Promise.all(clients.flatMap((client) => [...calls, 5].map((id) => client.answer(id))));

    for (const [index, client] of clients.entries()) {
      const messages = client.messages();
      for (const id of calls) {
        const steps = stepsOf(index, id);
        const progress = messages.filter(({ params }) => params?.progressToken === `token ${id}`);
        const expected = Array.from({ length: steps }, (_, step) => ({ progress: step + 1, total: steps }));
        assert.deepEqual(
          progress.map(({ params: { progress: step, total } }) => ({ progress: step, total })),
          expected,
        );
        assert.match(
          JSON.stringify(messages.find((message) => message.id === id)),
          new RegExp(`Steps: ${steps}\\.`),
        );
      }
      assert.match(JSON.stringify(messages.find(({ id }) => id === 5)), new RegExp(`meanwhile ${index}"`));
      client.endInput();
    }
    for (const { ended } of clients) assert.deepEqual(await ended, { code: 0, signal: null });
  },
);

daemonTest('a cancelled call ends alone', { servers: EVERYTHING }, async (daemon, lab) => {
  const sessions = await openAll(4, () => Session.open(lab, daemon.connect('everything')));
  const cancellation = new AbortController();
  const start = (session, options) => {
    let begun;
    const underWay = new Promise((resolve) => (begun = resolve));
    const end = session.call(LONG, { duration: 3, steps: 30 }, { ...options, onprogress: () => begun() });
    return { underWay, end };
  };

  const cancelled = start(sessions[0], { signal: cancellation.signal });
  const others = sessions.map((session) => start(session));
  const rejected = assert.rejects(cancelled.end, /cancel|abort/i);
  await Promise.all([cancelled, ...others].map(({ underWay }) => underWay));
  cancellation.abort('cancelled by the test');
  await rejected;
  const answers = await Promise.all(others.map(({ end }) => end));
  const afterwards = await sessions[0].call('echo', { message: 'afterwards' });

  assert.deepEqual(
    new Set(answers),
    new Set(['Long running operation completed. Duration: 3 seconds, Steps: 30.']),
  );
  assert.equal(afterwards, 'Echo: afterwards');
  const { instances } = await daemon.becomes(
    'no call in flight',
    (status) => status.instances[0].calls === 0,
  );
  assert.equal(instances[0].counters.unknown_answers, 0);
  await closeAll(sessions);
});

const ask = async (session, question) => JSON.parse(await session.call('ask', { question }));

// A client that would answer, if only it were asked.
function willing(name) {
  const asked = [];
  const answer = ({ params }) => {
    asked.push(params.messages[0].content.text);
    return { model: 'none', role: 'assistant', content: { type: 'text', text: `${name} says yes` } };
  };
  return {
    asked,
    options: { capabilities: { sampling: {} }, answers: { 'sampling/createMessage': answer } },
  };
}

daemonTest(
  'a shared server that asks back is refused, and stays shared if the user said so',
  { servers: { talkative: entry(TALKATIVE, SHARED) } },
  async (daemon, lab) => {
    const [one, two, three] = [willing('one'), willing('two'), willing('three')];
    const first = await Session.open(lab, daemon.connect('talkative'), one.options);
    const second = await Session.open(lab, daemon.connect('talkative'), two.options);

    const refused = await ask(first, 'which of you?');
    const third = await Session.open(lab, daemon.connect('talkative'), three.options);
    const { instances } = await daemon.status();
    await closeAll([first, second, third]);

    assert.deepEqual(refused, { refused: -32601 });
    assert.deepEqual([one.asked, two.asked, three.asked], [[], [], []], 'nobody was asked');
    assert.equal(instances.length, 1);
    assert.equal(instances[0].sessions.length, 3);
    assert.equal(instances[0].counters.refused_questions, 1);
    assert.match(instances[0].reason, /share is set to "shared"/);
  },
);

daemonTest(
  'a server that asked on a shared instance gets a private one for the next session',
  { servers: { talkative: entry(TALKATIVE, { stateless: true }) } },
  async (daemon, lab) => {
    const [one, two] = [willing('one'), willing('two')];
    const first = await Session.open(lab, daemon.connect('talkative'), one.options);
    const shared = (await daemon.status()).instances;
    assert.deepEqual(await ask(first, 'anybody?'), { refused: -32601 });

    const second = await Session.open(lab, daemon.connect('talkative'), two.options);
    const answer = await ask(second, 'and you?');
    const { instances } = await daemon.status();
    const still = JSON.parse(await first.call('echo', { text: 'still here' }));
    await closeAll([first, second]);

    assert.deepEqual(
      shared.map(({ share }) => share),
      ['shared'],
    );
    assert.match(shared[0].reason, /its entry says "stateless"/);
    assert.deepEqual(answer, { answer: 'two says yes' });
    assert.deepEqual([one.asked, two.asked], [[], ['and you?']]);
    assert.deepEqual(instances.map(({ share }) => share).sort(), ['session', 'shared']);
    const { reason } = instances.find(({ share }) => share === 'session');
    assert.match(reason, /^private: it asks its client questions/);
    assert.equal(still, 'still here');
  },
);

daemonTest(
  'subscriptions are counted, and an update reaches those who want it',
  { servers: { talkative: entry(TALKATIVE, SHARED) } },
  async (daemon, lab) => {
    const updates = [[], [], []];
    const [a, b, c] = await openAll(3, (index) =>
      Session.open(lab, daemon.connect('talkative'), {
        sdk: ['v1', 'v2', 'v1'][index],
        news: { 'notifications/resources/updated': ({ params }) => void updates[index].push(params.uri) },
      }),
    );
    const heard = async (session) => JSON.parse(await session.call('heard'));
    // Whatever the server says before an answer arrives before it, so one more call makes sure of all.
    const touch = async (uri) => {
      await c.call('touch', { uri });
      await Promise.all([a, b, c].map((session) => session.call('heard')));
      return updates.map((list) => list.splice(0));
    };

    await Promise.all([a, b].map(({ client }) => client.subscribeResource({ uri: 'test://x' })));
    await c.client.subscribeResource({ uri: 'test://y' });
    assert.deepEqual(await heard(a), ['+test://x', '+test://y'], 'only the first subscription goes up');
    assert.deepEqual(await touch('test://x'), [['test://x'], ['test://x'], []]);
    assert.deepEqual(await touch('test://y'), [[], [], ['test://y']]);

    await a.client.unsubscribeResource({ uri: 'test://x' });
    assert.deepEqual(await heard(a), ['+test://x', '+test://y'], 'somebody still wants it');
    assert.deepEqual(await touch('test://x'), [[], ['test://x'], []]);

    await b.close();
    await eventually('the last one to be unsubscribed by its end', async () =>
      (await heard(a)).includes('-test://x'),
    );
    await c.client.unsubscribeResource({ uri: 'test://y' });
    await eventually('all unsubscribed', async () => (await heard(a)).length === 4);
    assert.deepEqual(await heard(a), ['+test://x', '+test://y', '-test://x', '-test://y']);
    await closeAll([a, c]);
  },
);

// ---- who shares

// A list that is known needs no process; a call does, also one that the server refuses.
const wake = (session) => session.client.callTool({ name: 'no such tool' }).catch(() => {});

// Two sessions, one after the other has listed the tools, and what status says about them.
async function instancesOfTwo(daemon, lab, what, ...options) {
  const sessions = [];
  for (let count = 0; count < 2; count += 1) {
    const session = await Session.open(lab, daemon.connect(what, ...options));
    await session.tools();
    await wake(session);
    sessions.push(session);
  }
  const { instances } = await daemon.status();
  await closeAll(sessions);
  await daemon.becomes('no session', ({ sessions: left }) => left.length === 0);
  return { instances, notes: sessions.map(({ stderr }) => stderr.match(/^corral connect: .*$/gm) ?? []) };
}

const ofServer = ({ instances }, server) =>
  instances
    .filter((instance) => instance.server === server)
    .map(({ share, reason }) => `${share}: ${reason}`);

daemonTest(
  'without being told, a server is shared where there is evidence, and status names it',
  {
    servers: {
      everything: entry(viaNode('everything')),
      filesystem: entry(viaNode('filesystem')),
      unknown: entry(TALKATIVE),
      readonly: entry([...TALKATIVE, '--read-only']),
    },
  },
  async (daemon, lab) => {
    const everything = await instancesOfTwo(daemon, lab, 'everything');
    const filesystem = await instancesOfTwo(daemon, lab, 'filesystem');
    const unknown = await instancesOfTwo(daemon, lab, 'unknown');
    const readonly = await instancesOfTwo(daemon, lab, 'readonly');

    assert.match(
      ofServer(everything, 'everything').join(),
      /^session: private: known to .*session: private: known to/,
    );
    assert.match(ofServer(filesystem, 'filesystem').join(), /^shared: shared: known to be safe[^]*$/);
    assert.equal(ofServer(filesystem, 'filesystem').length, 1);
    const [first, second] = ofServer(unknown, 'unknown');
    assert.match(first, /^session: private: not known to be safe/);
    assert.match(second, /^session: private: not every tool is annotated as read-only/);
    const [alone, together] = ofServer(readonly, 'readonly');
    assert.match(alone, /^session: private: not known to be safe/);
    assert.match(together, /^shared: shared: every tool is annotated as read-only/);
    assert.deepEqual(
      unknown.notes.map(({ length }) => length),
      [1, 0],
      'the reason is told once',
    );
    assert.match(unknown.notes[0][0], /to share it: "corral": \{"share": "shared"\} in the entry "unknown"/);
    assert.deepEqual(filesystem.notes, [[], []]);
  },
);

daemonTest(
  'a command is shared if the client says so, per directory',
  { servers: {} },
  async (daemon, lab) => {
    const { instances } = await instancesOfTwo(daemon, lab, TALKATIVE, '--share', 'shared');
    assert.deepEqual(
      instances.map(({ share, sessions }) => [share, sessions.length]),
      [['shared', 2]],
    );

    const command = daemon.connect(TALKATIVE, '--share', 'shared');
    const here = await Session.open(lab, command);
    const there = await Session.open(lab, command, { cwd: lab.dir });
    const alone = await Session.open(lab, daemon.connect(TALKATIVE, '--share', 'session'));
    await Promise.all([here, there, alone].map(wake));
    const status = await daemon.status();
    await closeAll([here, there, alone]);

    assert.deepEqual(status.instances.map(({ share }) => share).sort(), ['session', 'shared', 'shared']);
    assert.deepEqual(
      status.instances.map(({ sessions }) => sessions.length),
      [1, 1, 1],
    );
  },
);

daemonTest(
  'two entries with one command do not share, so that neither lifts the rules of the other',
  { servers: { free: entry(viaNode('everything'), SHARED), bound: { ...entry(viaNode('everything'), SHARED), tools: ['echo'] } } },
  async (daemon, lab) => {
    const free = await Session.open(lab, daemon.connect('free'));
    const bound = await Session.open(lab, daemon.connect('bound'));
    const names = async (session) => (await session.client.listTools()).tools.map(({ name }) => name);
    const [all, some] = [await names(free), await names(bound)];
    const refused = await bound.call('get-sum', { a: 1, b: 2 }).then(String, (error) => error.message);
    const { instances } = await daemon.status();
    await closeAll([free, bound]);

    assert.ok(all.includes('get-sum'), all.join(' '));
    assert.deepEqual(some, ['echo']);
    assert.match(refused, /get-sum is not allowed by "tools" and "deny" of server bound/);
    assert.equal(instances.length, 2);
  },
);
