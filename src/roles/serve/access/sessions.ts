import { createHash, randomBytes } from 'node:crypto';
import { weekMs } from '../../../base/time.ts';

/** Time for which a browser stays logged in. */
export const sessionMs = weekMs;
/** Most sessions at a time: the oldest ends for one more. */
const maxSessions = 10_000;

interface Session {
  /** SHA-256 of the token that opened it: it ends with that token. */
  readonly tokenDigest: Buffer;
  readonly endsMs: number;
}

/**
 * Logins of browsers. A cookie has a random id instead of a token, which nothing but this process takes, and
 * which ends: by a logout, after a week, with its token, or with the process.
 */
export class Sessions {
  readonly #elapsedMs: () => number;
  /** By the SHA-256 of the id, oldest first: what is in memory opens nothing. */
  readonly #sessions = new Map<string, Session>();

  /** @param elapsedMs monotonic time */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Returns the id of a new session. */
  open(tokenDigest: Buffer): string {
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(keyOf(id), { tokenDigest, endsMs: this.#elapsedMs() + sessionMs });
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= maxSessions) break;
      this.#sessions.delete(oldest);
    }
    return id;
  }

  /** The digest of the token that opened a session; undefined where there is none. */
  tokenDigestOf(id: string): Buffer | undefined {
    const session = this.#sessions.get(keyOf(id));
    if (session === undefined) return undefined;
    if (session.endsMs > this.#elapsedMs()) return session.tokenDigest;
    this.close(id);
    return undefined;
  }

  close(id: string): void {
    this.#sessions.delete(keyOf(id));
  }
}

const keyOf = (id: string) => createHash('sha256').update(id).digest('base64url');
