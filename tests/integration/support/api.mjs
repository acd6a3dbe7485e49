// What corral says as JSON, held against docs/api-schema.json.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { HERE } from './lab.mjs';

const SCHEMA = JSON.parse(readFileSync(path.join(HERE, '../../docs/api-schema.json'), 'utf8'));
const ajv = new Ajv2020({ allErrors: true, strictTypes: false });
ajv.addSchema(SCHEMA, 'api');

export function assertFits(definition, value) {
  const fits = ajv.getSchema(`api#/$defs/${definition}`);
  assert.ok(fits, `docs/api-schema.json defines ${definition}`);
  assert.ok(fits(value), `${definition}: ${JSON.stringify(fits.errors)} in ${JSON.stringify(value)}`);
  return value;
}

// The daemon's own answers, all at once: none may be of another shape.
export async function getFits(base, name) {
  const response = await fetch(`${base}/api/v1/${name}`);
  assert.equal(response.status, 200, name);
  assert.match(response.headers.get('content-type'), /^application\/json/);
  return assertFits(name, await response.json());
}
