import { readdirSync, readFileSync } from 'node:fs';
import type { ClickHouseClient } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import {
  addedSettings,
  onceSettings,
  pinDeduplication,
} from '../../../src/sink/client/insert-settings.ts';

const defaultsOf25 = {
  async_insert: '0',
  insert_deduplicate: '1',
  deduplicate_blocks_in_dependent_materialized_views: '0',
};
const defaultsOf26 = {
  ...defaultsOf25,
  deduplicate_insert: 'enable',
  deduplicate_insert_select: 'enable_when_possible',
};

/** A client whose server has these settings in force for its user. */
function clientOf(inForce: Readonly<Record<string, string>>, fixed: readonly string[] = []) {
  const server = { inForce, questions: 0 };
  const client = {
    query: async () => {
      server.questions++;
      const rows = Object.entries(server.inForce).map(([name, value]) => {
        const changed = value === defaultsOf26[name as keyof typeof defaultsOf26] ? 0 : 1;
        return { name, value, changed, is_fixed: fixed.includes(name) ? 1 : 0, user: 'ann' };
      });
      return { json: async () => rows };
    },
  } as unknown as ClickHouseClient;
  return { client, server };
}

const pinnedIn25 = {
  async_insert: 0,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
};
const pinnedIn26 = {
  ...pinnedIn25,
  deduplicate_insert: 'enable',
  deduplicate_insert_select: 'force_enable',
};

describe('an insert that is stored once', () => {
  it.each([
    ['a server that does not know the new settings gets none', defaultsOf25, pinnedIn25],
    ['a newer one gets both', defaultsOf26, pinnedIn26],
    [
      'a profile that says no is overridden',
      { ...defaultsOf26, deduplicate_insert: 'disable', deduplicate_insert_select: 'disable' },
      pinnedIn26,
    ],
  ])('%s', async (_, inForce, expected) => {
    const { client } = clientOf(inForce);
    expect(await onceSettings(client, 't')).toEqual({
      ...expected,
      wait_end_of_query: 1,
      insert_deduplication_token: 't',
    });
  });

  it('asks once, and again when it is to be pinned anew: the server may be another version', async () => {
    const { client, server } = clientOf(defaultsOf25);
    await onceSettings(client, 'a');
    await onceSettings(client, 'b');
    expect(server.questions).toBe(1);
    server.inForce = defaultsOf26;
    await pinDeduplication(client);
    expect(await onceSettings(client, 'c')).toMatchObject({ deduplicate_insert: 'enable' });
    expect(server.questions).toBe(2);
  });

  it('leaves out what a profile has fixed with the same meaning: it may not even be named', async () => {
    const fixed = { ...defaultsOf26, deduplicate_insert: 'backward_compatible_choice' };
    const { client } = clientOf(fixed, ['deduplicate_insert', 'deduplicate_insert_select']);
    expect((await pinDeduplication(client)).settings).toEqual(pinnedIn25);
  });

  it.each([
    ['deduplicate_insert', 'disable', 'enable'],
    ['deduplicate_insert_select', 'disable', 'force_enable'],
    ['insert_deduplicate', '0', '1'],
    ['async_insert', '1', '0'],
  ])('is refused where a profile has fixed %s = %s', async (name, value, wanted) => {
    const { client } = clientOf({ ...defaultsOf26, [name]: value }, [name]);
    await expect(pinDeduplication(client)).rejects.toMatchObject({
      code: 'TAILMARK_CLICKHOUSE_SETTINGS',
      message: `Cannot store each chunk exactly once as setting ${name} of user ann must be ${wanted}: it is ${value}`,
    });
  });

  it('names what it overrides', async () => {
    const off = { ...defaultsOf26, deduplicate_insert: 'disable' };
    expect((await pinDeduplication(clientOf(off).client)).overridden).toEqual([
      'deduplicate_insert = disable',
    ]);
    expect((await pinDeduplication(clientOf(defaultsOf26).client)).overridden).toEqual([]);
  });
});

it('an insert that is always added has a token of its own', () => {
  const [one, other] = [addedSettings(), addedSettings()];
  expect(one.insert_deduplication_token).not.toBe(other.insert_deduplication_token);
});

it('every insert of the sink has its settings from here', () => {
  const folder = new URL('../../../src/sink/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const senders = files.filter((file) => {
    return file.endsWith('.ts') && /client\.insert\(|sendBytes\(this/.test(text(file));
  });
  expect(senders.length).toBeGreaterThan(5);
  const without = senders.filter((file) => !/(addedSettings|onceSettings)\(/.test(text(file)));
  expect(without).toEqual([]);
  function text(file: string): string {
    return readFileSync(new URL(file, folder), 'utf8');
  }
});
