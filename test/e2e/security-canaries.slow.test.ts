import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/sink/migrate/migrate.ts';
import { clickHousePassword, configOf, nobody, useCanaries } from './kit/canaries.ts';
import { canary } from './kit/leaks-in.ts';

const canaries = useCanaries();

describe('no command prints a secret', () => {
  it('with servers that refuse the connection', async () => {
    const settings = { KAFKA_BROKERS: nobody, CLICKHOUSE_URL: `http://${nobody}` };
    expect(await canaries().leaksOf(canaries().login, settings)).toEqual([]);
  });

  it('with a broker that quotes the token, and a busy server that quotes its requests', async () => {
    const settings = {
      KAFKA_BROKERS: canaries().echoes.kafka.address,
      CLICKHOUSE_URL: `http://${canaries().echoes.busy.address}`,
    };
    expect(await canaries().leaksOf(canaries().byToken, settings)).toEqual([]);
    expect(canaries().echoes.kafka.heard()).toContain(`${canary}.kafka.token`);
    expect(canaries().echoes.busy.heard()).toContain(clickHousePassword);
  });

  it('with a store that works and a broker that quotes the login', async () => {
    await migrate(
      configOf(canaries().login, { TAILMARK_CLICKHOUSE_URL: canaries().server.url }).clickhouse,
    );
    const settings = {
      KAFKA_BROKERS: canaries().echoes.kafka.address,
      CLICKHOUSE_URL: canaries().server.url,
    };
    expect(await canaries().leaksOf(canaries().login, settings)).toEqual([]);
  });
});
