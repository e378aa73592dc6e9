import { isIPv6 } from 'node:net';
import type { Logger } from '../../../base/telemetry/log.ts';
import { minuteMs } from '../../../base/time.ts';
import { Problem } from '../../http/problem.ts';

/** Different wrong tokens that an address may send within a time, after the first of them. */
const maxWrong = 10;
const spanMs = 5 * minuteMs;
/** Addresses that are remembered; the one that was heard least recently is forgotten first. */
const maxAddresses = 10_000;
/** Tokens of an address that stay accepted while it is refused: those of its other programs. */
const maxRight = 100;

interface Attempts {
  /** Time of the first wrong one. */
  sinceMs: number;
  readonly wrong: Set<string>;
  readonly right: Set<string>;
}

/**
 * Limits how many tokens an address can try. The same wrong token counts once: a program with an old token is
 * no attack. While an address is refused, tokens that it has used before still count.
 */
export class LoginAttempts {
  readonly #elapsedMs: () => number;
  readonly #log: Logger;
  /** In order of use. */
  readonly #byAddress = new Map<string, Attempts>();

  constructor({
    elapsedMs,
    log,
  }: {
    readonly elapsedMs: () => number;
    readonly log: Logger;
  }) {
    this.#elapsedMs = elapsedMs;
    this.#log = log;
  }

  /** The refusal of a token of this digest that is not looked at: 429; undefined where it is. */
  refusal(address: string, digest: Buffer): Problem | undefined {
    const known = this.#current(address);
    if (known === undefined || known.wrong.size < maxWrong) return undefined;
    if (known.right.has(digest.toString('hex'))) return undefined;
    const waitMs = known.sinceMs + spanMs - this.#elapsedMs();
    const detail = `${maxWrong} different wrong tokens came from this address: no other is looked at for a while.`;
    return new Problem(429, detail, Math.max(1, Math.ceil(waitMs / 1000)));
  }

  accepted(address: string, digest: Buffer): void {
    const { right } = this.#touched(address);
    if (right.size < maxRight) right.add(digest.toString('hex'));
  }

  refused(address: string, digest: Buffer): void {
    const known = this.#touched(address);
    const wrong = digest.toString('hex');
    if (known.wrong.has(wrong) || known.wrong.size >= maxWrong) return;
    if (known.wrong.size === 0) known.sinceMs = this.#elapsedMs();
    known.wrong.add(wrong);
    this.#log.warn({ address }, 'a login was refused: no such token');
    if (known.wrong.size < maxWrong) return;
    this.#log.warn(
      { address, wrong_tokens: maxWrong, minutes: spanMs / minuteMs },
      'logins of an address are refused for a while: it tries tokens',
    );
  }

  #touched(address: string): Attempts {
    const key = networkOf(address);
    const known = this.#current(address) ?? {
      ...{ sinceMs: 0, wrong: new Set<string>(), right: new Set<string>() },
    };
    this.#byAddress.delete(key);
    this.#byAddress.set(key, known);
    for (const oldest of this.#byAddress.keys()) {
      if (this.#byAddress.size <= maxAddresses) break;
      this.#byAddress.delete(oldest);
    }
    return known;
  }

  #current(address: string): Attempts | undefined {
    const known = this.#byAddress.get(networkOf(address));
    if (known !== undefined && this.#elapsedMs() - known.sinceMs >= spanMs) known.wrong.clear();
    return known;
  }
}

/** An address; of IPv6 the first 64 bits, as one client has all that follow. */
function networkOf(address: string): string {
  const bare = address.split('%')[0]?.replace(/^::ffff:(?=\d+\.)/i, '') ?? '';
  if (!isIPv6(bare)) return bare;
  const [left = '', right] = bare.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array(zeros).fill('0'), ...tail].slice(0, 4).join(':');
}
