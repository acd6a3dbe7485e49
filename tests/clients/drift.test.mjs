// Clients write their configuration files while they run. What that means for an entry that is adopted or released meanwhile.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../integration/support/processes.mjs';
import { claudeCode, geminiCli } from './clients.mjs';
import { AtTerminal } from './lab/at_terminal.mjs';
import { adopt, configure, release } from './lab/cases.mjs';
import { LIMIT_MS, clientTest } from './lab/client_lab.mjs';
import { ClientRun } from './lab/client_run.mjs';
import { Model } from './lab/model.mjs';
import { sharable } from './lab/servers.mjs';

const DOWN = '\x1b[B';
const RETURN = '\r';
// A launcher, or a process that it has just forked, may be named, too.
const isWarning = (name) => new RegExp(`${name} \\(pids? [\\d, ]+\\) is running and writes this file`);
const oneLine = (text) => text.replace(/\s+/g, ' ');

// `shows` is a word of the client's first screen.
async function atTerminal(lab, client, shows, body) {
  const model = await Model.start(client.dialect, sharable);
  const terminal = new AtTerminal(lab, client.interactive(), client.env(model.url));
  try {
    await terminal.until(`${shows} on the screen`, () => terminal.shown.includes(shows));
    await body(terminal);
  } finally {
    await terminal.close();
    await model.stop();
  }
  await lab.endLeftovers();
}

const states = (lab) => {
  const { code, out } = lab.type('adopt', '--status', '--json');
  return { code, states: JSON.parse(out).adopted.map(({ state }) => state) };
};

const serversOf = (lab, client) => client.serversIn(lab.read(client.file));

clientTest('Claude Code, running while it is adopted: corral warns, and its next write keeps the entry', async (lab) => {
  configure(lab, claudeCode, sharable);

  // It asks whether the directory is trusted, and has read its file.
  await atTerminal(lab, claudeCode, 'confirm', async (terminal) => {
    const { out } = adopt(lab, claudeCode);
    assert.match(oneLine(out), isWarning('Claude Code'));
    const adopted = lab.read(claudeCode.file);
    terminal.press(DOWN);
    await sleep(500);
    terminal.press(RETURN);
    const accepted = () => lab.read(claudeCode.file).includes('"hasTrustDialogAccepted": true');
    await eventually('Claude Code to note the answer', accepted, LIMIT_MS);

    assert.notEqual(lab.read(claudeCode.file), adopted);
    assert.deepEqual(states(lab), { code: 0, states: ['adopted'] });
  });
});

// Runs `claude mcp …`.
async function typeClaude(lab, ...words) {
  const own = { ...claudeCode, command: () => [...claudeCode.interactive(), 'mcp', ...words] };
  const run = await ClientRun.start(lab, own, sharable);
  const { code } = await run.end();
  await run.stop();
  assert.equal(code, 0, run.story);
}

clientTest('Claude Code, told to put the old entry back: adopt --status says so, and it can be adopted again', async (lab) => {
  configure(lab, claudeCode, sharable);
  const old = serversOf(lab, claudeCode);
  adopt(lab, claudeCode);

  await typeClaude(lab, 'remove', '--scope', 'user', sharable.name);
  assert.deepEqual(states(lab), { code: 1, states: ['gone'] });
  await typeClaude(lab, 'add-json', '--scope', 'user', sharable.name, JSON.stringify(old[sharable.name]));

  assert.deepEqual(serversOf(lab, claudeCode), old);
  assert.deepEqual(states(lab), { code: 1, states: ['undone'] });
  adopt(lab, claudeCode);
  assert.deepEqual(states(lab), { code: 0, states: ['adopted'] });
});

// A setting of its interface; it writes its whole file. While it starts it does not hear every key.
async function changeASetting(lab, terminal) {
  const before = lab.read(geminiCli.file);
  terminal.press('/vim');
  const written = async () => {
    await sleep(1_000);
    terminal.press(RETURN);
    await sleep(1_000);
    return lab.read(geminiCli.file) !== before;
  };
  await eventually('Gemini CLI to write its file', written, LIMIT_MS);
}

clientTest('Gemini CLI, running while it is adopted: corral warns, its next write puts the old entry back, --status says so', async (lab) => {
  configure(lab, geminiCli, sharable);
  const old = serversOf(lab, geminiCli);

  await atTerminal(lab, geminiCli, '@path/to/file', async (terminal) => {
    const { out } = adopt(lab, geminiCli);
    assert.match(oneLine(out), isWarning('Gemini CLI'));
    assert.deepEqual(states(lab), { code: 0, states: ['adopted'] });
    await changeASetting(lab, terminal);

    assert.deepEqual(serversOf(lab, geminiCli), old);
    assert.deepEqual(states(lab), { code: 1, states: ['undone'] });
  });
  adopt(lab, geminiCli);
  assert.deepEqual(states(lab), { code: 0, states: ['adopted'] });
});

clientTest('Gemini CLI, running while it is released: corral warns, its next write puts corral back, release finds it', async (lab) => {
  configure(lab, geminiCli, sharable);
  const old = serversOf(lab, geminiCli);
  adopt(lab, geminiCli);
  const adopted = serversOf(lab, geminiCli);

  await atTerminal(lab, geminiCli, '@path/to/file', async (terminal) => {
    const { out } = release(lab, geminiCli);
    assert.match(oneLine(out), isWarning('Gemini CLI'));
    assert.deepEqual(serversOf(lab, geminiCli), old);
    assert.deepEqual(states(lab), { code: 0, states: [] });
    await changeASetting(lab, terminal);

    assert.deepEqual(serversOf(lab, geminiCli), adopted);
    assert.deepEqual(states(lab), { code: 0, states: ['adopted'] });
  });
  release(lab, geminiCli);
  assert.deepEqual(serversOf(lab, geminiCli), old);
});
