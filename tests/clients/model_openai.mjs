// Chat completions, as Copilot CLI speaks them to a provider of its user.
import { sendEvents, sendJson } from './lab/model.mjs';

const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

const textOf = (content) =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n');

function reply(response, body, message, reason) {
  const about = { id: 'scripted', created: 1, model: body.model };
  const whole = { role: 'assistant', content: null, ...message };
  if (!body.stream) {
    const choices = [{ index: 0, message: whole, finish_reason: reason }];
    return sendJson(response, { ...about, object: 'chat.completion', choices, usage: USAGE });
  }
  const chunk = (delta, finish_reason = null) => ({
    ...about,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const delta = { ...whole, ...(whole.tool_calls && { tool_calls: whole.tool_calls.map((one, index) => ({ index, ...one })) }) };
  const events = [chunk(delta), chunk({}, reason), { ...chunk({}), choices: [], usage: USAGE }];
  return sendEvents(response, events, { done: '[DONE]' });
}

export const openai = {
  isTurn: (path) => path.endsWith('/chat/completions'),
  toolsOf: (body) => (body.tools ?? []).map((tool) => tool.function?.name ?? tool.name),
  resultOf(body) {
    const last = body.messages.at(-1);
    return last.role === 'tool' ? textOf(last.content) : undefined;
  },
  call(response, body, tool, args) {
    const call = { id: 'call_scripted', type: 'function', function: { name: tool, arguments: JSON.stringify(args) } };
    return reply(response, body, { tool_calls: [call] }, 'tool_calls');
  },
  say: (response, body, text) => reply(response, body, { content: text }, 'stop'),
  other: (request) => (request.url.endsWith('/models') ? { object: 'list', data: [{ id: 'scripted', object: 'model' }] } : undefined),
};
