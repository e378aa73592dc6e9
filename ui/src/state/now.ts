import { signal } from '@preact/signals';

/** The clock as the page shows it, in epoch milliseconds; it ticks every second while the page is visible. */
const now = signal(Date.now());

export function startClock(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') now.value = Date.now();
  }, 1_000);
  document.addEventListener('visibilitychange', () => {
    now.value = Date.now();
  });
}

/** Now, without drawing again as it ticks. */
export function nowMs(): number {
  return now.peek();
}

/** Now; what reads it is drawn again every second. */
export function tickingNow(): number {
  return now.value;
}
