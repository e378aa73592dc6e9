import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are equal. Takes as long for any two, so that none can be guessed piece by piece. */
export function isSameSecret(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
