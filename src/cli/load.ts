import { readFileSync } from 'node:fs';
import { type Command as Commander, Option } from 'commander';
import type { LoadConfigOptions, LoadedConfig } from '../config/load/load-config.ts';
import type { Io, Options } from './io.ts';

/** Flags that set a key of the configuration, for every command that uses them. */
const flags = [
  { option: 'brokers', value: 'LIST', key: 'kafka.brokers', what: 'Kafka brokers, host:port,…' },
  { option: 'topic', value: 'LIST', key: 'kafka.topics', what: 'topics of timing events' },
  { option: 'group', value: 'ID', key: 'kafka.group_id', what: 'consumer group' },
  { option: 'clickhouse-url', value: 'URL', key: 'clickhouse.url', what: 'ClickHouse over HTTP' },
  { option: 'database', value: 'NAME', key: 'clickhouse.database', what: 'ClickHouse database' },
  { option: 'source', value: 'TYPE', key: 'source.type', what: 'kafka, file or stdin' },
  { option: 'file', value: 'FILE', key: 'source.path', what: 'NDJSON, gzipped or not' },
  { option: 'listen', value: 'ADDRESS', key: 'http.listen', what: 'health and metrics, host:port' },
  { option: 'workers', value: 'N', key: 'ingest.workers', what: 'threads that consume from Kafka' },
  { option: 'log-level', value: 'LEVEL', key: 'log.level', what: 'minimum log level' },
] as const;

export type ConfigFlag = Exclude<(typeof flags)[number]['option'], 'log-level'>;

export const clickHouseFlags: readonly ConfigFlag[] = ['clickhouse-url', 'database'];
export const connectionFlags: readonly ConfigFlag[] = [
  'brokers',
  'topic',
  'group',
  ...clickHouseFlags,
];

/**
 * Adds flags that set keys of the configuration. Secrets have no flag, since every user of the machine sees
 * command lines.
 */
export function addConfigFlags(command: Commander, names: readonly ConfigFlag[]): void {
  for (const { option, value, key, what } of flags) {
    if (option === 'log-level' || !names.includes(option)) continue;
    command.addOption(new Option(`--${option} <${value}>`, `${what} (${key})`));
  }
}

/**
 * Loads the configuration with the source of each value.
 *
 * @param problemsOfFiles as for `loadConfig`: the files of formats are read where it is given.
 * @throws {OperatorError} as `loadConfig`
 */
export async function loadSettings(
  options: Options,
  io: Pick<Io, 'env'>,
  problemsOfFiles?: LoadConfigOptions['problemsOfFiles'],
): Promise<LoadedConfig> {
  // zod and yaml need some 100 ms to load; --help and --version do without them.
  const { loadConfig } = await import('../config/load/load-config.ts');
  const { config: path } = options;
  const given = flags.map(({ option, key }) => [key, options[camelCase(option)]] as const);
  return loadConfig({
    ...(typeof path === 'string' ? { path } : {}),
    env: io.env,
    flags: Object.fromEntries(given),
    flagNames: Object.fromEntries(flags.map(({ option, key }) => [key, `--${option}`])),
    readFile: (file) => readFileSync(file, 'utf8'),
    ...(problemsOfFiles && { problemsOfFiles }),
  });
}

/** Counts the settings by where they come from: `no file, 2 from the environment, …`. */
export function settingsText({ file, settings }: Pick<LoadedConfig, 'file' | 'settings'>): string {
  const count = (origin: string) => settings.filter((each) => each.origin === origin).length;
  return [
    file === undefined ? 'no file' : `${count('file')} from ${file}`,
    `${count('environment')} from the environment`,
    `${count('flag')} from flags`,
    `${count('default')} by default`,
  ].join(', ');
}

function camelCase(option: string): string {
  return option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
