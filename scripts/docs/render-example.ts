import { stringify } from 'yaml';
import { describeType } from '../../src/config/describe-type.ts';
import {
  inputSchema,
  isNamedMap,
  propertiesOf,
  type SchemaNode,
} from '../../src/config/input-schema.ts';
import { listSettings } from '../../src/config/read/list-settings.ts';

const width = 98;

/**
 * config/example.yaml: every key with its default, its documentation and what it must be. Keys
 * without a default are comments, so that the file loads to exactly the defaults.
 */
export function renderExample(): string {
  const head = [
    '# yaml-language-server: $schema=./schema.json',
    '#',
    '# Every setting of tailmark with its default. Made from the schema by `npm run generate:docs`.',
    '# A flag wins over the environment, the environment over this file, this file over defaults.',
    '# Every key has an environment variable: TAILMARK_ and its path in capitals, joined by "_".',
    '# Secrets do not stand here: name their files (password_file), or use the environment.',
  ];
  const blocks = Object.entries(propertiesOf(inputSchema())).map(([name, node]) =>
    isNamedMap(node) ? renderSetting(name, node, '', '') : renderBlock([name], node, '', ''),
  );
  return `${[head, ...blocks].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** A block and what it holds; `mark` is `# ` below a block that is itself a comment. */
function renderBlock(
  path: readonly string[],
  node: SchemaNode,
  indent: string,
  mark: string,
): string[] {
  const isOptional = node.default === undefined;
  const inner = isOptional ? '# ' : mark;
  const lines = comment(node.description ?? '', indent + mark);
  lines.push(`${indent}${inner}${path.at(-1)}:`);
  for (const { path: below, node: child, isBlock } of listSettings()) {
    if (!isBelow(below, path) || mayNotStand(child)) continue;
    if (isBlock) lines.push(...renderBlock(below, child, `${indent}${inner}  `, ''));
    else lines.push(...renderSetting(String(below.at(-1)), child, `${indent}${inner}  `, inner));
  }
  for (const [name, child] of nestedBlocks(node)) {
    lines.push(...renderBlock([...path, name], child, `${indent}${inner}  `, ''));
  }
  return lines;
}

/** Blocks that are always there, such as clickhouse.retention, are no settings themselves. */
function nestedBlocks(node: SchemaNode): [string, SchemaNode][] {
  return Object.entries(propertiesOf(node)).filter(
    ([, child]) => child.type === 'object' && child.default !== undefined,
  );
}

function mayNotStand(node: SchemaNode): boolean {
  return node.secret === true && node.inFile !== true;
}

function isBelow(path: readonly string[], parent: readonly string[]): boolean {
  return path.length === parent.length + 1 && parent.every((step, i) => step === path[i]);
}

function renderSetting(name: string, node: SchemaNode, indent: string, mark: string): string[] {
  const type = describeType(node);
  const must = type === 'text' ? '' : ` Must be ${type}.`;
  const lines = comment(`${node.description}${must}`, indent);
  if (node.default !== undefined) lines.push(`${indent}${name}: ${inline(node.default)}`);
  else lines.push(mark === '' ? `${indent}# ${name}:` : `${indent}${name}:`);
  return lines;
}

function inline(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false })
    .trim()
    .replace(/\n\s*/g, ' ');
}

function comment(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = `${indent}#`;
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > width) {
      lines.push(line);
      line = `${indent}#`;
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
