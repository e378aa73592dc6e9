import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/**
 * Opens a menu at a button, in a box with it. Escape and `close` give the focus back to the button; a press
 * elsewhere closes it too.
 *
 * @param opener selects the button in the box.
 */
export function usePopover(opener: string) {
  const isOpen = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const leave = () => {
    isOpen.value = false;
  };
  const close = () => {
    if (isOpen.peek()) box.current?.querySelector<HTMLElement>(opener)?.focus();
    leave();
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && close();
    const onPress = (event: Event) => box.current?.contains(event.target as Node) || leave();
    addEventListener('pointerdown', onPress);
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('pointerdown', onPress);
      removeEventListener('keydown', onKey);
    };
  }, []);
  const toggle = () => {
    isOpen.value = !isOpen.value;
  };
  return { isOpen: isOpen.value, box, toggle, close, leave };
}
