// Two of the four processes of a session are killed in the same moment, in either order, during a call.
// Corral and its keeper together are out of reach without a PID namespace; strict.test.mjs kills both.
import { labTest } from './support/lab.mjs';
import { eventually, keeperOf, killOne, treeBelow } from './support/processes.mjs';
import { LONG_CALL, underCorral, untidy, viaNode } from './support/session.mjs';
import { Victim, clientCommand } from './support/victim.mjs';

const PAIRS = [
  ['client', 'corral'],
  ['client', 'keeper'],
  ['client', 'server'],
  ['corral', 'server'],
  ['keeper', 'server'],
];

const childOf = (pid) => eventually(`a child of ${pid}`, () => treeBelow(pid)[1]);

async function rolesOf(client) {
  const [self] = treeBelow(client.pid);
  const corral = await childOf(client.pid);
  const keeper = await keeperOf(corral.pid);
  const server = await childOf(keeper.pid);
  return { client: self, corral, keeper, server };
}

for (const pair of PAIRS.flatMap(([one, other]) => [[one, other], [other, one]])) {
  labTest(`SIGKILL of ${pair.join(' and ')} during a call leaves nothing`, {}, async (lab) => {
    const command = underCorral(untidy(viaNode('everything')));
    const client = new Victim(lab, clientCommand({ command, call: LONG_CALL, onSignal: 'die' }));
    await client.says('in-flight');
    const roles = await rolesOf(client);

    for (const role of pair) killOne(roles[role]);

    await lab.empty();
  });
}
