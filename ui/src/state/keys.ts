import { signal } from '@preact/signals';
import { copyLink } from './copy.ts';
import { step } from './place.ts';
import { toggleUtc } from './zone.ts';

/** Keys of every view, as the help lists them. */
export const keyHelp: readonly (readonly [string, string])[] = [
  ['/', 'filter'],
  ['j  k', 'next, previous row; Enter opens it'],
  ['[  ]', 'a range back, forward'],
  ['u', 'UTC or local time'],
  ['c', 'copy a link with absolute times'],
  ['?', 'this help'],
  ['← →', 'in a chart: move along time or quantiles'],
];

export const isHelpOpen = signal(false);

export function startKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target)) {
      if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
      return;
    }
    const run = actions[event.key];
    if (run === undefined) return;
    event.preventDefault();
    run();
  });
}

const actions: Readonly<Record<string, () => void>> = {
  '/': () => document.querySelector<HTMLElement>('[data-filter]')?.focus(),
  '?': () => {
    isHelpOpen.value = !isHelpOpen.value;
  },
  j: () => moveRow(1),
  k: () => moveRow(-1),
  '[': () => step(-1),
  ']': () => step(1),
  u: toggleUtc,
  c: () => void copyLink(),
};

/** Moves the focus along the links marked with `data-row`, which are the rows of tables and lists. */
function moveRow(direction: -1 | 1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row.matches(':focus'));
  const next = at < 0 ? (direction > 0 ? 0 : rows.length - 1) : at + direction;
  const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
  row?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName);
}
