// Plays a model on loopback: it answers with the next tool call of its script, or with its last words. It
// knows no more than what it is sent, like a real one.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const call = (server, name, args) => ({ role: 'assistant', call: { server, name, arguments: args } });

// By the number of tool results that it has seen.
function next(messages) {
  const number = Number(/\d+/.exec(messages[0].content)[0]);
  const name = `task ${number}`;
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  switch (results.length) {
    case 0:
      return call('memory', 'create_entities', {
        entities: [{ name, entityType: 'task', observations: ['under way'] }],
      });
    case 1:
      return call('everything', 'get-sum', { a: number, b: 1 });
    case 2:
      return call('memory', 'read_graph', {});
    default: {
      const sum = /is (\d+)/.exec(results[1])?.[1];
      const names = JSON.parse(results[2]).entities.map((entity) => JSON.stringify(entity.name));
      return { role: 'assistant', content: `${name}: ${number} + 1 = ${sum}, remembers ${names}` };
    }
  }
}

export async function startModel() {
  const server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await text(request));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(next(messages)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/`, stop: () => server.close() };
}
