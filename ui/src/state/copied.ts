import { signal } from '@preact/signals';
import { copy } from '../parts/copy.ts';
import { frozenHref } from './place.ts';

/** What the page says of the last "Copy link", for two seconds; empty else. */
export const copied = signal('');

export async function copyLink(): Promise<void> {
  copied.value = (await copy(frozenHref())) ? 'Link copied' : 'The browser refused to copy';
  setTimeout(() => {
    copied.value = '';
  }, 2_000);
}
