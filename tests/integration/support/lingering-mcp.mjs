// A real server in one respect too few: it has work of its own, and does not look whether anybody listens.
// Ends by itself after two minutes.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

setTimeout(() => process.exit(0), 120_000);
const server = new McpServer({ name: 'lingering', version: '1.0.0' });
await server.connect(new StdioServerTransport());
