// Checks of the line that --report writes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

const SCHEMA = path.join(import.meta.dirname, '../../../docs/report-schema.json');
const matchesSchema = new Ajv2020({ allErrors: true, strictTypes: false }).compile(
  JSON.parse(readFileSync(SCHEMA, 'utf8')),
);

export function parseReport(text) {
  const lines = text.trimEnd().split('\n');
  assert.equal(lines.length, 1, 'a session writes exactly one report');
  const report = JSON.parse(lines[0]);
  assert.ok(matchesSchema(report), `${lines[0]} ${JSON.stringify(matchesSchema.errors)}`);
  return report;
}

export function assertCleanReport(report, reasons) {
  assert.ok(reasons.includes(report.reason), `reason ${report.reason}, expected ${reasons.join(' or ')}`);
  assert.deepEqual(report.survivors, []);
  assert.equal(report.leaked, false);
  assert.ok(report.ended_total >= 1, 'at least the server has ended');
}
