// Covers src/local/path-error.ts and src/local/process/tied-process.ts.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ensureKafkaJars,
  findKafkaPrograms,
  isComplete,
  kafkaVersion,
} from '../../../src/local/kafka/kafka-jars.ts';

let dir: string;
let cache: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-jars-'));
  cache = join(dir, 'cache');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const jar = `kafka_2.13-${kafkaVersion}.jar`;
// Stands for Maven: -DoutputDirectory=... is its third argument.
const goodMaven =
  `out="\${3#*=}"; echo "[INFO] Downloaded from x: y.jar (2.5 MB at 1 MB/s)"; ` +
  `printf jarjar > "$out/${jar}"; echo run >> "${'$'}{0%/*}/runs"`;

function writeMaven(script: string): void {
  writeFileSync(join(dir, 'mvn'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(dir, 'mvn'), 0o755);
}

function fetchWith(script: string, texts: string[] = []) {
  writeMaven(script);
  return fetchJars(texts);
}

function fetchJars(texts: string[] = []) {
  return ensureKafkaJars({
    env: { PATH: `${dir}:/usr/bin:/bin`, TAILMARK_CACHE_DIR: cache },
    onProgress: ({ text }) => texts.push(text),
  });
}

describe('findKafkaPrograms', () => {
  const missing = { code: 'TAILMARK_LOCAL_JAVA_MISSING', exitCode: 69 };
  const program = (name: string, script: string) => {
    writeFileSync(join(dir, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(dir, name), 0o755);
  };
  const find = () => findKafkaPrograms({ PATH: dir, TAILMARK_CACHE_DIR: cache });

  it('wants Java though the jars are in the cache', async () => {
    await fetchWith(goodMaven);
    await expect(find()).rejects.toMatchObject({
      ...missing,
      message: 'Cannot start Kafka: Java 17 or later must be installed; it is not',
    });
  });

  it('wants Maven only while the jars are not in the cache', async () => {
    program('java', `echo 'openjdk version "17.0.1"' >&2`);
    await expect(find()).rejects.toMatchObject({
      ...missing,
      message: 'Cannot fetch Kafka: Maven (mvn) must be installed; it is not',
    });
    await fetchWith(goodMaven);
    rmSync(join(dir, 'mvn'));
    expect(await find()).toEqual({ path: join(dir, 'java'), version: 17 });
  });

  it('takes no Java that does not run', async () => {
    program('java', `echo 'No Java runtime present' >&2; exit 1`);
    await expect(find()).rejects.toMatchObject(missing);
  });
});

describe('ensureKafkaJars', () => {
  it('fetches once, reports its progress, and leaves nothing else in the cache', async () => {
    const texts: string[] = [];
    const jars = await fetchWith(goodMaven, texts);
    expect(jars).toBe(join(cache, `kafka-${kafkaVersion}`));
    expect(isComplete(jars)).toBe(true);
    expect(texts.at(-1)).toBe(`fetching Kafka ${kafkaVersion} (45 MB, once): 1 files, 2.5 MB`);
    expect(await fetchWith('exit 1')).toBe(jars);
    expect(readdirSync(cache)).toEqual([`kafka-${kafkaVersion}`]);
  });

  it('fetches again when a file is cut short', async () => {
    const jars = await fetchWith(goodMaven);
    writeFileSync(join(jars, jar), 'jar');
    expect(isComplete(jars)).toBe(false);
    await fetchWith(goodMaven);
    expect(isComplete(jars)).toBe(true);
    expect(readdirSync(cache)).toEqual([`kafka-${kafkaVersion}`]);
  });

  it('ends whole for all when several fetch at once', async () => {
    // Written once: a shell reads its script while it runs.
    writeMaven(goodMaven);
    const all = await Promise.all([1, 2, 3].map(() => fetchJars()));
    expect(new Set(all).size).toBe(1);
    expect(isComplete(all[0] as string)).toBe(true);
    expect(readdirSync(cache)).toEqual([`kafka-${kafkaVersion}`]);
  });

  it('reports a failure with what Maven said, and keeps nothing', async () => {
    await expect(fetchWith('echo "[ERROR] no route to host"; exit 1')).rejects.toMatchObject({
      code: 'TAILMARK_LOCAL_START_FAILED',
      exitCode: 69,
      message: expect.stringContaining('[ERROR] no route to host'),
    });
    expect(readdirSync(cache)).toEqual([]);
  });

  it('refuses a cache that cannot be made', async () => {
    writeFileSync(join(dir, 'file'), '');
    cache = join(dir, 'file', 'cache');
    await expect(fetchWith(goodMaven)).rejects.toMatchObject({ code: 'TAILMARK_PATH_UNWRITABLE' });
    expect(existsSync(join(dir, 'runs'))).toBe(false);
  });

  it('calls a directory without a marker, or with an empty one, incomplete', () => {
    mkdirSync(cache);
    expect(isComplete(cache)).toBe(false);
    writeFileSync(join(cache, 'complete.json'), '{"files":{}}');
    expect(isComplete(cache)).toBe(false);
  });
});
