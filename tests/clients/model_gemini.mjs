// generateContent, as Gemini CLI speaks it.
import { sendEvents, sendJson } from './lab/model.mjs';

const USAGE = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 };

function reply(response, request, part) {
  const content = { role: 'model', parts: [part] };
  const value = { candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata: USAGE };
  return request.url.includes(':streamGenerateContent') ? sendEvents(response, [value]) : sendJson(response, value);
}

const textIn = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

export const gemini = {
  isTurn: (path) => /:(stream)?[gG]enerateContent$/.test(path),
  toolsOf: (body) => (body.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
  resultOf(body) {
    const { functionResponse } = body.contents.at(-1).parts.find((part) => part.functionResponse) ?? {};
    return functionResponse && textIn(functionResponse.response.output ?? functionResponse.response);
  },
  call: (response, body, name, args, request) => reply(response, request, { functionCall: { name, args } }),
  say: (response, body, text, request) => reply(response, request, { text }),
  other: (request) => (request.url.includes(':countTokens') ? { totalTokens: 10 } : undefined),
};
