// The control server: what agents are told of corral, and what they may do, through the official SDK.
import assert from 'node:assert/strict';
import path from 'node:path';
import { assertFits, getFits } from './support/api.mjs';
import { daemonTest, entry, fixtureServer } from './support/daemon.mjs';
import { CORRAL, labTest } from './support/lab.mjs';
import { eventually } from './support/processes.mjs';
import { Session, closeAll, openAll } from './support/sdk.mjs';
import { openSession, viaNode } from './support/session.mjs';

const server = (lab, options = {}) => entry(fixtureServer('--legacy', `--tag=${lab.tag}`), options);

// The same, but it writes a line to stderr before.
const chatty = (lab, options) =>
  entry(['sh', '-c', 'echo moo >&2; exec "$@"', 'sh', ...fixtureServer('--legacy', `--tag=${lab.tag}`)], options);

// What a tool says: its structured content, or the text of its failure.
async function ask(session, name, args = {}) {
  const result = await session.client.callTool({ name, arguments: args });
  const text = result.content.map((part) => part.text).join('\n');
  return result.isError ? { failure: text } : { ...result.structuredContent, text };
}

async function healthOf(session) {
  const { health, health_reasons: reasons } = await ask(session, 'get_server_info');
  return { health, reasons };
}

// A session is not one with a process before its first call.
async function openWithProcess(daemon, lab, name) {
  const session = await Session.open(lab, daemon.connect(name));
  session.server = Number(await session.call('test_pid'));
  return session;
}

