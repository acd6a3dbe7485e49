// What is known of a server answers for it: sessions attach without a process, and the first call starts one.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { daemonTest, entry, fixtureServer } from './support/daemon.mjs';
import { isModern, lists, talker } from './support/features.mjs';
import { HERE } from './support/lab.mjs';
import { eventually } from './support/processes.mjs';
import { QuickClient } from './support/quick_client.mjs';
import { INITIALIZED, RawClient, initialize, modernRequest } from './support/raw_client.mjs';
import { Session, closeAll, openAll } from './support/sdk.mjs';
import { countStarts, startsOf } from './support/starts.mjs';

// An instance that nobody uses ends soon, also a shared one.
const SOON = { idle: '100ms' };
const SHARED = { share: 'shared' };

// The only entry of a configuration: a fixture server whose starts are counted.
const counted = (options, corral = {}) => (lab) => ({
  server: entry(fixtureServer(...options, countStarts(lab)), { ...SOON, ...corral }),
});

// One session that lists everything, and its end: from here on the server is known.
async function learn(daemon, lab, what = 'server', options = {}) {
  const session = await Session.open(lab, daemon.connect(what), options);
  const all = await lists(session);
  await session.close();
  await daemon.becomesEmpty();
  return all;
}

const restart = async (daemon) => {
  await daemon.shutDown();
  daemon.serve();
  await eventually('the daemon to answer', async () => (await daemon.ask('status')).code === 0);
  daemon.watch();
};

