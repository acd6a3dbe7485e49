// Sessions of both official SDKs behind one face, many of them in this one process.
import * as v1 from '@modelcontextprotocol/sdk/client/index.js';
import * as v1sse from '@modelcontextprotocol/sdk/client/sse.js';
import * as v1stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import * as v1http from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as v1types from '@modelcontextprotocol/sdk/types.js';
import * as v2 from '@modelcontextprotocol/client';
import * as v2stdio from '@modelcontextprotocol/client/stdio';
import { HERE } from './lab.mjs';
import { textOf } from './session.mjs';

export const MODERN = '2026-07-28';

const V1 = {
  client: v1.Client,
  stdio: v1stdio.StdioClientTransport,
  http: v1http.StreamableHTTPClientTransport,
  sse: v1sse.SSEClientTransport,
};
const V2 = {
  client: v2.Client,
  stdio: v2stdio.StdioClientTransport,
  http: v2.StreamableHTTPClientTransport,
};
const SDKS = {
  v1: V1,
  v2: V2,
  'v2 auto': { ...V2, mode: 'auto' },
  'v2 modern': { ...V2, mode: { pin: MODERN } },
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
  constructor({ sdk = 'v1', capabilities = {}, answers = {}, news = {} }) {
    const { client: Client, mode } = SDKS[sdk];
    const negotiation = mode === undefined ? {} : { versionNegotiation: { mode } };
    this.sdk = sdk;
    this.problems = [];
    this.stderr = '';
    this.client = new Client({ name: `corral ${sdk}`, version: '1.0.0' }, { capabilities, ...negotiation });
    this.client.onerror = (error) => this.problems.push(error);
    for (const [method, handler] of Object.entries(answers)) {
      this.client.setRequestHandler(this.kind(method), handler);
    }
    for (const [method, handler] of Object.entries(news)) {
      this.client.setNotificationHandler(this.kind(method), handler);
    }
  }

  static async open(lab, command, options = {}) {
    const session = new Session(options);
    const [program, ...args] = command;
    const start = { command: program, args, env: { ...lab.env, ...options.env }, cwd: options.cwd ?? HERE, stderr: 'pipe' };
    session.transport = new SDKS[session.sdk].stdio(start);
    session.transport.stderr.on('data', (chunk) => (session.stderr += chunk));
    await session.client.connect(session.transport, { timeout: 45_000 });
    session.pid = session.transport.pid;
    lab.watch(session.pid);
    return session;
  }

  // `over`: http or sse. `headers` go with every request.
  static async at(url, { over = 'http', headers = {}, ...options } = {}) {
    const session = new Session(options);
    session.transport = new SDKS[session.sdk][over](new URL(url), { requestInit: { headers } });
    await session.client.connect(session.transport, { timeout: 45_000 });
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

  // By URL: DELETE, if there is a session to delete, and then the end of the connection.
  async leave() {
    await this.transport.terminateSession?.();
    await this.close();
  }
}

export const openAll = (count, open) => Promise.all(Array.from({ length: count }, (_, index) => open(index)));
export const closeAll = (sessions) => Promise.all(sessions.map((session) => session.close()));
