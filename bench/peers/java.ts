import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
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
  if (!existsSync(join(jars, 'done'))) {
    mkdirSync(jars, { recursive: true });
    const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
    execFileSync('mvn', ['-B', '-q', '-f', join(source, 'pom.xml'), ...copy], {
      // What it says is no result.
      stdio: ['ignore', process.stderr, 'inherit'],
    });
    execFileSync('touch', [join(jars, 'done')]);
  }
  const path = `${target}:${jars}/*`;
  execFileSync('javac', ['-d', target, '-cp', path, join(source, 'Peer.java')], {
    stdio: 'inherit',
  });
  return path;
}

export const java: Peer = {
  name: 'Java',
  about: 'kafka-clients 4.3, Jackson 2.21 streaming, t-digest 3.3, RowBinary; ParallelGC, 1 GiB',
  start: async (stack) => {
    const options = ['-XX:+UseParallelGC', '-Xms1g', '-Xmx1g', '-cp', classPath(), 'Peer'];
    return withTable(startChildPeer(['java', ...options], stack), stack, centroidTable);
  },
  sums: centroidSums,
};
