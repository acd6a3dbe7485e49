// The transcripts in docs/http.md, typed as they stand there. `…` in what is printed stands for anything.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { daemonTest, entry } from './support/daemon.mjs';
import { CORRAL, HERE } from './support/lab.mjs';

const PAGE = path.resolve(HERE, '../../docs/http.md');
const NOTES = ['python3', path.resolve(HERE, '../../demo/notes_server.py')];

// Commands of one block, each with the output that the page shows. A line that ends with a backslash goes on.
function commandsOf(block) {
  const commands = [];
  for (const line of block.split('\n')) {
    const last = commands.at(-1);
    if (line.startsWith('$ ')) {
      commands.push({ command: line.slice(2), shown: [] });
    } else if (last?.shown.length === 0 && last.command.endsWith('\\')) {
      last.command += `\n${line.replace(/^> ?/, '')}`;
    } else {
      last?.shown.push(line);
    }
  }
  return commands;
}

const blocks = () =>
  [...readFileSync(PAGE, 'utf8').matchAll(/^```console\n([^]*?)^```$/gm)].map(([, text]) => text);

// One shell for the whole page, so that variables of a block are there in the next.
async function type(commands, env, cwd) {
  const mark = '--- the next command ---';
  const shell = spawn('bash', ['-s'], { env, cwd });
  let said = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (said += chunk));
  shell.stdin.end(commands.map(({ command }) => `${command}\nprintf '\\n${mark}\\n'`).join('\n'));
  await new Promise((resolve) => shell.once('close', resolve));
  return said.split(`\n${mark}\n`);
}

const asPattern = (shown) => {
  const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${shown.trim().split('…').map(literal).join('[^]*?')}$`);
};

daemonTest(
  'what docs/http.md types prints what it shows',
  { serve: ['--port', '0'], servers: { notes: entry(NOTES) } },
  async (daemon, lab) => {
    const url = await daemon.url('notes');
    const bin = path.dirname(CORRAL);
    const env = { ...process.env, ...lab.env, PATH: `${bin}:${process.env.PATH}`, URL: url };
    const commands = blocks().flatMap(commandsOf);
    assert.ok(commands.length > 0, 'there are transcripts');
    const printed = await type(commands, env, lab.dir);

    for (const [index, { command, shown }] of commands.entries()) {
      const lines = printed[index].replaceAll('\r', '').trim();
      assert.match(lines, asPattern(shown.join('\n')), command);
    }
  },
);
