import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load/load-config.ts';

const directory = new URL('../fixtures/config/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, directory), 'utf8');
const names = readdirSync(directory).filter((name) => name.endsWith('.yaml'));

function load(name: string): LoadedConfig {
  return loadConfig({
    path: name,
    env: {},
    readFile: (path) => {
      if (path === name) return read(name);
      if (path === '/run/secrets/slack') return 'xoxb-of-fixtures\n';
      if (path === '/run/secrets/pagerduty') return `${'0'.repeat(32)}\n`;
      if (path === 'present.pem' || path === '/run/secrets/clickhouse') return 'hunter-two\n';
      throw Object.assign(new Error('absent'), { code: 'ENOENT' });
    },
  });
}

function messageOf(name: string): string {
  try {
    load(name);
  } catch (error) {
    if (error instanceof ConfigError) return `${error.message}\n`;
    throw error;
  }
  return 'no problem';
}

describe('configuration fixtures', () => {
  it.each(names.filter((name) => name.endsWith('.bad.yaml')))('%s gives its message', (name) => {
    expect(messageOf(name)).toBe(read(name.replace('.yaml', '.txt')));
  });

  it.each(names.filter((name) => name.endsWith('.good.yaml')))('%s loads', (name) => {
    expect(load(name).file).toBe(name);
  });

  it('are each good or bad, and every expected message has its file', () => {
    const all = readdirSync(directory);
    expect(all.filter((name) => !/\.(good\.yaml|bad\.yaml|bad\.txt)$/.test(name))).toEqual([]);
    const bad = names.filter((name) => name.endsWith('.bad.yaml'));
    const texts = all.filter((name) => name.endsWith('.txt'));
    expect(texts).toEqual(bad.map((name) => name.replace('.yaml', '.txt')));
    expect(bad.length).toBeGreaterThan(30);
  });

  it('never show a password or a webhook address', () => {
    const shown = names.filter((name) => name.endsWith('.bad.yaml')).map(messageOf);
    expect(shown.filter((message) => message.includes('hunter2'))).toEqual([]);
  });
});
