import { clientCases } from './lab/cases.mjs';
import { copilotCli } from './clients.mjs';

clientCases(copilotCli);
