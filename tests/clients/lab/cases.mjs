// What is asked of every client: before, adopted, released.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, eventually, stillRuns } from '../../integration/support/processes.mjs';
import { LIMIT_MS, clientTest } from './client_lab.mjs';
import { ClientRun } from './client_run.mjs';
import { isNamed } from './model.mjs';
import { TWO_WINDOWS, addRow } from './table.mjs';
import { sharable, stubborn } from './servers.mjs';

// How long leftovers are left alone before they are counted as left. corral needs a second at most.
export const SETTLING_MS = 3_000;

export const THROUGHS = { connect: [], run: ['--run'] };

// The ways in which a session ends. Each comes back when the client has gone.
export const WAYS = {
  finished: async (run) => {
    await finish(run);
  },
  SIGTERM: (run) => killWhileItThinks(run, 'SIGTERM'),
  SIGKILL: (run) => killWhileItThinks(run, 'SIGKILL'),
  'SIGKILL in a call': async (run) => {
    await run.until('the call to arrive', () => stubborn.heard(run.lab, 'tools/call'));
    await run.kill('SIGKILL', stubborn);
  },
};

// npm starts some clients below a launcher, which is the process that a person sees. Without it they finish what they do.
const OF_A_LAUNCHER = {
  'SIGKILL of its launcher': async (run) => {
    await run.until('a result', () => run.model.result !== undefined);
    const client = run.process(stubborn);
    assert.notEqual(client.pid, run.child.pid, run.story);
    run.child.kill('SIGKILL');
    await run.end();
    assert.ok(stillRuns(client), 'the client goes on');
    run.model.release();
    await eventually('the client to end', () => !stillRuns(client), LIMIT_MS);
  },
};

const waysOf = (client) => Object.entries(client.launcher ? { ...WAYS, ...OF_A_LAUNCHER } : WAYS);

const scriptOf = (way, server = stubborn) => ({
  ...(way === 'SIGKILL in a call' ? server.slow : { tool: server.tool, args: server.args }),
  waits: way !== 'finished',
});

async function killWhileItThinks(run, signal) {
  await run.until('a result', () => run.model.result !== undefined);
  assert.match(run.model.result, stubborn.answer, run.story);
  await run.kill(signal, stubborn);
}

async function finish(run) {
  const { code } = await run.end();
  assert.equal(code, 0, run.story);
  assert.match(run.stdout, /The tool said/, run.story);
}

export async function withRun(lab, client, script, body) {
  stubborn.forget(lab);
  const run = await ClientRun.start(lab, client, script);
  try {
    return await body(run);
  } finally {
    await run.stop();
  }
}

// The tools of the server as the model saw them, except for one that no client can call: corral does not list it to clients
// of the newer revision (docs/eras.md).
export const toolsOf = (run, server) =>
  run.model.tools.filter((name) => name.includes(server.name) && !isNamed(name, stubborn.taskOnly)).sort();

// A whole conversation; returns what the model saw.
async function talk(lab, client, server) {
  return withRun(lab, client, scriptOf('finished', server), async (run) => {
    await finish(run);
    assert.match(run.model.result, server.answer, run.story);
    return { tools: toolsOf(run, server), result: run.model.result };
  });
}

export function configure(lab, client, server) {
  lab.write(client.file, client.config({ [server.name]: client.entryOf(server.entry(lab)) }));
}

export const assertNothingOfServer = (lab) =>
  eventually('no process of the server', () => lab.serverTree().length === 0).catch(() =>
    assert.fail(`left: ${describe(lab.serverTree())}`),
  );

export function adopt(lab, client, ...words) {
  const adopted = lab.type('adopt', client.id, '--yes', ...words);
  assert.equal(adopted.code, 0, adopted.said);
  return adopted;
}

export function release(lab, client) {
  const released = lab.type('release', client.id, '--yes');
  assert.equal(released.code, 0, released.said);
  return released;
}

// The same bytes, unless the client itself has written the file: then the same entries.
function assertReleased(lab, client, { before, adopted, clientWrote }) {
  const now = lab.read(client.file);
  assert.ok(!now.includes('connect') && !now.includes('"run"'), now);
  assert.deepEqual(client.serversIn(now), client.serversIn(before));
  if (!clientWrote) assert.equal(now, before, `the same bytes; adopted: ${adopted}`);
}

