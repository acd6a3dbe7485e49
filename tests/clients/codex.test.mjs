import { codex } from './codex.mjs';
import { clientCases } from './lab/cases.mjs';

clientCases(codex);
