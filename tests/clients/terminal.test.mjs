// A person closes the window of a client: the terminal goes, and SIGHUP reaches the processes in its foreground.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, killOne, stillRuns } from '../integration/support/processes.mjs';
import { claudeCode, copilotCli, geminiCli } from './clients.mjs';
import { AtTerminal } from './lab/at_terminal.mjs';
import { SETTLING_MS, THROUGHS, adopt, assertNothingOfServer, configure, release } from './lab/cases.mjs';
import { LIMIT_MS, clientTest } from './lab/client_lab.mjs';
import { Model } from './lab/model.mjs';
import { stubborn } from './lab/servers.mjs';
import { addRow } from './lab/table.mjs';

const WAY = 'a closed terminal';

// Resolves when the terminal has gone, with the process of the client that had started the server.
async function closeTerminal(lab, client) {
  stubborn.forget(lab);
  const model = await Model.start(client.dialect, stubborn);
  const terminal = new AtTerminal(lab, client.interactive(), client.env(model.url));
  try {
    await terminal.until('the server', () => stubborn.heard(lab, 'tools/list'));
    await terminal.until(`${client.prompt} on the screen`, () => terminal.shown.includes(client.prompt));
    const ofServer = lab.serverTree().map(({ pid }) => pid);
    const held = terminal.processes();
    const first = held.find(({ pid }) => ofServer.includes(pid));
    return held.find(({ pid }) => pid === first.ppid);
  } finally {
    await terminal.close();
    await model.stop();
  }
}

// A client that stays is as it was, and so is its server. It is ended like a program that hangs.
async function endIfItStays(client, process) {
  if (client.outlivesTerminal) {
    await sleep(SETTLING_MS);
    assert.ok(stillRuns(process), 'the client ends by now: correct docs/clients.md and the entry of the client');
    killOne(process);
  }
  await eventually('the client to end', () => !stillRuns(process), LIMIT_MS);
}

for (const client of [claudeCode, copilotCli, geminiCli]) {
  const title = client.outlivesTerminal ? 'stays when its terminal is closed; then killed, it leaves nothing' : 'leaves nothing when its terminal is closed';
  clientTest(`${client.name}, adopted: ${title}`, async (lab) => {
    configure(lab, client, stubborn);
    client.trust(lab);
    const note = (mode) => {
      const way = client.outlivesTerminal ? `${WAY}, then SIGKILL` : WAY;
      addRow({ client, mode, way, left: lab.serverTree().length });
    };
    await endIfItStays(client, await closeTerminal(lab, client));
    await sleep(SETTLING_MS);
    note('before');
    assert.notEqual(lab.serverTree().length, 0, 'without corral: the test is able to fail');
    await lab.endLeftovers();

    for (const [through, words] of Object.entries(THROUGHS)) {
      adopt(lab, client, ...words);
      await endIfItStays(client, await closeTerminal(lab, client));
      await assertNothingOfServer(lab);
      note(through);
      release(lab, client);
    }
  });
}
