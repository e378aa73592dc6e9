import { Component, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Asked } from '../data/use-answer.ts';
import { copySaying } from '../state/copy.ts';
import { frozenHref, onlyPanel, place, setParams } from '../state/place.ts';
import { DataTable } from './data-table.tsx';
import { type MenuEntry, MoreMenu } from './more-menu.tsx';
import type { TableOf } from './table-of.ts';
import { Time } from './time.tsx';

export type PanelState = 'loading' | 'ready' | 'empty' | 'partial' | 'error';

/** A sentence on an answer; false or nothing where there is none to say. */
type Sentence = ComponentChildren | false | undefined;

interface PanelProps<Answer> {
  /** Name in `data-panel`, `?only=` and `?table=`. */
  readonly name: string;
  readonly title: ComponentChildren;
  readonly answered: Asked<Answer>;
  /** Drawing of an answer. */
  readonly children: (answer: Answer) => ComponentChildren;
  /** A sentence where the answer holds nothing to draw. */
  readonly empty?: (answer: Answer) => Sentence;
  /** A sentence where a part of the answer is missing or can still change. */
  readonly partial?: (answer: Answer) => Sentence;
  /** The numbers that are drawn, for "Show as a table". */
  readonly table?: (answer: Answer) => TableOf;
  /** Legend or switches, right of the title. */
  readonly tools?: ComponentChildren;
  /** Least height of the body in pixels, which also stands in while it loads. */
  readonly minHeight?: number;
  readonly class?: string;
}

/**
 * A part of a view with its own answer. It says which state it is in, keeps the last answer through errors,
 * copies the query behind its numbers, shows them as a table, and has an address.
 */
export function Panel<Answer>(props: PanelProps<Answer>) {
  const { name, title, answered, tools, minHeight } = props;
  const { answer, failure, asOfMs, isLoading } = answered.value;
  const empty = (answer !== undefined && props.empty?.(answer)) || undefined;
  const partial = (answer !== undefined && props.partial?.(answer)) || undefined;
  const state = stateOf({ isLoading, hasFailed: failure !== undefined, empty, partial });
  const hasRoom = minHeight !== undefined && (answer !== undefined || failure === undefined);
  useArrival(name, answer !== undefined);
  if (onlyPanel.value !== undefined && onlyPanel.value !== name) return null;
  const asTable = tablesOf(place.value.params.table).includes(name);
  return (
    <section
      id={name}
      class={`panel ${props.class ?? ''}`}
      data-panel={name}
      data-state={state}
      aria-labelledby={`${name}-title`}
      aria-busy={isLoading}
    >
      <header class="panel-head">
        <h2 id={`${name}-title`}>{title}</h2>
        {tools !== undefined && <div class="panel-tools">{tools}</div>}
        <PanelMenu name={name} hasTable={props.table !== undefined} sql={sqlOf(answer)} />
      </header>
      {failure !== undefined && (
        <p class="notice error" role="status">
          {failure.text}
          {/[.!?]$/.test(failure.text) ? ' ' : '. '}
          {!isUnknown(failure.status) && (
            <>
              {answer === undefined ? 'No answer since ' : 'Shown as of '}
              <Time at={(answer === undefined ? failure.sinceMs : asOfMs) ?? failure.sinceMs} />.
              {isRetried(failure.status) && ' Trying again.'}
            </>
          )}
        </p>
      )}
      <div class="panel-body" style={hasRoom ? { minHeight: `${minHeight}px` } : {}}>
        {answer === undefined ? (
          failure === undefined && <p class="notice waiting">Loading…</p>
        ) : empty !== undefined ? (
          <p class="notice">{empty}</p>
        ) : asTable && props.table !== undefined ? (
          <DataTable {...props.table(answer)} caption={title} />
        ) : (
          <Boundary answer={answer}>{props.children}</Boundary>
        )}
      </div>
      {partial !== undefined && (
        <footer class="panel-foot">
          <p class="partial-note">{partial}</p>
        </footer>
      )}
    </section>
  );
}

interface ToolsProps {
  readonly name: string;
  readonly hasTable: boolean;
  readonly sql: string | undefined;
}

/** Actions on the numbers of a panel, behind one button. It says for two seconds what it did. */
function PanelMenu({ name, hasTable, sql }: ToolsProps) {
  const [said, setSaid] = useState('');
  const shown = tablesOf(place.value.params.table);
  const isOn = shown.includes(name);
  const entries: MenuEntry[] = [];
  if (hasTable) {
    const next = isOn ? shown.filter((other) => other !== name) : [...shown, name];
    const run = () => setParams({ table: next.join(',') }, { replace: true });
    entries.push({ label: 'Show as a table', isOn, run });
  }
  if (sql !== undefined) {
    const run = () => void copySaying(sql, 'SQL copied', setSaid);
    entries.push({ label: 'Copy the SQL that returns these numbers', run });
  }
  entries.push({
    label: 'Copy a link to this panel, over the range shown',
    run: () => void copySaying(frozenHref(name), 'Link copied', setSaid),
  });
  return (
    <div class="panel-menu">
      <span role="status" class="hint">
        {said}
      </span>
      <MoreMenu label="More of this panel" entries={entries} />
    </div>
  );
}

/** Scrolls to the panel that the address names, once it is drawn. */
function useArrival(name: string, isDrawn: boolean): void {
  const isWanted = isDrawn && place.value.hash === name;
  useEffect(() => {
    if (isWanted) document.getElementById(name)?.scrollIntoView();
  }, [isWanted, name]);
}

function stateOf(of: {
  readonly isLoading: boolean;
  readonly hasFailed: boolean;
  readonly empty: ComponentChildren | undefined;
  readonly partial: ComponentChildren | undefined;
}): PanelState {
  if (of.hasFailed) return 'error';
  if (of.isLoading) return 'loading';
  if (of.empty !== undefined) return 'empty';
  return of.partial === undefined ? 'ready' : 'partial';
}

/** An answer too: there is no such model or incident. */
function isUnknown(status: number | undefined): boolean {
  return status === 404;
}

/** The caller's mistakes are not asked again. */
function isRetried(status: number | undefined): boolean {
  return status === undefined || status >= 500 || status === 404 || status === 429;
}

function sqlOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('sql' in answer)) return undefined;
  return typeof answer.sql === 'string' ? answer.sql : undefined;
}

function tablesOf(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split(',');
}

interface DrawnProps<Answer> {
  readonly answer: Answer;
  readonly children: (answer: Answer) => ComponentChildren;
}
interface BoundaryState {
  readonly problem: string | undefined;
}

/** Draws an answer. One that cannot be drawn does not take the page with it; the next one is tried again. */
class Boundary<Answer> extends Component<DrawnProps<Answer>, BoundaryState> {
  override state: BoundaryState = { problem: undefined };

  static override getDerivedStateFromError(error: unknown): BoundaryState {
    return { problem: error instanceof Error ? error.message : String(error) };
  }

  override componentDidUpdate({ answer }: DrawnProps<Answer>): void {
    if (this.state.problem !== undefined && answer !== this.props.answer) {
      this.setState({ problem: undefined });
    }
  }

  override render() {
    const { problem } = this.state;
    if (problem === undefined) return <Drawn {...this.props} />;
    return (
      <p class="notice error" role="alert">
        BUG: this answer cannot be drawn: {problem}
      </p>
    );
  }
}

function Drawn<Answer>({ answer, children }: DrawnProps<Answer>) {
  return <>{children(answer)}</>;
}
