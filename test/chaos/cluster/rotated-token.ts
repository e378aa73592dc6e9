import { renameSync, writeFileSync } from 'node:fs';
import { unsecuredToken } from '../../e2e/kit/unsecured-token.ts';

/** How long a token holds, and how long before its end the next one is there. */
const LIFETIME_MS = 30_000;
const BEFORE_END_MS = 2_000;

/** A token file, renewed two seconds before the end of each token, unless its issuer is away. */
export class RotatedToken {
  readonly path: string;
  isIssuerAway = false;
  readonly #timer: NodeJS.Timeout;

  constructor(path: string) {
    this.path = path;
    this.renew();
    this.#timer = setInterval(() => {
      if (!this.isIssuerAway) this.renew();
    }, LIFETIME_MS - BEFORE_END_MS);
  }

  renew(): void {
    const next = `${this.path}.next`;
    writeFileSync(next, unsecuredToken('tailmark', LIFETIME_MS / 1000), { mode: 0o600 });
    renameSync(next, this.path);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
