import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { OperatorError } from '../../../src/base/operator-error.ts';
import type { LocalClickHouseUser } from '../../../src/local/clickhouse/clickhouse-config.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../../src/local/clickhouse/clickhouse-server.ts';

/**
 * A server with users of its own for the tests of a file: the shared one has its default user only. Call it
 * at the top of the file. Without the engine each test is skipped with the reason.
 */
export function usePrivateClickHouse(users: readonly LocalClickHouseUser[]): { url(): string } {
  let dir: string;
  let server: ClickHouseServer | undefined;
  let missing = '';
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tailmark-users-'));
    try {
      const onProgress = () => undefined;
      server = await startClickHouse({ dataDir: dir, database: 'tailmark', users, onProgress });
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      if (error.code !== 'TAILMARK_LOCAL_ENGINE_MISSING') throw error;
      missing = error.message;
    }
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  beforeEach((context) => context.skip(missing !== '', missing));
  return { url: () => server?.url ?? '' };
}
