// The revision 2026-07-28 end to end, and older clients of the same server.
import assert from 'node:assert/strict';
import { daemonTest, entry, fixture } from './support/daemon.mjs';
import { eventually } from './support/processes.mjs';
import { RawClient, modernRequest } from './support/raw_client.mjs';
import { MODERN, Session, closeAll, openAll } from './support/sdk.mjs';
import { viaNode } from './support/session.mjs';

const SERVERS = { modern: entry(fixture('modern-mcp.mjs')), everything: entry(viaNode('everything')) };

// A client that can be asked for its name, and counts how often the list of tools changed.
function curious(name) {
  const heard = { asked: 0, changes: 0 };
  const options = {
    capabilities: { elicitation: {} },
    answers: {
      'elicitation/create': () => {
        heard.asked += 1;
        return { action: 'accept', content: { name } };
      },
    },
    news: { 'notifications/tools/list_changed': () => void (heard.changes += 1) },
  };
  return { heard, options };
}

for (const sdk of ['v2 modern', 'v2 auto']) {
  daemonTest(
    `SDK ${sdk} speaks ${MODERN} with a server that does`,
    { servers: SERVERS },
    async (daemon, lab) => {
      const session = await Session.open(lab, daemon.connect('modern'), { sdk });

      const tools = await session.tools();
      const answer = await session.call('echo', { text: 'moo' });
      const { instances } = await daemon.becomes('one session', ({ sessions }) => sessions.length === 1);
      const spoken = session.client.getNegotiatedProtocolVersion();
      const identity = session.client.getServerVersion();
      await session.close();

      assert.equal(spoken, MODERN);
      assert.deepEqual(identity, { name: 'modern', version: '1.0.0' });
      assert.deepEqual(tools, ['echo', 'greet', 'grow']);
      assert.equal(answer, 'Echo: moo');
      assert.deepEqual(
        instances.map(({ era, share }) => [era, share]),
        [['modern', 'shared']],
      );
      assert.deepEqual(session.problems, []);
    },
  );
}

daemonTest(
  'modern clients share a server, and each is asked its own questions',
  { servers: SERVERS },
  async (daemon, lab) => {
    const clients = Array.from({ length: 8 }, (_, index) => curious(`client ${index}`));
    const sessions = await openAll(8, (index) =>
      Session.open(lab, daemon.connect('modern'), { sdk: 'v2 modern', ...clients[index].options }),
    );

    const greetings = await Promise.all(sessions.map((session) => session.call('greet')));
    const { instances } = await daemon.status();
    await closeAll(sessions);

    assert.deepEqual(
      greetings,
      clients.map((_, index) => `Hello, client ${index}`),
    );
    assert.deepEqual(
      clients.map(({ heard }) => heard.asked),
      Array(8).fill(1),
    );
    assert.deepEqual(
      instances.map((instance) => instance.sessions.length),
      [8],
    );
    assert.match(instances[0].reason, /^shared: it speaks a revision/);
  },
);

daemonTest('who listens hears of a change, and nobody else', { servers: SERVERS }, async (daemon, lab) => {
  const [one, two, three] = [curious('one'), curious('two'), curious('three')];
  const open = ({ options }) => Session.open(lab, daemon.connect('modern'), { sdk: 'v2 modern', ...options });
  const [a, b, c] = await Promise.all([one, two, three].map(open));
  const ofA = await a.client.listen({ toolsListChanged: true });
  await b.client.listen({ toolsListChanged: true });

  await c.call('grow');
  await eventually('both to hear', () => one.heard.changes === 1 && two.heard.changes === 1);
  await ofA.close();
  await c.call('grow');
  await eventually('the other one to hear', () => two.heard.changes === 2);
  await Promise.all([a, b, c].map((session) => session.call('echo', { text: 'all arrived' })));
  await closeAll([a, b, c]);

  assert.deepEqual(
    [one, two, three].map(({ heard }) => heard.changes),
    [1, 2, 0],
  );
});

// A listen has no answer that anybody waits for.
daemonTest(
  'neither the end of stdin nor a shutdown waits for a listen',
  { servers: SERVERS, corral: { drain: '60s' } },
  async (daemon, lab) => {
    const [leaving, staying] = Array.from({ length: 2 }, () => new RawClient(lab, daemon.connect('modern')));
    for (const client of [leaving, staying]) {
      client.send(modernRequest(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
      await client.hears(
        'that it listens',
        ({ method }) => method === 'notifications/subscriptions/acknowledged',
      );
    }

    leaving.endInput();

    await daemon.becomes('one session', ({ sessions }) => sessions.length === 1);
    assert.deepEqual(await leaving.ended, { code: 0, signal: null });
    const shutdown = daemon.shutDown();
    await eventually('the daemon to leave', () => daemon.janitor.exitCode === 0);
    await shutdown;
    assert.deepEqual(await staying.ended, { code: 0, signal: null });
  },
);

daemonTest(
  'older clients use a server that also speaks theirs, and it is driven in the new way',
  { servers: SERVERS },
  async (daemon, lab) => {
    for (const sdk of ['v1', 'v2']) {
      const session = await Session.open(lab, daemon.connect('modern'), { sdk, ...curious(sdk).options });

      const answer = await session.call('echo', { text: sdk });
      const greeting = await session.call('greet');
      const { instances } = await daemon.status();
      await session.close();

      assert.equal(answer, `Echo: ${sdk}`);
      assert.equal(greeting, `Hello, ${sdk}`);
      assert.deepEqual(
        instances.map(({ era }) => era),
        ['modern'],
      );
      await daemon.becomes('no session', ({ sessions }) => sessions.length === 0);
    }
  },
);

daemonTest(
  'a client that insists on the new revision gets it from an older server',
  { servers: SERVERS },
  async (daemon, lab) => {
    for (const sdk of ['v2 modern', 'v2 auto']) {
      const session = await Session.open(lab, daemon.connect('everything'), { sdk });
      const answer = await session.call('echo', { message: sdk });
      const spoken = session.client.getNegotiatedProtocolVersion();
      await session.close();

      assert.equal(answer, `Echo: ${sdk}`);
      assert.equal(spoken, MODERN);
    }
    await daemon.becomesEmpty();
  },
);
