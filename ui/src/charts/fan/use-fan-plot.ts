import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { hold } from '../../data/use-answer.ts';
import { theme } from '../../state/theme.ts';
import type { TimeSpan } from '../geometry/step-grid.ts';
import type { Cursor } from '../parts/chart-frame.tsx';
import { fanData, openFanPlot } from './fan-plot.ts';
import type { FanScene } from './fan-scene.ts';

interface FanPlot {
  readonly cursor: Signal<Cursor | null>;
  /** Whole steps that are selected. */
  readonly selected: Signal<TimeSpan | null>;
  /** Selects from a step to another one. */
  readonly select: (from: Cursor, to: Cursor) => void;
  readonly clear: () => void;
}

/**
 * Keeps a plot in an element: made anew where its structure, size or colours change, else given new values.
 *
 * @param name of what holds the page's refreshing while something is selected.
 */
export function useFanPlot(
  host: RefObject<HTMLElement | null>,
  scene: FanScene,
  size: { readonly width: number; readonly height: number },
  name: string,
): FanPlot {
  const cursor = useSignal<Cursor | null>(null);
  const selected = useSignal<TimeSpan | null>(null);
  const plot = useRef<uPlot | null>(null);
  const current = useRef(scene);
  current.current = scene;
  const { fan, hidden, incidents, releases } = scene;
  const { width, height } = size;
  const { value: colors } = theme;
  const structure = [...hidden, '', ...fan.lines.map(({ q }) => q), fan.baseline === null].join();

  const select = (from: Cursor, to: Cursor) => {
    const { times, stepMs } = current.current.fan;
    const startOf = ({ column }: Cursor) => times[column] ?? 0;
    const fromMs = Math.min(startOf(from), startOf(to));
    const toMs = Math.max(startOf(from), startOf(to)) + stepMs;
    selected.value = { fromMs, toMs };
    const made = plot.current;
    if (made === null) return;
    const [left, right] = [made.valToPos(fromMs, 'x'), made.valToPos(toMs, 'x')];
    const tall = made.bbox.height / devicePixelRatio;
    made.setSelect({ left, top: 0, width: right - left, height: tall }, false);
  };
  const clear = () => {
    selected.value = null;
    plot.current?.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  };

  useEffect(() => {
    if (host.current === null || width === 0) return;
    const ports = {
      scene: () => current.current,
      onCursor: (step: number | null) => {
        cursor.value = step === null ? null : { column: step, row: 0 };
      },
      onSelect: (span: TimeSpan) => {
        selected.value = wholeSteps(span, current.current.fan.stepMs);
      },
      onClick: () => {
        if (cursor.value !== null) select(cursor.value, cursor.value);
      },
    };
    const made = openFanPlot(host.current, { width, height }, ports);
    plot.current = made;
    return () => {
      plot.current = null;
      made.destroy();
    };
  }, [width, height, structure, colors]);
  useEffect(() => {
    plot.current?.setData(fanData(current.current), true);
  }, [fan, scene.utc, incidents, releases]);
  useSignalEffect(() => {
    const { times, stepMs } = current.current.fan;
    const at = times[cursor.value?.column ?? -1];
    const left = at === undefined ? undefined : plot.current?.valToPos(at + stepMs / 2, 'x');
    plot.current?.setCursor({ left: left ?? -10, top: 10 }, false);
  });
  useSignalEffect(() => hold(name, selected.value !== null));
  useEffect(() => () => hold(name, false), [name]);
  return { cursor, selected, select, clear };
}

/** The steps whose borders are nearest to a selection, at least one. */
function wholeSteps({ fromMs, toMs }: TimeSpan, stepMs: number): TimeSpan {
  const from = Math.round(fromMs / stepMs) * stepMs;
  return { fromMs: from, toMs: Math.max(from + stepMs, Math.round(toMs / stepMs) * stepMs) };
}
