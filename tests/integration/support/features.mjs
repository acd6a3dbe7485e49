// What a client can do with a server, as a user of either SDK sees it: the same words whatever eras meet. Each
// feature uses one session and returns what was seen.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './processes.mjs';

export const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const WATCHED = 'test://watched-resource';

export const isModern = ({ sdk }) => sdk === 'v2 modern' || sdk === 'v2 auto';

// Words and ticks for a form; whatever else it has is left out.
function filledIn({ properties }) {
  const fields = Object.entries(properties).map(([name, { type, enum: choices, format }]) => {
    if (type === 'boolean') return [name, true];
    return type === 'string' && !choices && !format ? [name, `my ${name}`] : [name, undefined];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

// A client that answers whatever it is asked, and notes what it hears.
export function talker() {
  const heard = { asked: [], logs: [], tools: 0, prompts: 0, updates: [] };
  const options = {
    capabilities: { elicitation: {}, sampling: {}, roots: {} },
    answers: {
      'elicitation/create': ({ params }) => {
        heard.asked.push(params.message);
        return { action: 'accept', content: filledIn(params.requestedSchema) };
      },
      'sampling/createMessage': ({ params }) => {
        const question = [params.messages[0].content].flat()[0].text;
        heard.asked.push(question);
        const content = { type: 'text', text: `no idea about: ${question}` };
        return { model: 'none', role: 'assistant', content };
      },
      'roots/list': () => {
        heard.asked.push('roots');
        return { roots: [{ uri: 'file:///one', name: 'One' }, { uri: 'file:///two' }] };
      },
    },
    news: {
      'notifications/tools/list_changed': () => void (heard.tools += 1),
      'notifications/prompts/list_changed': () => void (heard.prompts += 1),
      'notifications/resources/updated': ({ params }) => void heard.updates.push(params.uri),
      'notifications/message': ({ params }) => void heard.logs.push(params.data),
    },
  };
  return { heard, options };
}

// The error of a request, as code and data; what it answered instead if it did not fail.
export const failure = (request) =>
  request.then(
    (result) => ({ answered: result }),
    ({ code, data }) => ({ code, data }),
  );

export async function lists({ client }) {
  const names = (list) => list.map(({ name }) => name).sort();
  const { tools } = await client.listTools();
  const { prompts } = await client.listPrompts();
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  return {
    tools: names(tools),
    prompts: names(prompts),
    resources: resources.map(({ uri }) => uri).sort(),
    templates: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  };
}

export async function contents(session) {
  const { client } = session;
  const { contents: read } = await client.readResource({ uri: 'test://static-text' });
  const { messages } = await client.getPrompt({
    name: 'test_prompt_with_arguments',
    arguments: { arg1: 'a "word"', arg2: '\\ \u00e9' },
  });
  return {
    called: await session.call('test_simple_text'),
    read: read.map(({ text }) => text),
    prompt: messages.map(({ content }) => content.text),
  };
}

export async function questions(session, { asked }) {
  const name = await session.call('test_input_required_result_elicitation');
  const capital = await session.call('test_input_required_result_sampling');
  const roots = await session.call('test_input_required_result_list_roots');
  return { name, capital, roots, asked: [...asked] };
}

// The SDKs forget a call with its answer, and then the progress that was read together with it; so only the
// first step is certain. eras_wire.test.mjs counts them all.
export async function progress(session) {
  const steps = [];
  const onprogress = ({ progress: done, total }) => steps.push(`${done}/${total}`);
  const answer = await session.call('test_long_call', { ms: 600 }, { onprogress });
  return { first: steps[0], answer };
}

export async function cancellation(session) {
  const controller = new AbortController();
  const onprogress = () => controller.abort('cancelled by the test');
  const options = { onprogress, signal: controller.signal };
  const end = await session.call('test_long_call', { ms: 30_000 }, options).then(
    () => 'answered',
    () => 'rejected',
  );
  await eventually('the server to hear of it', async () => {
    return (await session.call('test_cancelled_calls')) === '1';
  });
  return end;
}

// Subscribes to a resource the way its era does, and returns how to end that.
async function subscribe(session, uri) {
  if (isModern(session)) {
    const listening = await session.client.listen({ resourceSubscriptions: [uri] });
    return () => listening.close();
  }
  await session.client.subscribeResource({ uri });
  return () => session.client.unsubscribeResource({ uri });
}

export async function subscriptions(session, { updates }) {
  const end = await subscribe(session, WATCHED);
  await session.call('test_touch_resource', { uri: WATCHED });
  await eventually('an update', () => updates.length > 0);
  await end();
  // The end of a listen has no answer; a call after it is taken after it.
  await session.call('test_simple_text');
  await session.call('test_touch_resource', { uri: WATCHED });
  await session.call('test_simple_text');
  await sleep(50);
  return [...updates];
}

export async function toolChanges(session, heard) {
  const listening = isModern(session) ? await session.client.listen({ toolsListChanged: true }) : null;
  const before = await session.tools();
  const said = await session.call('test_trigger_tool_change');
  await eventually('the change to the list', () => heard.tools > 0);
  const after = await session.tools();
  await listening?.close();
  return { said, more: after.filter((name) => !before.includes(name)) };
}

export async function logging(session, { logs }) {
  const at = async (level) => {
    const meta = isModern(session) ? { _meta: { [LOG_LEVEL]: level } } : {};
    if (!isModern(session)) await session.client.setLoggingLevel(level);
    const call = { name: 'test_tool_with_logging', arguments: {}, ...meta };
    await session.client.callTool(call);
    await session.call('test_simple_text');
    await sleep(50);
    return logs.splice(0);
  };
  return { warning: await at('warning'), debug: await at('debug') };
}

// SDK v1 cannot tell which revision it speaks.
export const spoken = ({ client }) => client.getNegotiatedProtocolVersion?.() ?? 'legacy';
