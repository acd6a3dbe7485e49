// A private server may ask its client anything, and asks nobody else.
import assert from 'node:assert/strict';
import { daemonTest, entry } from './support/daemon.mjs';
import { eventually } from './support/processes.mjs';
import { Session, closeAll } from './support/sdk.mjs';
import { viaNode } from './support/session.mjs';

const QUESTIONS = ['trigger-sampling-request', 'trigger-elicitation-request', 'get-roots-list'];
const SERVERS = { everything: entry(viaNode('everything')) };

// A client that answers with its name, and keeps what it was asked.
function answering(name) {
  const asked = [];
  const answers = {
    'sampling/createMessage': ({ params }) => {
      asked.push(params.messages[0].content.text);
      return { model: 'none', role: 'assistant', content: { type: 'text', text: `sampled by ${name}` } };
    },
    'elicitation/create': () => ({ action: 'accept', content: { name } }),
    'roots/list': () => ({ roots: [{ uri: `file:///home/${name}`, name: `root of ${name}` }] }),
  };
  return { asked, answers, capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } };
}

// It registers these tools a moment after it heard of its client.
async function openAsked(lab, daemon, sdk, client) {
  const session = await Session.open(lab, daemon.connect('everything'), { sdk, ...client });
  await eventually('the tools that ask', async () => {
    const tools = await session.tools();
    return QUESTIONS.every((name) => tools.includes(name));
  });
  return session;
}

async function assertAsksOnly(session, name, round) {
  const [sampled, elicited, roots] = await Promise.all([
    session.call('trigger-sampling-request', { prompt: `${name} ${round}`, maxTokens: 10 }),
    session.call('trigger-elicitation-request'),
    session.call('get-roots-list'),
  ]);
  assert.match(sampled, new RegExp(`sampled by ${name}\\b`));
  assert.match(elicited, new RegExp(`- Name: ${name}\\n`));
  assert.match(roots, new RegExp(`\\(1 total\\)[^]*root of ${name}\\n`));
}

for (const sdk of ['v1', 'v2']) {
  daemonTest(
    `two sessions of SDK ${sdk} are asked their own questions by two processes`,
    { servers: SERVERS },
    async (daemon, lab) => {
      const clients = { anna: answering('anna'), bert: answering('bert') };
      const names = Object.keys(clients);
      const sessions = await Promise.all(names.map((name) => openAsked(lab, daemon, sdk, clients[name])));

      const rounds = [1, 2, 3, 4, 5];
      await Promise.all(
        names.flatMap((name, index) => rounds.map((round) => assertAsksOnly(sessions[index], name, round))),
      );
      const { instances } = await daemon.status();
      await closeAll(sessions);

      for (const name of names) {
        const expected = rounds.map((round) => `Resource trigger-sampling-request context: ${name} ${round}`);
        assert.deepEqual(clients[name].asked.sort(), expected);
      }
      assert.deepEqual(
        instances.map(({ share }) => share),
        ['session', 'session'],
      );
      assert.equal(new Set(instances.map(({ pid }) => pid)).size, 2);
      assert.deepEqual(
        instances.map(({ sessions: holders }) => holders.length),
        [1, 1],
      );
      assert.deepEqual(
        instances.map(({ counters }) => counters.refused_questions),
        [0, 0],
      );
      await daemon.becomesEmpty();
    },
  );
}

daemonTest(
  'a client that declares nothing is offered no tool that asks',
  { servers: SERVERS },
  async (daemon, lab) => {
    const asked = await openAsked(lab, daemon, 'v1', answering('anna'));
    const silent = await Session.open(lab, daemon.connect('everything'));

    const tools = await silent.tools();
    await closeAll([asked, silent]);

    assert.deepEqual(
      tools.filter((name) => QUESTIONS.includes(name)),
      [],
    );
    assert.ok(tools.includes('echo'));
  },
);

daemonTest(
  'a client that says its roots changed is asked again',
  { servers: SERVERS },
  async (daemon, lab) => {
    const client = answering('anna');
    const session = await openAsked(lab, daemon, 'v1', client);
    assert.match(await session.call('get-roots-list'), /root of anna/);

    const roots = [{ uri: 'file:///elsewhere', name: 'moved' }];
    session.client.setRequestHandler(session.kind('roots/list'), () => ({ roots }));
    await session.client.sendRootsListChanged();

    await eventually('the new roots', async () => /moved/.test(await session.call('get-roots-list')));
    await session.close();
  },
);
