import { z } from 'zod';
import { describeType } from '../../src/config/describe-type.ts';
import type { SchemaNode } from '../../src/config/input-schema.ts';
import { mappingSchema } from '../../src/formats/mapping/mapping-schema.ts';
import { spanRulesSchema } from '../../src/formats/spans/rules/span-rules.ts';

const intro = `<!-- Made from src/formats/mapping/mapping-schema.ts and src/formats/spans/rules/span-rules.ts by
     \`npm run generate:docs\`: change it there. -->
# Mappings

A mapping is a YAML file that \`mapping\` of a topic, or \`--mapping\` of [convert](../how-to/convert.md), names. For
\`json\`, \`avro\` and \`protobuf\` it says where the fields of an event are in a record. For \`otlp_proto\` and \`otlp_json\`
it has [rules of spans](#rules-of-spans). [Formats](../how-to/formats.md) says when to use which; the files in
\`config/presets/\` are mappings to copy from. An unknown key is an error with its line.

    start: {path: start_time, unit: ms}
    total: {path: total_ms, unit: ms}
    stages: {path: stages, unit: ms}
    model: model
    status: {path: status, map: {OK: ok, TIMEOUT: timeout}, otherwise: error}

A path is keys from the object to the value, such as \`a.b[0]."c.d"\`, with quotes around a key that has dots. Names in
braces below are maps with these keys; those with \`?\` may be left out.

## Keys of a mapping

\`start\` must be given, or else both \`end\` and \`total\`; \`total\` must be given, or else \`end\` or \`stages\`.
`;

/** JSON Schema of a map whose keys are free. */
interface Node extends SchemaNode {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly additionalProperties?: Node | boolean;
}

/** docs/reference/mapping.md: every key of a mapping, and of the rules of spans. */
export function renderMapping(): string {
  const mapping = z.toJSONSchema(mappingSchema, { io: 'input' }) as Node;
  const rules = z.toJSONSchema(spanRulesSchema, { io: 'input' }) as Node;
  return `${[
    intro,
    ...tableOf(mapping),
    ...formTables(mapping),
    '',
    '## Rules of spans',
    '',
    'Each span of a stage becomes a `partial` event with that stage, and each root one with the total.',
    '',
    ...tableOf(rules),
    ...formTables(rules),
  ].join('\n')}\n`;
}

function tableOf(node: Node): string[] {
  const keysOf = new Map<string, string[]>();
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    const mark = node.required?.includes(key) === true ? 'required' : '';
    const row = `${formOf(child)} | ${mark} | ${child.description ?? ''} |`;
    keysOf.set(row, [...(keysOf.get(row) ?? []), `\`${key}\``]);
  }
  const rows = [...keysOf].map(([row, keys]) => `| ${keys.join(', ')} | ${row}`);
  return ['| key | must be | | what it is |', '|---|---|---|---|', ...rows];
}

/** A table for each map below a node, once for the same keys. */
function formTables(node: Node): string[] {
  const forms = new Map<string, Node>();
  const visit = (at: Node) => {
    const children = Object.values(at.properties ?? {});
    const { items, anyOf = [], additionalProperties: values } = at;
    const below = [...children, ...anyOf, ...(items ? [items] : [])];
    if (typeof values === 'object') below.push(values);
    for (const child of below) {
      if (child.properties !== undefined && !forms.has(nameOf(child))) {
        forms.set(nameOf(child), child);
      }
      visit(child);
    }
  };
  visit(node);
  return [...forms].flatMap(([name, form]) => ['', `### \`${name}\``, '', ...tableOf(form)]);
}

function formOf(node: Node): string {
  const { anyOf, items, properties, additionalProperties: values } = node;
  if (anyOf !== undefined) {
    const forms = anyOf.map(formOf);
    const [first = ''] = forms;
    return forms[1] === `a list, each entry ${first}`
      ? `${first}, or a list of them`
      : forms.join(', or ');
  }
  if (items !== undefined) return `a list, each entry ${formOf(items)}`;
  if (properties !== undefined) return `\`${nameOf(node)}\``;
  if (typeof values === 'object') return `a map, each value ${formOf(values)}`;
  // A scalar of any type.
  return Array.isArray(node.type) ? 'text, a number, true or false' : describeType(node);
}

/** `{path, unit?}`; of a map with many keys only the first. */
function nameOf({ properties = {}, required = [] }: Node): string {
  const keys = Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`));
  return `{${keys.length > MOST_KEYS ? `${keys.slice(0, 2).join(', ')}, …` : keys.join(', ')}}`;
}

const MOST_KEYS = 6;
