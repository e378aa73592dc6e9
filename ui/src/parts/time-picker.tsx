import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { offsetMs, relativeName, zoneName } from '../format/time.ts';
import { nowMs } from '../state/now.ts';
import { isLive, place, setParams, step } from '../state/place.ts';
import { absolute, paramOf, rangeOf } from '../state/url.ts';
import { utc, zone } from '../state/zone.ts';
import { rangeName } from './range-name.ts';
import { usePopover } from './use-popover.ts';

const quick = ['-15m', '-1h', '-3h', '-6h', '-12h', '-24h', '-3d', '-7d', '-14d', '-30d'] as const;

/** The range of the page: a step back, what it is, a step forward. */
export function TimePicker() {
  const { isOpen, box, toggle, close } = usePopover('.range');
  const name = rangeName();
  return (
    <div class="time-picker" ref={box}>
      <button
        type="button"
        title="A range back  ["
        aria-label="A range back"
        onClick={() => step(-1)}
      >
        ‹
      </button>
      <button
        type="button"
        class="range"
        aria-expanded={isOpen}
        aria-controls="range-menu"
        onClick={toggle}
      >
        <span class="range-name">
          {name.text}
          {name.why !== '' && <span class="wide-only">{name.why}</span>}
        </span>{' '}
        <span aria-hidden="true">▾</span>
      </button>
      <button
        type="button"
        title="A range forward  ]"
        aria-label="A range forward"
        disabled={isLive.value && (paramOf(place.value.params, 'to') ?? 'now') === 'now'}
        onClick={() => step(1)}
      >
        ›
      </button>
      {isOpen && <RangeMenu close={close} />}
    </div>
  );
}

function RangeMenu({ close }: { readonly close: () => void }) {
  const range = rangeOf(place.value, nowMs());
  const from = useSignal(toInput(range.fromMs, utc.value));
  const to = useSignal(toInput(range.toMs, utc.value));
  const problem = useSignal('');
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => menu.current?.querySelector('button')?.focus(), []);
  const apply = (event: Event) => {
    event.preventDefault();
    const [fromMs, toMs] = [fromInput(from.value, utc.value), fromInput(to.value, utc.value)];
    if (Number.isNaN(fromMs) || Number.isNaN(toMs)) problem.value = 'Both times must be complete.';
    else if (toMs <= fromMs) problem.value = 'The end must be after the start.';
    else {
      setParams(absolute({ fromMs, toMs }));
      close();
    }
  };
  return (
    <div class="menu" id="range-menu" ref={menu}>
      <div class="quick">
        {quick.map((text) => (
          <button
            type="button"
            key={text}
            aria-pressed={paramOf(place.value.params, 'from') === text}
            onClick={() => {
              setParams({ from: text, to: undefined });
              close();
            }}
          >
            {relativeName(text)}
          </button>
        ))}
      </div>
      <form onSubmit={apply}>
        {(
          [
            ['From', from],
            ['to', to],
          ] as const
        ).map(([name, end]) => (
          <label key={name}>
            {name}
            <input
              type="datetime-local"
              step="1"
              value={end.value}
              onInput={(event) => {
                end.value = event.currentTarget.value;
              }}
            />
          </label>
        ))}
        <p class="hint">Times are {zoneName(range.toMs, zone.value)}.</p>
        {problem.value !== '' && (
          <p class="hint problem" role="alert">
            {problem.value}
          </p>
        )}
        <button type="submit" class="primary">
          Show
        </button>
      </form>
    </div>
  );
}

/** `2026-11-25T10:00:00` in the zone of the page. */
function toInput(ms: number, isUtc: boolean): string {
  return new Date(ms + offsetMs(ms, { utc: isUtc })).toISOString().slice(0, 19);
}

function fromInput(text: string, isUtc: boolean): number {
  return Date.parse(isUtc ? `${text}Z` : text);
}
