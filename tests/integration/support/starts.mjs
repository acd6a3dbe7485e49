// Counts the starts of a fixture server: every process of it writes its pid into a file of the lab.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const fileOf = (lab, name) => path.join(lab.dir, `starts-of-${name}`);

// The option for the server.
export const countStarts = (lab, name = 'server') => `--count-file=${fileOf(lab, name)}`;

// The pids so far, as texts.
export function startsOf(lab, name = 'server') {
  const file = fileOf(lab, name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}
