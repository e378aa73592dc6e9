import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { configSchema } from '../../src/config/schema.ts';
import { eventFields } from '../../src/decode/event-fields.ts';
import { rejectReasons } from '../../src/decode/reject-reasons.ts';
import { timingEvent } from '../../src/decode/timing-event.ts';
import { testDecoder } from './outcomes.ts';

// To regenerate the files: npx vitest run --project unit test/decode/event-document.test.ts -u

const { limits } = configSchema.parse({});
const contract = timingEvent({
  maxDurationMs: limits.max_duration,
  maxDimensionBytes: limits.max_dimension_bytes,
});

interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly FieldSchema[];
}

const schema = z.toJSONSchema(contract, { io: 'input' }) as unknown as {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
};

/** JSON as the formatter wants it: an array of plain values on one line. */
function schemaText(): string {
  const text = JSON.stringify(schema, null, 2);
  const compact = text.replaceAll(/\[\s+([^[\]{}]*?)\s+\]/g, (_, items: string) => {
    return `[${items.replaceAll(/,\s+/g, ', ')}]`;
  });
  return `${compact}\n`;
}

const documentUrl = new URL('../../docs/reference/event.md', import.meta.url);
const document = readFileSync(documentUrl, 'utf8');

const units: Readonly<Record<string, string>> = {
  ts: 'ms since 1970, UTC',
  batch_size: 'requests',
  concurrency: 'requests',
  queue_depth: 'requests',
};

function unitOf(name: string): string {
  const suffix = /_(ms|bytes|tokens)$/.exec(name)?.[1];
  return units[name] ?? suffix ?? '';
}

function typeOf(field: FieldSchema): string {
  if (field.anyOf !== undefined) {
    return [...new Set(field.anyOf.map(typeOf))].filter((type) => type !== '').join(' or ');
  }
  if (field.enum !== undefined) return field.enum.map((value) => `\`${value}\``).join(', ');
  return [field.type]
    .flat()
    .filter((type) => type !== 'null')
    .join(' or ');
}

function examplesOf(field: FieldSchema): readonly unknown[] {
  return field.examples ?? field.anyOf?.[0]?.examples ?? [];
}

function fieldTable(): string {
  const rows = Object.entries(schema.properties).map(([name, field]) => {
    const isOneOf = ['total_ms', 'stages_ms', 'milestones_ms'].includes(name);
    const required = schema.required.includes(name) ? 'yes' : isOneOf ? 'one of these' : '';
    const examples = examplesOf(field).map((example) => `\`${JSON.stringify(example)}\``);
    const cells = [`\`${name}\``, typeOf(field), unitOf(name), required, field.description];
    return `| ${[...cells, examples.join(', ')].join(' | ')} |`;
  });
  const head = '| field | type | unit | required | meaning | example |\n|---|---|---|---|---|---|';
  return `${head}\n${rows.join('\n')}`;
}

describe('config/timing-event.schema.json', () => {
  it('is made from the contract', async () => {
    await expect(schemaText()).toMatchFileSnapshot('../../config/timing-event.schema.json');
  });

  it('has the fields that the scanner knows, no more and no less', () => {
    const known = eventFields.map((field) => field.name);
    expect(known.toSorted()).toEqual(Object.keys(schema.properties).toSorted());
  });

  it('has an example and a description of every field, and the contract accepts them', () => {
    for (const [name, field] of Object.entries(schema.properties)) {
      expect(field.description, name).toMatch(/\.$/);
      expect(examplesOf(field).length, name).toBeGreaterThan(0);
      for (const example of examplesOf(field)) {
        const event = { ts: 1789000000123, model: 'm', total_ms: 1, [name]: example };
        expect(contract.safeParse(event).success, name).toBe(true);
      }
    }
  });
});

describe('docs/reference/event.md', () => {
  it('has the table of fields that the contract gives', async () => {
    const marked = /(<!-- fields: .* -->\n)[\s\S]*(<!-- end of fields -->)/;
    expect(document).toMatch(marked);
    const current = document.replace(marked, (_, open: string, close: string) => {
      return `${open}${fieldTable()}\n${close}`;
    });
    await expect(current).toMatchFileSnapshot('../../docs/reference/event.md');
  });

  it('says of every reject reason what to do, in the order of the list', () => {
    const rows = [...document.matchAll(/^\| `(\w+)` \| (.+) \| (.+) \|$/gm)];
    const documented = rows
      .map((row) => row[1])
      .filter((name) => !(String(name) in schema.properties));
    expect(documented).toEqual([...rejectReasons]);
  });

  it('shows events that are accepted', () => {
    const block = /```json\n([\s\S]*?)```/.exec(document)?.[1] ?? '';
    const least = /`(\{"ts".*?\})`/.exec(document)?.[1] ?? '';
    const { outcomes } = testDecoder().decode(`${block}${least}`);
    expect(outcomes).toMatchObject([{ event: { totalMs: 84.1 } }, { event: { totalMs: 84.1 } }]);
  });
});
