import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { hold } from '../hold.mjs';

await hold(Client, StdioClientTransport);
