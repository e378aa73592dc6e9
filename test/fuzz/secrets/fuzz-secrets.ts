import { deepStrictEqual } from 'node:assert';
import { knownSecrets } from '../../../src/base/telemetry/known-secrets.ts';
import { mulberry32 } from '../../base/seeded-random.ts';
import { fastestMs } from '../fastest-ms.ts';
import { faultOf } from './check-spelling.ts';
import { spellings } from './spellings.ts';

const words = 'abcdefghijklmnopqrstuvwxyz0123456789';
const marks = `AZ %&+/=\\"'<>;:@#?-_.~,{}()[]|$!^\`ü€`;
const markShare = 0.4;
const names = Object.keys(spellings);

/**
 * Answers of servers that quote a secret in each spelling, amid other text: none may be shown. Returns the
 * slowest answer's ms of CPU.
 */
export function fuzzSecrets(seed: number, answers: number): number {
  const random = mulberry32(seed);
  const text = (least: number, most: number) =>
    Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, () => {
      const from = random() < markShare ? marks : words;
      return from[Math.floor(random() * from.length)];
    }).join('');
  let slowestMs = 0;
  for (let done = 0; done < answers; ) {
    // Ends with letters: who writes a URL or a form cuts spaces from its ends.
    const secret = `k${text(6, 38)}k`;
    knownSecrets.remember(secret);
    for (const name of names) {
      const [before, after] = [text(0, 12), `${text(0, 12)}z`];
      const tookMs = fastestMs(() => {
        deepStrictEqual(faultOf(name, before, secret, after), undefined);
      });
      slowestMs = Math.max(slowestMs, tookMs);
      done++;
    }
  }
  return slowestMs;
}
