import { computed, effect, signal } from '@preact/signals';
import { place, setParams } from './place.ts';
import { store, stored } from './stored.ts';

export type Theme = 'light' | 'dark';
const storageKey = 'theme';

const dark = matchMedia('(prefers-color-scheme: dark)');
const preferred = signal<Theme>(dark.matches ? 'dark' : 'light');
const chosen = signal(themeOf(stored(storageKey)));

/** The theme of the page: that of the address, else what was chosen in this browser, else the system's. */
export const theme = computed<Theme>(
  () => themeOf(place.value.params.theme) ?? chosen.value ?? preferred.value,
);

export function startTheme(): void {
  dark.addEventListener('change', ({ matches }) => {
    preferred.value = matches ? 'dark' : 'light';
  });
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function toggleTheme(): void {
  const next: Theme = theme.value === 'dark' ? 'light' : 'dark';
  chosen.value = next;
  store(storageKey, next);
  if (place.value.params.theme !== undefined) setParams({ theme: next }, { replace: true });
}

function themeOf(text: string | undefined): Theme | undefined {
  return text === 'light' || text === 'dark' ? text : undefined;
}
