import { clientCases } from './lab/cases.mjs';
import { claudeCode } from './clients.mjs';

clientCases(claudeCode);
