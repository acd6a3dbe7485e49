// Reads the configuration files of MCP clients as far as our examples need it.

// Some clients allow // and /* */ comments in their JSON. Strings are matched first, so that a comment
// mark inside of one stays.
export function stripComments(text) {
  const stringOrComment = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[^]*?\*\//g;
  return text.replace(stringOrComment, (match) => (match.startsWith('"') ? match : ''));
}

// Some also allow a comma after the last element.
export function stripLastCommas(text) {
  const stringOrComma = /"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g;
  return text.replace(stringOrComma, (match) => (match === ',' ? '' : match));
}

// TOML as far as tables, strings and arrays of strings on one line go; these are written as in JSON.
export function parseToml(text) {
  const root = {};
  let table = root;
  for (const line of text.split('\n').map((raw) => raw.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const header = /^\[([\w.-]+)\]$/.exec(line);
    const pair = /^([\w-]+)\s*=\s*(.+)$/.exec(line);
    if (header) {
      table = header[1].split('.').reduce((parent, key) => (parent[key] ??= {}), root);
    } else if (pair) {
      table[pair[1]] = JSON.parse(pair[2]);
    } else {
      throw new Error(`not understood: ${line}`);
    }
  }
  return root;
}

// Every client has its own word for the table of servers.
const TABLES = ['mcpServers', 'servers', 'context_servers', 'mcp_servers'];

export function serversOf(fileName, text, { comments = false } = {}) {
  const parseJson = (json) => JSON.parse(comments ? stripComments(json) : json);
  const config = fileName.endsWith('.toml') ? parseToml(text) : parseJson(text);
  const names = TABLES.filter((name) => name in config);
  if (names.length !== 1) throw new Error(`${fileName}: expected one table of servers`);
  return Object.entries(config[names[0]]).map(([name, entry]) => ({ name, table: names[0], ...entry }));
}
