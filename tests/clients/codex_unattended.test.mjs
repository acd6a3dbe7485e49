// "unattended" with the real Codex: its background process keeps the servers when no window is left, and corral parks them.
// The controls are in codex_background.test.mjs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, eventually } from '../integration/support/processes.mjs';
import { codex, commandOf } from './codex.mjs';
import { ANSWERS, ENDS, TREE, Window, answer, conversationId, logOf, treeOf, withCodex } from './codex_window.mjs';
import { adopt } from './lab/cases.mjs';
import { LIMIT_MS, clientTest } from './lab/client_lab.mjs';
import { stubborn } from './lab/servers.mjs';

const UNATTENDED_MS = 2_000;
// Long enough for corral to have parked what it wanted to park.
const SETTLING_MS = 4 * UNATTENDED_MS;

function adoptUnattended(lab) {
  lab.write('.config/corral/config.json', JSON.stringify({ corral: { unattended: `${UNATTENDED_MS}ms` } }));
  adopt(lab, codex);
}

const parked = (lab) =>
  eventually('the server parked', () => treeOf(lab).length === 0).catch(() =>
    assert.fail(`left: ${describe(treeOf(lab))}\n${lab.type('ps').said}\n${lab.type('events').said}`),
  );

const sessionsOf = (lab) => JSON.parse(lab.type('status', '--json').out).sessions;

for (const [way, end] of Object.entries(ENDS)) {
  clientTest(`Codex at a terminal, adopted: after ${way} the server is parked, and the session stays`, (lab) =>
    withCodex(lab, ANSWERS, async (model) => {
      adoptUnattended(lab);
      const window = await Window.open(lab, model);
      await window.ask();
      await answer(window);
      assert.ok(treeOf(lab).length >= TREE, describe(treeOf(lab)));

      await end(window);
      await parked(lab);

      assert.deepEqual(sessionsOf(lab).map(({ state }) => state), ['parked']);
    }),
  );
}

clientTest('Codex at a terminal, adopted: a server is not parked while the window is open, however silent it is', (lab) =>
  withCodex(lab, ANSWERS, async (model) => {
    adoptUnattended(lab);
    const window = await Window.open(lab, model);
    await window.ask();
    await answer(window);
    const before = treeOf(lab);

    await sleep(SETTLING_MS);

    assert.equal(describe(treeOf(lab)), describe(before), 'the same processes');
    assert.ok(before.length >= TREE, describe(before));
    await window.close();
    await parked(lab);
  }),
);

clientTest('two windows of Codex, adopted: both servers stay while one window is open, and are parked after that', (lab) =>
  withCodex(lab, ANSWERS, async (model) => {
    adoptUnattended(lab);
    const one = await Window.open(lab, model);
    const two = await Window.open(lab, model, () => sessionsOf(lab).length === 2);
    for (const window of [one, two]) {
      model.forget();
      await window.ask();
      await answer(window);
    }
    const before = treeOf(lab);
    assert.equal(before.filter(({ comm }) => comm === 'node').length, 2, describe(before));

    await one.close();
    await sleep(SETTLING_MS);
    assert.equal(describe(treeOf(lab)), describe(before), 'the same processes');
    await two.close();
    await parked(lab);

    assert.deepEqual(sessionsOf(lab).map(({ state }) => state), ['parked', 'parked']);
  }),
);

clientTest('Codex at a terminal, adopted without a time: ps and doctor say that nobody is attached, and what parks it', (lab) =>
  withCodex(lab, ANSWERS, async (model) => {
    adopt(lab, codex);
    const window = await Window.open(lab, model);
    await window.ask();
    await answer(window);
    const says = (...words) => /nobody has been attached to Codex[^]*"unattended": "10m"/.test(lab.type(...words).out);
    assert.ok(!says('ps') && !says('doctor'), 'the window is open');

    await window.close();

    await eventually('a note of ps', () => says('ps'));
    assert.ok(says('doctor'), lab.type('doctor').said);
    assert.ok(treeOf(lab).length >= TREE, describe(treeOf(lab)));
  }),
);

clientTest('Codex at a terminal, adopted: a parked session answers again, and says that state was lost', (lab) =>
  withCodex(lab, ANSWERS, async (model) => {
    adoptUnattended(lab);
    const window = await Window.open(lab, model);
    await window.ask();
    await answer(window);
    await window.close();
    await parked(lab);
    const heardBefore = logOf(lab);
    model.forget();

    const [command, ...args] = commandOf('queue', '--thread', conversationId(lab), '--resume', '--message', 'again');
    const queued = spawnSync(command, args, {
      cwd: lab.project,
      env: { ...lab.env, ...codex.env() },
      uid: lab.uid,
      gid: lab.uid,
      encoding: 'utf8',
      timeout: LIMIT_MS,
    });
    assert.equal(queued.status, 0, `${queued.stdout}${queued.stderr}`);
    await answer(window);

    assert.doesNotMatch(heardBefore, /lost/);
    assert.match(logOf(lab), /state in memory is lost/);
    assert.equal(sessionsOf(lab).length, 1, 'the same session');
    await parked(lab);
  }),
);

clientTest('Codex at a terminal, adopted: a call is finished before its server is parked', (lab) =>
  withCodex(lab, { ...stubborn.slow, args: { duration: 8, steps: 8 } }, async (model) => {
    adoptUnattended(lab);
    const window = await Window.open(lab, model);
    await window.ask();
    await window.terminal.until('the call to arrive', () => stubborn.heard(lab, 'tools/call'));

    await window.close();
    await eventually('a result', () => model.result !== undefined, LIMIT_MS);

    assert.match(model.result, /completed/i);
    await parked(lab);
  }),
);
