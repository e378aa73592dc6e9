import { useEffect, useId, useRef } from 'preact/hooks';
import { usePopover } from './use-popover.ts';

export interface MenuEntry {
  readonly label: string;
  /** Of an entry that is on or off; undefined for one that does something once. */
  readonly isOn?: boolean | undefined;
  readonly run: () => void;
}

interface Props {
  /** Subject of the menu, for readers who do not see where it stands. */
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly class?: string;
}

/** A button "⋯" with a menu, by pointer and by keyboard. */
export function MoreMenu({ label, entries, class: name = '' }: Props) {
  const { isOpen, box, toggle, close, leave } = usePopover('.more-button');
  const id = useId();
  const run = (entry: MenuEntry) => {
    close();
    entry.run();
  };
  return (
    <div class={`more-menu ${name}`} ref={box}>
      <button
        type="button"
        class="more-button"
        title={label}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={toggle}
      >
        ⋯
      </button>
      {isOpen && <Entries {...{ id, label, entries, run, leave }} />}
    </div>
  );
}

function roleOf({ isOn }: MenuEntry) {
  return isOn === undefined
    ? ({ role: 'menuitem' } as const)
    : ({ role: 'menuitemcheckbox', 'aria-checked': isOn } as const);
}

interface EntriesProps extends Pick<Props, 'label' | 'entries'> {
  readonly id: string;
  readonly run: (entry: MenuEntry) => void;
  readonly leave: () => void;
}

function Entries({ id, label, entries, run, leave }: EntriesProps) {
  const list = useRef<HTMLDivElement>(null);
  const buttons = () => [...(list.current?.querySelectorAll('button') ?? [])];
  useEffect(() => buttons()[0]?.focus(), []);
  const move = (event: KeyboardEvent) => {
    const all = buttons();
    const at = all.findIndex((button) => button.matches(':focus'));
    const last = all.length - 1;
    const next = {
      ArrowDown: at === last ? 0 : at + 1,
      ArrowUp: at <= 0 ? last : at - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (event.key === 'Tab') leave();
    if (next === undefined) return;
    event.preventDefault();
    all[next]?.focus();
  };
  return (
    <div ref={list} id={id} class="more-entries" role="menu" aria-label={label} onKeyDown={move}>
      {entries.map((entry) => (
        <button
          key={entry.label}
          type="button"
          tabIndex={-1}
          {...roleOf(entry)}
          onClick={() => run(entry)}
        >
          {entry.isOn !== undefined && <span aria-hidden="true">{entry.isOn ? '☑ ' : '☐ '}</span>}
          {entry.label}
        </button>
      ))}
    </div>
  );
}
