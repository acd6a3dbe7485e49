import { clientCases } from './lab/cases.mjs';
import { geminiCli } from './clients.mjs';

clientCases(geminiCli);
