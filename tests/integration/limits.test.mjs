// What the configuration forbids: servers that grow, servers and programs that are too old, and orphans that
// others left.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Daemon, daemonTest, entry, fixture } from './support/daemon.mjs';
import { HERE, labTest } from './support/lab.mjs';
import { eventually, liveProcesses } from './support/processes.mjs';
import { INITIALIZED, RawClient, initialize, toolCall } from './support/raw_client.mjs';

const GROWING = fixture('growing-mcp.mjs');
const textIn = ({ result }) => result?.content[0].text;

async function open(daemon, lab, name) {
  const client = new RawClient(lab, daemon.connect(name));
  await client.request(initialize());
  client.send(INITIALIZED);
  client.server = Number(textIn(await client.request(toolCall('first', 'pid'))));
  return client;
}

const recycled = (share) => entry(GROWING, { share, recycle: '300M' });

daemonTest(
  'a server that has grown too large answers its call, and then another one takes its place',
  { servers: { shared: recycled('shared'), own: recycled('session') } },
  async (daemon, lab) => {
    const go = path.join(lab.dir, 'go');
    const clients = await Promise.all(['shared', 'own'].map((name) => open(daemon, lab, name)));
    for (const client of clients) client.send(toolCall('grow', 'grow', { mib: 400, file: go }));

    // Both are seen to be too large while their calls are in flight.
    const found = await eventually('the findings', async () => {
      const findings = await daemon.events('--kind', 'finding');
      return new Set(findings.map(({ server }) => server)).size === 2 ? findings : null;
    });
    for (const { cause, text } of found) {
      assert.equal(cause, 'memory');
      assert.match(text, /more than "recycle" \(300/);
    }
    const alive = new Set(liveProcesses().map(({ pid }) => pid));
    for (const { server } of clients) assert.ok(alive.has(server), 'it still works on its call');

    writeFileSync(go, '');
    for (const client of clients) {
      assert.equal(textIn(await client.answer('grow')), 'grown');
      const replacement = textIn(await client.request(toolCall('second', 'pid')));
      assert.match(replacement, /^\d+$/);
      assert.notEqual(Number(replacement), client.server);
    }
    const old = new Set(clients.map(({ server }) => server));
    await eventually('the old ones gone', () => !liveProcesses().some(({ pid }) => old.has(pid)));
    const stops = await daemon.events('--kind', 'stop');
    assert.deepEqual(
      stops.map(({ server, cause, pid }) => [server, cause, pid]).sort(),
      clients.map(({ server }, index) => [['shared', 'own'][index], 'recycled', server]).sort(),
    );
    for (const client of clients) client.endInput();
    await Promise.all(clients.map(({ ended }) => ended));
  },
);

daemonTest(
  'a server that is older than its min_version is refused with both versions',
  {
    servers: {
      old: entry(GROWING, { min_version: '1.10.0' }),
      new: entry(GROWING, { min_version: '1.2' }),
    },
  },
  async (daemon, lab) => {
    const client = await open(daemon, lab, 'new');
    assert.ok(client.server > 0, 'the control: the same server is new enough for another');
    const refused = new RawClient(lab, daemon.connect('old'));
    refused.send(initialize());
    const { error } = await refused.answer(1);

    assert.match(error.message, /server old is version 1\.2\.3, and "min_version" .*1\.10\.0/);
    for (const one of [client, refused]) one.endInput();
    await Promise.all([client.ended, refused.ended]);
    await daemon.becomesEmpty();
  },
);

labTest('a corral that is older than corral.min_version may only end the daemon', {}, async (lab) => {
  const daemon = new Daemon(lab, { files: entry(GROWING) }, { min_version: '99.0' });
  daemon.serve();
  await eventually('the daemon', () => existsSync(path.join(daemon.dir, 'corral.sock')));
  daemon.watch();

  const refusal = /a corral of version \S+ may not speak to this daemon: "min_version" in \S+ asks for 99\.0 .*lower "min_version"/;
  for (const words of [['ps'], ['info'], ['stop', 'files']]) {
    const { code, stdout, stderr } = await daemon.ask(...words);
    assert.notEqual(code, 0, stdout);
    assert.match(stderr, refusal, words.join(' '));
  }
  const client = new RawClient(lab, daemon.connect('files'));
  client.send(initialize());
  assert.notEqual((await client.ended).code, 0);
  assert.match(client.stderr, refusal);

  await daemon.shutDown();
});

// A command that ends orphans ends those of the whole machine, so this happens in a PID namespace of its own.
function namespacesRefused() {
  const probe = spawnSync('unshare', ['-Urpf', '--mount-proc', 'true'], { encoding: 'utf8', timeout: 9_000 });
  if (probe.status === 0) return false;
  return `no PID namespace on this machine: ${probe.error?.message ?? probe.stderr.trim()}`;
}

const alone = { skip: namespacesRefused() };
labTest('watch.foreign reports or ends what others left, and nothing else', alone, async (lab) => {
  const inner = path.join(HERE, 'support', 'foreign_watch.mjs');
  const env = { ...process.env, ...lab.env };
  delete env.NODE_TEST_CONTEXT;
  const words = ['-Urpf', '--mount-proc', '--kill-child', process.execPath, inner];
  const { error, output } = await new Promise((resolve) => {
    execFile('unshare', words, { env, timeout: 60_000 }, (failure, stdout, stderr) =>
      resolve({ error: failure, output: stdout + stderr }),
    );
  });
  assert.equal(error, null, output);
  assert.match(output, /pass 2\b/, output);
});
