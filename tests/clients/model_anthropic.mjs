// The Messages API, as Claude Code speaks it.
import { sendEvents, sendJson } from './lab/model.mjs';

const USAGE = { input_tokens: 10, output_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

const textOf = (content) =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n');

function reply(response, body, block, reason) {
  const message = {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: USAGE,
  };
  if (!body.stream) return sendJson(response, { ...message, content: [block], stop_reason: reason });
  const isCall = block.type === 'tool_use';
  const begin = isCall ? { ...block, input: {} } : { type: 'text', text: '' };
  const delta = isCall
    ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    : { type: 'text_delta', text: block.text };
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: begin },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: USAGE },
    { type: 'message_stop' },
  ];
  return sendEvents(response, events, { named: true });
}

export const anthropic = {
  isTurn: (path) => path === '/v1/messages',
  toolsOf: (body) => (body.tools ?? []).map((tool) => tool.name),
  resultOf(body) {
    const content = body.messages.findLast((message) => message.role === 'user')?.content;
    const result = Array.isArray(content) ? content.findLast((part) => part.type === 'tool_result') : undefined;
    return result && textOf(result.content);
  },
  call: (response, body, tool, input) =>
    reply(response, body, { type: 'tool_use', id: 'toolu_scripted', name: tool, input }, 'tool_use'),
  say: (response, body, text) => reply(response, body, { type: 'text', text }, 'end_turn'),
  other: (request) => (request.url.includes('count_tokens') ? { input_tokens: 10 } : undefined),
};
