import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { hold } from '../hold.mjs';

await hold(Client, StdioClientTransport);
