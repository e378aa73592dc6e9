import { signal } from '@preact/signals';

const storageKey = 'tailmark.session';

/** True if this browser has logged in with a token: the cookie itself is hidden from scripts. */
export const hasSession = signal(read());

/** Notes a login. */
export function beginSession(): void {
  hasSession.value = true;
  try {
    localStorage.setItem(storageKey, 'open');
  } catch {
    // A browser that stores nothing keeps it to the end of the page.
  }
}

/** Ends the session, and drops all that the page has read. */
export async function logOut(): Promise<void> {
  await fetch('/v1/logout', { method: 'POST' }).catch(() => undefined);
  try {
    localStorage.removeItem(storageKey);
  } catch {
    // Nothing was stored.
  }
  location.reload();
}

function read(): boolean {
  try {
    return localStorage.getItem(storageKey) !== null;
  } catch {
    return false;
  }
}