function controlTest(client) {
  clientTest(`${client.name}, without corral: a stubborn server works, and is left behind`, async (lab) => {
    configure(lab, client, stubborn);
    const left = {};
    for (const [way, end] of waysOf(client)) {
      await withRun(lab, client, scriptOf(way), end);
      await sleep(SETTLING_MS);
      left[way] = describe(lab.serverTree());
      addRow({ client, mode: 'before', way, left: lab.serverTree().length });
      await lab.endLeftovers();
    }
    await withRun(lab, client, { tool: stubborn.taskOnly, args: { topic: 'cows' } }, async (run) => {
      await finish(run);
      assert.match(run.model.result, /requires task/, run.story);
    });
    await lab.endLeftovers();
    // The tests below would notice: the same ends leave something.
    for (const way of ['SIGKILL', 'SIGKILL in a call']) assert.notEqual(left[way], 'none', JSON.stringify(left));
  });
}

function adoptedTest(client, through) {
  const words = THROUGHS[through];
  clientTest(`${client.name}, adopted with ${through}: the same tools, and nothing is left, however it ends`, async (lab) => {
    configure(lab, client, stubborn);
    const before = await talk(lab, client, stubborn);
    await lab.endLeftovers();
    const text = lab.read(client.file);
    adopt(lab, client, ...words);
    release(lab, client);
    assert.equal(lab.read(client.file), text, 'the same bytes');
    adopt(lab, client, ...words);
    const adopted = lab.read(client.file);
    const [word] = client.serversIn(adopted)[stubborn.name].args;
    assert.equal(word, through, adopted);

    for (const [way, end] of waysOf(client)) {
      await withRun(lab, client, scriptOf(way), async (run) => {
        await end(run);
        assert.deepEqual(toolsOf(run, stubborn), before.tools, run.story);
        if (way === 'finished') assert.equal(run.model.result, before.result);
      });
      await assertNothingOfServer(lab);
      addRow({ client, mode: through, way, left: lab.serverTree().length });
    }

    const clientWrote = lab.read(client.file) !== adopted;
    release(lab, client);
    assertReleased(lab, client, { before: text, adopted, clientWrote });
    assert.deepEqual(await talk(lab, client, stubborn), before);
    await lab.endLeftovers();
  });
}

const idle = (lab) => {
  const { code, out } = lab.type('status', '--json');
  return code === 0 && JSON.parse(out).sessions.length === 0;
};

async function twoWindows(lab, client, body) {
  const script = { ...scriptOf('finished', sharable), waits: true };
  return withRun(lab, client, script, (one) =>
    withRun(lab, client, script, async (two) => {
      for (const run of [one, two]) {
        await run.until('a result', () => run.model.result !== undefined);
        assert.match(run.model.result, sharable.answer, run.story);
      }
      await body(one, two);
    }),
  );
}

function windowsTest(client) {
  clientTest(`${client.name}, adopted: two windows have one process of a sharable server`, async (lab) => {
    configure(lab, client, sharable);
    const before = await talk(lab, client, sharable);
    await twoWindows(lab, client, async (one, two) => {
      const { length } = sharable.processes(lab);
      addRow({ client, mode: 'before', way: TWO_WINDOWS, left: length });
      assert.equal(length, 2, 'without corral: one for each window');
      for (const run of [one, two]) run.model.release();
      for (const run of [one, two]) await finish(run);
    });
    await lab.endLeftovers();
    const text = lab.read(client.file);
    adopt(lab, client);
    const adopted = lab.read(client.file);

    await twoWindows(lab, client, async (one, two) => {
      const shared = sharable.processes(lab);
      addRow({ client, mode: 'connect', way: TWO_WINDOWS, left: shared.length });
      assert.equal(shared.length, 1, describe(shared));
      await one.kill('SIGKILL', sharable);
      two.model.release();
      await finish(two);
      assert.deepEqual(toolsOf(two, sharable), before.tools, two.story);
      assert.deepEqual(sharable.processes(lab).map(({ pid }) => pid), shared.map(({ pid }) => pid));
    });
    await eventually('no session', () => idle(lab));
    const ended = lab.type('shutdown');
    assert.equal(ended.code, 0, ended.said);
    await lab.empty();

    const clientWrote = lab.read(client.file) !== adopted;
    release(lab, client);
    assertReleased(lab, client, { before: text, adopted, clientWrote });
    assert.deepEqual((await talk(lab, client, sharable)).tools, before.tools);
  });
}

export function clientCases(client) {
  controlTest(client);
  for (const through of Object.keys(THROUGHS)) adoptedTest(client, through);
  windowsTest(client);
}
