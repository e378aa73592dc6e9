import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';

const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@chdb/lib-linux-x64-gnu',
  'linux-arm64': '@chdb/lib-linux-arm64-gnu',
  'darwin-x64': '@chdb/lib-darwin-x64',
  'darwin-arm64': '@chdb/lib-darwin-arm64',
};

const hint =
  'Install the packages with `npm install chdb ffi-rs` (Linux with glibc and macOS, x64 and arm64). ' +
  'Without them: `docker compose up` runs Kafka and ClickHouse in Docker, or name a server in ' +
  'TAILMARK_CLICKHOUSE_URL.';

/**
 * Returns the path of libchdb.so, and checks that its binding is installed too. `resolve` finds a module's
 * file, given start directories.
 *
 * @throws OperatorError TAILMARK_LOCAL_ENGINE_MISSING.
 */
export function findClickHouseEngine(
  platform = `${process.platform}-${process.arch}`,
  resolve: (id: string, paths?: string[]) => string = defaultResolve,
): string {
  const engine = packages[platform];
  if (engine === undefined) {
    throw missing(
      `Cannot start ClickHouse: the platform must be one of ${Object.keys(packages).join(', ')}; ` +
        `it is ${platform}`,
    );
  }
  const find = (id: string, paths?: string[]) => {
    try {
      return resolve(id, paths);
    } catch (error) {
      throw missing(
        `Cannot start ClickHouse: the npm package ${id.replace(/\/package\.json$/, '')} must be ` +
          'installed; it is not',
        error,
      );
    }
  };
  find('ffi-rs');
  const chdb = find('chdb/package.json');
  // The engine is a dependency of chdb, so it may not resolve from here.
  return join(dirname(find(`${engine}/package.json`, [dirname(chdb)])), 'libchdb.so');
}

function defaultResolve(id: string, paths?: string[]): string {
  return createRequire(import.meta.url).resolve(id, paths === undefined ? undefined : { paths });
}

function missing(message: string, cause?: unknown): OperatorError {
  return new OperatorError('TAILMARK_LOCAL_ENGINE_MISSING', message, {
    hint,
    cause,
  });
}
