// HTTP without an SDK: what a client says by hand, and what comes back.
import assert from 'node:assert/strict';
import { initialize } from './raw_client.mjs';

export const ACCEPT = 'application/json, text/event-stream';
export const JSON_HEADERS = { 'Content-Type': 'application/json', Accept: ACCEPT };

// The messages of a body, whether it came as JSON or as events.
export function messagesOf(type, body) {
  if (body === '') return [];
  if (!type.startsWith('text/event-stream')) return [JSON.parse(body)].flat();
  const data = (event) => event.split('\n').filter((line) => line.startsWith('data:'));
  return body
    .split(/\n\n/)
    .map((event) =>
      data(event)
        .map((line) => line.slice(5).trim())
        .join('\n'),
    )
    .filter(Boolean)
    .map((text) => JSON.parse(text));
}

// One POST, and all that is answered to it.
export async function post(url, message, { headers = {}, signal } = {}) {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body,
    signal,
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, headers: response.headers, text, messages: messagesOf(type, text) };
}

// A legacy session by hand; returns the headers that go with each later request.
export async function beginSession(url, headers = {}) {
  const opened = await post(url, initialize(), { headers });
  assert.equal(opened.status, 200, opened.text);
  const session = opened.headers.get('mcp-session-id');
  assert.match(session, /^[\x21-\x7e]{16,}$/);
  const all = { ...headers, 'Mcp-Session-Id': session, 'MCP-Protocol-Version': '2025-06-18' };
  const told = await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, { headers: all });
  assert.equal(told.status, 202, told.text);
  return all;
}

// The text that a tool answered.
export function answerOf({ messages, text }) {
  const { result } = messages.find(({ id, method }) => id !== undefined && method === undefined) ?? {};
  assert.ok(result, text);
  return result.content[0].text;
}
