// A scripted model on loopback. Asked for the first time, it calls one tool of an MCP server, which it finds by name
// among the tools of the request; given the tool's result, it repeats it and is done. What differs between the
// interfaces of models is in `dialect` (../model_*.mjs):
//   isTurn(url)                        whether a POST to this path is a turn of a conversation
//   toolsOf(body)                      the names of the tools that the client offers
//   resultOf(body)                     the text of the last message if that is a tool's result, else undefined
//   call(response, body, tool, args)   answers with a call of the tool
//   say(response, body, text)          answers with text, which ends the conversation
//   other(request)                     the value to answer anything else with, or undefined
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

// Some clients write "_" where a server has "-" in the name of a tool.
const plain = (name) => name.replaceAll('-', '_');

export const isNamed = (name, tool) => plain(name).endsWith(plain(tool));

export class Model {
  // `tool` is the end of its name (clients put the server's name in front), `args` what it is called with.
  // With `waits` the second answer comes only after release().
  static async start(dialect, { tool, args, waits = false }) {
    const model = new Model(dialect, tool, args, waits);
    model.server = createServer((request, response) => model.#answer(request, response));
    model.server.listen(0, '127.0.0.1');
    await once(model.server, 'listening');
    model.url = `http://127.0.0.1:${model.server.address().port}`;
    return model;
  }

  constructor(dialect, tool, args, waits) {
    Object.assign(this, { dialect, tool, args, waits });
    this.tools = []; // of the newest request that had any
    this.result = undefined; // of the tool, as the client passed it on
    this.called = false;
    this.asked = []; // "METHOD /path" of every request, for messages
    this.released = new Promise((resolve) => (this.release = resolve));
  }

  // What was asked and answered until now, before another conversation.
  forget() {
    this.result = undefined;
    this.called = false;
  }

  async #answer(request, response) {
    this.asked.push(`${request.method} ${request.url}`);
    const raw = await text(request);
    const path = request.url.split('?')[0];
    try {
      if (request.method === 'POST' && this.dialect.isTurn(path)) return await this.#turn(JSON.parse(raw), response, request);
      const other = this.dialect.other?.(request, raw);
      response.writeHead(other === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(other ?? { error: { message: 'the scripted model has no such thing' } }));
    } catch (error) {
      this.asked.push(`failed: ${error.stack}`);
      response.destroy();
    }
  }

  async #turn(body, response, request) {
    const tools = this.dialect.toolsOf(body);
    if (tools.length > 0) this.tools = tools;
    const result = this.dialect.resultOf(body);
    const tool = tools.find((name) => isNamed(name, this.tool));
    if (result !== undefined) {
      this.result = result;
      if (this.waits) await this.released;
      return this.dialect.say(response, body, `The tool said: ${result}`, request);
    }
    if (tool === undefined) return this.dialect.say(response, body, 'There is no such tool.', request);
    this.called = true;
    return this.dialect.call(response, body, tool, this.args, request);
  }

  stop() {
    this.release();
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

// Server-sent events. `named`: each has a line with its type, as the values say.
export function sendEvents(response, values, { named = false, done } = {}) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const value of values) {
    if (named) response.write(`event: ${value.type}\n`);
    response.write(`data: ${JSON.stringify(value)}\n\n`);
  }
  response.end(done === undefined ? '' : `data: ${done}\n\n`);
}

export function sendJson(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
