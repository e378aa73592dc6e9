import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/**
 * Closes what is open in a box: on Escape, which gives the focus back to the button that opened it, and on a
 * press elsewhere.
 *
 * @param opener selects that button in the box.
 */
export function useDismiss(
  box: RefObject<HTMLElement | null>,
  isOpen: Signal<boolean>,
  opener: string,
): void {
  useEffect(() => {
    const close = (event: Event) => {
      const isEscape = event instanceof KeyboardEvent && event.key === 'Escape';
      const isOutside =
        event.type === 'pointerdown' && !box.current?.contains(event.target as Node);
      if (!isEscape && !isOutside) return;
      if (isEscape && isOpen.peek()) box.current?.querySelector<HTMLElement>(opener)?.focus();
      isOpen.value = false;
    };
    addEventListener('pointerdown', close);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('pointerdown', close);
      removeEventListener('keydown', close);
    };
  }, [box, isOpen, opener]);
}
