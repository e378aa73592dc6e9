import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load/load-config.ts';
import { codeBlocks } from './code-blocks.ts';
import { documents } from './documents.ts';

/** First lines of secret files, by the key that they fill. */
const contents = {
  url: 'https://hooks.example.com/T0/B0/token-of-a-hook',
  routing_key: 'fedcba9876543210fedcba9876543210',
};
/** What the file at a path holds: of the kind that its key asks for. */
const contentOf = (text: string, path: string) => {
  const line = text.split('\n').find((each) => each.includes(`_file: ${path}`)) ?? '';
  const key = /(\w+)_file:/.exec(line)?.[1];
  return contents[key as keyof typeof contents] ?? 'first line of the file';
};

/** Loads a text as the configuration file; every secret file it names can be read. */
const load = (text: string) =>
  loadConfig({
    path: 'tailmark.yaml',
    env: {},
    readFile: (path) => (path === 'tailmark.yaml' ? text : `${contentOf(text, path)}\n`),
  });

/** Top-level keys by which YAML for another program is told apart. */
const foreignKeys = [
  'services',
  'apiVersion',
  'scrape_configs',
  'groups',
  'receivers',
  'exporters',
];

const blocks = documents()
  .flatMap(codeBlocks)
  .filter(({ language }) => language === 'yaml' || language === 'yml');
const configurations = blocks.filter(({ text }) => {
  const keys = Object.keys((parse(text) as Record<string, unknown>) ?? {});
  return !keys.some((key) => foreignKeys.includes(key));
});

describe('configuration in the documentation', () => {
  it('is found', () => {
    expect(configurations.map(({ path }) => path)).toContain('README.md');
  });

  it.each(configurations)('of $path:$line loads', ({ text }) => {
    const { settings } = load(text);
    expect(settings.filter(({ origin }) => origin === 'file').length).toBeGreaterThan(0);
  });

  it('would be refused with an unknown key', () => {
    const [first] = configurations;
    expect(() => load(`${first?.text}\nkafak: {}\n`)).toThrow(ConfigError);
  });
});
