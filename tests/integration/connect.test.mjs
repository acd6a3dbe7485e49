// `corral connect` in the place of a server: what the client and the server see, and what happens without a
// daemon.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { Daemon, Place, daemonTest, entry, fixture } from './support/daemon.mjs';
import { HERE, labTest } from './support/lab.mjs';
import { tagged } from './support/processes.mjs';
import { RawClient, initialize } from './support/raw_client.mjs';
import { LEGACY_SDKS, Session, closeAll } from './support/sdk.mjs';
import { SAMPLE_CALLS, viaNode } from './support/session.mjs';

const TALKATIVE = fixture('talkative-mcp.mjs');

// Of all that the client has in its environment, a configured server gets what its entry asks for.
const ENTRIES = {
  everything: entry(viaNode('everything')),
  filesystem: entry(viaNode('filesystem')),
  memory: entry(viaNode('memory'), {}, { MEMORY_FILE_PATH: '${MEMORY_FILE_PATH}' }),
};

for (const [server, sample] of Object.entries(SAMPLE_CALLS)) {
  daemonTest(
    `${server} works through connect with SDK v1 and v2`,
    { servers: ENTRIES },
    async (daemon, lab) => {
      for (const sdk of LEGACY_SDKS) {
        const session = await Session.open(lab, daemon.connect(server), { sdk });

        const tools = await session.tools();
        const answer = await session.call(sample.name, sample.arguments);
        await session.close();

        assert.ok(tools.includes(sample.name), `${sdk}: ${server} offers ${sample.name}`);
        // The memory server tells what is new to it, and with SDK v2 that is nothing any more.
        assert.match(answer, server === 'memory' && sdk !== 'v1' ? /\[\]/ : sample.answer, sdk);
        assert.deepEqual(session.problems, [], sdk);
      }

      if (server === 'memory') assert.match(readFileSync(lab.env.MEMORY_FILE_PATH, 'utf8'), /Bessie/);
    },
  );
}

daemonTest("the server's stderr is the client's", { servers: ENTRIES }, async (daemon, lab) => {
  const session = await Session.open(lab, daemon.connect('everything'));
  await session.call('echo', { message: 'moo' });
  await session.close();

  assert.match(session.stderr, /Starting default \(STDIO\) server/);
  const ours = session.stderr.split('\n').filter((line) => line.startsWith('corral connect:'));
  assert.equal(ours.length, 1, `one line says why the first one is private: ${session.stderr}`);
  assert.match(ours[0], /private: .*"share": "shared"/);
});

daemonTest(
  'a command of the client gets its arguments, directory and environment',
  { servers: {} },
  async (daemon, lab) => {
    lab.env.OF_THE_CLIENT = 'all of it';
    lab.env.TERM_PROGRAM = 'some terminal';
    const session = await Session.open(lab, daemon.connect([...TALKATIVE, '--flag', 'two words']), {
      cwd: lab.dir,
    });

    const variables = ['OF_THE_CLIENT', 'TERM_PROGRAM', 'HOME'];
    const seen = JSON.parse(await session.call('show', { variables }));
    await session.close();

    assert.deepEqual(seen.args, ['--flag', 'two words']);
    assert.equal(seen.cwd, lab.dir);
    assert.deepEqual(seen.env, { OF_THE_CLIENT: 'all of it', TERM_PROGRAM: null, HOME: lab.dir });
  },
);

daemonTest(
  'a configured server gets the environment of its entry and little else',
  { servers: { talkative: entry(TALKATIVE, {}, { ASKED_FOR: '<${OF_THE_CLIENT}>' }) } },
  async (daemon, lab) => {
    lab.env.OF_THE_CLIENT = 'a value';
    const session = await Session.open(lab, daemon.connect('talkative'));

    const seen = JSON.parse(
      await session.call('show', { variables: ['ASKED_FOR', 'OF_THE_CLIENT', 'PATH'] }),
    );
    await session.close();

    // Each directory once, as for every other window.
    const PATH = [...new Set(lab.env.PATH.split(':').filter(Boolean))].join(':');
    assert.deepEqual(seen.env, { ASKED_FOR: '<a value>', OF_THE_CLIENT: null, PATH });
  },
);

daemonTest(
  'a client without environment finds the same daemon',
  { servers: (lab) => ({ talkative: entry([...TALKATIVE, lab.tag]) }) },
  async (daemon, lab) => {
    const env = { HOME: lab.dir, PATH: process.env.PATH };
    const client = new RawClient(lab, daemon.connect('talkative'), { env });
    await client.request(initialize());

    const { sessions, daemon: answering } = await daemon.status();
    client.endInput();

    assert.equal(answering.pid, daemon.pid);
    assert.deepEqual(
      sessions.map(({ shim }) => shim),
      [client.pid],
    );
    assert.deepEqual(await client.ended, { code: 0, signal: null });
    await daemon.becomesEmpty();
  },
);

