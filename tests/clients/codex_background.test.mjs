// The terminal interface of Codex gives its conversation to a background process. That one has the servers, and it stays
// when the interface ends: after /quit, a signal or a closed terminal no pipe closes and no server hears anything.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, eventually } from '../integration/support/processes.mjs';
import { codex } from './codex.mjs';
import { ANSWERS, ENDS, TREE, Window, answer, treeOf, withCodex } from './codex_window.mjs';
import { adopt } from './lab/cases.mjs';
import { clientTest } from './lab/client_lab.mjs';

// How long leftovers are left alone before they are counted as left.
const SETTLING_MS = 5_000;

for (const [way, end] of Object.entries(ENDS)) {
  clientTest(`Codex at a terminal, without corral: ${way} leaves the whole tree`, async (lab, t) => {
    await withCodex(lab, ANSWERS, async (model) => {
      const window = await Window.open(lab, model);
      await window.ask();
      await answer(window);
      const before = treeOf(lab);

      await end(window);
      await sleep(SETTLING_MS);

      assert.equal(describe(treeOf(lab)), describe(before), 'the same processes');
      assert.ok(before.length >= TREE, describe(before));
      t.diagnostic(`${before.length} processes of the server are left`);
    });
    await lab.endLeftovers();
  });
}

const UNLOADS = { unloadsAfterS: 1 };
const isServer = ({ comm }) => comm === 'node';

clientTest('Codex at a terminal, without corral: when it unloads a conversation, detached processes are left', async (lab, t) => {
  const unload = async (model) => {
    const window = await Window.open(lab, model);
    await window.ask();
    await answer(window);
    await window.close();
    await eventually('the end of the server', () => !treeOf(lab).some(isServer));
  };

  await withCodex(lab, ANSWERS, unload, UNLOADS);

  t.diagnostic(`${treeOf(lab).length} processes of the server are left`);
  assert.notEqual(describe(treeOf(lab)), 'none');
  await lab.endLeftovers();
});

for (const [through, words] of Object.entries({ connect: [], run: ['--run'] })) {
  clientTest(`Codex at a terminal, adopted with ${through}: when it unloads a conversation, nothing is left`, (lab) =>
    withCodex(
      lab,
      ANSWERS,
      async (model) => {
        adopt(lab, codex, ...words);
        const window = await Window.open(lab, model);
        await window.ask();
        await answer(window);
        assert.ok(treeOf(lab).length >= TREE, describe(treeOf(lab)));

        await window.close();

        await eventually('no process of the server', () => treeOf(lab).length === 0);
      },
      UNLOADS,
    ),
  );
}
