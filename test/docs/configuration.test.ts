import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { codeBlocks } from './code-blocks.ts';
import { documents } from './documents.ts';

/** Loads a text as the configuration file; every secret file it names can be read. */
const load = (text: string) =>
  loadConfig({
    path: 'tailmark.yaml',
    env: {},
    readFile: (path) => (path === 'tailmark.yaml' ? text : 'first line\n'),
  });

/** Top-level keys by which YAML for another program is told apart. */
const foreignKeys = ['services', 'apiVersion', 'scrape_configs', 'groups', 'receivers'];

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
