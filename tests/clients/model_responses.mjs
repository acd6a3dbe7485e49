// The Responses API, as Codex speaks it. The tools of one MCP server are a namespace there, "mcp__" and the server's name.
import { sendEvents } from './lab/model.mjs';

const USAGE = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };

const textOf = (output) => (typeof output === 'string' ? output : output.map((part) => part.text ?? '').join('\n'));

// Codex puts the time that a call took in front of a result.
const TIME = /^Wall time: [\d.]+ seconds\nOutput:\n/;

const namesOf = ({ name, tools }) => (tools === undefined ? [name] : tools.map((tool) => `${name}/${tool.name}`));

// A real model numbers its answers and calls; what has a number already is taken for a repetition.
let replies = 0;

function reply(response, item) {
  replies += 1;
  const id = `resp_scripted_${replies}`;
  const events = [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.done', output_index: 0, item: { id: `item_scripted_${replies}`, ...item } },
    { type: 'response.completed', response: { id, usage: USAGE } },
  ];
  return sendEvents(response, events, { named: true });
}

export const responses = {
  isTurn: (path) => path === '/v1/responses',
  toolsOf: (body) => (body.tools ?? []).filter(({ name }) => name !== undefined).flatMap(namesOf),
  resultOf(body) {
    const last = body.input.at(-1);
    return last.type === 'function_call_output' ? textOf(last.output).replace(TIME, '') : undefined;
  },
  call(response, body, tool, args) {
    const [name, namespace] = tool.split('/').reverse();
    const call_id = `call_scripted_${replies}`;
    return reply(response, { type: 'function_call', call_id, name, namespace, arguments: JSON.stringify(args) });
  },
  say: (response, body, text) =>
    reply(response, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }),
};
