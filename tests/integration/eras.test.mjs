// Clients of either era with servers of either era, end to end: in every combination the user sees the same.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { daemonTest, entry, fixtureServer } from './support/daemon.mjs';
import * as features from './support/features.mjs';
import { FIXTURE_MIXES, mixTest } from './support/mixes.mjs';
import { countStarts, startsOf } from './support/starts.mjs';
import { MODERN, Session, closeAll, openAll } from './support/sdk.mjs';
import { viaNode } from './support/session.mjs';

const { isModern, talker } = features;
const FIXTURES = { mixes: FIXTURE_MIXES };

// ---- one feature, all mixes

mixTest(
  'every client learns who the server is and what it offers',
  FIXTURES,
  ({ client }) => ({
    identity: client.getServerVersion(),
    instructions: client.getInstructions(),
    offers: Object.keys(client.getServerCapabilities()).sort(),
  }),
  {
    identity: { name: 'fixture', version: '1.0.0' },
    instructions: 'Answers what the conformance suite asks.',
    offers: ['completions', 'logging', 'prompts', 'resources', 'tools'],
  },
);

mixTest('clients that may choose speak the new revision', FIXTURES, features.spoken, ({ sdk }) =>
  sdk === 'v1' ? 'legacy' : isModern({ sdk }) ? MODERN : '2025-11-25',
);

mixTest(
  'every client sees every list whole',
  FIXTURES,
  async (session) => {
    const { tools, ...others } = await features.lists(session);
    return { tools: tools.length, some: tools.slice(0, 3), ...others };
  },
  {
    tools: 34,
    some: ['json_schema_2020_12_tool', 'test_audio_content', 'test_cancelled_calls'],
    prompts: [
      'test_input_required_result_prompt',
      'test_prompt_with_arguments',
      'test_prompt_with_embedded_resource',
      'test_prompt_with_image',
      'test_simple_prompt',
    ],
    resources: [
      'test://asking-resource',
      'test://static-binary',
      'test://static-text',
      'test://watched-resource',
    ],
    templates: ['test://template/{id}/data'],
  },
);

mixTest('every client calls, reads and gets the same', {}, features.contents, {
  called: 'This is a simple text response for testing.',
  read: ['This is the content of the static text resource.'],
  prompt: [`Prompt with arguments: arg1='a "word"', arg2='\\ \u00e9'`],
});

mixTest('every server can ask for words, for a model and for roots', {}, features.questions, {
  name: 'Hello, my name!',
  capital: 'The model says: no idea about: What is the capital of France?',
  roots: 'Roots: file:///one file:///two',
  asked: ['What is your name?', 'What is the capital of France?', 'roots'],
});

mixTest(
  'questions come several at once, again and again, and in prompts and resources too',
  FIXTURES,
  async (session, { asked }) => {
    const together = await session.call('test_input_required_result_multiple_inputs');
    const rounds = await session.call('test_input_required_result_multi_round');
    const state = await session.call('test_input_required_result_request_state');
    const { messages } = await session.client.getPrompt({ name: 'test_input_required_result_prompt' });
    const { contents } = await session.client.readResource({ uri: 'test://asking-resource' });
    const texts = [messages[0].content.text, contents[0].text];
    return { together, rounds, state, texts, asked: asked.sort() };
  },
  {
    together: 'my name: no idea about: Generate a greeting (file:///one file:///two)',
    rounds: 'Favorite color: my color',
    state: 'state-ok: action=accept, content={"ok":true}',
    texts: ['Use this context: my context', 'Confirmed: action=accept, content={"ok":true}'],
    asked: [
      'Generate a greeting',
      'Please confirm',
      'Please confirm',
      'Step 1: What is your name?',
      'Step 2: What is your favorite color?',
      'What context should the prompt use?',
      'What is your name?',
      'roots',
    ],
  },
);

mixTest(
  'a user who declines is heard',
  { options: { answers: { 'elicitation/create': () => ({ action: 'decline' }) } } },
  (session) => session.call('test_input_required_result_elicitation'),
  'Hello, stranger: action=decline, content={}',
);

// A legacy client has no other way to hear of it than the words of the result.
mixTest(
  'a server that needs what the client lacks gets nowhere, and the client is told why',
  { ...FIXTURES, options: { capabilities: {}, answers: {} } },
  async ({ client, sdk }) => {
    const call = { name: 'test_missing_capability', arguments: {} };
    const { answered, code, data } = await features.failure(client.callTool(call));
    return isModern({ sdk }) ? { code, data } : { failed: answered?.isError ?? false };
  },
  ({ sdk }) =>
    isModern({ sdk })
      ? { code: -32021, data: { requiredCapabilities: { sampling: {} } } }
      : { failed: true },
);

mixTest('progress reaches every client', {}, features.progress, {
  first: '0/600',
  answer: 'Done after 600 ms.',
});

mixTest('every client can cancel, and the server hears of it', {}, features.cancellation, 'rejected');

mixTest('a subscription is a subscription in either era, and ends', {}, features.subscriptions, [
  'test://watched-resource',
]);

mixTest('a change to the tools reaches every client', {}, features.toolChanges, {
  said: 'There is one more.',
  more: ['test_dynamic_tool'],
});

mixTest('log lines come at the level that the client chose, and no others', {}, features.logging, {
  warning: [],
  debug: ['Tool execution started', 'Tool processing data', 'Tool execution completed'],
});

