// Many sessions of one client process: one after another, and at the same time.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { labTest } from './support/lab.mjs';
import { eventually } from './support/processes.mjs';
import { openSession, textOf, underCorral, viaNode } from './support/session.mjs';

const openDescriptors = () => readdirSync('/proc/self/fd').length;

labTest('30 sessions one after another keep the process count flat', { timeout: 180_000 }, async (lab) => {
  const counts = [];
  const descriptors = [];
  for (let session = 0; session < 30; session += 1) {
    const { client } = await openSession(lab, underCorral(viaNode('memory')));
    await client.listTools();
    counts.push(lab.survivors().length);
    await client.close();
    await lab.empty();
    descriptors.push(openDescriptors());
  }

  assert.ok(counts[0] >= 3, `corral, keeper and server run: ${counts[0]}`);
  assert.deepEqual(new Set(counts), new Set([counts[0]]), `processes during each session: ${counts}`);
  await eventually('no descriptor is left open', () => openDescriptors() <= descriptors[0]);
});

labTest('8 sessions at once answer each for itself and end one by one', {}, async (lab) => {
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
  const sessions = await Promise.all(numbers.map(() => openSession(lab, underCorral(viaNode('everything')))));

  const answers = await Promise.all(
    sessions.map(({ client }, index) =>
      client.callTool({ name: 'echo', arguments: { message: `number ${numbers[index]}` } }),
    ),
  );
  const [last, ...others] = sessions.toReversed();
  await Promise.all(others.map(({ client }) => client.close()));
  const stillAnswers = await last.client.callTool({ name: 'echo', arguments: { message: 'alone' } });
  await last.client.close();

  const expected = numbers.map((number) => `Echo: number ${number}`);
  assert.deepEqual(answers.map(textOf), expected);
  assert.equal(textOf(stillAnswers), 'Echo: alone');
});
