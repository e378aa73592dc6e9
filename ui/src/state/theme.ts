import { computed, effect, signal } from '@preact/signals';
import { place, setParams } from './place.ts';

export type Theme = 'light' | 'dark';
const storageKey = 'tailmark.theme';

const dark = matchMedia('(prefers-color-scheme: dark)');
const preferred = signal<Theme>(dark.matches ? 'dark' : 'light');
const chosen = signal<Theme | undefined>(read());

/** The theme of the page: that of the address, else what was chosen in this browser, else the system's. */
export const theme = computed<Theme>(() => {
  const { theme: asked } = place.value.params;
  if (asked === 'light' || asked === 'dark') return asked;
  return chosen.value ?? preferred.value;
});

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
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // A browser that stores nothing keeps it to the end of the page.
  }
  if (place.value.params.theme !== undefined) setParams({ theme: next }, { replace: true });
}

/** Value of a colour token, for a canvas. Read `theme.value` in what draws, so that it draws again. */
export function token(name: `--${string}`): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function read(): Theme | undefined {
  try {
    const stored = localStorage.getItem(storageKey);
    return stored === 'light' || stored === 'dark' ? stored : undefined;
  } catch {
    return undefined;
  }
}
