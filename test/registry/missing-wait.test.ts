import { afterEach, describe, expect, it } from 'vitest';
import type { SchemaRegistry } from '../../src/registry/schema-registry.ts';
import { clientOf as openClient } from './registry-client.ts';
import { type Handler, json, type RegistryServer, startRegistry } from './registry-server.ts';

const servers: RegistryServer[] = [];
const registries: SchemaRegistry[] = [];
afterEach(async () => {
  for (const registry of registries.splice(0)) registry.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(handler: Handler): Promise<RegistryServer> {
  const server = await startRegistry(handler);
  servers.push(server);
  return server;
}

function clientOf(...given: Parameters<typeof openClient>) {
  const client = openClient(...given);
  registries.push(client.registry);
  return client;
}

const schema = '{"type":"record","name":"R","fields":[]}';
const found = { type: 'AVRO', text: schema, references: [] };
const good: Handler = (_, response) => json(response, 200, { schema });

describe('an id that the registry does not know', () => {
  const unknown: Handler = (_, response) => json(response, 404, { error_code: 40403 });

  it.each([40401, 40402, 40403])(
    'waits for an id that a node learns of later, and loses nothing: %i',
    async (error_code) => {
      let asked = 0;
      const server = await start((request, response) =>
        ++asked > 4 ? good(request, response) : json(response, 404, { error_code }),
      );
      const { registry, outcomes, lines, waits } = clientOf(server.url);
      await registry.fetch(9);
      expect(registry.get(9)).toEqual(found);
      expect(outcomes).toEqual([...Array(4).fill('missing'), 'found']);
      expect(waits).toEqual([250, 500, 1_000, 2_000]);
      expect(lines).toEqual([
        'info the schema registry does not know a schema yet; its partitions wait for it: ',
        'info the schema registry knows the schema: ',
      ]);
    },
  );

  it('waits for an id for a minute at most, and then asks once a minute', async () => {
    const server = await start(unknown);
    const { registry, lines, waits, outcomes, pass } = clientOf(server.url);
    await registry.fetch(9);
    expect(registry.get(9)).toMatchObject({ missing: 'the registry has none with that id' });
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(60_000);
    expect(Math.max(...waits)).toBe(5_000);
    expect(lines.at(-1)).toBe(
      'warn the schema registry still does not know a schema; its messages are rejected: ',
    );
    const asked = outcomes.length;
    for (let minute = 1; minute <= 3; minute++) {
      pass(60_000);
      await registry.fetch(9);
      expect(outcomes).toHaveLength(asked + minute);
    }
    expect(lines).toHaveLength(2);
  });

  it('spends a tenth of the time at most on ids that come to nothing, each of them another one', async () => {
    const server = await start(unknown);
    const { registry, waits, pass } = clientOf(server.url);
    const waited = () => waits.reduce((sum, ms) => sum + ms, 0);
    for (let id = 1; id <= 30; id++) await registry.fetch(id);
    const first = waited();
    expect(first).toBeGreaterThanOrEqual(120_000);
    expect(first).toBeLessThanOrEqual(135_000);
    pass(600_000);
    for (let id = 31; id <= 60; id++) await registry.fetch(id);
    expect(waited() - first).toBeGreaterThanOrEqual(60_000);
    expect(waited() - first).toBeLessThanOrEqual(68_000);
  });

  it('waits for a failing registry as long as it fails, and then for the id', async () => {
    let asked = 0;
    const server = await start((request, response) => {
      asked++;
      if (asked <= 2) return json(response, 503, {});
      return asked <= 4 ? unknown(request, response) : good(request, response);
    });
    const { registry, outcomes } = clientOf(server.url);
    await registry.fetch(9);
    expect(outcomes).toEqual(['failed', 'failed', 'missing', 'missing', 'found']);
    expect(registry.get(9)).toEqual(found);
  });

  it('does not wait where the schema can never be had', async () => {
    let count = 0;
    const server = await start((_, response) => {
      const name = `n${count++}`;
      json(response, 200, { schema, references: [{ name, subject: 's', version: 1 }] });
    });
    const { registry, waits } = clientOf(server.url);
    await registry.fetch(1);
    expect(waits).toEqual([]);
  });
});
