// The transcripts in docs/http.md, typed as they stand there. `…` in what is printed stands for anything.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { daemonTest, entry } from './support/daemon.mjs';
import { CORRAL } from './support/lab.mjs';
import { ROOT, asPattern, blocksOf, pageOf } from './support/pages.mjs';

const NOTES = ['python3', path.join(ROOT, 'demo/notes_server.py')];

// One shell for the whole page, so that variables of a block are there in the next.
async function type(commands, env, cwd) {
  const mark = '--- the next command ---';
  const shell = spawn('bash', ['-s'], { env, cwd });
  let said = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (said += chunk));
  shell.stdin.end(commands.map(({ line }) => `${line}\nprintf '\\n${mark}\\n'`).join('\n'));
  await new Promise((resolve) => shell.once('close', resolve));
  return said.split(`\n${mark}\n`);
}

daemonTest(
  'what docs/http.md types prints what it shows',
  { serve: ['--port', '0'], servers: { notes: entry(NOTES) } },
  async (daemon, lab) => {
    const url = await daemon.url('notes');
    const bin = path.dirname(CORRAL);
    const env = { ...process.env, ...lab.env, PATH: `${bin}:${process.env.PATH}`, URL: url };
    const commands = blocksOf(pageOf('docs/http.md'), ['console']).flat();
    assert.ok(commands.length > 0, 'there are transcripts');
    const printed = await type(commands, env, lab.dir);

    for (const [index, { line, shown }] of commands.entries()) {
      const lines = printed[index].replaceAll('\r', '').trim();
      assert.match(lines, asPattern(shown), line);
    }
  },
);
