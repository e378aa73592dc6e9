import { signal } from '@preact/signals';
import { plural } from '../format/number.ts';
import { copy } from './copy.ts';
import { frozenHref, shownRange } from './place.ts';

/** The page's words on the last "Copy link", for two seconds; empty else. */
export const copied = signal('');

export async function copyLink(): Promise<void> {
  const openSteps = shownRange.value?.openSteps ?? 0;
  const text =
    openSteps === 0 ? 'Link copied' : `Link copied; ${plural(openSteps, 'step')} still open`;
  copied.value = (await copy(frozenHref())) ? text : 'The browser refused to copy';
  setTimeout(() => {
    copied.value = '';
  }, 2_000);
}
