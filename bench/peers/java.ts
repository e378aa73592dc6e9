import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChildPeer } from './child-peer.ts';
import { centroidSums, centroidTable, type Peer } from './peer.ts';
import { withTable } from './with-table.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const source = join(root, 'bench/peers/java');
const target = join(root, 'dist.bench/java');

/** Compiles with the libraries that pom.xml names; Maven keeps them. */
function classPath(): string {
  const jars = join(target, 'jars');
  const fetched = join(jars, 'pom.xml');
  const pom = readFileSync(join(source, 'pom.xml'), 'utf8');
  if (!existsSync(fetched) || readFileSync(fetched, 'utf8') !== pom) {
    mkdirSync(jars, { recursive: true });
    const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
    execFileSync('mvn', ['-B', '-q', '-f', join(source, 'pom.xml'), ...copy], {
      // What it says is no result.
      stdio: ['ignore', process.stderr, 'inherit'],
    });
    writeFileSync(fetched, pom);
  }
  const path = `${target}:${jars}/*`;
  const files = readdirSync(source).filter((file) => file.endsWith('.java'));
  const all = files.map((file) => join(source, file));
  execFileSync('javac', ['-d', target, '-cp', path, ...all], { stdio: 'inherit' });
  return path;
}

/** The command of one of the classes. */
function commandOf(name: string): [string, ...string[]] {
  return ['java', '-XX:+UseParallelGC', '-Xms1g', '-Xmx1g', '-cp', classPath(), name];
}

export const java: Peer = {
  name: 'Java',
  about: 'kafka-clients 4.3, Jackson 2.21 streaming, t-digest 3.3, RowBinary; ParallelGC, 1 GiB',
  start: async (stack) => {
    return withTable(startChildPeer(commandOf('Peer'), stack), stack, centroidTable);
  },
  sums: centroidSums,
};

/** What changed is written whole, again and again: the last of each row stands. */
const latestTable = centroidTable
  .replace('MergeTree', 'ReplacingMergeTree(requests)')
  .replace('window_start)', 'window_start, version, request_type, region, cold_start)');

export const kafkaStreams: Peer = {
  name: 'Kafka Streams',
  about: 'kafka-streams 4.3: groupByKey, windowed aggregate in memory; parser and digest of Java',
  share: 0.1,
  start: async (stack) =>
    withTable(startChildPeer(commandOf('StreamsPeer'), stack), stack, latestTable),
  sums: centroidSums.replaceAll('FROM tails', 'FROM tails FINAL'),
};
