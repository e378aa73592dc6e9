import { signal } from '@preact/signals';
import { store, stored } from './stored.ts';

const storageKey = 'session';

/** True if this browser has logged in with a token: the cookie itself is hidden from scripts. */
export const hasSession = signal(stored(storageKey) !== undefined);

/** Notes a login. */
export function beginSession(): void {
  hasSession.value = true;
  store(storageKey, 'open');
}

/** Ends the session, and drops all that the page has read. */
export async function logOut(): Promise<void> {
  await fetch('/v1/logout', { method: 'POST' }).catch(() => undefined);
  store(storageKey, undefined);
  location.reload();
}