// SDK v2 has a class for each of the two codes and a view of its own on older servers; which code is on the wire,
// eras_wire.test.mjs looks at.
mixTest(
  'what does not exist is an error that names it',
  FIXTURES,
  async ({ client }) => {
    const tool = await features.failure(client.callTool({ name: 'no_such_tool', arguments: {} }));
    const { code, data } = await features.failure(client.readResource({ uri: 'test://nowhere' }));
    return { tool: tool.code, resource: code === -32602 || code === -32002, uri: data?.uri };
  },
  { tool: -32602, resource: true, uri: 'test://nowhere' },
);

// ---- who shares, and which era runs

daemonTest(
  'clients of both eras share a modern server, and each is asked its own questions',
  { servers: { modern: entry(fixtureServer('--modern')) } },
  async (daemon, lab) => {
    const sdks = ['v1', 'v2', 'v2 modern', 'v2 auto'];
    const clients = Array.from({ length: 12 }, () => talker());
    clients.forEach(({ options }, index) => {
      options.answers['elicitation/create'] = () => ({ action: 'accept', content: { name: `client ${index}` } });
    });
    // What kind of server it is, is known after its first session.
    await (await Session.open(lab, daemon.connect('modern'))).close();
    const sessions = await openAll(12, (index) =>
      Session.open(lab, daemon.connect('modern'), { sdk: sdks[index % 4], ...clients[index].options }),
    );

    const names = await Promise.all(
      sessions.map((session) => session.call('test_input_required_result_elicitation')),
    );
    const pids = await Promise.all(sessions.map((session) => session.call('test_pid')));
    const { instances } = await daemon.status();
    await closeAll(sessions);

    assert.deepEqual(
      names,
      clients.map((_, index) => `Hello, client ${index}!`),
    );
    assert.equal(new Set(pids).size, 1, 'one process');
    assert.deepEqual(
      instances.map(({ era, share, sessions: all }) => [era, share, all.length]),
      [['modern', 'shared', 12]],
    );
  },
);

daemonTest(
  'a server that is silent or leaves when it is probed is an older one, and is asked only once',
  {
    servers: (lab) => ({
      silent: entry(fixtureServer('--legacy', '--silent-probe', countStarts(lab, 'silent'))),
      leaving: entry(fixtureServer('--legacy', '--exit-on-probe', countStarts(lab, 'leaving'))),
    }),
  },
  async (daemon, lab) => {
    await Promise.all(
      ['silent', 'leaving'].map(async (server) => {
        const open = (sdk) => Session.open(lab, daemon.connect(server), { sdk });
        const first = await open('v2 modern');
        const answer = await first.call('test_simple_text');
        await first.close();
        const learned = startsOf(lab, server);

        const second = await open('v1');
        const pid = await second.call('test_pid');
        await second.close();

        assert.match(answer, /^This is a simple text/, server);
        assert.deepEqual(startsOf(lab, server), [...learned, pid], `${server}: one more start`);
      }),
    );
    await daemon.becomesEmpty();
  },
);

daemonTest(
  'a server may change its era from one start to the next',
  { servers: (lab) => ({ flip: entry(fixtureServer(`--flip-era=${path.join(lab.dir, 'modern')}`)) }) },
  async (daemon, lab) => {
    const visit = async (sdk) => {
      const session = await Session.open(lab, daemon.connect('flip'), { sdk });
      const answer = await session.call('test_echo', { text: sdk });
      const { instances } = await daemon.status();
      await session.close();
      return [answer, instances.map(({ era }) => era).at(-1)];
    };

    const before = await visit('v1');
    await daemon.becomesEmpty();
    writeFileSync(path.join(lab.dir, 'modern'), '');
    const afterwards = [await visit('v1'), await visit('v2 modern')];

    assert.deepEqual(before, ['Echo: v1', 'legacy']);
    assert.deepEqual(afterwards, [
      ['Echo: v1', 'modern'],
      ['Echo: v2 modern', 'modern'],
    ]);
  },
);

// ---- a real server of the older era

daemonTest(
  'a modern client uses a server from npm that knows only the older revisions',
  { servers: { everything: entry(viaNode('everything')) } },
  async (daemon, lab) => {
    const { heard, options } = talker();
    const session = await Session.open(lab, daemon.connect('everything'), { sdk: 'v2 modern', ...options });

    const tools = await session.tools();
    const echo = await session.call('echo', { message: 'moo' });
    const steps = [];
    const long = { duration: 0.5, steps: 5 };
    const onprogress = ({ progress }) => steps.push(progress);
    const done = await session.call('trigger-long-running-operation', long, { onprogress });
    const elicited = await session.call('trigger-elicitation-request');
    const sampled = await session.call('trigger-sampling-request', { prompt: 'why?' });
    const { prompts } = await session.client.listPrompts();
    const spoken = features.spoken(session);
    await session.close();

    assert.equal(spoken, MODERN);
    assert.ok(tools.includes('trigger-elicitation-request'), 'its tools for a client that can be asked');
    assert.equal(echo, 'Echo: moo');
    assert.match(done, /completed/);
    assert.equal(steps[0], 1);
    assert.match(elicited, /User provided the requested information/);
    assert.match(sampled, /no idea about: .*why\?/);
    assert.ok(prompts.length >= 4, `${prompts.length} prompts`);
    assert.ok(heard.asked.length >= 2);
    await daemon.becomesEmpty();
  },
);
