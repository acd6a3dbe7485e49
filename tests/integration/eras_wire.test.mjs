// Clients of either era with servers of either era, word by word: what the revisions demand, and what a bad
// client gets.
import assert from 'node:assert/strict';
import { daemonTest, entry, fixtureServer } from './support/daemon.mjs';
import { INITIALIZED, RawClient, initialize, modernRequest, toolCall } from './support/raw_client.mjs';
import { MODERN } from './support/sdk.mjs';

const LEGACY_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

// A shared instance ends soon after its last session, so that a test can wait for it.
const SOON = { idle: '100ms' };
const FOR_BOTH = {
  legacy: entry(fixtureServer('--legacy'), SOON),
  modern: entry(fixtureServer('--modern'), SOON),
};

for (const server of ['legacy', 'modern']) {
  daemonTest(
    `every older revision is spoken with a ${server} server`,
    { servers: FOR_BOTH },
    async (daemon, lab) => {
      for (const revision of LEGACY_REVISIONS) {
        const client = new RawClient(lab, daemon.connect(server));
        const hello = initialize();
        hello.params.protocolVersion = revision;

        const { result } = await client.request(hello);
        const ping = await client.request({ jsonrpc: '2.0', id: 'a ping', method: 'ping' });
        client.endInput();

        assert.equal(result.protocolVersion, revision);
        assert.deepEqual(result.serverInfo, { name: 'fixture', version: '1.0.0' });
        assert.deepEqual(ping.result, {});
        assert.equal(result.resultType, undefined, 'a word of the new revision');
        assert.deepEqual(await client.ended, { code: 0, signal: null });
      }
    },
  );

  daemonTest(
    `a modern client of a ${server} server gets what its revision demands`,
    { servers: FOR_BOTH },
    async (daemon, lab) => {
      const client = new RawClient(lab, daemon.connect(server));
      const ask = async (id, method, params) => client.request(modernRequest(id, method, params));

      const discovered = (await ask('who', 'server/discover')).result;
      const tools = (await ask(2, 'tools/list')).result;
      const called = (await ask(3, 'tools/call', { name: 'test_simple_text', arguments: {} })).result;
      const removed = [];
      for (const method of ['ping', 'logging/setLevel', 'resources/subscribe', 'no/such/method']) {
        removed.push((await ask(method, method, { uri: 'test://x', level: 'info' })).error?.code);
      }
      const bare = await client.request({ jsonrpc: '2.0', id: 9, method: 'tools/list', params: {} });
      client.endInput();

      assert.ok(discovered.supportedVersions.includes(MODERN), JSON.stringify(discovered));
      assert.equal(discovered.capabilities.tools.listChanged, true);
      assert.equal(discovered._meta['io.modelcontextprotocol/serverInfo'].name, 'fixture');
      for (const result of [discovered, tools, called]) assert.equal(result.resultType, 'complete');
      for (const { ttlMs, cacheScope } of [discovered, tools]) {
        assert.ok(Number.isInteger(ttlMs) && ttlMs >= 0, `ttlMs ${ttlMs}`);
        assert.match(cacheScope, /^(public|private)$/);
      }
      assert.deepEqual(removed, [-32601, -32601, -32601, -32601]);
      assert.equal(bare.error.code, -32602);
      assert.deepEqual(await client.ended, { code: 0, signal: null });
    },
  );
}

// The codes of a resource that does not exist; older clients know the first one too.
const NOT_FOUND = { older: [-32002, -32602], modern: [-32602] };

for (const server of ['legacy', 'modern']) {
  daemonTest(
    `progress and errors of a ${server} server come whole, with the token and in the words of the client`,
    { servers: FOR_BOTH },
    async (daemon, lab) => {
      const older = new RawClient(lab, daemon.connect(server));
      const modern = new RawClient(lab, daemon.connect(server));
      await older.request(initialize());
      older.send(INITIALIZED);
      const step = { name: 'test_tool_with_progress', arguments: {} };
      const nowhere = { uri: 'test://nowhere' };

      older.send(toolCall('step', step.name));
      const call = modernRequest('step', 'tools/call', step);
      call.params._meta.progressToken = 'token step';
      modern.send(call);
      const missing = {
        older: await older.request({ jsonrpc: '2.0', id: 2, method: 'resources/read', params: nowhere }),
        modern: await modern.request(modernRequest(2, 'resources/read', nowhere)),
      };
      for (const client of [older, modern]) {
        await client.answer('step');
        client.endInput();
      }

      for (const client of [older, modern]) {
        const steps = client.messages().filter(({ method }) => method === 'notifications/progress');
        assert.deepEqual(
          steps.map(({ params }) => params),
          [0, 50, 100].map((progress) => ({ progressToken: 'token step', progress, total: 100 })),
        );
        assert.deepEqual(await client.ended, { code: 0, signal: null });
      }
      for (const [era, { error }] of Object.entries(missing)) {
        assert.ok(NOT_FOUND[era].includes(error?.code), `${era}: ${JSON.stringify(error)}`);
        assert.deepEqual(error.data, nowhere);
      }
    },
  );
}

