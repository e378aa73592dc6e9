import type { ComponentChildren } from 'preact';

interface KeyProps {
  /** Class of the swatch. */
  readonly swatch: string;
  /** True while the cursor is at what it stands for. */
  readonly isAt?: boolean;
  readonly children: ComponentChildren;
}

/** A mark of a chart, and what it stands for. */
export function Key({ swatch, isAt = false, children }: KeyProps) {
  return (
    <span class="chart-key-static" data-at={isAt}>
      <i class={swatch} />
      {children}
    </span>
  );
}

interface StepKeysProps {
  /** True if some values are lower bounds. @default {false} */
  readonly isBound?: boolean;
  readonly isThin: boolean;
  readonly isOpen: boolean;
  readonly isStored: boolean;
}

/** Keys of the marks that lines over time share. */
export function StepKeys({ isBound = false, isThin, isOpen, isStored }: StepKeysProps) {
  return (
    <>
      {isBound && <Key swatch="chart-swatch-bound">at least</Key>}
      {isThin && <Key swatch="chart-swatch-hollow">few requests</Key>}
      {isOpen && <Key swatch="chart-swatch-open">open</Key>}
      {!isStored && <Key swatch="chart-swatch-hatched">not stored yet</Key>}
    </>
  );
}
