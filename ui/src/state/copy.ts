import { signal } from '@preact/signals';
import { plural } from '../format/number.ts';
import { frozenHref, shownRange } from './place.ts';

const saidMs = 2_000;

/** Copies a text, and says for two seconds what came of it. */
export async function copySaying(
  text: string,
  done: string,
  say: (text: string) => void,
): Promise<void> {
  say((await copy(text)) ? done : 'The browser refused to copy');
  setTimeout(() => say(''), saidMs);
}

/** The page's words on the last "Copy link"; empty else. */
export const copied = signal('');

export function copyLink(): Promise<void> {
  const openSteps = shownRange.value?.openSteps ?? 0;
  const done =
    openSteps === 0 ? 'Link copied' : `Link copied; ${plural(openSteps, 'step')} still open`;
  return copySaying(frozenHref(), done, (text) => {
    copied.value = text;
  });
}

/** Copies a text; false where the browser refuses. */
async function copy(text: string): Promise<boolean> {
  // Browsers have the clipboard on https and loopback addresses only.
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Without the permission the old way may still work.
    }
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'off-screen';
  document.body.append(area);
  const focused = document.activeElement;
  area.select();
  const hasCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return hasCopied;
}
