// The pages of the documentation as a reader sees them: the commands in their blocks and in their text, and what the
// pages say these print.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { HERE } from './lab.mjs';

export const ROOT = path.resolve(HERE, '../..');
export const pageOf = (name) => readFileSync(path.join(ROOT, name), 'utf8');

// Every page below docs/ except the decisions, which are history.
export const pagesBelowDocs = () =>
  readdirSync(path.join(ROOT, 'docs'), { recursive: true })
    .map((name) => path.join('docs', name))
    .filter((name) => name.endsWith('.md') && !name.startsWith('docs/decisions/'))
    .sort();

// The commands of one sh or console block, each with the lines that the page shows below it. A line that ends with a
// backslash goes on.
function commandsOf(language, block) {
  if (language === 'sh') {
    const lines = block.split('\n').map((line) => line.replace(/(^|\s+)#.*$/, '').trim());
    return lines.filter(Boolean).map((line) => ({ line, shown: '' }));
  }
  const commands = [];
  for (const line of block.split('\n')) {
    const last = commands.at(-1);
    if (line.startsWith('$ ')) {
      commands.push({ line: line.slice(2).replace(/\s+#.*$/, ''), shown: '' });
    } else if (last?.shown === '' && last.line.endsWith('\\')) {
      last.line += `\n${line.replace(/^> ?/, '')}`;
    } else if (last !== undefined) {
      last.shown += `${line}\n`;
    }
  }
  return commands;
}

// One list for each block.
export const blocksOf = (text, languages = ['sh', 'console']) =>
  [...text.matchAll(/^```(sh|console)\n(.*?)^```/gms)]
    .filter(([, language]) => languages.includes(language))
    .map(([, language, block]) => commandsOf(language, block));

export const linesOf = (text) => blocksOf(text).flat().map(({ line }) => line);

// The commands of more than two words in the text, each once, in their order.
export function inlineOf(text) {
  const lines = [...text.replace(/^```.*?^```/gms, '').matchAll(/`(corral [^`]+)`/g)].map(([, line]) => line);
  return [...new Set(lines.map((line) => line.replace(/\s+/g, ' ')))].filter((line) => line.split(' ').length > 2);
}

const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

// `…` in what is shown stands for anything.
export const asPattern = (shown) => new RegExp(`^${shown.trim().split('…').map(literally).join('[^]*?')}$`);

// Ages and sizes are different each time, and lines are broken where the values end.
export const withoutChance = (text) =>
  text
    .replace(/\b[\d.]+ (B|KB|MB|GB)(?!\w)/g, 'SIZE')
    .replace(/\b\d+(ms|s|m|h|d)( \d+(s|m|h))?\b/g, 'AGE')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/"(ms|pid)":\d+/g, '"$1":N')
    .replace(/ *… */g, '…')
    .replace(/\s+/g, ' ')
    .trim();
