import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findJava, findMaven, parseJavaVersion } from '../../../src/local/kafka/java-runtime.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-java-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function program(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

describe('findJava', () => {
  it('says what to install when there is none', async () => {
    await expect(findJava({ PATH: '' })).rejects.toMatchObject({
      code: 'TAILMARK_LOCAL_JAVA_MISSING',
      exitCode: 69,
      message: 'Cannot start Kafka: Java 17 or later must be installed; it is not',
      hint: expect.stringContaining('docker compose up'),
    });
  });

  it('refuses one that is too old, naming it', async () => {
    program(join(dir, 'java'), `echo 'openjdk version "11.0.2" 2019-01-15' >&2`);
    await expect(findJava({ PATH: dir })).rejects.toMatchObject({
      code: 'TAILMARK_LOCAL_JAVA_MISSING',
      message: `Cannot start Kafka: ${dir}/java must be Java 17 or later; it is 11`,
    });
  });

  it('refuses one that does not run, with what it said', async () => {
    program(join(dir, 'java'), `echo 'No Java runtime present' >&2; exit 1`);
    await expect(findJava({ PATH: dir })).rejects.toThrow('No Java runtime present');
  });

  it('prefers JAVA_HOME to PATH', async () => {
    mkdirSync(join(dir, 'home', 'bin'), { recursive: true });
    program(join(dir, 'java'), `echo 'openjdk version "17.0.1"' >&2`);
    program(join(dir, 'home', 'bin', 'java'), `echo 'openjdk version "21" 2023-09-19' >&2`);
    expect(await findJava({ PATH: dir, JAVA_HOME: join(dir, 'home') })).toEqual({
      path: join(dir, 'home', 'bin', 'java'),
      version: 21,
    });
  });
});

describe('findMaven', () => {
  it('says what to install when there is none, and passes over what cannot run', () => {
    mkdirSync(join(dir, 'mvn'));
    expect(() => findMaven({ PATH: dir })).toThrow(
      expect.objectContaining({ code: 'TAILMARK_LOCAL_JAVA_MISSING' }),
    );
  });
});

describe('parseJavaVersion', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['java version "1.8.0_391"', 8],
    ['Picked up JAVA_TOOL_OPTIONS: -Dx=1\nopenjdk version "21-ea" 2023-09-19', 21],
    ['command not found', null],
  ])('%s', (text, version) => expect(parseJavaVersion(text)).toBe(version));
});
