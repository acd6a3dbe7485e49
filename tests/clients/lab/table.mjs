// What the cases have seen, as a table: `node lab/table.mjs ROWS [PAGE]` prints it, and puts it between two marks of a page.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const MARKS = ['<!-- client-tests: begin -->', '<!-- client-tests: end -->'];
const MODES = { before: 'without corral', connect: 'adopted', run: 'adopted with `--run`' };

function versionOf({ package: name }) {
  const file = path.join(process.env.CLIENTS_DIR, 'node_modules', name, 'package.json');
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

// `left`: how many processes of the server there are, `way`: how the client ended, `mode`: one of MODES.
export function addRow({ client, mode, way, left }) {
  if (process.env.CLIENTS_ROWS === undefined) return;
  const row = { client: client.name, version: versionOf(client), mode, way, left };
  appendFileSync(process.env.CLIENTS_ROWS, `${JSON.stringify(row)}\n`);
}

// One line for each client and `way` that `keep` chooses, one column for each mode.
function tableOf(rows, title, modes, keep) {
  const lines = rows.filter(({ way }) => keep(way));
  const keys = [...new Set(lines.map(({ client, version, way }) => `${client} ${version} | ${way}`))];
  const clientOf = (key) => key.split(' | ')[0];
  keys.sort((one, other) => clientOf(one).localeCompare(clientOf(other)));
  const cell = (key, mode) =>
    lines.find((row) => `${row.client} ${row.version} | ${row.way}` === key && row.mode === mode)?.left ?? '–';
  return [
    `| client | ${title} | ${modes.map((mode) => MODES[mode]).join(' | ')} |`,
    `|---|---|${'---|'.repeat(modes.length)}`,
    ...keys.map((key) => `| ${key} | ${modes.map((mode) => cell(key, mode)).join(' | ')} |`),
  ].join('\n');
}

// The ways to end, and then what a sharable server needs.
export const TWO_WINDOWS = 'two windows';
const isWindows = (way) => way === TWO_WINDOWS;
const pageOf = (rows, date) => `Processes of the stubborn server that were left, ${date}:

${tableOf(rows, 'ended by', ['before', 'connect', 'run'], (way) => !isWindows(way))}

Processes of the sharable server:

${tableOf(rows, 'open', ['before', 'connect'], isWindows)}`;

function putInto(page, text) {
  const whole = readFileSync(page, 'utf8');
  const [begin, end] = MARKS.map((mark) => whole.indexOf(mark));
  if (begin < 0 || end < begin) throw new Error(`${page}: the marks ${MARKS.join(' and ')} are missing`);
  writeFileSync(page, `${whole.slice(0, begin)}${MARKS[0]}\n\n${text}\n\n${whole.slice(end)}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [rowsFile, page] = process.argv.slice(2);
  const rows = readFileSync(rowsFile, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const date = new Date().toISOString().slice(0, 10);
  const text = pageOf(rows, date);
  console.log(text);
  if (page !== undefined) putInto(page, text);
}
