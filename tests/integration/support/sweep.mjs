// Last look after a whole run: `node sweep.mjs PREFIX` ends what still carries the tag prefix and fails if
// there was anything. A test that ran into its time limit can leave something behind.
import { describe, killOne, tagged } from './processes.mjs';

const left = tagged(process.argv[2]).filter(({ pid }) => pid !== process.pid);
left.forEach((process_) => killOne(process_));
if (left.length > 0) {
  console.error(`processes left after the run, now killed: ${describe(left)}`);
  process.exitCode = 1;
}
