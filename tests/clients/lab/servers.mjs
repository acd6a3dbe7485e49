// The servers of the cases: real ones from npm, as entries of a client's configuration.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { TAG_NAME } from '../../integration/support/processes.mjs';
import { untidy, viaNode } from '../../integration/support/session.mjs';

// Everything that the client writes is kept in the file that $0 names; then the server reads it.
const LISTEN = 'tee -a "$0" | exec "$@"';

const entryOf = (lab, [command, ...args], env = {}) => ({
  command,
  args,
  env: { [TAG_NAME]: lab.serverTag, ...env },
});

// Private: below a shell that ignores signals and the end of its input, with two processes in sessions of their own.
export const stubborn = {
  name: 'leaky',
  tool: 'echo',
  args: { message: 'moo' },
  answer: /moo/,
  taskOnly: 'simulate-research-query',
  slow: { tool: 'trigger-long-running-operation', args: { duration: 100, steps: 10 } },
  mark: (lab) => lab.serverTag, // in the command, whatever is in front of it
  requests: (lab) => path.join(lab.dir, `${lab.serverTag}.requests`),
  entry(lab) {
    return entryOf(lab, untidy(['/bin/sh', '-c', LISTEN, this.requests(lab), ...viaNode('everything')]));
  },
  heard(lab, method) {
    const file = this.requests(lab);
    return existsSync(file) && readFileSync(file, 'utf8').includes(`"${method}"`);
  },
  forget(lab) {
    rmSync(this.requests(lab), { force: true });
  },
};

// One process, which sessions may share.
export const sharable = {
  name: 'notes',
  tool: 'read_graph',
  args: {},
  answer: /"?entities/,
  mark: () => viaNode('memory')[1],
  entry(lab) {
    return entryOf(lab, viaNode('memory'), { MEMORY_FILE_PATH: path.join(lab.home, 'memory.jsonl') });
  },
  // Only the server itself, and not what has it among its arguments.
  processes: (lab) =>
    lab.survivors().filter(({ pid }) => {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words[1] === sharable.mark();
    }),
};
