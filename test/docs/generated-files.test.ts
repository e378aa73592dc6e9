import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { generatedFiles } from '../../scripts/docs/generated-files.ts';
import { renderAlertMessages } from '../../scripts/docs/render-alert-messages.ts';
import { isMapNode, propertiesOf } from '../../src/config/input-schema.ts';
import { loadConfig } from '../../src/config/load/load-config.ts';
import { listSettings } from '../../src/config/read/list-settings.ts';
import { configSchema } from '../../src/config/schema.ts';
import { mappingSchema } from '../../src/formats/mapping/mapping-schema.ts';
import { spanRulesSchema } from '../../src/formats/spans/rules/span-rules.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const loadText = (text: string) => loadConfig({ path: 'x.yaml', env: {}, readFile: () => text });

describe('files made from the schema', () => {
  it.each(generatedFiles())(
    '$path is current: else run npm run generate:docs',
    ({ path, text }) => {
      expect(read(path)).toBe(text);
    },
  );

  it('example.yaml loads to exactly the defaults', () => {
    expect(loadText(read('config/example.yaml')).config).toEqual(configSchema.parse({}));
  });

  it('example.yaml sets every key that has a default, and has every other one as a comment', () => {
    const example = read('config/example.yaml');
    const { origins } = loadText(example);
    for (const { key, node, isBlock, path } of listSettings()) {
      if (node.secret === true && node.items === undefined) {
        expect(example).not.toMatch(new RegExp(`^[ #]*${path.at(-1)}:`, 'm'));
        continue;
      }
      if (node.default !== undefined) expect(`${key} ${origins.get(key)}`).toBe(`${key} file`);
      else
        expect(example).toMatch(
          new RegExp(`^ *# +(# *)?${path.at(-1)}:${isBlock ? '' : '$'}`, 'm'),
        );
    }
  });

  it('example.yaml is what its own schema allows, key by key', () => {
    const schema = JSON.parse(read('config/schema.json')) as {
      properties: Record<string, { properties?: Record<string, unknown>; oneOf?: unknown }>;
    };
    const example = parse(read('config/example.yaml')) as Record<string, Record<string, unknown>>;
    expect(Object.keys(example)).toEqual(Object.keys(schema.properties));
    for (const [block, value] of Object.entries(example)) {
      const node = schema.properties[block];
      if (node?.oneOf !== undefined) continue;
      for (const key of Object.keys(value)) expect(node?.properties).toHaveProperty([key]);
    }
  });

  it('schema.json holds no keyword of ours, and no secret', () => {
    const text = read('config/schema.json');
    expect(text).not.toMatch(/"(form|duration|inFile|secret|examplePort|holdsNoLogin)": /);
    expect(text).not.toMatch(/"password": /);
    expect(text).toContain('"secret_file": {');
  });

  it('minimal.yaml loads', () => {
    expect(loadText(read('config/minimal.yaml')).config.kafka.brokers).toEqual(['127.0.0.1:9092']);
  });

  it('configuration.md names every key and its variable', () => {
    const reference = read('docs/reference/configuration.md');
    for (const { key, environment } of listSettings()) {
      expect(reference).toContain(`| \`${key}\` |`);
      expect(reference).toContain(`\`${environment}\``);
    }
  });

  it('configuration.md has every key of the entries of lists, by their type', () => {
    const reference = read('docs/reference/configuration.md');
    const lists = listSettings().filter(({ node }) => node.items && isMapNode(node.items));
    expect(lists.map(({ key }) => key)).toEqual([
      ...['assemble.topics', 'detect.slos', 'alert.webhooks', 'alert.receivers'],
    ]);
    for (const { key, node } of lists) {
      const chapter =
        reference.split('\n## ').find((text) => text.includes(`| \`${key}\` |`)) ?? '';
      const sections = chapter.split('\n### ').filter((text) => text.includes(`\`${key}\``));
      const general = sections.filter((text) => !text.includes('with `type:')).join('\n');
      for (const variant of node.items?.oneOf ?? [node.items ?? {}]) {
        const { type, ...properties } = propertiesOf(variant);
        const own = sections.find((text) => text.includes(`\`type: ${String(type?.const)}\``));
        expect([key, type?.const, type === undefined || own !== undefined]).toEqual([
          key,
          type?.const,
          true,
        ]);
        const shown = `${general}\n${own ?? ''}`;
        for (const name of Object.keys(properties)) expect(shown).toContain(`| \`${name}\` |`);
      }
    }
    for (const name of ['severity', 'kinds', 'models', 'region', 'tenant']) {
      expect(reference).toContain(`\`match.${name}\``);
    }
  });
});

describe('docs/reference/mapping.md', () => {
  it('has every key of a mapping and of rules of spans, each with what it must be and is', () => {
    const [mapping = '', rules = ''] = read('docs/reference/mapping.md').split('## Rules of spans');
    const keysIn = (text: string) =>
      [...text.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(([, keys = '']) =>
        keys.replaceAll('`', '').split(', '),
      );
    const nested = [
      'equals',
      'path',
      'unit',
      'sum',
      'name',
      'duration',
      'map',
      'otherwise',
      'pattern',
      'value',
    ];
    expect(new Set(keysIn(mapping))).toEqual(
      new Set([...Object.keys(mappingSchema.shape), ...nested]),
    );
    expect(new Set(keysIn(rules))).toEqual(
      new Set([
        ...Object.keys(spanRulesSchema.shape),
        ...Object.keys(spanRulesSchema.shape.fields.unwrap().shape),
        ...['name', 'kind', 'attribute', 'equals'],
      ]),
    );
    for (const [row] of (mapping + rules).matchAll(/^\| `.*$/gm)) {
      expect(row).toMatch(/^\| [^|]+ \| [^|]+ \| (required)? \| [^|]+ \|$/);
    }
  });
});

describe('docs/reference/alert-messages.md', () => {
  it('is current: else run npm run generate:docs', () => {
    const incident = JSON.parse(read('test/fixtures/demo-incident.json'));
    expect(read('docs/reference/alert-messages.md')).toBe(renderAlertMessages(incident));
  });
});
