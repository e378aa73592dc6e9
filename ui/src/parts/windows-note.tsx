import { useLayoutEffect } from 'preact/hooks';
import type { Range, Windows } from '../data/answers.ts';
import { formatCount, plural } from '../format/number.ts';
import { shownRange } from '../state/place.ts';

interface Stepped {
  readonly windows: Windows;
}

/** A sentence on windows that can still change; undefined where all are final. */
export function windowsNote({ windows: { provisional, open } }: Stepped): string | undefined {
  const parts = [
    ...(provisional > 0 ? [`${plural(provisional, 'step')} provisional`] : []),
    ...(open > 0
      ? [provisional > 0 ? `${formatCount(open)} open` : `${plural(open, 'step')} open`]
      : []),
  ];
  return parts.length === 0 ? undefined : `${parts.join(', ')}: numbers can still change.`;
}

/** Says that a range is the one of the view: "Copy link" freezes it. */
export function ShownRange({ answer }: { readonly answer: Stepped & { readonly range: Range } }) {
  const { from, to } = answer.range;
  const { open } = answer.windows;
  // With what is drawn: a link copied right then has this range.
  useLayoutEffect(() => {
    shownRange.value = { fromMs: Date.parse(from), toMs: Date.parse(to), openSteps: open };
  }, [from, to, open]);
  return null;
}