// The slow test is the first, so that the others run beside it.
describe('lazy start', { concurrency: 3 }, () => {
  daemonTest(
    'a server that takes long to start is answered for in time, and its lists follow',
    { servers: counted(['--legacy', '--slow-start=24000']) },
    async (daemon, lab) => {
      const client = new RawClient(lab, daemon.connect('server'));

      const { result } = await client.request(initialize(), 30_000);
      client.send(INITIALIZED);
      const early = await client.request({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
      await client.hears('that the lists changed', ({ method }) => /tools.list_changed/.test(method), 40_000);
      const late = await client.request({ jsonrpc: '2.0', id: 3, method: 'tools/list' }, 20_000);
      client.endInput();

      assert.equal(result.serverInfo.name, 'server', 'the name of its entry');
      assert.deepEqual(early.result.tools, []);
      assert.equal(late.result.tools.length, 34);
      assert.deepEqual(await client.ended, { code: 0, signal: null });
    },
  );

  // It is asked which era it speaks long before it can answer. It is stateless, so it is parked if its client is slow
  // to call: not within a tenth of a second here.
  daemonTest(
    'a modern server that starts slowly is not taken for an older one, nor started twice',
    { servers: counted(['--modern', '--slow-start=4500'], { idle: '3s' }) },
    async (daemon, lab) => {
      const session = await Session.open(lab, daemon.connect('server'));
      const pid = await session.call('test_pid');
      const { instances } = await daemon.status();
      await session.close();

      assert.deepEqual(
        instances.map(({ era }) => era),
        ['modern'],
      );
      assert.deepEqual(startsOf(lab), [pid], 'one start');
      await daemon.becomesEmpty();
    },
  );

  for (const era of ['legacy', 'modern']) {
    for (const sdk of ['v1', 'v2 modern']) {
      daemonTest(
        `${sdk} attaches to a known ${era} server without a process, and its first call starts one`,
        { servers: counted([`--${era}`]) },
        async (daemon, lab) => {
          const learned = await learn(daemon, lab, 'server', { sdk, ...talker().options });
          const before = startsOf(lab);

          const session = await Session.open(lab, daemon.connect('server'), { sdk, ...talker().options });
          const seen = await lists(session);
          const identity = session.client.getServerVersion();
          const { instances, sessions } = await daemon.status();
          const attached = startsOf(lab);
          const pids = await Promise.all([1, 2, 3].map(() => session.call('test_pid')));
          const afterwards = startsOf(lab);
          await session.close();

          assert.deepEqual(seen, learned);
          assert.deepEqual(identity, { name: 'fixture', version: '1.0.0' });
          assert.deepEqual([instances.length, sessions.length], [0, 1]);
          assert.deepEqual(attached, before, 'no start');
          assert.deepEqual(afterwards, [...before, pids[0]], 'one start');
          assert.equal(new Set(pids).size, 1);
          await daemon.becomesEmpty();
        },
      );
    }
  }

  daemonTest(
    'what is known outlives the daemon',
    { servers: counted(['--legacy']) },
    async (daemon, lab) => {
      const learned = await learn(daemon, lab);
      const before = startsOf(lab);

      await restart(daemon);
      const session = await Session.open(lab, daemon.connect('server'));
      const seen = await lists(session);
      await session.close();

      assert.deepEqual(seen, learned);
      assert.deepEqual(startsOf(lab), before, 'no start');
    },
  );

  daemonTest(
    'knowledge that is broken is put aside, with a warning, and learned again',
    { servers: counted(['--legacy']) },
    async (daemon, lab) => {
      const learned = await learn(daemon, lab);
      await daemon.shutDown();
      const folder = path.join(daemon.dir, 'state');
      const files = readdirSync(folder, { recursive: true })
        .map((name) => path.join(folder, name))
        .filter((file) => statSync(file).isFile());
      files.forEach((file) => writeFileSync(file, readFileSync(file, 'utf8').slice(0, 40)));
      const before = startsOf(lab);

      daemon.serve();
      await eventually('the daemon to answer', async () => (await daemon.ask('status')).code === 0);
      daemon.watch();
      const seen = await learn(daemon, lab);

      assert.ok(files.length > 0, 'something was kept');
      assert.deepEqual(seen, learned);
      assert.ok(startsOf(lab).length > before.length, 'it had to be started');
      assert.match(daemon.stderr, /the registry .* was damaged/);
    },
  );

  daemonTest(
    'a server that would take half a minute to start attaches from what is known of it',
    {
      servers: (lab) =>
        counted(['--legacy', '--slow-start=30000', `--slow-if=${path.join(lab.dir, 'slow')}`])(lab),
    },
    async (daemon, lab) => {
      const learned = await learn(daemon, lab);
      writeFileSync(path.join(lab.dir, 'slow'), '');
      const before = startsOf(lab);

      const session = await Session.open(lab, daemon.connect('server'));
      const seen = await lists(session);
      await session.close();

      assert.deepEqual(seen, learned);
      assert.deepEqual(startsOf(lab), before, 'no start');
    },
  );

  daemonTest(
    '50 clients that call at once start one process',
    { servers: counted(['--legacy'], SHARED) },
    async (daemon, lab) => {
      const first = await new QuickClient(lab, daemon.connect('server')).open();
      await first.request({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
      first.child.stdin.end();
      await first.ended;
      await daemon.becomesEmpty();
      const before = startsOf(lab);

      const clients = await openAll(50, () => new QuickClient(lab, daemon.connect('server')).open());
      const attached = startsOf(lab);
      const pids = await Promise.all(clients.map((client) => client.call('test_pid', {})));
      const { instances } = await daemon.status();
      clients.forEach(({ child }) => child.stdin.end());
      const ends = await Promise.all(clients.map(({ ended }) => ended));

      assert.deepEqual(attached, before, 'no start while they attached');
      assert.deepEqual(startsOf(lab), [...before, pids[0]], 'one start');
      assert.deepEqual([...new Set(pids)], [pids[0]]);
      assert.deepEqual(
        instances.map(({ sessions }) => sessions.length),
        [50],
      );
      assert.deepEqual(
        ends.filter(({ code }) => code !== 0),
        [],
      );
      await daemon.becomesEmpty();
    },
  );

  daemonTest(
    'a client that only looks and hangs up starts nothing',
    { servers: counted(['--legacy']) },
    async (daemon, lab) => {
      await learn(daemon, lab, 'server', { sdk: 'v2 modern' });
      const before = startsOf(lab);

      const probe = new RawClient(lab, daemon.connect('server'));
      const { result } = await probe.request(modernRequest(1, 'server/discover'));
      probe.endInput();
      const end = await probe.ended;
      // SDK v2 looks at a server with a process of its own before it attaches.
      const careful = await Session.open(lab, daemon.connect('server'), { sdk: 'v2 auto' });
      await careful.close();

      assert.equal(result.resultType, 'complete');
      assert.deepEqual(end, { code: 0, signal: null });
      assert.deepEqual(startsOf(lab), before, 'no start');
      await daemon.becomesEmpty();
    },
  );

  for (const sdk of ['v1', 'v2 modern']) {
    daemonTest(
      `${sdk} hears when a server turns out to offer something other than was known`,
      {
        servers: (lab) => counted(['--legacy', `--tools-file=${path.join(lab.dir, 'tools')}`])(lab),
      },
      async (daemon, lab) => {
        const file = path.join(lab.dir, 'tools');
        writeFileSync(file, 'alpha\n');
        const learned = await learn(daemon, lab, 'server', { sdk });
        writeFileSync(file, 'alpha\nbeta\n');

        const { heard, options } = talker();
        const news = options.news;
        const session = await Session.open(lab, daemon.connect('server'), { sdk, news });
        const known = await session.tools();
        if (isModern({ sdk })) await session.client.listen({ toolsListChanged: true });
        await session.call('test_simple_text');
        await eventually('the change', () => heard.tools > 0);
        const live = await session.tools();
        await session.close();
        await daemon.becomesEmpty();
        const next = await learn(daemon, lab, 'server', { sdk });

        assert.ok(learned.tools.includes('alpha') && !learned.tools.includes('beta'));
        assert.deepEqual(known.sort(), learned.tools);
        assert.deepEqual(live.sort(), [...learned.tools, 'beta'].sort());
        assert.deepEqual(next.tools, live.sort(), 'and it is remembered');
      },
    );
  }

  daemonTest(
    'a server that lists other tools each time is not chased',
    { servers: counted(['--legacy', '--random-tools']) },
    async (daemon, lab) => {
      await learn(daemon, lab);
      const before = startsOf(lab);
      const { heard, options } = talker();
      const session = await Session.open(lab, daemon.connect('server'), { news: options.news });

      await session.tools();
      await session.call('test_simple_text');
      await eventually('the change', () => heard.tools > 0);
      for (let count = 0; count < 5; count += 1) await session.tools();
      await sleep(300);
      const { length } = startsOf(lab);
      await session.close();

      assert.ok(heard.tools <= 2, `${heard.tools} changes were told`);
      assert.equal(length, before.length + 1, 'one start');
    },
  );

  daemonTest(
    'an eager server is started by the first client that attaches',
    { servers: counted(['--legacy'], { eager: true }) },
    async (daemon, lab) => {
      await learn(daemon, lab);
      const before = startsOf(lab);

      const session = await Session.open(lab, daemon.connect('server'));
      await eventually('a start', () => startsOf(lab).length > before.length);
      const pid = await session.call('test_pid');
      await session.close();

      assert.deepEqual(startsOf(lab), [...before, pid], 'one start');
    },
  );

  // ---- fresh code

  daemonTest(
    'after a change of its script new sessions get the new code, and old ones finish on the old',
    {
      servers: (lab) => ({
        server: entry([process.execPath, path.join(lab.dir, 'versioned.mjs')], { ...SOON, ...SHARED }),
      }),
    },
    async (daemon, lab) => {
      const script = path.join(lab.dir, 'versioned.mjs');
      const source = readFileSync(path.join(HERE, 'support', 'versioned-mcp.mjs'), 'utf8');
      writeFileSync(script, source);
      const version = (session) => session.call('version');
      const old = await Session.open(lab, daemon.connect('server'));
      const before = [await version(old), await old.tools()];

      writeFileSync(script, source.replace("VERSION = 'one'", "VERSION = 'second'"));
      const fresh = await Session.open(lab, daemon.connect('server'));
      const after = [await version(fresh), await fresh.tools()];
      const another = await Session.open(lab, daemon.connect('server'));
      const together = [await version(another), await version(old)];
      const { instances } = await daemon.status();
      const { stdout: told } = await daemon.ask('ps', '-v');
      await closeAll([old, fresh, another]);

      assert.deepEqual(before, ['one', ['version', 'only-in-one']]);
      assert.deepEqual(after, ['second', ['version', 'only-in-second']]);
      assert.deepEqual(together, ['second', 'one']);
      assert.deepEqual(
        instances.map(({ stale, sessions }) => [/versioned.mjs/.test(stale), sessions.length]).sort(),
        [
          [false, 2],
          [true, 1],
        ],
      );
      assert.match(told, /stale/);
      await daemon.becomesEmpty();
    },
  );
});