daemonTest(
  'a server that is not configured is refused with the names that are',
  { servers: ENTRIES },
  async (daemon, lab) => {
    const client = new RawClient(lab, daemon.connect('memroy'));
    client.endInput();

    const { code } = await client.ended;

    assert.equal(code, 125);
    assert.equal(client.stdout, '');
    assert.match(client.stderr, /memroy.*everything, filesystem, memory/);
  },
);

daemonTest(
  'a server that cannot be started is an error of the session, and the next one is not harmed',
  { servers: { ...ENTRIES, broken: entry(['no-such-mcp-server']) } },
  async (daemon, lab) => {
    await assert.rejects(Session.open(lab, daemon.connect('broken')), /no-such-mcp-server|closed/i);
    const client = new RawClient(lab, daemon.connect('broken'));
    client.send(initialize());
    const { code } = await client.ended;

    const session = await Session.open(lab, daemon.connect('everything'));
    const answer = await session.call('echo', { message: 'still here' });
    await session.close();

    assert.notEqual(code, 0);
    assert.match(client.stderr, /no-such-mcp-server/);
    assert.equal(answer, 'Echo: still here');
  },
);

daemonTest(
  'a confined client runs its own command itself, and may use what is configured',
  { servers: { talkative: entry(TALKATIVE) } },
  async (daemon, lab) => {
    const confined = (command) => ['/usr/bin/setpriv', '--no-new-privs', ...command];
    const own = await Session.open(lab, confined(daemon.connect(TALKATIVE)));
    const withOwn = await daemon.status();
    const configured = await Session.open(lab, confined(daemon.connect('talkative')));
    const withBoth = await daemon.status();
    const answer = JSON.parse(await own.call('echo', { text: 'in the sandbox' }));
    await closeAll([own, configured]);

    assert.equal(answer, 'in the sandbox');
    assert.deepEqual(
      [withOwn, withBoth].map(({ instances }) => instances.length),
      [0, 1],
    );
    assert.match(own.stderr, /^corral connect: .*no_new_privs.*; running the server here/m);
    await daemon.becomesEmpty();
  },
);

// ---- no daemon

// The ways in which a runtime directory is of no use, even to root.
const UNUSABLE = {
  'open to others': (place) => chmodSync(place.dir, 0o755),
  'a symbolic link': (place) => {
    mkdirSync(`${place.dir}real`, { mode: 0o700 });
    symlinkSync(`${place.dir}real`, `${place.dir}link`);
    place.dir += 'link';
  },
};

for (const [what, spoil] of Object.entries(UNUSABLE)) {
  labTest(`a runtime directory that is ${what}: the client is served all the same`, {}, async (lab) => {
    const place = new Place(lab, ENTRIES);
    spoil(place);

    for (const command of ['everything', viaNode('everything')]) {
      const session = await Session.open(lab, place.connect(command));
      const answer = await session.call('echo', { message: 'alone' });
      const running = tagged(lab.tag).map(({ comm }) => comm);
      await session.close();

      assert.equal(answer, 'Echo: alone');
      assert.ok(running.includes('corral-keeper'), `as with corral run: ${running}`);
      const ours = session.stderr.split('\n').filter((line) => line.startsWith('corral'));
      assert.equal(ours.length, 1, session.stderr);
      assert.match(ours[0], /^corral connect: the runtime directory .*; running the server here/);
      await lab.empty();
    }
    assert.equal(place.log, '', 'no daemon was started');
  });

  labTest(`a runtime directory that is ${what}: --require-daemon makes it an error`, {}, async (lab) => {
    const place = new Place(lab, ENTRIES);
    spoil(place);

    const client = new RawClient(lab, place.connect('everything', '--require-daemon'));
    client.send(initialize());
    const end = await client.ended;

    assert.deepEqual(end, { code: 69, signal: null });
    assert.equal(client.stdout, '');
    assert.match(client.stderr, /^corral connect: the runtime directory .* \(--require-daemon\)\n$/);
  });
}

labTest('the daemon is asked before the own configuration', {}, async (lab) => {
  const daemon = await Daemon.start(lab, { talkative: entry([...TALKATIVE, 'configured']) });
  const elsewhere = ['--config', path.join(lab.dir, 'missing.json')];

  const session = await Session.open(lab, daemon.connect('talkative', ...elsewhere), { cwd: HERE });
  const seen = JSON.parse(await session.call('show', { variables: [] }));
  await session.close();
  await daemon.shutDown();

  assert.deepEqual(seen.args, ['configured']);
});
