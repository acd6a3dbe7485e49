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

function tableOf(rows) {
  const lines = rows.filter(({ way }) => way !== 'two windows');
  const keys = [...new Set(lines.map(({ client, version, way }) => JSON.stringify([client, version, way])))].sort();
  const cell = (client, way, mode) => lines.find((row) => row.client === client && row.way === way && row.mode === mode)?.left ?? '–';
  return [
    `| client | ended by | ${Object.values(MODES).join(' | ')} |`,
    `|---|---|${'---|'.repeat(Object.keys(MODES).length)}`,
    ...keys.map((key) => {
      const [client, version, way] = JSON.parse(key);
      const cells = Object.keys(MODES).map((mode) => cell(client, way, mode));
      return `| ${client} ${version} | ${way} | ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

function putInto(page, text) {
  const whole = readFileSync(page, 'utf8');
  const [begin, end] = MARKS.map((mark) => whole.indexOf(mark));
  if (begin < 0 || end < begin) throw new Error(`${page}: the marks ${MARKS.join(' and ')} are missing`);
  writeFileSync(page, `${whole.slice(0, begin)}${MARKS[0]}\n${text}\n${whole.slice(end)}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [rowsFile, page] = process.argv.slice(2);
  const rows = readFileSync(rowsFile, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const date = new Date().toISOString().slice(0, 10);
  const text = `Processes of the server that were left, ${date}:\n\n${tableOf(rows)}`;
  console.log(text);
  if (page !== undefined) putInto(page, text);
}