// What a modern client says in a round of questions, by hand.
const asking = (id, params = {}) =>
  modernRequest(id, 'tools/call', { name: 'test_input_required_result_elicitation', arguments: {}, ...params });
const withElicitation = (request) => {
  request.params._meta['io.modelcontextprotocol/clientCapabilities'] = { elicitation: {} };
  return request;
};
const NAMED = { user_name: { action: 'accept', content: { name: 'Ada' } } };

daemonTest(
  'the state of a suspended call is good once, and only as it was given',
  { servers: FOR_BOTH },
  async (daemon, lab) => {
    const client = new RawClient(lab, daemon.connect('legacy'));
    const say = (id, params) => client.request(withElicitation(asking(id, params)));

    const { result } = await say(1);
    const { requestState } = result;
    const tampered = await say(2, { inputResponses: NAMED, requestState: `${requestState}x` });
    const wrong = await say(3, { inputResponses: { user_name: 7 }, requestState });
    const { result: open } = await say(4);
    const good = await say(5, { inputResponses: NAMED, requestState: open.requestState });
    const again = await say(6, { inputResponses: NAMED, requestState: open.requestState });
    client.endInput();

    assert.equal(result.resultType, 'input_required');
    assert.deepEqual(Object.keys(result.inputRequests), ['user_name'], 'the key that the server hinted at');
    assert.equal(result.inputRequests.user_name.method, 'elicitation/create');
    assert.equal(tampered.error?.code, -32602);
    assert.equal(wrong.error?.code, -32602);
    assert.equal(good.result?.content?.[0].text, 'Hello, Ada!');
    assert.equal(again.error?.code, -32602);
    assert.deepEqual(await client.ended, { code: 0, signal: null });
  },
);

daemonTest(
  'the state of one client is worth nothing to another',
  { servers: FOR_BOTH },
  async (daemon, lab) => {
    const [mine, other] = Array.from({ length: 2 }, () => new RawClient(lab, daemon.connect('legacy')));
    const { result } = await mine.request(withElicitation(asking(1)));
    const { requestState } = result;

    const stolen = await other.request(withElicitation(asking(1, { inputResponses: NAMED, requestState })));
    const rightful = await mine.request(withElicitation(asking(2, { inputResponses: NAMED, requestState })));
    for (const client of [mine, other]) client.endInput();

    assert.equal(stolen.error?.code, -32602);
    assert.equal(rightful.result?.content?.[0].text, 'Hello, Ada!');
    for (const { ended } of [mine, other]) assert.deepEqual(await ended, { code: 0, signal: null });
  },
);

// ---- a client that is asked, and says no or nothing

const ASKS_NAME = 'test_input_required_result_elicitation';

// An older client that can be asked, by hand, in the middle of a question.
async function asked(lab, command) {
  const client = new RawClient(lab, command);
  const hello = initialize();
  hello.params.capabilities = { elicitation: {} };
  await client.request(hello);
  client.send(INITIALIZED, toolCall('a call', ASKS_NAME));
  const question = await client.hears('a question', ({ method }) => method === 'elicitation/create');
  return { client, question };
}

for (const server of ['legacy', 'modern']) {
  daemonTest(
    `an older client that answers a ${server} server with an error gets a result that says so`,
    { servers: FOR_BOTH },
    async (daemon, lab) => {
      const { client, question } = await asked(lab, daemon.connect(server));

      const error = { code: -32603, message: 'nobody at the keyboard' };
      client.send({ jsonrpc: '2.0', id: question.id, error });
      const { result } = await client.answer('a call');
      const ping = await client.request({ jsonrpc: '2.0', id: 3, method: 'ping' });
      client.endInput();

      assert.equal(question.params.message, 'What is your name?');
      assert.equal(result?.isError, true);
      assert.match(result.content[0].text, /nobody at the keyboard/);
      assert.deepEqual(ping.result, {});
      assert.deepEqual(await client.ended, { code: 0, signal: null });
    },
  );

  daemonTest(
    `an older client that cancels while a ${server} server asks hears nothing more of it`,
    { servers: FOR_BOTH },
    async (daemon, lab) => {
      const { client } = await asked(lab, daemon.connect(server));

      const params = { requestId: 'a call', reason: 'enough' };
      client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
      const next = await client.request(toolCall('next', 'test_simple_text'));
      client.endInput();

      assert.match(next.result.content[0].text, /^This is a simple text/);
      assert.deepEqual(await client.ended, { code: 0, signal: null });
      assert.deepEqual(
        client.messages().filter(({ id }) => id === 'a call'),
        [],
      );
    },
  );

  daemonTest(
    `a client of either era that leaves while a ${server} server asks leaves nothing behind`,
    { servers: FOR_BOTH },
    async (daemon, lab) => {
      const { client: older } = await asked(lab, daemon.connect(server));
      const modern = new RawClient(lab, daemon.connect(server));
      const { result } = await modern.request(withElicitation(asking(1)));
      assert.equal(result?.resultType, 'input_required');

      for (const client of [older, modern]) client.endInput();

      for (const { ended } of [older, modern]) assert.deepEqual(await ended, { code: 0, signal: null });
      await daemon.becomesEmpty();
    },
  );
}
