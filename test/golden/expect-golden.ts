import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lineDiff } from './line-diff.ts';

/** Set by `npm run golden`, and `record` with `--record`. */
const mode = process.env.TAILMARK_GOLDEN;
const isRecording = mode === 'record';
/** Whether what takes minutes, or depends on the processor, is compared too. */
export const isWhole = mode !== undefined;

/**
 * Compares a text with the one in test/golden/recorded/, or records it.
 *
 * @param name path of the recorded file.
 * @throws Error with the lines that differ, or where nothing is recorded.
 */
export function expectGolden(name: string, text: string): void {
  const path = fileURLToPath(new URL(`recorded/${name}`, import.meta.url));
  const whole = text.endsWith('\n') ? text : `${text}\n`;
  if (isRecording) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, whole);
    return;
  }
  const recorded = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const difference = lineDiff(recorded, whole);
  if (difference === '') return;
  throw new Error(
    `test/golden/recorded/${name} differs (- recorded, + now). Where that is intended, record it by ` +
      `\`npm run golden -- --record\`, and say so in the commit.\n${difference}`,
  );
}

/** First 16 digits of a SHA-256. */
export function digestOf(value: string | Uint8Array): string {
  return createHash('sha256').update(value).digest('hex').slice(0, 16);
}

/** JSON in a form for lines: maps as objects, bytes as hexadecimal digits, keys in their order. */
export function lineOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (each instanceof Map) return Object.fromEntries(each);
    if (each instanceof Set) return [...each];
    if (each instanceof Float64Array) return [...each];
    if (each === Number.NEGATIVE_INFINITY) return '-Infinity';
    return each;
  });
}
