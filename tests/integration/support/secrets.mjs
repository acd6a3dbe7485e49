// A secret that every server of every test is given, and a search for it in all that corral wrote.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

export const CANARY = `canary-${randomBytes(12).toString('hex')}`;

// The daemon writes beside us: what it renamed or removed since the directory was listed has a new name, or is gone.
function readIfThere(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return Buffer.alloc(0);
  }
}

// Every file below `folder` that holds one of the texts, as FILE: TEXT.
export function filesWith(folder, texts, except = []) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => path.join(item.parentPath, item.name))
    .filter((file) => !except.includes(file))
    .flatMap((file) => {
      const bytes = readIfThere(file);
      return texts.filter((text) => bytes.includes(text)).map((text) => `${file}: ${text}`);
    });
}

export function assertNoSecret(daemon, texts = [CANARY], except = []) {
  const said = texts.filter((text) => daemon.stderr.includes(text)).map((text) => `stderr: ${text}`);
  assert.deepEqual([...said, ...filesWith(daemon.dir, texts, except)], [], 'secrets that corral wrote');
}