daemonTest(
  'get_server_info has every field of the demand, through connect and by URL, and the API says the same',
  { servers: (lab) => ({ files: server(lab, { share: 'shared' }) }), serve: ['--port', '0'] },
  async (daemon, lab) => {
    const user = await openWithProcess(daemon, lab, 'files');
    const base = path.dirname(await daemon.url());
    const controls = [
      await Session.open(lab, daemon.connect('corral')),
      await Session.at(await daemon.url('corral'), { sdk: 'v2' }),
    ];

    for (const control of controls) {
      const { text, ...info } = await ask(control, 'get_server_info');

      assertFits('info', info);
      assert.deepEqual(JSON.parse(text), info);
      assert.equal(info.success, true);
      assert.match(info.server_version, /^\d+\.\d+\.\d+/);
      assert.match(info.build_date, /^\d{4}-\d\d-\d\d$/);
      assert.equal(info.current_pid, daemon.pid);
      assert.equal(info.total_server_processes, info.server_processes.length);
      const [current, ...others] = info.server_processes.filter(({ is_current: is }) => is);
      assert.equal(current.pid, daemon.pid);
      assert.deepEqual(others, []);
      const process = info.server_processes.find(({ server }) => server === 'files');
      assert.equal(process.pid, user.server);
      assert.equal(process.status, 'ready');
      assert.equal(typeof process.version, 'string');
      assert.match(process.client, /^corral v1 1\.0\.0 \(pid \d+\)$/);
      assert.equal(process.sessions.length, 1);
      assert.match(process.clients[0].command, /node/);
      assert.equal(info.health, 'healthy');
      assert.deepEqual(info.health_reasons, []);
      const file = info.pid_file;
      assert.equal(file.path, path.join(daemon.dir, 'corral.pid'));
      assert.deepEqual([file.exists, file.matches, file.pid], [true, true, daemon.pid]);
      assert.equal(file.version, info.server_version);
      assert.match(file.started, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    }

    const status = assertFits('status', await daemon.status());
    const found = {};
    for (const name of ['info', 'servers', 'instances', 'sessions', 'events']) {
      found[name] = await getFits(base, name);
    }
    assert.equal(found.info.current_pid, daemon.pid);
    assert.deepEqual(found.servers.servers, status.servers);
    assert.deepEqual(
      found.instances.instances.map(({ id }) => id),
      status.instances.map(({ id }) => id),
    );
    assert.deepEqual(
      found.sessions.sessions.map(({ id }) => id),
      status.sessions.map(({ id }) => id),
    );
    await closeAll([user, ...controls]);
  },
);

daemonTest(
  'what the commands print with --json fits the documented schema',
  { servers: (lab) => ({ files: chatty(lab, { share: 'shared' }) }) },
  async (daemon, lab) => {
    const user = await openWithProcess(daemon, lab, 'files');
    const said = async (...words) => {
      const { code, stdout, stderr } = await daemon.ask(...words);
      assert.equal(code, 0, `${words}: ${stderr}`);
      return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
    };

    const [ps] = await said('ps', '--json');
    assert.ok(assertFits('ps', ps).instances[0].usage.processes.length > 0);
    assertFits('info', (await said('info', '--json'))[0]);
    assertFits('session_objects', (await said('session', 'list', '--json'))[0]);
    const events = await said('events', '--json');
    for (const event of events) assertFits('event', event);
    assert.ok(events.some(({ kind, server: of }) => kind === 'ready' && of === 'files'));
    const lines = await said('logs', '--json', 'files');
    assert.ok(lines.length > 0);
    for (const line of lines) assert.equal(assertFits('log_line', line).text, 'moo');
    const control = await Session.open(lab, daemon.connect('corral'));
    const { lines: shown } = await ask(control, 'server_logs', { server: 'files', lines: 1, since: '1h' });
    assert.deepEqual(
      shown.map(({ text }) => text),
      ['moo'],
    );
    assertFits('server_verb', (await said('restart', '--json', 'files'))[0]);
    await closeAll([user, control]);
  },
);

daemonTest(
  'a tenth copy of one server makes the daemon degraded, ten servers with one process each do not',
  {
    servers: (lab) => ({
      copies: server(lab, { share: 'session' }),
      ...Object.fromEntries(
        Array.from({ length: 10 }, (_, i) => [`single${i}`, server(lab, { share: 'shared' })]),
      ),
    }),
  },
  async (daemon, lab) => {
    const control = await Session.open(lab, daemon.connect('corral'));
    const singles = await openAll(10, (i) => openWithProcess(daemon, lab, `single${i}`));
    assert.deepEqual(await healthOf(control), { health: 'healthy', reasons: [] });
    const nine = await openAll(9, () => openWithProcess(daemon, lab, 'copies'));
    assert.equal((await healthOf(control)).health, 'healthy');

    const tenth = await openWithProcess(daemon, lab, 'copies');
    const { health, reasons } = await healthOf(control);

    assert.equal(health, 'degraded');
    assert.equal(reasons.length, 1);
    assert.match(reasons[0], /server copies has 10 processes, more than 9/);
    assert.deepEqual((await daemon.status()).health, { status: 'degraded', reasons });
    await tenth.close();
    await daemon.becomes('healthy again', ({ health: now }) => now.status === 'healthy');
    await closeAll([control, ...singles, ...nine]);
  },
);

daemonTest(
  'servers are stopped, started and restarted, and a session is ended, by tools that say what went',
  { servers: (lab) => ({ files: server(lab, { share: 'shared' }) }) },
  async (daemon, lab) => {
    const control = await Session.open(lab, daemon.connect('corral'));
    const user = await openWithProcess(daemon, lab, 'files');

    const restarted = await ask(control, 'restart_server', { server: 'files' });
    assertFits('server_verb', restarted);
    assert.equal(restarted.ended[0].pid, user.server);
    assert.equal(restarted.ended[0].proved, true);
    const replacement = Number(await user.call('test_pid'));
    assert.notEqual(replacement, user.server);

    assert.equal((await ask(control, 'stop_server', { server: 'files' })).ended[0].pid, replacement);
    await assert.rejects(user.call('test_pid'), /stopped/);
    assert.match((await ask(control, 'list_servers')).text, /^files \(stopped; start_server/m);
    assert.equal((await ask(control, 'start_server', { server: 'files' })).allowed, true);
    assert.ok(Number(await user.call('test_pid')) > 0);

    const { sessions } = await ask(control, 'list_sessions');
    const { id } = sessions.find(({ server: of }) => of === 'files');
    const gone = new Promise((resolve) => (user.client.onclose = resolve));
    assert.doesNotMatch(JSON.stringify(await ask(control, 'end_session', { session: String(id) })), /failure/);
    await gone;
    assert.match((await ask(control, 'end_session', { session: String(id) })).failure, /list_sessions|ended/);

    assert.match((await ask(control, 'stop_server', { server: 'flies' })).failure, /flies.*files/);
    assert.match((await ask(control, 'stop_server', { server: 'corral' })).failure, /control server/);
    assert.match((await ask(control, 'stop_server', {})).failure, /"server" is missing/);
    assert.match((await ask(control, 'server_logs', { server: 'flies' })).failure, /did you mean files/);
    assert.equal((await ask(control, 'server_logs', { server: 'files', since: '1h' })).more, false);
    await control.close();
  },
);

labTest('without a daemon the control server reaps all the same, and only when it is told to', {}, async (lab) => {
  const copy = [...viaNode('filesystem'), lab.dir];
  const held = await Promise.all([1, 2].map(() => openSession(lab, copy)));
  const control = await Session.open(lab, [CORRAL, 'mcp', '--runtime-dir', path.join(lab.dir, lab.tag)]);
  const { tools } = await control.client.listTools();
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  assert.equal(hints.get_server_info.readOnlyHint, true);
  assert.deepEqual(
    [hints.reap.readOnlyHint, hints.reap.destructiveHint, hints.reap.openWorldHint],
    [false, true, false],
  );
  assert.match((await ask(control, 'get_server_info')).failure, /no daemon is running.*corral serve/);

  const choice = { pile_ups: true, keep: 1, match: lab.dir };
  const shown = await ask(control, 'reap', choice);
  assert.equal(shown.dry_run, true, shown.failure);
  assert.deepEqual(
    shown.chosen.map(({ why }) => why),
    ['pile-up'],
    shown.text,
  );
  assert.deepEqual(shown.ended, []);
  for (const { client } of held) await client.ping();

  assert.match((await ask(control, 'reap', { confirm: true })).failure, /confirm requires a selection/);
  const done = await ask(control, 'reap', { ...choice, confirm: true });
  assert.deepEqual(
    done.ended.map(({ pid, gone }) => [pid, gone]),
    [[shown.chosen[0].pid, true]],
    done.failure,
  );

  await control.close();
  await Promise.all(held.map(({ transport }) => transport.close()));
  await eventually('no server left', () => lab.survivors().length === 0);
});
