// Sessions of both official SDKs behind one face, many of them in this one process.
import * as v1 from '@modelcontextprotocol/sdk/client/index.js';
import * as v1stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import * as v1types from '@modelcontextprotocol/sdk/types.js';
import * as v2 from '@modelcontextprotocol/client';
import * as v2stdio from '@modelcontextprotocol/client/stdio';
import { HERE } from './lab.mjs';
import { textOf } from './session.mjs';

export const MODERN = '2026-07-28';

const SDKS = {
  v1: { client: v1.Client, transport: v1stdio.StdioClientTransport },
  v2: { client: v2.Client, transport: v2stdio.StdioClientTransport },
  'v2 auto': { client: v2.Client, transport: v2stdio.StdioClientTransport, mode: 'auto' },
  'v2 modern': { client: v2.Client, transport: v2stdio.StdioClientTransport, mode: { pin: MODERN } },
};
export const LEGACY_SDKS = ['v1', 'v2', 'v2 auto'];

// SDK v1 names a kind of message by its schema, v2 by its method.
const V1_SCHEMAS = {
  'sampling/createMessage': v1types.CreateMessageRequestSchema,
  'elicitation/create': v1types.ElicitRequestSchema,
  'roots/list': v1types.ListRootsRequestSchema,
  'notifications/resources/updated': v1types.ResourceUpdatedNotificationSchema,
  'notifications/tools/list_changed': v1types.ToolListChangedNotificationSchema,
  'notifications/prompts/list_changed': v1types.PromptListChangedNotificationSchema,
  'notifications/message': v1types.LoggingMessageNotificationSchema,
};

export class Session {
  // `answers` and `news` are handlers by method. What the SDK finds wrong is collected in `problems`.
  static async open(lab, command, { sdk = 'v1', capabilities = {}, answers = {}, news = {}, ...rest } = {}) {
    const { client: Client, transport: Transport, mode } = SDKS[sdk];
    const session = new Session();
    const negotiation = mode === undefined ? {} : { versionNegotiation: { mode } };
    session.sdk = sdk;
    session.problems = [];
    session.stderr = '';
    session.client = new Client(
      { name: `corral ${sdk}`, version: '1.0.0' },
      { capabilities, ...negotiation },
    );
    session.client.onerror = (error) => session.problems.push(error);
    for (const [method, handler] of Object.entries(answers)) {
      session.client.setRequestHandler(session.kind(method), handler);
    }
    for (const [method, handler] of Object.entries(news)) {
      session.client.setNotificationHandler(session.kind(method), handler);
    }
    const [program, ...args] = command;
    const options = { command: program, args, env: lab.env, cwd: rest.cwd ?? HERE, stderr: 'pipe' };
    session.transport = new Transport(options);
    session.transport.stderr.on('data', (chunk) => (session.stderr += chunk));
    await session.client.connect(session.transport, { timeout: 45_000 });
    session.pid = session.transport.pid;
    lab.watch(session.pid);
    return session;
  }

  kind(method) {
    return this.sdk === 'v1' ? V1_SCHEMAS[method] : method;
  }

  async tools() {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }

  // The text of the answer.
  async call(name, args = {}, options = {}) {
    const request = { name, arguments: args };
    const patient = { timeout: 60_000, ...options };
    const client = this.client;
    return textOf(
      await (this.sdk === 'v1'
        ? client.callTool(request, undefined, patient)
        : client.callTool(request, patient)),
    );
  }

  close() {
    return this.client.close();
  }
}

export const openAll = (count, open) => Promise.all(Array.from({ length: count }, (_, index) => open(index)));
export const closeAll = (sessions) => Promise.all(sessions.map((session) => session.close()));
